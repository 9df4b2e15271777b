/* test_frametable.c - what is written is what is read, in every generation, word and byte order.
 * SEED=N repeats a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "frametable/tests/elf_make.h"
#include "frametable/tests/random_table.h"

static uint64_t seed;

#define DESCRS 400
#define TEXT_SIZE 0x100000

typedef struct {
    fk_generation g;
    const fk_abi *abi;
    uint8_t *table, *file;
    size_t table_size, file_size;
    fk_image *im;
} fixture;

static void open_file(fixture *f, const char *symbol)
{
    fk_error err;
    fk_open_options o = {.generation = f->g};
    elf_part part = {symbol, f->table, f->table_size};
    f->file = elf_make(f->abi, &part, 1, TEXT_SIZE, &f->file_size);
    assert_non_null(f->file);
    if (fk_image_open_memory("made", f->file, f->file_size, &o, &f->im, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
    assert_int_equal(fk_image_num_tables(f->im), 1);
}

static void make(fixture *f, fk_generation g, const fk_abi *abi)
{
    *f = (fixture){.g = g, .abi = abi};
    f->table = random_table(seed, g, abi, DESCRS, ELF_DATA, &f->table_size);
    assert_non_null(f->table);
    open_file(f, "camlMade.frametable");
}

static void drop(fixture *f)
{
    fk_image_close(f->im);
    free(f->file);
    free(f->table);
}

/* --- equality ------------------------------------------------------------------------------ */

static int32_t most(int32_t v, int32_t limit)
{
    return v > limit ? limit : v;
}

static void check_frame(const fixture *f, const fk_loc *l, const fk_frame *r)
{
    bool c = f->g == FK_GEN_C || f->g == FK_GEN_O2;
    assert_string_equal(r->file, l->file);
    if (f->g != FK_GEN_A)
        assert_string_equal(r->defname, l->defname);
    else
        assert_null(r->defname);
    assert_int_equal(r->line, l->line);
    assert_int_equal(r->start_char, most(l->start_char, c ? 65535 : 255));
    assert_int_equal(r->end_char, most(l->end_char, c ? 65535 : 1023));
    assert_int_equal(r->end_line, c ? l->end_line : -1);
    assert_int_equal(r->end_offset, c ? l->end_offset : -1);
    assert_int_equal(r->raise, l->raise);
}

static void check_chain(const fixture *f, const fk_descr *d, uint32_t i, const random_descr *want)
{
    fk_chain c;
    fk_frame r;
    uint32_t n = 0;
    if (f->g == FK_GEN_O3)
        return; /* its layout is not known to readers */
    fk_chain_start(d->table, fk_descr_debuginfo(d, i), &c);
    for (; fk_chain_next(&c, &r, NULL) == FK_OK; n++) {
        assert_true(n < want->length[i]);
        check_frame(f, &want->chain[i][n], &r);
    }
    assert_int_equal(n, want->length[i]);
}

static void check_live(const fixture *f, const fk_descr *d, const random_descr *want)
{
    assert_int_equal(d->num_live, want->in.num_live);
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live v = fk_descr_live(d, i);
        assert_int_equal(v.reg, want->live[i].reg);
        if (v.reg < 0)
            assert_int_equal(v.offset, want->live[i].offset);
    }
    (void)f;
}

static void check_descr(const fixture *f, const fk_descr *d, const random_descr *want)
{
    uint32_t forms = FK_DESCR_LONG | FK_DESCR_SHORT;
    assert_int_equal(d->retaddr, want->in.retaddr);
    assert_int_equal(d->flags & ~forms, want->in.flags);
    assert_int_equal(d->frame_size, want->in.frame_size);
    check_live(f, d, want);
    assert_int_equal(d->num_allocs, want->in.num_allocs);
    for (uint32_t i = 0; i < d->num_allocs; i++)
        assert_int_equal(fk_descr_wosize(d, i), want->wosize[i]);
    assert_int_equal(d->num_debug, want->in.num_debug);
    for (uint32_t i = 0; i < d->num_debug; i++)
        check_chain(f, d, i, want);
}

static void check_all(const fixture *f)
{
    const fk_table *t = fk_image_table(f->im, 0);
    fk_cursor c;
    fk_descr d;
    fk_error err;
    rng r = {seed};
    uint64_t n = 0;
    random_descr want;
    if (fk_table_status(t, &err))
        fail_msg("%s: %s", fk_generation_name(f->g), err.message);
    fk_cursor_start(t, &c);
    for (; fk_cursor_next(&c, &d, &err) == FK_OK; n++) {
        random_descr_make(&r, f->g, f->abi, n, &want);
        check_descr(f, &d, &want);
    }
    assert_int_equal(n, DESCRS);
}

