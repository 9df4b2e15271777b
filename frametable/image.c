/* image.c - opening and closing ELF files and archives. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frametable/image.h"
#include "frametable/memory.h"

fk_result fk_image_fail(const fk_image *im, fk_error *err, const char *section, uint64_t offset,
                        const char *format, ...)
{
    char text[sizeof err->message];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return fk_fail(err, FK_BROKEN, im->name, section, offset, FK_NO_ENTRY, "%s", text);
}

/* --- one ELF file ------------------------------------------------------------ */

static fk_kind kind_of(Elf *elf, const GElf_Ehdr *eh)
{
    if (eh->e_type == ET_EXEC)
        return FK_KIND_EXEC;
    if (eh->e_type == ET_REL)
        return FK_KIND_OBJECT;
    size_t n = 0;
    GElf_Phdr ph;
    if (elf_getphdrnum(elf, &n) != 0)
        n = 0;
    for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
        if (ph.p_type == PT_INTERP)
            return FK_KIND_PIE;
    }
    return FK_KIND_SHARED;
}

static fk_result read_header(fk_image *im, Elf *elf, fk_error *err)
{
    GElf_Ehdr eh;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
        return fk_image_fail(im, err, NULL, 0, "not an ELF file");
    if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN && eh.e_type != ET_REL)
        return fk_image_fail(im, err, NULL, 0, "ELF type %u is not an executable, shared object or "
                                               "relocatable object", eh.e_type);
    im->big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB;
    im->swap = im->big_endian != fk_host_big_endian();
    im->word = eh.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    im->relocatable = eh.e_type == ET_REL;
    im->abi = fk_abi_by_elf(eh.e_machine, im->big_endian, im->word);
    if (!im->abi)
        return fk_image_fail(im, err, NULL, 0, "ELF machine %u (%u-bit, %s endian) is not known",
                             eh.e_machine, im->word * 8u, im->big_endian ? "big" : "little");
    fk_kind k = kind_of(elf, &eh);
    im->kind = im->kind == FK_KIND_ARCHIVE_MEMBER ? im->kind : k;
    return FK_OK;
}

static fk_result load(fk_image *im, const fk_open_options *o, fk_error *err)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)im->data, im->size);
    if (!elf)
        return fk_image_fail(im, err, NULL, 0, "not an ELF file");
    fk_result r = read_header(im, elf, err);
    if (!r)
        r = fk_sections_load(im, elf, err);
    elf_end(elf);
    if (!r)
        r = fk_symbols_load(im, err);
    if (!r)
        r = fk_relocs_apply(im, err);
    if (!r)
        r = fk_targets_load(im, err);
    if (!r)
        r = fk_tables_locate(im, o && o->scan, err);
    if (r)
        return r;
    fk_tables_detect(im, o ? o->generation : FK_GEN_AUTO);
    r = fk_tables_measure(im, err);
    if (!r)
        fk_relocs_count(im);
    return r;
}

/* Takes `data` over, also on failure. */
static fk_result open_data(const char *name, uint8_t *data, uint64_t size, int owner, fk_kind kind,
                           const fk_open_options *o, fk_image **out, fk_error *err)
{
    fk_image *im = calloc(1, sizeof *im);
    fk_image temp = {.data = data, .size = size, .owner = owner};
    *out = NULL;
    if (!im) {
        fk_image_close_data(&temp);
        return fk_fail_memory(err, name);
    }
    *im = temp;
    im->kind = kind;
    im->name = strdup(name);
    fk_result r = im->name ? load(im, o, err) : fk_fail_memory(err, name);
    if (r) {
        fk_image_close(im);
        return r;
    }
    *out = im;
    return FK_OK;
}

void fk_image_close_data(fk_image *im)
{
    if (im->owner == FK_MAPPED)
        munmap(im->data, im->size);
    else if (im->owner == FK_MALLOCED)
        free(im->data);
}

void fk_image_close(fk_image *im)
{
    if (!im)
        return;
    fk_image_close_data(im);
    free(im->name);
    free(im->regions);
    free(im->section_addr);
    free(im->syms);
    free(im->functions);
    free(im->names);
    free(im->relocs);
    free(im->targets);
    free(im->arrays);
    free(im->tables);
    free(im->module_names);
    free(im);
}

/* --- files -------------------------------------------------------------------- */

