/* test_abi.c - what must hold inside the tables, and facts seen in binaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "abi/abi.h"

static const fk_abi *get(const char *name)
{
    const fk_abi *a = fk_abi_by_name(name);
    assert_non_null(a);
    return a;
}

/* An index names one register, in every version. */
static void indices_are_unique(void **state)
{
    (void)state;
    for (size_t n = 0; n < fk_num_abis; n++)
        for (int v = 0; v < FK_OCAML_VERSIONS; v++)
            for (size_t i = 0; i < fk_abis[n]->num_regs; i++) {
                const fk_reg *r = &fk_abis[n]->regs[i];
                int index = fk_abi_index(fk_abis[n], r, (fk_ocaml_version)v);
                if (index >= 0)
                    assert_ptr_equal(fk_abi_reg(fk_abis[n], index, (fk_ocaml_version)v), r);
                assert_true(index < 0 || r->is_float == (index >= 100));
            }
}

/* Two registers never share a word of the save area, all words lie inside it,
 * and integer slots equal indices: gc_regs[index] is how a root is found. */
static void slots_do_not_overlap(void **state)
{
    (void)state;
    for (size_t n = 0; n < fk_num_abis; n++) {
        const fk_abi *a = fk_abis[n];
        bool used[64] = {false};
        for (size_t i = 0; i < a->num_regs; i++) {
            const fk_reg *r = &a->regs[i];
            if (r->slot < 0)
                continue;
            assert_true(a->bucket_base + 8 * r->slot + 8 <= a->bucket_size);
            assert_false(used[r->slot]);
            used[r->slot] = true;
            if (!r->is_float)
                assert_int_equal(r->slot, r->index);
        }
    }
}

/* Whatever C may destroy and the allocator may use is in the save area. */
static void save_area_is_complete(void **state)
{
    (void)state;
    for (size_t n = 0; n < fk_num_abis; n++) {
        const fk_abi *a = fk_abis[n];
        for (size_t i = 0; a->can_emit && i < a->num_regs; i++) {
            const fk_reg *r = &a->regs[i];
            bool needed = (r->roles & FK_REG_ALLOCATABLE) &&
                          (!r->is_float || !(r->roles & FK_REG_C_CALLEE_SAVED));
            if (needed && r->slot < 0)
                fail_msg("%s %s is not saved", a->name, r->name);
        }
    }
}

static size_t count(const fk_abi *a, bool is_float)
{
    size_t n = 0;
    for (size_t i = 0; i < a->num_regs; i++)
        n += (a->regs[i].roles & FK_REG_ALLOCATABLE) && a->regs[i].is_float == is_float;
    return n;
}

static int num_args(const fk_abi *a, bool is_float, bool c)
{
    uint32_t seen = 0;
    int n = 0;
    for (size_t i = 0; i < a->num_regs; i++) {
        int arg = c ? a->regs[i].c_arg : a->regs[i].ocaml_arg;
        if (a->regs[i].is_float != is_float || arg < 0)
            continue;
        assert_false(seen & (1u << arg));
        seen |= 1u << arg;
        n++;
    }
    assert_int_equal(seen, (1u << n) - 1); /* no gap */
    return n;
}

static void register_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ints, floats, args, fargs, cargs, cfargs;
    } t[] = {
        {"amd64", 13, 16, 10, 10, 6, 8},  {"arm64", 23, 32, 16, 16, 8, 8},
        {"power", 23, 32, 16, 13, 8, 13}, {"s390x", 9, 15, 8, 4, 5, 4},
        {"riscv64", 22, 32, 16, 16, 8, 8},
    };
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        const fk_abi *a = get(t[i].name);
        assert_int_equal(count(a, false), t[i].ints);
        assert_int_equal(count(a, true), t[i].floats);
        assert_int_equal(num_args(a, false, false), t[i].args);
        assert_int_equal(num_args(a, true, false), t[i].fargs);
        assert_int_equal(num_args(a, false, true), t[i].cargs);
        assert_int_equal(num_args(a, true, true), t[i].cfargs);
    }
}

/* A value may not sit in a register that a veneer destroys before the callee
 * runs; the one exception is in the ABI itself (riscv64's t2 for caml_c_call). */
static void veneers_destroy_no_argument(void **state)
{
    (void)state;
    for (size_t n = 0; n < 5; n++)
        for (size_t i = 0; i < fk_abis[n]->num_regs; i++) {
            const fk_reg *r = &fk_abis[n]->regs[i];
            if (!(r->roles & FK_REG_VENEER))
                continue;
            assert_true(r->ocaml_arg < 0 && r->c_arg < 0);
            assert_true(!(r->roles & FK_REG_ALLOCATABLE) || (r->roles & FK_REG_ALLOC_DESTROYED));
            if (r->roles & FK_REG_C_FUNCTION)
                assert_string_equal(r->name, "t2");
        }
}

