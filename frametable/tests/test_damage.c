/* test_damage.c - every truncation, every bit of a table turned, every allocation refused: an error
 * or other values, never a crash, a hang or much memory. Run under the sanitizers in tier long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frametable/bytes.h"
#include "frametable/tests/consume.h"
#include "frametable/tests/elf_make.h"
#include "frametable/tests/random_table.h"

/* --- an allocator that can refuse (--wrap) ------------------------------------------------ */

static long refuse_at = -1; /* allocations until one is refused; -1: never */
static size_t largest;

static bool refuse(size_t size)
{
    largest = size > largest ? size : largest;
    return refuse_at >= 0 && refuse_at-- == 0;
}

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);

void *__wrap_malloc(size_t n)
{
    return refuse(n) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refuse(n * size) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return refuse(n) ? NULL : __real_realloc(p, n);
}

/* --- a small file of each generation --------------------------------------------------------- */

typedef struct {
    uint8_t *file;
    size_t size, table_at, table_size;
    fk_generation g;
} sample;

static sample make(fk_generation g, const char *arch, uint64_t n)
{
    sample s = {.g = g, .table_at = 64};
    const fk_abi *abi = fk_abi_by_name(arch);
    uint8_t *table = random_table(5, g, abi, n, ELF_DATA, &s.table_size);
    assert_non_null(table);
    elf_part part = {"camlMade.frametable", table, s.table_size};
    s.file = elf_make(abi, &part, 1, 0x10000, &s.size);
    assert_non_null(s.file);
    free(table);
    return s;
}

/* Opens and reads everything; the error must say something. */
static fk_result try(const void *data, size_t size, const fk_open_options *o)
{
    fk_image *im;
    fk_error err = {0};
    fk_result r = fk_image_open_memory("damaged", data, size, o, &im, &err);
    if (r) {
        assert_true(err.message[0] != 0);
        assert_null(im);
        return r;
    }
    consume_image(im);
    consume_index(im);
    fk_image_close(im);
    return FK_OK;
}

static const struct {
    fk_generation g;
    const char *arch;
} kinds[] = {{FK_GEN_A, "amd64"},  {FK_GEN_A, "i386"},    {FK_GEN_B, "arm64"},
             {FK_GEN_C, "s390x"},  {FK_GEN_C, "riscv64"}, {FK_GEN_O1, "amd64"},
             {FK_GEN_O2, "amd64"}, {FK_GEN_O3, "arm64"}};
#define NUM_KINDS (sizeof kinds / sizeof *kinds)

/* A fresh block of the exact size: one byte further is the sanitizer's. */
static void test_truncation(void **state)
{
    (void)state;
    for (size_t k = 0; k < NUM_KINDS; k++) {
        sample s = make(kinds[k].g, kinds[k].arch, 12);
        for (size_t n = 0; n < s.size; n++) {
            uint8_t *cut = __real_malloc(n ? n : 1);
            memcpy(cut, s.file, n);
            assert_int_not_equal(try(cut, n, NULL), FK_OK);
            free(cut);
        }
        assert_int_equal(try(s.file, s.size, NULL), FK_OK);
        free(s.file);
    }
}

static void test_bit_flips(void **state)
{
    (void)state;
    for (size_t k = 0; k < NUM_KINDS; k++) {
        sample s = make(kinds[k].g, kinds[k].arch, 12);
        fk_open_options o = {.generation = s.g};
        for (size_t bit = 0; bit < 8 * s.table_size; bit++) {
            s.file[s.table_at + bit / 8] ^= (uint8_t)(1u << bit % 8);
            try(s.file, s.size, &o);
            if (bit % 8 == 0)
                try(s.file, s.size, NULL);
            s.file[s.table_at + bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(s.file);
    }
}

/* Everything outside of the table: ELF and section headers, symbols. */
static void test_header_flips(void **state)
{
    (void)state;
    for (size_t k = 0; k < NUM_KINDS; k++) {
        sample s = make(kinds[k].g, kinds[k].arch, 3);
        for (size_t bit = 0; bit < 8 * s.size; bit++) {
            if (bit / 8 >= s.table_at && bit / 8 < s.table_at + s.table_size)
                continue;
            s.file[bit / 8] ^= (uint8_t)(1u << bit % 8);
            try(s.file, s.size, NULL);
            s.file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(s.file);
    }
}

/* A count of 2 GB: said, and nothing of that size is asked for. */
static void test_huge_count(void **state)
{
    (void)state;
    for (size_t k = 0; k < NUM_KINDS; k++) {
        const fk_abi *abi = fk_abi_by_name(kinds[k].arch);
        sample s = make(kinds[k].g, kinds[k].arch, 12);
        fk_image *im;
        fk_error err;
        fk_open_options o = {.generation = s.g};
        fk_stword(s.file + s.table_at, 0x80000000, abi->word,
                  abi->big_endian != fk_host_big_endian());
        largest = 0;
        assert_int_equal(fk_image_open_memory("huge", s.file, s.size, &o, &im, &err), FK_OK);
        assert_int_equal(fk_table_status(fk_image_table(im, 0), &err), FK_BROKEN);
        assert_non_null(strstr(err.message, "2147483648 descriptors cannot fit"));
        assert_true(consume_image(im) + consume_index(im) > 0);
        assert_true(largest < 1 << 20);
        fk_image_close(im);
        free(s.file);
    }
}

/* Each allocation in turn: the result is FK_SYSTEM and nothing is lost (the sanitizer counts). */
static void test_no_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < NUM_KINDS; k++) {
        sample s = make(kinds[k].g, kinds[k].arch, 12);
        fk_error err;
        fk_image *im;
        for (long at = 0; at < 1000; at++) {
            refuse_at = at;
            fk_result r = fk_image_open_memory("small", s.file, s.size, NULL, &im, &err);
            if (r == FK_OK) {
                consume_image(im);
                consume_index(im);
                fk_image_close(im);
            }
            bool refused = refuse_at < 0;
            refuse_at = -1;
            if (!refused)
                break;
        }
        free(s.file);
    }
}

static void build_all(fk_generation g)
{
    fk_index *ix;
    fk_error err;
    size_t size;
    const fk_abi *abi = fk_abi_by_name("amd64");
    uint8_t *data = random_table(9, g, abi, 60, 0x10000, &size);
    const void *table = data;
    if (data && fk_index_build_native(&table, 1, g, abi, NULL, &ix, &err) == FK_OK)
        fk_index_free(ix);
    free(data);
}

static void test_no_memory_to_build(void **state)
{
    (void)state;
    for (int g = FK_GEN_A; g <= FK_GEN_O3; g++) {
        for (long at = 0; at < 3000; at++) {
            refuse_at = at;
            build_all((fk_generation)g);
            bool refused = refuse_at < 0;
            refuse_at = -1;
            if (!refused)
                break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation), cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_header_flips), cmocka_unit_test(test_huge_count),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_no_memory_to_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
