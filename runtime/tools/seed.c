/* framekit-seed [--list] [--pick=N] [--skip=GLOB] OBJECT KIND OUT
 *
 * Seeds one fault into the frametables of a compiled object or program, for the
 * tests of the checking runtime and for anybody who wants to see a report.
 *
 *   KIND  drop-slot  drop-register  length  swap-lengths  frame-size  retype
 *
 * The Nth possible place is edited and OUT written; stdout names the return
 * address ("seed: KIND RETADDR FUNCTION what"). exit: 0 · 1 no such place · 3 usage.
 *
 * A dropped entry is overwritten by its neighbour (a duplicate root), so that
 * the descriptor keeps its length and the rest of the table its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "framekit/frametable.h"

struct file {
    unsigned char *data;
    size_t size;
};

struct place {
    const fk_descr *d;
    const fk_image *im;
    unsigned char *live, *allocs, *frame; /* in our own copy of the file */
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

static bool big;
static unsigned get16(const unsigned char *p) { return big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]; }
static void put16(unsigned char *p, unsigned n)
{
    p[big] = (unsigned char)n;
    p[!big] = (unsigned char)(n >> 8);
}

/* --- kinds: true when the descriptor has such a place; edits it when `edit` ------------------ */

static bool drop(struct place *p, bool reg, bool edit)
{
    const fk_descr *d = p->d;
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        if ((l.reg >= 0) != reg || d->num_live < 2)
            continue;
        if (edit) {
            put16(p->live + 2 * i, get16(p->live + 2 * (i ? i - 1 : 1)));
            snprintf(p->what, sizeof p->what, reg ? "register %d no longer listed" : "slot S+%d no longer listed",
                     reg ? l.reg : l.offset);
        }
        return true;
    }
    return false;
}
static bool drop_slot(struct place *p, bool edit) { return drop(p, false, edit); }
static bool drop_register(struct place *p, bool edit) { return drop(p, true, edit); }

static bool length(struct place *p, bool edit)
{
    if (p->d->num_allocs == 0)
        return false;
    if (edit) {
        p->allocs[0] += p->allocs[0] == 255 ? -1 : 1;
        snprintf(p->what, sizeof p->what, "block 0 changed to %d fields", p->allocs[0] + 1);
    }
    return true;
}

static bool swap_lengths(struct place *p, bool edit)
{
    for (uint32_t i = 1; i < p->d->num_allocs; i++)
        if (fk_descr_wosize(p->d, i) != fk_descr_wosize(p->d, i - 1)) {
            if (edit) {
                unsigned char t = p->allocs[i];
                p->allocs[i] = p->allocs[i - 1];
                p->allocs[i - 1] = t;
                snprintf(p->what, sizeof p->what, "blocks %u and %u swapped", i - 1, i);
            }
            return true;
        }
    return false;
}

static bool frame_size(struct place *p, bool edit)
{
    if (p->d->flags & FK_DESCR_RETURN_TO_C)
        return false;
    if (edit) {
        put16(p->frame, get16(p->frame) + 16);
        snprintf(p->what, sizeof p->what, "frame size changed to %u", p->d->frame_size + 16);
    }
    return true;
}

/* The first listed slot is replaced by the frame's return address word. */
static bool retype(struct place *p, bool edit)
{
    const fk_abi *abi = fk_image_abi(p->im);
    for (uint32_t i = 0; i < p->d->num_live; i++) {
        fk_live l = fk_descr_live(p->d, i);
        if (l.reg >= 0)
            continue;
        if (edit) {
            put16(p->live + 2 * i, p->d->frame_size + abi->ra_offset);
            snprintf(p->what, sizeof p->what, "slot S+%d replaced by the return address", l.offset);
        }
        return true;
    }
    return false;
}

static const struct kind {
    const char *name;
    bool (*apply)(struct place *, bool edit);
} kinds[] = {{"drop-slot", drop_slot}, {"drop-register", drop_register}, {"length", length},
             {"swap-lengths", swap_lengths}, {"frame-size", frame_size}, {"retype", retype}};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* --- search ---------------------------------------------------------------------------------- */