/* OCaml's code loads C's arguments, so that it keeps nothing there, whatever the psABI says. */
static void c_arguments_are_lost(void **state)
{
    (void)state;
    for (size_t n = 0; n < fk_num_abis; n++)
        for (size_t i = 0; fk_abis[n]->can_emit && i < fk_abis[n]->num_regs; i++) {
            const fk_reg *r = &fk_abis[n]->regs[i];
            assert_true(r->c_arg < 0 || (r->roles & FK_REG_NOALLOC_DESTROYED));
        }
}

/* The psABI of s390x: r6 to r13, r15 and f8 to f15. */
static void c_keeps(void **state)
{
    (void)state;
    const fk_abi *a = get("s390x");
    for (size_t i = 0; i < a->num_regs; i++) {
        const fk_reg *r = &a->regs[i];
        bool kept = r->is_float ? r->hw >= 8 : r->hw >= 6 && r->hw != 14;
        assert_int_equal(kept, (r->roles & FK_REG_C_CALLEE_SAVED) != 0);
    }
}

static void every_port_has_its_roles(void **state)
{
    (void)state;
    static const uint32_t roles[] = {FK_REG_DOMAIN, FK_REG_YOUNG, FK_REG_SP, FK_REG_C_FUNCTION,
                                     FK_REG_STACKARGS_END, FK_REG_NOALLOC_SP};
    for (size_t n = 0; n < 5; n++)
        for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
            assert_non_null(fk_abi_role(fk_abis[n], roles[i]));
    assert_null(fk_abi_role(get("amd64"), FK_REG_TRAP));
    assert_null(fk_abi_role(get("amd64"), FK_REG_LINK));
}

static void versions_differ_where_they_should(void **state)
{
    (void)state;
    const fk_abi *arm = get("arm64"), *ppc = get("power"), *rv = get("riscv64");
    assert_null(fk_abi_reg(arm, 22, FK_OCAML_4_12));
    assert_string_equal(fk_abi_reg(arm, 22, FK_OCAML_4_13)->name, "x25");
    assert_true(fk_abi_roles(arm, fk_abi_reg_by_name(arm, "x25"), FK_OCAML_4_11) & FK_REG_DOMAIN);
    assert_string_equal(fk_abi_reg(ppc, 100, FK_OCAML_4_14)->name, "f1");
    assert_string_equal(fk_abi_reg(ppc, 100, FK_OCAML_5_3)->name, "f0");
    assert_null(fk_abi_reg(ppc, 131, FK_OCAML_4_14));
    assert_string_equal(fk_abi_reg(rv, 21, FK_OCAML_4_12)->name, "t0");
    assert_string_equal(fk_abi_reg(rv, 21, FK_OCAML_5_3)->name, "s0");
    assert_string_equal(fk_abi_reg(rv, 22, FK_OCAML_4_14)->name, "t0");
    assert_string_equal(fk_abi_reg(get("s390x"), 104, FK_OCAML_5_3)->name, "f1");
}

static void domain_fields_are_dense(void **state)
{
    (void)state;
    static const size_t expected[FK_OCAML_VERSIONS] = {50, 52, 52, 53, 59, 58, 60, 61, 65};
    for (int v = 0; v < FK_OCAML_VERSIONS; v++) {
        fk_ocaml_version parsed;
        assert_true(fk_ocaml_version_parse(fk_ocaml_version_name((fk_ocaml_version)v), &parsed));
        assert_int_equal(parsed, v);
        assert_int_equal(fk_domain_fields((fk_ocaml_version)v), expected[v]);
        for (size_t i = 0; i < expected[v]; i++) {
            const char *name = fk_domain_field((fk_ocaml_version)v, i);
            assert_non_null(name);
            assert_int_equal(fk_domain_offset((fk_ocaml_version)v, name), 8 * i);
        }
        assert_null(fk_domain_field((fk_ocaml_version)v, expected[v]));
    }
    assert_int_equal(fk_domain_offset(FK_OCAML_5_3, "no_such_field"), -1);
    assert_int_equal(fk_domain_offset(FK_OCAML_5_3, "exception_pointer"), -1);
    assert_int_equal(fk_domain_offset(FK_OCAML_5_3, "extra_params"), 480);
    assert_int_equal(fk_domain_offset(FK_OCAML_5_4, "extra_params"), 512);
    fk_ocaml_version v;
    assert_false(fk_ocaml_version_parse("4.10", &v));
}

typedef struct {
    const char *arch;
    uint8_t length, n, code[8];
} call;

