/* cases_c_call.c - caml_c_call, caml_c_call_stack_args, caml_ml_array_bound_error. */
#include <string.h>

#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

static void check_arguments(const sc_state *before)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        if (r->c_arg >= 0)
            sc_check(*sc_reg(r) == sc_value(before, r), "arguments.registers", r->name,
                     "`%s` passes %s = 0x%llx to the C function, its caller had put 0x%llx there",
                     NAME, r->name, (ull)*sc_reg(r), (ull)sc_value(before, r));
    }
}

static void check_toc(void)
{
    uint64_t toc = sc_symbol(".TOC.");
    if (R.toc)
        sc_check(*R.toc == toc, "registers.kept", "r2",
                 "`%s` returns with r2 = 0x%llx, the TOC is at 0x%llx", NAME, (ull)*R.toc,
                 (ull)toc);
}

static void check_limit(bool pending, uint64_t limit)
{
    uint64_t is = DOM("young_limit"), want = pending ? UINT64_MAX : limit;
    sc_check(is == want, "domain.pending", "young_limit",
             "`%s` leaves young_limit at 0x%llx with action_pending = %d, it must be 0x%llx", NAME,
             (ull)is, pending, (ull)want);
    sc_forget(dom_at("young_limit"), dom_at("young_limit") + 8);
}

/* The C function has run; come back to the caller. */
static void back_to_ocaml(bool pending, uint64_t limit)
{
    sc_c_body(true);
    uint64_t young = sc_c_effects(true), result = sc_random(), fresult = *R.fresult;
    if (sc_five && pending)
        wr(dom_at("action_pending"), 1);
    sc_c_leave(result);
    sc_truth_ocaml();
    sc_go(EV_sc_ocaml_return);
    sc_check_sp(W.S);
    if (sc_five || !sc_this_port.pushes_return)
        sc_check_pointers(young);
    else /* amd64 4.x: the caller reloads young_ptr */
        sc_check(*R.dom == W.dom, "pointers.domain", "the domain-state pointer",
                 "`%s` makes 0x%llx the domain state, it is at 0x%llx", NAME, (ull)*R.dom,
                 (ull)W.dom);
    sc_check(*R.result == result && *R.fresult == fresult, "result.value", "result",
             "`%s` returns 0x%llx, the C function 0x%llx", NAME, (ull)*R.result, (ull)result);
    if (sc_five)
        check_limit(pending, limit);
    check_toc();
    sc_check_memory("stack.memory");
}

static void c_call(void)
{
    char *stub = sc_stub_begin("caml_c_call");
    if (!stub)
        return;
    uint64_t limit = sc_random() >> 1;
    bool pending = sc_choose();
    wr(dom_at("young_limit"), limit);
    sc_ocaml_state();
    *R.c_function = (uint64_t)(uintptr_t)sc_c_function;
    sc_call(stub, sc_ocaml_return);
    sc_state before = sc_block;
    sc_truth_ocaml();
    sc_go(EV_sc_c_function);
    sc_check_c_entry(&before);
    if (!sc_five && sc_this_port.pushes_return) {
        sc_check(rd(*R.sp) == W.ra, "walk.return-address", "tail call",
                 "`%s` jumps to C with return address %s, it is %s", NAME, sc_place(rd(*R.sp)),
                 sc_place(W.ra));
    }
    check_arguments(&before);
    sc_check_indirect(sc_c_function);
    sc_check_memory("stack.memory");
    back_to_ocaml(pending, limit);
}

/* --- stack arguments --------------------------------------------------------------- */
static void put_stack_args(uint64_t words)
{
    uint64_t at = W.S + sc_abi->frame_reserved;
    for (uint64_t i = 0; i < words; i++)
        wr(at + 8 * i, sc_random());
    *R.c_function = (uint64_t)(uintptr_t)sc_c_function;
    if (R.args_begin) {
        *R.args_begin = at;
        *R.args_end = at + 8 * words;
    } else {
        *R.args_end = 8 * words;
    }
}

