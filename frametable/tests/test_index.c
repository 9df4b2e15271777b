/* test_index.c - indexes of hand-made tables against a model that searches by walking.
 *
 * A table is an array of 64-bit words: the count, then for each descriptor its return address and
 * a word that holds frame data (two 16-bit halves; no live entries, nothing behind). The model is
 * the list of tables that an index should have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/abi.h"
#include "framekit/frametable.h"
#include "frametable/tests/random_table.h"

#define MOST_TABLES 64
#define MOST_DESCRS 400

typedef struct {
    uint64_t word[1 + 2 * MOST_DESCRS];
} table;

typedef struct {
    table *t[MOST_TABLES];
    size_t n;
} model;

static const fk_abi *host_abi(void)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return fk_abi_by_name("s390x");
#else
    return fk_abi_by_name("amd64");
#endif
}

/* Tables lie in one arena, as in memory of a process: they have an order. */
static table arena[MOST_TABLES];

static void add_descr(table *t, uint64_t retaddr, uint16_t frame_size)
{
    uint16_t half[4] = {frame_size, 0, 0, 0};
    uint64_t i = t->word[0]++;
    t->word[1 + 2 * i] = retaddr;
    memcpy(&t->word[2 + 2 * i], half, sizeof half);
}

/* The first in memory that has the address; NULL: none. */
static const uint64_t *expected(const model *m, uint64_t retaddr)
{
    const uint64_t *best = NULL;
    for (size_t i = 0; i < m->n; i++) {
        const uint64_t *w = m->t[i]->word;
        for (uint64_t k = 0; k < w[0]; k++) {
            if (w[1 + 2 * k] == retaddr && (!best || &w[1 + 2 * k] < best))
                best = &w[1 + 2 * k];
        }
    }
    return best;
}

static uint64_t count_distinct(const model *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const uint64_t *w = m->t[i]->word;
        for (uint64_t k = 0; k < w[0]; k++)
            n += expected(m, w[1 + 2 * k]) == &w[1 + 2 * k];
    }
    return n;
}

static void check_address(const fk_index *ix, const model *m, uint64_t retaddr, bool exact)
{
    fk_descr one, many;
    const uint64_t *want = expected(m, retaddr);
    fk_result r = fk_index_lookup(ix, retaddr, &one);
    if ((r == FK_OK) != (want != NULL))
        fail_msg("0x%llx: %s", (unsigned long long)retaddr, want ? "not found" : "found");
    assert_int_equal(fk_index_find_many(ix, &retaddr, 1, &many), want != NULL);
    if (!want) {
        assert_null(many.table);
        return;
    }
    assert_int_equal(one.retaddr, retaddr);
    assert_int_equal(one.address, many.address);
    if (exact)
        assert_int_equal(one.address, (uint64_t)(uintptr_t)want);
    assert_int_not_equal(fk_descr_index(&one), FK_NO_ENTRY);
}

/* Every address of every table, in the index or not, and its neighbours. */
static void check(const fk_index *ix, const model *m, bool exact)
{
    for (size_t i = 0; i < MOST_TABLES; i++) {
        for (uint64_t k = 0; k < arena[i].word[0]; k++) {
            uint64_t retaddr = arena[i].word[1 + 2 * k];
            check_address(ix, m, retaddr, exact);
            check_address(ix, m, retaddr + 1, exact);
        }
    }
    assert_int_equal(fk_index_count(ix), count_distinct(m));
}

static fk_index *build(const model *m)
{
    fk_index *ix;
    fk_error err;
    assert_int_equal(fk_index_build_native((const void *const *)m->t, m->n, FK_GEN_C, host_abi(),
                                           NULL, &ix, &err),
                     FK_OK);
    return ix;
}

static model all_tables(size_t n)
{
    model m = {.n = n};
    for (size_t i = 0; i < n; i++)
        m.t[i] = &arena[i];
    return m;
}

static void clear_arena(void)
{
    memset(arena, 0, sizeof arena);
}

