/* test_damage_dwarf.c FILE...: every bit of .eh_frame and .debug_line flipped, every byte made
 * 0x00, 0x7f, 0x80 and 0xff, every shorter size of the section: the rules of cfi and debug must
 * end, quickly, without reading outside (the sanitizers tell). */
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frametable/verify/verify.h"

enum { MOST_BYTES = 600, SECONDS = 2 };

typedef struct {
    const char *path;
    uint8_t *clean, *work;
    size_t size;
    uint64_t at, length, header; /* of the section; file offset of its header */
    unsigned long runs, findings;
} subject;

static void count_finding(const fk_finding *f, void *arg)
{
    subject *s = arg;
    s->findings += strlen(f->sentence) > 0;
}

/* One verification of the bytes in s->work. */
static void verify(subject *s)
{
    fk_image *im;
    fk_error err;
    fk_tally tally = {0};
    time_t start = time(NULL);
    if (fk_image_open_memory(s->path, s->work, s->size, NULL, &im, &err) != FK_OK)
        return;
    fk_result r =
        fk_verify_image(im, FK_GROUP_CFI | FK_GROUP_DEBUG, count_finding, s, &tally, &err);
    fk_image_close(im);
    s->runs++;
    if (r == FK_OK && time(NULL) - start <= SECONDS)
        return;
    fprintf(stderr, "%s: result %d after %ld s\n", s->path, (int)r, (long)(time(NULL) - start));
    exit(1);
}

static void restore(subject *s, size_t i)
{
    s->work[s->at + i] = s->clean[s->at + i];
}

static void damage_byte(subject *s, size_t i)
{
    static const uint8_t values[] = {0x00, 0x7f, 0x80, 0xff};
    for (unsigned bit = 0; bit < 8; bit++) {
        s->work[s->at + i] = (uint8_t)(s->clean[s->at + i] ^ 1u << bit);
        verify(s);
    }
    for (size_t v = 0; v < sizeof values; v++) {
        s->work[s->at + i] = values[v];
        verify(s);
    }
    restore(s, i);
}

/* The section's size in its header, in the file's byte order. */
static void shorten(subject *s, uint64_t length)
{
    bool big = s->clean[EI_DATA] == ELFDATA2MSB;
    for (unsigned i = 0; i < 8; i++)
        s->work[s->header + offsetof(Elf64_Shdr, sh_size) + (big ? 7 - i : i)] =
            (uint8_t)(length >> 8 * i);
    verify(s);
}

static void damage_section(subject *s)
{
    size_t step = s->length / MOST_BYTES + 1;
    verify(s);
    for (size_t i = 0; i < s->length; i += step)
        damage_byte(s, i);
    for (uint64_t n = 0; n < s->length; n += step)
        shorten(s, n);
    memcpy(s->work, s->clean, s->size);
}

static bool find_section(subject *s, const char *name)
{
    Elf *elf = elf_memory((char *)s->clean, s->size);
    size_t strings = 0;
    GElf_Ehdr eh;
    GElf_Shdr sh;
    Elf_Scn *scn = NULL;
    bool found = false;
    if (elf == NULL || gelf_getehdr(elf, &eh) == NULL || elf_getshdrstrndx(elf, &strings) != 0)
        return false;
    while (!found && (scn = elf_nextscn(elf, scn)) != NULL && gelf_getshdr(scn, &sh) != NULL) {
        const char *is = elf_strptr(elf, strings, sh.sh_name);
        found = is != NULL && strcmp(is, name) == 0;
        s->at = sh.sh_offset;
        s->length = sh.sh_size;
        s->header = eh.e_shoff + elf_ndxscn(scn) * eh.e_shentsize;
    }
    elf_end(elf);
    return found;
}

static bool read_file(subject *s)
{
    FILE *f = fopen(s->path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        return false;
    s->size = (size_t)ftell(f);
    rewind(f);
    s->clean = malloc(s->size);
    s->work = malloc(s->size);
    bool good = s->clean != NULL && s->work != NULL && fread(s->clean, 1, s->size, f) == s->size;
    fclose(f);
    if (good)
        memcpy(s->work, s->clean, s->size);
    return good;
}

int main(int argc, char **argv)
{
    static const char *const sections[] = {".eh_frame", ".debug_line"};
    elf_version(EV_CURRENT);
    for (int i = 1; i < argc; i++) {
        subject s = {.path = argv[i]};
        if (!read_file(&s)) {
            perror(argv[i]);
            return 1;
        }
        for (size_t k = 0; k < 2; k++) {
            if (!find_section(&s, sections[k])) {
                fprintf(stderr, "%s: no %s\n", argv[i], sections[k]);
                return 1;
            }
            s.runs = s.findings = 0;
            damage_section(&s);
            printf("%s: %lu kinds of damage, %s findings\n", sections[k], s.runs,
                   s.findings ? "with" : "no");
        }
        free(s.clean);
        free(s.work);
    }
    return 0;
}