static fk_result system_error(fk_error *err, const char *path)
{
    return fk_fail(err, FK_SYSTEM, path, NULL, 0, FK_NO_ENTRY, "%s", strerror(errno));
}

static fk_result check_file(const char *path, const struct stat *st, fk_error *err)
{
    const char *what = NULL;
    if (S_ISDIR(st->st_mode))
        what = "is a directory";
    else if (!S_ISREG(st->st_mode))
        what = "is not a regular file";
    if (what)
        return fk_fail(err, FK_SYSTEM, path, NULL, 0, FK_NO_ENTRY, "%s", what);
    if (st->st_size == 0)
        return fk_fail(err, FK_BROKEN, path, NULL, 0, FK_NO_ENTRY, "the file is empty");
    return FK_OK;
}

/* Maps the whole file, private and writable. */
static fk_result map_file(const char *path, uint8_t **data, uint64_t *size, fk_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return system_error(err, path);
    struct stat st;
    fk_result r = fstat(fd, &st) ? system_error(err, path) : check_file(path, &st, err);
    if (!r) {
        *size = (uint64_t)st.st_size;
        void *p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        *data = p;
        if (p == MAP_FAILED)
            r = system_error(err, path);
    }
    close(fd);
    return r;
}

#define ARMAG_SIZE 8
static bool is_archive(const uint8_t *data, uint64_t size)
{
    return size >= ARMAG_SIZE && memcmp(data, "!<arch>\n", ARMAG_SIZE) == 0;
}

static fk_result check_thin(const char *path, const uint8_t *data, uint64_t size, fk_error *err)
{
    if (size >= ARMAG_SIZE && memcmp(data, "!<thin>\n", ARMAG_SIZE) == 0)
        return fk_fail(err, FK_BROKEN, path, NULL, 0, FK_NO_ENTRY,
                       "a thin archive holds no objects: open its members");
    return FK_OK;
}

fk_result fk_image_open(const char *path, const fk_open_options *o, fk_image **out, fk_error *err)
{
    uint8_t *data;
    uint64_t size;
    *out = NULL;
    fk_result r = map_file(path, &data, &size, err);
    if (r)
        return r;
    r = check_thin(path, data, size, err);
    if (!r && is_archive(data, size))
        r = fk_fail(err, FK_ABSENT, path, NULL, 0, FK_NO_ENTRY, "is an archive");
    if (r) {
        munmap(data, size);
        return r;
    }
    return open_data(path, data, size, FK_MAPPED, FK_KIND_EXEC, o, out, err);
}

fk_result fk_image_open_memory(const char *name, const void *data, size_t size,
                               const fk_open_options *o, fk_image **out, fk_error *err)
{
    *out = NULL;
    if (size == 0)
        return fk_fail(err, FK_BROKEN, name, NULL, 0, FK_NO_ENTRY, "the file is empty");
    if (is_archive(data, size))
        return fk_fail(err, FK_ABSENT, name, NULL, 0, FK_NO_ENTRY, "is an archive");
    uint8_t *copy = fk_populate(malloc(size), size);
    if (!copy)
        return fk_fail_memory(err, name);
    memcpy(copy, data, size);
    return open_data(name, copy, size, FK_MALLOCED, FK_KIND_EXEC, o, out, err);
}

/* --- archives ------------------------------------------------------------------- */

typedef struct {
    const char *path;
    uint8_t *data;
    uint64_t size;
    const fk_open_options *options;
    fk_image_fn each;
    void *arg;
    bool stop;
} walk;

static bool is_elf(const uint8_t *p, size_t n)
{
    return n >= SELFMAG && memcmp(p, ELFMAG, SELFMAG) == 0;
}

/* Gives the pages that relocations made private back: the next member needs the memory. */
static void forget(const walk *w, const uint8_t *p, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + n) & ~(page - 1);
    if (to > from && (uint8_t *)to <= w->data + w->size)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

static fk_result member(walk *w, const char *name, uint8_t *p, size_t n)
{
    fk_error err = {0};
    fk_image *im;
    char *full = malloc(strlen(w->path) + strlen(name) + 3);
    if (!full)
        return FK_SYSTEM;
    sprintf(full, "%s(%s)", w->path, name);
    fk_result r = open_data(full, p, n, FK_BORROWED, FK_KIND_ARCHIVE_MEMBER, w->options, &im, &err);
    w->stop = w->each(r ? NULL : im, r ? &err : NULL, w->arg) != 0;
    fk_image_close(im);
    free(full);
    forget(w, p, n);
    return FK_OK;
}