static void calls_are_recognised(void **state)
{
    (void)state;
    static const call calls[] = {
        {"amd64", 5, 5, {0xe8, 1, 2, 3, 4}},
        {"amd64", 2, 2, {0xff, 0xd0}},                          /* call *%rax */
        {"amd64", 3, 3, {0x41, 0xff, 0xd4}},                    /* call *%r12 */
        {"amd64", 2, 2, {0xff, 0x13}},                          /* call *(%rbx) */
        {"amd64", 3, 3, {0xff, 0x14, 0x24}},                    /* call *(%rsp) */
        {"amd64", 6, 6, {0xff, 0x15, 1, 0, 0, 0}},              /* call *x(%rip) */
        {"amd64", 3, 3, {0xff, 0x50, 0x10}},                    /* call *16(%rax) */
        {"amd64", 4, 4, {0xff, 0x54, 0x24, 0x08}},              /* call *8(%rsp) */
        {"amd64", 6, 6, {0xff, 0x97, 0, 1, 0, 0}},              /* call *256(%rdi) */
        {"amd64", 7, 7, {0xff, 0x94, 0x24, 0, 1, 0, 0}},        /* call *256(%rsp) */
        {"amd64", 8, 8, {0x41, 0xff, 0x94, 0x24, 0, 1, 0, 0}},  /* call *256(%r12) */
        {"amd64", 0, 2, {0xff, 0xe0}},                          /* jmp *%rax */
        {"amd64", 0, 5, {0xe9, 1, 2, 3, 4}},
        {"arm64", 4, 4, {0x01, 0x00, 0x00, 0x94}},
        {"arm64", 4, 4, {0x20, 0x02, 0x3f, 0xd6}},              /* blr x17 */
        {"arm64", 0, 4, {0x20, 0x02, 0x1f, 0xd6}},              /* br x17 */
        {"arm64", 0, 4, {0x01, 0x00, 0x00, 0x14}},              /* b */
        {"power", 4, 4, {0x01, 0x00, 0x00, 0x48}},              /* bl */
        {"power", 4, 4, {0x21, 0x04, 0x80, 0x4e}},              /* bctrl */
        {"power", 4, 4, {0x09, 0x00, 0x80, 0x41}},              /* bltl */
        {"power", 0, 4, {0x20, 0x04, 0x80, 0x4e}},              /* bctr */
        {"power", 0, 4, {0x00, 0x00, 0x00, 0x48}},              /* b */
        {"s390x", 6, 6, {0xc0, 0xe5, 0, 0, 0, 0}},
        {"s390x", 4, 4, {0xa7, 0xe5, 0, 0}},
        {"s390x", 2, 2, {0x0d, 0xe1}},
        {"s390x", 2, 2, {0x0d, 0xef}},
        {"s390x", 0, 2, {0x0d, 0xe0}},
        {"s390x", 0, 2, {0x07, 0xfe}},                          /* br %r14 */
        {"riscv64", 4, 4, {0xef, 0xf0, 0xdf, 0xff}},            /* jal ra, -4 */
        {"riscv64", 4, 4, {0xe7, 0x80, 0x03, 0x00}},            /* jalr ra, t2 */
        {"riscv64", 2, 2, {0x82, 0x93}},                        /* c.jalr t2 */
        {"riscv64", 2, 2, {0x02, 0x95}},                        /* c.jalr a0 */
        {"riscv64", 0, 2, {0x02, 0x90}},                        /* c.ebreak */
        {"riscv64", 0, 4, {0x67, 0x80, 0x00, 0x00}},            /* ret */
        {"i386", 2, 2, {0xff, 0xd0}},
        {"armhf", 4, 4, {0x00, 0xf0, 0x00, 0xf8}},
        {"armhf", 2, 2, {0xa0, 0x47}},                          /* blx r4 */
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const call *c = &calls[i];
        size_t got = fk_abi_call_length(get(c->arch), c->code, c->n);
        if (got != c->length)
            fail_msg("%s call %zu: length %zu, expected %u", c->arch, i, got, c->length);
        if (c->length) /* never looks before the start */
            assert_true(fk_abi_call_length(get(c->arch), c->code + 1, c->n - 1u) != c->length);
    }
}

static void lookups(void **state)
{
    (void)state;
    for (size_t n = 0; n < fk_num_abis; n++) {
        const fk_abi *a = fk_abis[n];
        assert_ptr_equal(fk_abi_by_elf(a->elf_machine, a->big_endian, a->word), a);
        assert_ptr_equal(fk_abi_by_name(a->name), a);
        for (size_t i = 0; i < a->num_relocs; i++)
            assert_ptr_equal(fk_abi_reloc(a, a->relocs[i].type), &a->relocs[i]);
        assert_null(fk_abi_reloc(a, 0xfffff));
    }
    assert_null(fk_abi_by_name("sparc"));
    assert_null(fk_abi_by_elf(get("s390x")->elf_machine, false, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_are_unique),
        cmocka_unit_test(slots_do_not_overlap),
        cmocka_unit_test(save_area_is_complete),
        cmocka_unit_test(register_counts),
        cmocka_unit_test(veneers_destroy_no_argument),
        cmocka_unit_test(c_arguments_are_lost),
        cmocka_unit_test(c_keeps),
        cmocka_unit_test(every_port_has_its_roles),
        cmocka_unit_test(versions_differ_where_they_should),
        cmocka_unit_test(domain_fields_are_dense),
        cmocka_unit_test(calls_are_recognised),
        cmocka_unit_test(lookups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