static void check_roundtrip(const fixture *f)
{
    bool same;
    uint64_t first;
    fk_error err;
    fk_result r = fk_table_roundtrip(fk_image_table(f->im, 0), &same, &first, &err);
    if (r || !same)
        fail_msg("%s %s: %s at %llu", fk_generation_name(f->g), f->abi->name,
                 r ? err.message : "differs", (unsigned long long)first);
}

static void check_index(const fixture *f)
{
    fk_index *ix;
    fk_error err;
    uint64_t duplicates;
    fk_cursor c;
    fk_descr d, found;
    assert_int_equal(fk_index_build(f->im, &ix, &duplicates, &err), FK_OK);
    assert_int_equal(fk_index_count(ix), DESCRS);
    assert_int_equal(duplicates, 0);
    fk_cursor_start(fk_image_table(f->im, 0), &c);
    while (fk_cursor_next(&c, &d, &err) == FK_OK) {
        assert_int_equal(fk_index_lookup(ix, d.retaddr, &found), FK_OK);
        found.index = fk_descr_index(&found);
        assert_memory_equal(&found, &d, offsetof(fk_descr, live));
        assert_int_equal(fk_index_lookup(ix, d.retaddr + 9, &found), FK_ABSENT);
    }
    fk_index_free(ix);
}

/* --- tests ----------------------------------------------------------------------------- */

/* OxCaml has 64-bit little-endian targets only; its layouts are read and written in any order. */
static bool exists(fk_generation g, const fk_abi *abi)
{
    return abi->word == 8 || g <= FK_GEN_C;
}

static void each_kind(void (*test)(const fixture *))
{
    for (int g = FK_GEN_A; g <= FK_GEN_O3; g++) {
        for (size_t a = 0; a < fk_num_abis; a++) {
            fixture f;
            if (!exists((fk_generation)g, fk_abis[a]))
                continue;
            make(&f, (fk_generation)g, fk_abis[a]);
            test(&f);
            drop(&f);
        }
    }
}

static void test_read_what_was_written(void **state)
{
    (void)state;
    each_kind(check_all);
}

static void test_roundtrip(void **state)
{
    (void)state;
    each_kind(check_roundtrip);
}

static void test_index(void **state)
{
    (void)state;
    each_kind(check_index);
}

/* Without being told, from the data alone. */
static void test_detection(void **state)
{
    (void)state;
    for (int g = FK_GEN_A; g <= FK_GEN_O3; g++) {
        for (size_t a = 0; a < fk_num_abis; a++) {
            fixture f;
            fk_image *im;
            if (!exists((fk_generation)g, fk_abis[a]))
                continue;
            make(&f, (fk_generation)g, fk_abis[a]);
            assert_int_equal(fk_image_open_memory("made", f.file, f.file_size, NULL, &im, NULL),
                             FK_OK);
            if (fk_image_generation(im) != f.g)
                fail_msg("%s %s read as %s: %s", fk_generation_name(f.g), f.abi->name,
                         fk_generation_name(fk_image_generation(im)),
                         fk_image_generation_reason(im));
            fk_image_close(im);
            drop(&f);
        }
    }
}

static void check_missing(const fk_index *ix, const fk_table *t, fk_result want)
{
    fk_cursor c;
    fk_descr d, found;
    fk_cursor_start(t, &c);
    while (fk_cursor_next(&c, &d, NULL) == FK_OK)
        assert_int_equal(fk_index_lookup(ix, d.retaddr, &found), want);
}

/* A module comes and goes; readers of the old index see nothing of it. */
static void test_add_remove(void **state)
{
    fixture f;
    fk_index *one, *two, *none;
    fk_error err;
    (void)state;
    make(&f, FK_GEN_C, fk_abi_by_name("s390x"));
    const fk_table *t = fk_image_table(f.im, 0);
    assert_int_equal(fk_index_build(f.im, &one, NULL, &err), FK_OK);
    assert_int_equal(fk_index_remove(one, t, &none, &err), FK_OK);
    assert_int_equal(fk_index_add(none, t, &two, &err), FK_OK);
    check_missing(one, t, FK_OK);
    check_missing(none, t, FK_ABSENT);
    check_missing(two, t, FK_OK);
    assert_int_equal(fk_index_count(none), 0);
    fk_index_free(one);
    assert_int_equal(fk_index_remove(none, t, &one, &err), FK_ABSENT);
    fk_index_free(none);
    check_missing(two, t, FK_OK);
    fk_index_free(two);
    drop(&f);
}

/* The first of equal return addresses counts, and comes back when it is alone. */
static void test_duplicates(void **state)
{
    fixture f;
    fk_index *once, *twice;
    fk_descr d;
    fk_error err;
    (void)state;
    make(&f, FK_GEN_B, fk_abi_by_name("arm64"));
    const fk_table *t = fk_image_table(f.im, 0);
    assert_int_equal(fk_index_build(f.im, &once, NULL, &err), FK_OK);
    assert_int_equal(fk_index_add(once, t, &twice, &err), FK_OK);
    assert_int_equal(fk_index_count(twice), DESCRS);
    fk_cursor c;
    fk_cursor_start(t, &c);
    assert_int_equal(fk_cursor_next(&c, &d, NULL), FK_OK);
    assert_int_equal(fk_index_lookup(twice, d.retaddr, &d), FK_OK);
    assert_int_equal(fk_descr_index(&d), 0);
    fk_index_free(once);
    fk_index_free(twice);
    drop(&f);
}