static void check_stack_args(uint64_t words)
{
    uint64_t sp = *R.sp + sc_this_port.pushes_return;
    uint64_t from = W.S + sc_abi->frame_reserved, to = sp + sc_abi->c_stack_reserved;
    sc_check(
        sp <= W.link - 8 * words && sp + 8 * words + 64 >= W.link, "c-entry.stack", "sp",
        "`%s` calls C with stack pointer 0x%llx and %llu argument words, dom.c_stack is 0x%llx",
        NAME, (ull)sp, (ull)words, (ull)W.link);
    for (uint64_t i = 0; i < words; i++)
        sc_check(rd(to + 8 * i) == rd(from + 8 * i), "arguments.stack", "stack argument",
                 "`%s` passes 0x%llx as stack argument %llu of %llu, it is 0x%llx", NAME,
                 (ull)rd(to + 8 * i), (ull)i + 1, (ull)words, (ull)rd(from + 8 * i));
}

/* Power: the last four words lie in the 32 bytes at the link that a C callee
 * may use, but for the first, which links caml_start_program's frame. */
static void check_link_words(void)
{
    if (!R.toc)
        return;
    sc_check(rd(W.link) == W.prev_link, "c-entry.back-chain", "back chain",
             "`%s` overwrites the back chain of the C frame at dom.c_stack: 0x%llx before, 0x%llx "
             "after", NAME, (ull)W.prev_link, (ull)rd(W.link));
    sc_forget(W.link, W.link + 32);
}

/* Where the stub links its lowered frame to the one at dom.c_stack. */
static void check_own_back_chain(void)
{
    if (R.toc && sc_changed(*R.sp))
        sc_check(rd(*R.sp) == W.link, "c-entry.back-chain", "own back chain",
                 "`%s` calls C with back chain 0x%llx, the frame above is at 0x%llx", NAME,
                 (ull)rd(*R.sp), (ull)W.link);
}

static void check_stack_args_entry(const sc_state *before)
{
    check_own_back_chain();
    check_link_words();
    uint64_t sp = *R.sp;
    *R.sp = W.link - sc_this_port.pushes_return; /* the one thing that differs */
    sc_check_c_entry(before);
    *R.sp = sp;
    sc_check_alignment();
}

static void stack_args_of(uint64_t words)
{
    uint64_t limit = sc_random() >> 1;
    bool pending = sc_choose();
    W.S -= (8 * words + 15) & ~15ul;
    sc_zones[Z_STACK].low = W.S;
    wr(dom_at("young_limit"), limit);
    sc_ocaml_state();
    put_stack_args(words);
    sc_call(sc_stubs[sc_current].address, sc_ocaml_return);
    sc_state before = sc_block;
    sc_truth_ocaml();
    sc_go(EV_sc_c_function);
    check_stack_args_entry(&before);
    check_stack_args(words);
    check_arguments(&before);
    sc_check_indirect(sc_c_function);
    sc_check_memory("stack.memory");
    back_to_ocaml(pending, limit);
}

static void stack_args(void)
{
    static const uint8_t counts[] = {2, 4, 6, 30, 64};
    if (!sc_stub_begin("caml_c_call_stack_args"))
        return;
    for (size_t i = 0; i < sizeof counts; i++) {
        sc_new_world();
        stack_args_of(counts[i]);
        if (sc_this_port.c_align == 8) {
            sc_new_world();
            stack_args_of(counts[i] + 1u);
        }
    }
}

/* --- bound error ---------------------------------------------------------------------- */
static void bound_error(void)
{
    char *stub = sc_stub_begin("caml_ml_array_bound_error");
    if (!stub)
        return;
    sc_ocaml_state();
    sc_call(stub, sc_ocaml_return);
    sc_state before = sc_block;
    sc_truth_ocaml();
    sc_go(sc_five ? EV_caml_array_bound_error_asm : EV_caml_array_bound_error);
    sc_check_c_entry(&before);
    sc_check_indirect(sc_five ? caml_array_bound_error_asm : caml_array_bound_error);
    sc_check_memory("stack.memory");
}

const sc_case sc_cases_c_call[] = {
    {"c_call", c_call, 8, true, 0},
    {"c_call_stack_args", stack_args, 2, true, 5},
    {"array_bound_error", bound_error, 4, true, 0},
    {0},
};
