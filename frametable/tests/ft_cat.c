/* ft-cat: everything that libframetable says about a file, for tests. Not ftdump: no options for
 * people, and a form that changes only with the library.
 *
 *   ft-cat [--scan] [--as=GEN] [--encode=GEN] [--quiet] [--targets] FILE...
 *
 * --targets lists what function calls through the PLT reach.
 * --encode writes assembler text of the first table in GEN instead; labels are function+offset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "framekit/frametable.h"

static fk_open_options options;
static fk_generation encode;
static bool quiet, targets;
static int status;

static void complain(const fk_error *err)
{
    char text[1024];
    fk_error_format(err, text, sizeof text);
    printf("error: %s\n", text);
    status = 1;
}

static void print_place(const fk_image *im, uint64_t addr)
{
    fk_symbol s;
    /* A return address may be the end of its function. */
    if (fk_image_symbol_at(im, addr - 1, &s) == FK_OK)
        printf("%s+%llu", s.name, (unsigned long long)(addr - s.addr));
    else
        printf("0x%llx", (unsigned long long)addr);
}

static void print_live(const fk_image *im, const fk_descr *d)
{
    printf(" live");
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live v = fk_descr_live(d, i);
        const fk_reg *r = v.reg < 0 ? NULL : fk_abi_reg(fk_image_abi(im), v.reg, FK_OCAML_5_3);
        if (v.reg < 0)
            printf(" %d", v.offset);
        else
            printf(" %s", r ? r->name : "?");
    }
}

static void print_frame(const fk_frame *f)
{
    if (f->opaque) {
        printf(" raw %08x %08x", f->raw[0], f->raw[1]);
        return;
    }
    printf(" %s:%d:%d-%d", f->file, f->line, f->start_char, f->end_char);
    if (f->end_line >= 0)
        printf(" end line %d offset %d", f->end_line, f->end_offset);
    printf(" in %s%s%s", f->defname ? f->defname : "-", f->raise ? " raise" : "",
           f->wide ? " wide" : "");
}

static void print_chain(const fk_table *t, uint64_t at)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    fk_result r;
    fk_chain_start(t, at, &c);
    printf(at ? "     at" : "     none");
    for (int n = 0; (r = fk_chain_next(&c, &f, &err)) == FK_OK && n < 100; n++)
        print_frame(&f);
    printf("\n");
    if (r == FK_BROKEN)
        complain(&err);
}

static void print_descr(const fk_image *im, const fk_descr *d)
{
    static const char *const names[] = {" debug", " alloc", " return-to-c", " long", " short"};
    printf("   +%llu ", (unsigned long long)d->index);
    print_place(im, d->retaddr);
    printf(" size %u", d->frame_size);
    for (unsigned i = 0; i < 5; i++)
        printf("%s", d->flags >> i & 1 ? names[i] : "");
    print_live(im, d);
    if (d->flags & FK_DESCR_ALLOC)
        printf(d->num_allocs ? " allocs" : " poll");
    for (uint32_t i = 0; i < d->num_allocs; i++)
        printf(" %u", fk_descr_wosize(d, i));
    printf("\n");
    for (uint32_t i = 0; i < d->num_debug; i++)
        print_chain(d->table, fk_descr_debuginfo(d, i));
}

static void print_roundtrip(const fk_table *t)
{
    bool same;
    uint64_t first;
    fk_error err;
    if (fk_table_roundtrip(t, &same, &first, &err))
        printf("   roundtrip impossible\n");
    else if (same)
        printf("   roundtrip same\n");
    else
        printf("   roundtrip differs at %llu\n", (unsigned long long)first);
}

static void print_table(const fk_image *im, const fk_table *t)
{
    fk_table_info x;
    fk_cursor c;
    fk_descr d;
    fk_error err;
    fk_result r;
    fk_table_info_get(t, &x);
    printf("  table [%s] %s in %s: %llu descriptors, bytes %llu + %llu + %llu, relocations %llu, "
           "extra "
           "%llu\n",
           x.module, x.symbol, x.section, (unsigned long long)x.num_descr,
           (unsigned long long)x.descr_bytes, (unsigned long long)x.debuginfo_bytes,
           (unsigned long long)x.name_bytes, (unsigned long long)x.relocation_bytes,
           (unsigned long long)x.extra_bytes);
    fk_cursor_start(t, &c);
    while ((r = fk_cursor_next(&c, &d, &err)) == FK_OK) {
        if (!quiet)
            print_descr(im, &d);
    }
    if (fk_table_status(t, &err))
        complain(&err);
    print_roundtrip(t);
}

