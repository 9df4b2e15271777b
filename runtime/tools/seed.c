/* framekit-seed --list [--only=TEXT] FILE KIND
 * framekit-seed [--only=TEXT] [--pick=N | --at=SYMBOL+0xOFF/WHERE] FILE KIND OUT
 *
 * Seeds one fault into the frametables of a compiled object or program, for the
 * tests of the checking runtime and for anybody who wants to see a report.
 *
 *   KIND          WHERE         the edit
 *   drop-slot     S+8           a listed stack slot is listed no longer
 *   drop-register rbx           the same for a register
 *   length        0+1, 0-1      an allocation length is one field too large or too small
 *   swap-lengths  0             lengths 0 and 1, which differ, are exchanged
 *   frame-size    +8 -8 +16 -16 the frame is taken for larger or smaller
 *   retype        S+8           instead of the slot a raw word is listed: the return address
 *   wrong-slot    S+8           instead of the slot another word of the frame is listed
 *
 * --list prints every place, "SYMBOL+0xOFF WHERE"; --pick takes the Nth of them.
 * OUT is written and stdout says "seed: KIND SYMBOL+0xOFF what".
 * exit: 0 · 1 no such place · 3 usage or unreadable.
 *
 * A dropped entry is overwritten by its neighbour (a duplicate root), so that
 * the descriptor keeps its length and the rest of the table its place. */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "framekit/frametable.h"

struct file {
    unsigned char *data;
    size_t size;
};

/* One possible edit: variant `v` of a kind at a descriptor. */
struct place {
    const fk_image *im;
    const fk_descr *d;
    uint32_t v;
    unsigned char *live, *allocs, *frame; /* in our own copy of the file; NULL while listing */
    char what[128];
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "framekit-seed: %s: %s\n", what, why);
    return 3;
}

static bool read_file(const char *path, struct file *f)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return false;
    f->size = ftell(in);
    rewind(in);
    f->data = malloc(f->size);
    bool ok = f->data && fread(f->data, 1, f->size, in) == f->size;
    fclose(in);
    return ok;
}

static bool write_file(const char *path, const struct file *f)
{
    FILE *out = fopen(path, "wb");
    bool ok = out && fwrite(f->data, 1, f->size, out) == f->size;
    return out && fclose(out) == 0 && ok;
}

/* --- bytes in the file's own order ------------------------------------------------------- */

static unsigned get16(const struct place *p, const unsigned char *b)
{
    return fk_image_big_endian(p->im) ? b[0] << 8 | b[1] : b[1] << 8 | b[0];
}

static void put16(const struct place *p, unsigned char *b, unsigned n)
{
    bool big = fk_image_big_endian(p->im);
    b[big] = (unsigned char)n;
    b[!big] = (unsigned char)(n >> 8);
}

/* --- kinds --------------------------------------------------------------------------------- */

static const char *location(const struct place *p, uint32_t i, char *buf, size_t size)
{
    fk_live l = fk_descr_live(p->d, i);
    const fk_reg *r = l.reg >= 0 ? fk_abi_reg(fk_image_abi(p->im), l.reg, FK_OCAML_5_3) : NULL;
    if (l.reg >= 0)
        snprintf(buf, size, "%s", r ? r->name : "?");
    else
        snprintf(buf, size, "S+%d", l.offset);
    return buf;
}

static uint32_t live_variants(const struct place *p) { return p->d->num_live; }
static void live_where(const struct place *p, char *buf, size_t size) { location(p, p->v, buf, size); }
static bool is_slot(const struct place *p) { return fk_descr_live(p->d, p->v).reg < 0; }
static bool droppable_slot(const struct place *p) { return p->d->num_live > 1 && is_slot(p); }
static bool droppable_register(const struct place *p) { return p->d->num_live > 1 && !is_slot(p); }

static void drop(struct place *p)
{
    char name[32];
    put16(p, p->live + 2 * p->v, get16(p, p->live + 2 * (p->v ? p->v - 1 : 1)));
    snprintf(p->what, sizeof p->what, "%s no longer listed", location(p, p->v, name, sizeof name));
}

/* The word of the frame's own return address: a raw number, never a value. */
static void retype(struct place *p)
{
    char name[32];
    put16(p, p->live + 2 * p->v, p->d->frame_size + fk_image_abi(p->im)->ra_offset);
    snprintf(p->what, sizeof p->what, "%s replaced by the return address", location(p, p->v, name, sizeof name));
}

static bool is_listed(const fk_descr *d, int32_t offset)
{
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        if (l.reg < 0 && l.offset == offset)
            return true;
    }
    return false;
}