/* --- what a part must be able to hold -------------------------------------------------------- */

static void check_arena(size_t n)
{
    model m = all_tables(n);
    fk_index *ix = build(&m);
    check(ix, &m, true);
    fk_index_free(ix);
}

/* Functions whose stubs rise behind them, as compilers write them; two tables are empty. */
static void test_compiled_order(void **state)
{
    (void)state;
    clear_arena();
    for (size_t t = 1; t < 20; t++) {
        for (uint64_t f = 10; t != 7 && f > 0; f--) {
            uint64_t at = 0x400000 + t * 0x10000 + f * 0x400;
            for (uint64_t k = 0; k < 20; k++) {
                add_descr(&arena[t], at - k * 16, 8);
                if (k % 3 == 1)
                    add_descr(&arena[t], at + 16 + k * 10, 16);
            }
        }
    }
    check_arena(20);
}

static void test_any_order(void **state)
{
    rng r = {7};
    (void)state;
    clear_arena();
    for (size_t t = 0; t < 8; t++) {
        for (uint64_t k = 0; k < 150; k++)
            add_descr(&arena[t], 0x400000 + (rng_below(&r, 100000) << 2), 8);
    }
    check_arena(8);
}

static void test_rising_order(void **state)
{
    (void)state;
    clear_arena();
    for (size_t t = 0; t < 5; t++) {
        for (uint64_t k = 0; k < 200; k++)
            add_descr(&arena[4 - t], 0x400000 + t * 0x10000 + k * 16, 8);
    }
    check_arena(5);
}

/* Every address of a range, and a few that stretch the directory. */
static void test_crowded(void **state)
{
    (void)state;
    clear_arena();
    for (uint64_t k = 0; k < 300; k++)
        add_descr(&arena[0], 0x400000 + k, 8);
    add_descr(&arena[0], 0x40000000, 8);
    add_descr(&arena[0], 0x70000000, 8);
    check_arena(1);
}

/* The same address in many tables, and many times in one. */
static void test_equal(void **state)
{
    (void)state;
    clear_arena();
    for (size_t t = 0; t < 6; t++) {
        for (uint64_t k = 0; k < 40; k++)
            add_descr(&arena[t], 0x400000 + k % 10 * 8, (uint16_t)(t * 8));
    }
    check_arena(6);
}

/* A program, a library and a mapping at the end of memory. */
static void test_far(void **state)
{
    static const uint64_t base[] = {0x400000, 0x7f0000000000, 0x555500000000, 0x7fffff000000,
                                    UINT64_MAX - 0x10000, 0x7effffff8000};
    (void)state;
    clear_arena();
    for (size_t t = 0; t < 6; t++) {
        for (uint64_t k = 0; k < 100; k++)
            add_descr(&arena[t], base[t] + 4000 - k * 16, 8);
    }
    check_arena(6);
}

/* One table whose own addresses cannot be told apart in 32 bits. */
static void test_too_far(void **state)
{
    fk_index *ix;
    fk_error err;
    const void *t = &arena[0];
    (void)state;
    clear_arena();
    add_descr(&arena[0], 0x400000, 8);
    add_descr(&arena[0], 0x400000 + ((uint64_t)1 << 32), 8);
    assert_int_equal(fk_index_build_native(&t, 1, FK_GEN_C, host_abi(), NULL, &ix, &err),
                     FK_BROKEN);
    assert_null(ix);
    assert_non_null(strstr(err.message, "4 GB"));
}

static void test_nothing(void **state)
{
    fk_index *ix, *more;
    fk_error err;
    fk_descr d;
    const void *t = &arena[0];
    (void)state;
    clear_arena();
    assert_int_equal(fk_index_build_native(NULL, 0, FK_GEN_C, host_abi(), NULL, &ix, &err), FK_OK);
    assert_int_equal(fk_index_count(ix), 0);
    assert_int_equal(fk_index_lookup(ix, 0, &d), FK_ABSENT);
    assert_int_equal(fk_index_remove_native(ix, &t, 1, &more, &err), FK_ABSENT);
    fk_index_free(ix);
    check_arena(1);
}