/* The descriptor's bytes in the file: unique, since it holds an address and
 * its neighbours; found through its raw live entries' position in the image. */
static unsigned char *in_file(const fk_image *im, struct file *f, const unsigned char *base, uint64_t address)
{
    uint64_t avail;
    const uint8_t *p = fk_image_bytes(im, address, &avail);
    (void)base;
    size_t n = avail < 64 ? avail : 64;
    /* Relocated words differ between image and file: skip the return address. */
    for (size_t i = 0; p && n > 16 && i + n <= f->size; i += 4)
        if (memcmp(f->data + i + 8, p + 8, n > 24 ? 16 : n - 8) == 0) {
            uint64_t back;
            const uint8_t *before = fk_image_bytes(im, address - 16, &back);
            if (!before || memcmp(f->data + i - 8, before + 8, 8) == 0)
                return f->data + i;
        }
    return NULL;
}

static bool wanted(const fk_image *im, const fk_descr *d, const char *only)
{
    fk_symbol s;
    return !only || (fk_image_symbol_at(im, d->retaddr - 1, &s) == FK_OK && strstr(s.name, only));
}

static long search(const fk_image *im, struct file *f, const struct kind *k, long pick, const char *only, fk_descr *out)
{
    const fk_table *t;
    long n = 0;
    fk_error err;
    (void)f;
    for (size_t i = 0; (t = fk_image_table(im, i)); i++) {
        fk_cursor c;
        fk_descr d;
        fk_cursor_start(t, &c);
        while (fk_cursor_next(&c, &d, &err) == FK_OK) {
            struct place p = {.d = &d, .im = im};
            if (!wanted(im, &d, only) || !k->apply(&p, false))
                continue;
            if (n == pick)
                *out = d;
            n++;
        }
    }
    return n;
}

static int seed(const fk_image *im, struct file *f, const struct kind *k, const fk_descr *d)
{
    unsigned char *at = in_file(im, f, NULL, d->address);
    fk_symbol s = {0};
    if (!at)
        return fail(fk_image_name(im), "the descriptor's bytes were not found in the file");
    uint64_t a;
    const uint8_t *base = fk_image_bytes(im, d->address, &a);
    struct place p = {.d = d, .im = im, .frame = at + 8, .live = at + (d->live - base),
                      .allocs = d->allocs ? at + (d->allocs - base) : NULL};
    k->apply(&p, true);
    fk_image_symbol_at(im, d->retaddr - 1, &s);
    printf("seed: %s %s+0x%llx %s\n", k->name, s.name ? s.name : "?",
           (unsigned long long)(d->retaddr - s.addr), p.what);
    return 0;
}

int main(int argc, char **argv)
{
    const char *arg[3], *only = NULL;
    long pick = 0, n = 0;
    bool list = false;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--pick=", 7) == 0)
            pick = atol(argv[i] + 7);
        else if (strncmp(argv[i], "--only=", 7) == 0)
            only = argv[i] + 7;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (n < 3)
            arg[n++] = argv[i];
    }
    const struct kind *k = n >= 2 ? kind_of(arg[1]) : NULL;
    if (!k || (!list && n != 3))
        return fail("usage", "[--list] [--pick=N] [--only=TEXT] OBJECT KIND OUT");
    struct file f = {0};
    fk_image *im;
    fk_error err;
    fk_descr d = {0};
    if (!read_file(arg[0], &f) || fk_image_open(arg[0], NULL, &im, &err) != FK_OK)
        return fail(arg[0], "cannot be read");
    big = fk_image_big_endian(im);
    long places = search(im, &f, k, pick, only, &d);
    if (list)
        printf("%ld\n", places);
    int rc = list ? 0 : pick >= places ? 1 : seed(im, &f, k, &d);
    if (!list && rc == 0 && !write_file(arg[2], &f))
        rc = fail(arg[2], "cannot be written");
    fk_image_close(im);
    free(f.data);
    return rc;
}