/* Walks the members; *end is where the last one read ends. */
static fk_result walk_members(walk *w, Elf *ar, uint64_t *end)
{
    fk_result r = FK_OK;
    Elf *m;
    Elf_Cmd cmd = ELF_C_READ_MMAP; /* ELF_C_READ would want a file descriptor */
    while (!r && !w->stop && cmd != ELF_C_NULL && (m = elf_begin(-1, cmd, ar))) {
        Elf_Arhdr *h = elf_getarhdr(m);
        int64_t base = elf_getbase(m);
        if (!h || base < 0 || (uint64_t)base > w->size ||
            (uint64_t)h->ar_size > w->size - (uint64_t)base) {
            elf_end(m);
            break;
        }
        uint8_t *p = w->data + base;
        *end = (uint64_t)base + (uint64_t)h->ar_size;
        if (is_elf(p, (size_t)h->ar_size))
            r = member(w, h->ar_name ? h->ar_name : "?", p, (size_t)h->ar_size);
        cmd = elf_next(m);
        elf_end(m);
    }
    return r;
}

static fk_result walk_archive(walk *w, fk_error *err)
{
    uint64_t end = ARMAG_SIZE;
    elf_version(EV_CURRENT);
    Elf *ar = elf_memory((char *)w->data, w->size);
    fk_result r = FK_OK;
    if (ar) {
        r = walk_members(w, ar, &end);
        elf_end(ar);
    }
    if (r)
        return fk_fail_memory(err, w->path);
    if (!w->stop && end + (end & 1) < w->size)
        return fk_fail(err, FK_BROKEN, w->path, NULL, end, FK_NO_ENTRY,
                       "the archive's member header here cannot be read");
    return FK_OK;
}

static fk_result walk_file(walk *w, fk_error *err)
{
    fk_image *im;
    fk_result r =
        open_data(w->path, w->data, w->size, FK_BORROWED, FK_KIND_EXEC, w->options, &im, err);
    if (r)
        return r;
    w->each(im, NULL, w->arg);
    fk_image_close(im);
    return FK_OK;
}

fk_result fk_image_each(const char *path, const fk_open_options *o, fk_image_fn each, void *arg,
                        fk_error *err)
{
    walk w = {.path = path, .options = o, .each = each, .arg = arg};
    fk_result r = map_file(path, &w.data, &w.size, err);
    if (r)
        return r;
    r = check_thin(path, w.data, w.size, err);
    if (!r)
        r = is_archive(w.data, w.size) ? walk_archive(&w, err) : walk_file(&w, err);
    munmap(w.data, w.size);
    return r;
}

/* --- accessors --------------------------------------------------------------------- */

const char *fk_kind_name(fk_kind k)
{
    static const char *const names[] = {"executable", "PIE", "shared object", "object",
                                        "archive member"};
    return (unsigned)k < sizeof names / sizeof *names ? names[k] : "?";
}

const char *fk_image_name(const fk_image *im)
{
    return im->name;
}

fk_kind fk_image_kind(const fk_image *im)
{
    return im->kind;
}

const fk_abi *fk_image_abi(const fk_image *im)
{
    return im->abi;
}

bool fk_image_big_endian(const fk_image *im)
{
    return im->big_endian;
}

unsigned fk_image_word(const fk_image *im)
{
    return im->word;
}

uint64_t fk_image_file_size(const fk_image *im)
{
    return im->size;
}

fk_generation fk_image_generation(const fk_image *im)
{
    return im->generation;
}

const char *fk_image_generation_reason(const fk_image *im)
{
    return im->reason;
}

const char *fk_image_located_by(const fk_image *im)
{
    return im->located_by;
}

const fk_table *fk_image_table(const fk_image *im, size_t n)
{
    return n < im->num_tables ? &im->tables[n] : NULL;
}

size_t fk_image_num_tables(const fk_image *im)
{
    return im->num_tables;
}

const uint8_t *fk_image_bytes(const fk_image *im, uint64_t addr, uint64_t *avail)
{
    const fk_region *g = fk_region_at(im, addr);
    if (!g || addr - g->addr >= g->file_size)
        return NULL;
    *avail = g->file_size - (addr - g->addr);
    return g->bytes + (addr - g->addr);
}