/* A thousand at one place and a few around it: more than a byte counts. */
static void test_heap_of_calls(void **state)
{
    (void)state;
    clear_arena();
    for (size_t t = 0; t < 3; t++) {
        for (uint64_t k = 0; k < 380; k++)
            add_descr(&arena[t], 0x500000 + t * 500 + k, 8);
        add_descr(&arena[t], 0x400000 + t, 8);
        add_descr(&arena[t], 0x7000000 + t, 8);
    }
    check_arena(3);
}

/* --- limits -------------------------------------------------------------------------------------
 * The table ends where its page does, and the next one may not be touched. */

enum { CODE = 0x400000, CODE_END = 0x401000 };

static uint8_t *new_page(size_t size)
{
    uint8_t *p = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + size, size, PROT_NONE), 0);
    return p;
}

/* The arena's first table at the end of the page, shorter by `cut` bytes; `why` is what must be
 * said of it, NULL: nothing. */
static void check_limits(uint8_t *page, size_t size, size_t cut, const char *why)
{
    fk_error err = {0};
    fk_index *ix;
    size_t bytes = 8 * (1 + 2 * (size_t)arena[0].word[0]) - cut;
    uint8_t *at = page + ((size - bytes) & ~(size_t)7);
    const void *t = at;
    memcpy(at, arena[0].word, bytes);
    fk_native_limits l = {at + bytes, (void *)(uintptr_t)CODE, (void *)(uintptr_t)CODE_END};
    fk_result r = fk_index_build_native(&t, 1, FK_GEN_C, host_abi(), &l, &ix, &err);
    assert_int_equal(r, why ? FK_BROKEN : FK_OK);
    if (why && !strstr(err.message, why))
        fail_msg("'%s' does not say '%s'", err.message, why);
    if (r == FK_OK)
        assert_int_equal(fk_index_count(ix), arena[0].word[0]);
    else
        assert_null(ix);
    fk_index_free(ix);
}

static void fill_first(uint64_t n)
{
    clear_arena();
    for (uint64_t k = 0; k < n; k++)
        add_descr(&arena[0], CODE_END - 8 * k, 8);
}

/* Every length, of tables with few and with many descriptors; only the last pad may be missing. */
static void test_limits_of_data(void **state)
{
    static const uint64_t counts[] = {1, 2, 3, 90, 200};
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *page = new_page(size);
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        fill_first(counts[i]);
        for (size_t cut = 0; cut <= 4; cut++)
            check_limits(page, size, cut, NULL);
        for (size_t cut = 5; cut <= 16 * counts[i]; cut++)
            check_limits(page, size, cut, "end");
        check_limits(page, size, 16 * counts[i] + 1, "outside the program's data");
    }
    munmap(page, 2 * size);
}

/* A count too large, one that only memory behind it would show, and any descriptor's address. */
static void test_limits_of_code(void **state)
{
    enum { N = 150 };
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *page = new_page(size);
    (void)state;
    fill_first(N);
    for (uint64_t k = 0; k < N; k++) {
        uint64_t *retaddr = &arena[0].word[1 + 2 * k], good = *retaddr;
        const uint64_t bad[] = {CODE - 1, CODE_END + 1, 0, good + ((uint64_t)1 << 32), UINT64_MAX};
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            *retaddr = bad[i];
            check_limits(page, size, 0, "outside the program's code");
        }
        *retaddr = good;
    }
    check_limits(page, size, 0, NULL);
    munmap(page, 2 * size);
}

static void test_limits_of_counts(void **state)
{
    static const uint64_t counts[] = {4, 1000, 1 << 20, (uint64_t)1 << 60, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        fk_error err;
        fk_index *ix;
        const void *t = &arena[0];
        fill_first(3);
        arena[0].word[0] = counts[i];
        fk_native_limits l = {&arena[0].word[7], (void *)(uintptr_t)CODE,
                              (void *)(uintptr_t)CODE_END};
        assert_int_equal(fk_index_build_native(&t, 1, FK_GEN_C, host_abi(), &l, &ix, &err),
                         FK_BROKEN);
        assert_null(ix);
    }
}

