/* cases_table.c - caml_system's frametable, code range and float masks. */
#include <string.h>

#include "harness.h"

typedef unsigned long long ull;

static const char *symbol(const char *name) { return (const char *)(uintptr_t)sc_symbol(name); }

enum { C_FRAME = 0xffff, ENTRY = 16 };

static const char *table(void)
{
    const char *five = symbol("caml_system.frametable");
    return five ? five : symbol("caml_system__frametable");
}

static uint64_t count(void)
{
    uint64_t n = 0;
    if (table())
        memcpy(&n, table(), 8);
    return n > 16 ? 16 : n;
}

static uint64_t nth(uint64_t i, uint16_t *size)
{
    uint64_t ra;
    memcpy(&ra, table() + 8 + ENTRY * i, 8);
    memcpy(size, table() + 8 + ENTRY * i + 8, 2);
    return ra;
}

bool sc_is_c_frame(uint64_t ra)
{
    uint16_t size;
    for (uint64_t i = 0; i < count(); i++)
        if (nth(i, &size) == ra && size == C_FRAME)
            return true;
    return false;
}

static void frametable(void)
{
    uint64_t want = sc_five ? 2 : 1;
    if (!sc_stub_begin("caml_start_program"))
        return;
    sc_check(count() == want, "frametable.count", "count",
             "caml_system's frametable has %llu descriptors, it must have %llu", (ull)count(),
             (ull)want);
    for (uint64_t i = 0; i < count(); i++) {
        uint16_t size;
        uint64_t ra = nth(i, &size);
        sc_check(size == C_FRAME, "frametable.return-address", "size",
                 "descriptor %llu of caml_system has frame size 0x%x, it must be 0xffff", (ull)i,
                 size);
        sc_check(fk_abi_call_length(sc_abi, (const uint8_t *)(uintptr_t)ra - 8, 8) > 0,
                 "frametable.return-address", "call",
                 "descriptor %llu of caml_system names 0x%llx, no call ends there", (ull)i,
                 (ull)ra);
    }
}

/* In an object whose stubs have sections of their own the linker's order
 * decides: only code begin is then required to come first. */
static void code_range(void)
{
    const char *begin = symbol("caml_system__code_begin"), *end = symbol("caml_system__code_end");
    if (!sc_stub_begin("caml_start_program"))
        return;
    sc_check(begin && end, "frametable.code-range", "symbols",
             "caml_system__code_begin or caml_system__code_end does not exist");
    for (int i = 0; begin && i < sc_num_stubs; i++) {
        char *at = sc_stubs[i].address;
        if (at)
            sc_check(at >= begin && at < end,
                     "frametable.code-range", sc_stubs[i].name,
                     "`%s` at %p is outside caml_system's code range %p..%p", sc_stubs[i].name,
                     (const void *)at, (const void *)begin, (const void *)end);
    }
}

static void masks(void)
{
    static const uint64_t negf[2] = {0x8000000000000000, 0}, absf[2] = {0x7fffffffffffffff, ~0ull};
    const char *caml_negf_mask = symbol("caml_negf_mask"),
               *caml_absf_mask = symbol("caml_absf_mask");
    if (!sc_this_port.pushes_return || !sc_stub_begin("caml_start_program"))
        return;
    sc_check(caml_negf_mask && memcmp(caml_negf_mask, negf, 8) == 0, "data.masks", "caml_negf_mask",
             "caml_negf_mask is not the sign bit");
    sc_check(caml_absf_mask && memcmp(caml_absf_mask, absf, 8) == 0, "data.masks", "caml_absf_mask",
             "caml_absf_mask is not all but the sign bit");
}

const sc_case sc_cases_table[] = {
    {"frametable", frametable, 1, false, 0},
    {"code-range", code_range, 1, false, 0},
    {"masks", masks, 1, false, 0},
    {0},
};