/* The lowest word of the frame that is not listed; -1: none. */
static int32_t free_word(const struct place *p)
{
    const fk_abi *abi = fk_image_abi(p->im);
    int32_t end = (int32_t)p->d->frame_size + (abi->size_includes_ra ? abi->ra_offset : 0);
    for (int32_t o = abi->frame_reserved; o + 8 <= end; o += 8)
        if (!is_listed(p->d, o))
            return o;
    return -1;
}

static bool has_free_word(const struct place *p) { return is_slot(p) && free_word(p) >= 0; }

static void wrong_slot(struct place *p)
{
    char name[32];
    put16(p, p->live + 2 * p->v, (unsigned)free_word(p));
    snprintf(p->what, sizeof p->what, "%s replaced by S+%d", location(p, p->v, name, sizeof name), free_word(p));
}

static uint32_t length_variants(const struct place *p) { return 2 * p->d->num_allocs; }
static bool length_valid(const struct place *p)
{
    uint32_t n = fk_descr_wosize(p->d, p->v / 2);
    return p->v % 2 ? n > 1 : n < 256;
}
static void length_where(const struct place *p, char *buf, size_t size)
{
    snprintf(buf, size, "%u%s", p->v / 2, p->v % 2 ? "-1" : "+1");
}
static void length(struct place *p)
{
    unsigned char *n = p->allocs + p->v / 2;
    *n += p->v % 2 ? -1 : 1;
    snprintf(p->what, sizeof p->what, "block %u changed to %d fields", p->v / 2, *n + 1);
}

static uint32_t swap_variants(const struct place *p) { return p->d->num_allocs ? p->d->num_allocs - 1 : 0; }
static bool swap_valid(const struct place *p)
{
    return fk_descr_wosize(p->d, p->v) != fk_descr_wosize(p->d, p->v + 1);
}
static void swap_where(const struct place *p, char *buf, size_t size) { snprintf(buf, size, "%u", p->v); }
static void swap(struct place *p)
{
    unsigned char t = p->allocs[p->v];
    p->allocs[p->v] = p->allocs[p->v + 1];
    p->allocs[p->v + 1] = t;
    snprintf(p->what, sizeof p->what, "blocks %u and %u swapped", p->v, p->v + 1);
}

static const int frame_delta[] = {8, -8, 16, -16};
static uint32_t frame_variants(const struct place *p) { return p->d->flags & FK_DESCR_RETURN_TO_C ? 0 : 4; }
static bool frame_valid(const struct place *p) { return (int)p->d->frame_size + frame_delta[p->v] >= 0; }
static void frame_where(const struct place *p, char *buf, size_t size)
{
    snprintf(buf, size, "%+d", frame_delta[p->v]);
}
static void frame_size(struct place *p)
{
    put16(p, p->frame, get16(p, p->frame) + frame_delta[p->v]);
    snprintf(p->what, sizeof p->what, "frame size changed to %d", (int)p->d->frame_size + frame_delta[p->v]);
}

static const struct kind {
    const char *name;
    uint32_t (*variants)(const struct place *);
    bool (*valid)(const struct place *);
    void (*where)(const struct place *, char *buf, size_t size);
    void (*edit)(struct place *);
} kinds[] = {
    {"drop-slot", live_variants, droppable_slot, live_where, drop},
    {"drop-register", live_variants, droppable_register, live_where, drop},
    {"length", length_variants, length_valid, length_where, length},
    {"swap-lengths", swap_variants, swap_valid, swap_where, swap},
    {"frame-size", frame_variants, frame_valid, frame_where, frame_size},
    {"retype", live_variants, is_slot, live_where, retype},
    {"wrong-slot", live_variants, has_free_word, live_where, wrong_slot},
};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* --- search ---------------------------------------------------------------------------------- */

struct search {
    const struct kind *kind;
    const char *only, *at; /* NULL: any */
    long pick, n;          /* pick < 0: print all */
    fk_descr found;
    uint32_t variant;
};

static const char *site_name(const fk_image *im, uint64_t retaddr, char *buf, size_t size)
{
    fk_symbol s = {.name = "?"};
    fk_image_symbol_at(im, retaddr - 1, &s);
    snprintf(buf, size, "%s+0x%llx", s.name, (unsigned long long)(retaddr - s.addr));
    return buf;
}

static void consider(struct search *s, const struct place *p)
{
    char site[300], where[32], whole[340];
    site_name(p->im, p->d->retaddr, site, sizeof site);
    s->kind->where(p, where, sizeof where);
    snprintf(whole, sizeof whole, "%s/%s", site, where);
    if ((s->only && !strstr(site, s->only)) || (s->at && strcmp(whole, s->at) != 0))
        return;
    if (s->pick < 0)
        printf("%s %s\n", site, where);
    if (s->n++ == s->pick) {
        s->found = *p->d;
        s->variant = p->v;
    }
}