/* --- modules that come and go ----------------------------------------------------------------- */

static void fill_arena(rng *r)
{
    clear_arena();
    for (size_t t = 0; t < MOST_TABLES; t++) {
        uint32_t n = rng_below(r, t == 0 ? MOST_DESCRS : 30);
        for (uint32_t k = n; k > 0; k--)
            add_descr(&arena[t], 0x400000 + t * 0x1000 + k * 32, 8);
        if (t % 16 == 5) /* shares an address with another */
            add_descr(&arena[t], 0x400000 + (t - 1) * 0x1000 + 32, 8);
    }
}

static bool has(const model *m, const table *t)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->t[i] == t)
            return true;
    }
    return false;
}

static fk_index *change(fk_index *ix, model *m, table *t)
{
    fk_index *next;
    fk_error err;
    const void *p = t;
    if (!has(m, t)) {
        assert_int_equal(fk_index_add_native(ix, &p, 1, &next, &err), FK_OK);
        m->t[m->n++] = t;
        return next;
    }
    assert_int_equal(fk_index_remove_native(ix, &p, 1, &next, &err), FK_OK);
    for (size_t i = 0; i < m->n; i++) {
        if (m->t[i] == t)
            m->t[i--] = m->t[--m->n];
    }
    return next;
}

/* Old indexes stay as they were while new ones are made and freed. */
static void test_changes(void **state)
{
    enum { OLD = 5 };
    rng r = {11};
    fk_index *old[OLD] = {NULL};
    model then[OLD];
    (void)state;
    fill_arena(&r);
    model m = all_tables(8);
    fk_index *ix = build(&m);
    for (int step = 0; step < 150; step++) {
        table *t = &arena[step < 60 ? 1 + rng_below(&r, MOST_TABLES - 1)
                                    : rng_below(&r, MOST_TABLES)];
        int slot = step % OLD;
        if (m.n == 1 && m.t[0] == t)
            continue; /* an empty index does not know whose tables it had */
        if (step % 10 == 0 && old[slot])
            check(old[slot], &then[slot], false);
        fk_index_free(old[slot]);
        old[slot] = ix;
        then[slot] = m;
        ix = change(ix, &m, t);
        if (step % 5 == 0)
            check(ix, &m, false);
    }
    check(ix, &m, false);
    fk_index_free(ix);
    for (int i = 0; i < OLD; i++)
        fk_index_free(old[i]);
}

/* Many addresses at once, more than a batch, some of them unknown. */
static void test_many(void **state)
{
    enum { N = 1000 };
    static fk_descr out[N];
    static uint64_t addr[N];
    rng r = {3};
    size_t known = 0;
    (void)state;
    fill_arena(&r);
    model m = all_tables(MOST_TABLES);
    fk_index *ix = build(&m);
    for (size_t i = 0; i < N; i++)
        addr[i] = 0x400000 + (uint64_t)rng_below(&r, MOST_TABLES * 0x80) * 32;
    size_t found = fk_index_find_many(ix, addr, N, out);
    for (size_t i = 0; i < N; i++) {
        const uint64_t *want = expected(&m, addr[i]);
        assert_int_equal(out[i].table != NULL, want != NULL);
        if (want)
            assert_int_equal(out[i].address, (uint64_t)(uintptr_t)want);
        known += want != NULL;
    }
    assert_int_equal(found, known);
    assert_true(known > 50 && known < N);
    fk_index_free(ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiled_order), cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_rising_order),   cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_equal),          cmocka_unit_test(test_far),
        cmocka_unit_test(test_too_far),        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_changes),        cmocka_unit_test(test_many),
        cmocka_unit_test(test_heap_of_calls),  cmocka_unit_test(test_limits_of_data),
        cmocka_unit_test(test_limits_of_code), cmocka_unit_test(test_limits_of_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