/* --- native tables --------------------------------------------------------------------- */

static const fk_abi *host_abi(void)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return fk_abi_by_name("s390x");
#else
    return fk_abi_by_name("amd64");
#endif
}

static const void *native(uint64_t s, uint64_t n, uint8_t **data, size_t *size)
{
    *data = random_table(s, FK_GEN_C, host_abi(), n, 0x10000, size);
    assert_non_null(*data);
    return *data;
}

static void test_native(void **state)
{
    fk_index *ix, *more, *less;
    fk_error err;
    fk_descr d;
    random_descr want;
    rng r = {seed};
    uint8_t *a, *b;
    size_t n;
    (void)state;
    const void *first = native(seed, 100, &a, &n), *second = native(seed, 300, &b, &n);
    assert_int_equal(fk_index_build_native(&first, 1, FK_GEN_C, host_abi(), NULL, &ix, &err),
                     FK_OK);
    assert_int_equal(fk_index_add_native(ix, &second, 1, &more, &err), FK_OK);
    fk_index_free(ix);
    assert_int_equal(fk_index_remove_native(more, &first, 1, &less, &err), FK_OK);
    assert_int_equal(fk_index_remove_native(less, &first, 1, &ix, &err), FK_ABSENT);
    fk_index_free(more);
    assert_int_equal(fk_index_count(less), 300);
    for (uint64_t i = 0; i < 300; i++) {
        random_descr_make(&r, FK_GEN_C, host_abi(), i, &want);
        assert_int_equal(fk_index_lookup(less, want.in.retaddr, &d), FK_OK);
        assert_int_equal(d.frame_size, want.in.frame_size);
    }
    fk_index_free(less);
    free(a);
    free(b);
}

/* --- limits ---------------------------------------------------------------------------- */

static fk_result add_one(fk_generation g, const fk_descr_in *in, fk_error *err)
{
    fk_builder *b;
    assert_int_equal(fk_builder_new(g, fk_abi_by_name("amd64"), &b, err), FK_OK);
    fk_result r = fk_builder_add(b, in, err);
    fk_builder_free(b);
    return r;
}

static void test_limits(void **state)
{
    fk_error err;
    fk_live odd = {.offset = 3, .reg = -1}, far = {.offset = 0x10000, .reg = -1};
    uint16_t huge = 257;
    (void)state;
    fk_descr_in frame = {.frame_size = 0xFFF8}, larger = {.frame_size = 0x10000};
    assert_int_equal(add_one(FK_GEN_C, &frame, &err), FK_OK);
    assert_int_equal(add_one(FK_GEN_C, &larger, &err), FK_BROKEN);
    assert_non_null(strstr(err.message, "frame is too large"));
    assert_int_equal(add_one(FK_GEN_O1, &larger, &err), FK_OK);
    fk_descr_in bad_live = {.frame_size = 16, .num_live = 1, .live = &odd};
    assert_int_equal(add_one(FK_GEN_B, &bad_live, &err), FK_BROKEN);
    bad_live.live = &far;
    assert_int_equal(add_one(FK_GEN_B, &bad_live, &err), FK_BROKEN);
    assert_int_equal(add_one(FK_GEN_O2, &bad_live, &err), FK_OK);
    fk_descr_in alloc = {
        .frame_size = 16, .flags = FK_DESCR_ALLOC, .num_allocs = 1, .wosize = &huge};
    assert_int_equal(add_one(FK_GEN_C, &alloc, &err), FK_BROKEN);
    assert_int_equal(add_one(FK_GEN_A, &alloc, &err), FK_BROKEN);
}

static void test_errors_are_words(void **state)
{
    fk_error err = {.file = "f", .section = ".data", .offset = 0x20, .entry = 7, .message = "bad"};
    char buf[64], cut[8];
    (void)state;
    assert_int_equal(fk_error_format(&err, buf, sizeof buf), 27);
    assert_string_equal(buf, "f: .data+0x20: entry 7: bad");
    assert_int_equal(fk_error_format(&err, cut, sizeof cut), 27);
    assert_string_equal(cut, "f: .dat");
}

int main(void)
{
    const char *s = getenv("SEED");
    seed = s ? strtoull(s, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_what_was_written), cmocka_unit_test(test_roundtrip),
        cmocka_unit_test(test_index),                 cmocka_unit_test(test_detection),
        cmocka_unit_test(test_add_remove),            cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_native),                cmocka_unit_test(test_limits),
        cmocka_unit_test(test_errors_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