static void print_index(const fk_image *im)
{
    fk_index *ix;
    fk_error err;
    uint64_t duplicates;
    if (fk_index_build(im, &ix, &duplicates, &err)) {
        complain(&err);
        return;
    }
    printf("  index of %llu, %llu duplicates\n", (unsigned long long)fk_index_count(ix),
           (unsigned long long)duplicates);
    fk_index_free(ix);
}

/* Where every call instruction of a code section leads, when a stub of the linker lies there. */
static void print_calls(const fk_image *im, const fk_section *g)
{
    uint64_t avail, to;
    fk_symbol s;
    fk_section at;
    const fk_abi *abi = fk_image_abi(im);
    const uint8_t *p = fk_image_bytes(im, g->addr, &avail);
    for (uint64_t i = abi->code_align; p && i <= avail; i += abi->code_align) {
        if (fk_abi_call_target(abi, p, i, g->addr + i, &to) &&
            fk_image_section_at(im, to, &at) == FK_OK && fk_image_target(im, to, &s) == FK_OK)
            printf("  %s+0x%llx -> %s\n", at.name, (unsigned long long)(to - at.addr), s.name);
    }
}

static void print_targets(const fk_image *im)
{
    fk_section g;
    for (size_t i = 0; fk_image_section(im, i, &g) == FK_OK; i++) {
        if (g.code)
            print_calls(im, &g);
    }
}

/* --- encoding ----------------------------------------------------------------------------- */

static void put(const char *text, size_t length, void *arg)
{
    (void)arg;
    fwrite(text, 1, length, stdout);
}

static int label(uint64_t retaddr, char *buf, size_t size, void *arg)
{
    fk_symbol s;
    if (fk_image_symbol_at(arg, retaddr - 1, &s))
        return -1;
    return snprintf(buf, size, "%s + %llu", s.name, (unsigned long long)(retaddr - s.addr));
}

static void write_assembly(fk_image *im)
{
    fk_builder *b;
    fk_error err;
    fk_table_info x;
    const fk_table *t = fk_image_table(im, 0);
    fk_table_info_get(t, &x);
    fk_result r = fk_builder_new(encode, fk_image_abi(im), &b, &err);
    if (!r)
        r = fk_builder_add_table(b, t, &err);
    if (!r)
        r = fk_builder_assembly(b, x.symbol, label, put, im, &err);
    if (r)
        complain(&err);
    fk_builder_free(b);
}

/* --- files ------------------------------------------------------------------------------------ */

static int print_image(fk_image *im, const fk_error *err, void *arg)
{
    (void)arg;
    const fk_table *t;
    if (!im) {
        complain(err);
        return 0;
    }
    if (encode) {
        write_assembly(im);
        return 0;
    }
    const char *slash = strrchr(fk_image_name(im), '/');
    printf("%s: %s %s %s-endian\n", slash ? slash + 1 : fk_image_name(im),
           fk_kind_name(fk_image_kind(im)), fk_image_abi(im)->name,
           fk_image_big_endian(im) ? "big" : "little");
    printf("  generation %s: %s\n", fk_generation_name(fk_image_generation(im)),
           fk_image_generation_reason(im));
    printf("  located by %s\n", fk_image_located_by(im));
    for (size_t i = 0; (t = fk_image_table(im, i)); i++)
        print_table(im, t);
    if (targets)
        print_targets(im);
    print_index(im);
    return 0;
}

static void option(const char *arg)
{
    if (strcmp(arg, "--scan") == 0)
        options.scan = true;
    else if (strcmp(arg, "--quiet") == 0)
        quiet = true;
    else if (strcmp(arg, "--targets") == 0)
        targets = true;
    else if (strncmp(arg, "--as=", 5) != 0 || !fk_generation_parse(arg + 5, &options.generation))
        if (strncmp(arg, "--encode=", 9) != 0 || !fk_generation_parse(arg + 9, &encode))
            exit(3);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        fk_error err;
        if (strncmp(argv[i], "--", 2) == 0)
            option(argv[i]);
        else if (fk_image_each(argv[i], &options, print_image, NULL, &err))
            complain(&err);
    }
    return status;
}