static void search(const fk_image *im, struct search *s)
{
    const fk_table *t;
    fk_error err;
    fk_cursor c;
    fk_descr d;
    for (size_t i = 0; (t = fk_image_table(im, i)); i++) {
        fk_cursor_start(t, &c);
        while (fk_cursor_next(&c, &d, &err) == FK_OK) {
            struct place p = {.im = im, .d = &d};
            for (uint32_t n = s->kind->variants(&p); p.v < n; p.v++)
                if (s->kind->valid(&p))
                    consider(s, &p);
        }
    }
}

/* --- edit -------------------------------------------------------------------------------------- */

/* Where the file keeps the byte at `address`: by the section of that name. */
static unsigned char *in_file(const fk_image *im, struct file *f, uint64_t address)
{
    fk_section want;
    size_t names;
    GElf_Shdr sh;
    Elf *e = elf_memory((char *)f->data, f->size);
    unsigned char *found = NULL;
    if (!e || elf_getshdrstrndx(e, &names) != 0 || fk_image_section_at(im, address, &want) != FK_OK)
        return NULL;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e, scn)) && !found;) {
        const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(e, names, sh.sh_name) : NULL;
        if (name && strcmp(name, want.name) == 0 && sh.sh_type != SHT_NOBITS && sh.sh_size == want.size)
            found = f->data + sh.sh_offset + (address - want.addr);
    }
    elf_end(e);
    return found;
}

static int seed(const fk_image *im, struct file *f, const struct search *s)
{
    const fk_descr *d = &s->found;
    char site[300];
    uint64_t a;
    const uint8_t *base = fk_image_bytes(im, d->address, &a);
    unsigned char *at = in_file(im, f, d->address);
    if (!at)
        return fail(fk_image_name(im), "the descriptor's bytes were not found in the file");
    struct place p = {.im = im, .d = d, .v = s->variant, .frame = at + 8, .live = at + (d->live - base),
                      .allocs = d->allocs ? at + (d->allocs - base) : NULL};
    s->kind->edit(&p);
    printf("seed: %s %s %s\n", s->kind->name, site_name(im, d->retaddr, site, sizeof site), p.what);
    return 0;
}

static int run(const char *path, const char *out, struct search *s)
{
    struct file f = {0};
    fk_image *im;
    fk_error err;
    elf_version(EV_CURRENT);
    if (!read_file(path, &f) || fk_image_open(path, NULL, &im, &err) != FK_OK)
        return fail(path, "cannot be read");
    search(im, s);
    int rc = s->pick < 0 ? 0 : s->pick >= s->n ? 1 : seed(im, &f, s);
    if (out && rc == 0 && !write_file(out, &f))
        rc = fail(out, "cannot be written");
    fk_image_close(im);
    free(f.data);
    if (fflush(stdout) != 0)
        rc = fail("standard output", "cannot be written");
    return rc;
}

static const char usage[] =
    "usage: framekit-seed [--only=TEXT] [--pick=N | --at=SYMBOL+0xOFF/WHERE] FILE KIND OUT\n"
    "       framekit-seed --list [--only=TEXT] FILE KIND\n"
    "  --list        every place where KIND can be seeded: SYMBOL+0xOFF WHERE\n"
    "  --only=TEXT   only places whose symbol contains TEXT\n"
    "  --pick=N      the Nth place (0)\n"
    "  --at=SYMBOL+0xOFF/WHERE  this place\n"
    "KIND: drop-slot drop-register length swap-lengths frame-size retype wrong-slot\n"
    "exit: 0 seeded or listed, 1 no such place, 3 usage or unreadable\n";

int main(int argc, char **argv)
{
    const char *arg[3] = {0};
    struct search s = {0};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return fputs(usage, stdout) < 0;
        if (strncmp(argv[i], "--pick=", 7) == 0)
            s.pick = labs(atol(argv[i] + 7));
        else if (strncmp(argv[i], "--only=", 7) == 0)
            s.only = argv[i] + 7;
        else if (strncmp(argv[i], "--at=", 5) == 0)
            s.at = argv[i] + 5;
        else if (strcmp(argv[i], "--list") == 0)
            s.pick = -1;
        else if (argv[i][0] != '-' && n < 3)
            arg[n++] = argv[i];
        else
            n = 4;
    }
    s.kind = n >= 2 ? kind_of(arg[1]) : NULL;
    if (n >= 2 && n <= 3 && !s.kind)
        return fail(arg[1], "no such KIND (--help)");
    if (n != (s.pick < 0 ? 2 : 3)) {
        fputs(usage, stderr);
        return 3;
    }
    return run(arg[0], arg[2], &s);
}
