/* cases_raise.c - caml_raise_exn, caml_reraise_exn, caml_raise_exception,
 * caml_stack_overflow. */
#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

typedef struct {
    uint64_t exn, young, position;
    bool active, zeroes;
} raise_state;

static void check_stash(const raise_state *r)
{
    const uint64_t want[4] = {r->exn, W.ra, W.S, W.trap};
    static const char *const what[4] = {"exception", "pc", "stack pointer", "trap pointer"};
    for (int i = 0; i < 4; i++)
        sc_check(*sc_c_arg(i) == want[i], "backtrace.arguments", what[i],
                 "`%s` passes %s 0x%llx to caml_stash_backtrace, it is 0x%llx", NAME, what[i],
                 (ull)*sc_c_arg(i), (ull)want[i]);
    sc_check_alignment();
    if (sc_five)
        sc_check(*R.sp + sc_this_port.pushes_return == W.link, "c-entry.stack", "sp",
                 "`%s` calls caml_stash_backtrace with stack pointer 0x%llx, dom.c_stack is 0x%llx",
                 NAME, (ull)*R.sp, (ull)W.link);
    sc_stored(dom_at("backtrace_pos"), r->zeroes ? 0 : r->position, "backtrace.position",
              "dom.backtrace_pos");
    if (sc_five)
        sc_forget_c_area(W.link);
}

static void until_handler(raise_state *r)
{
    int event = sc_go_any();
    if (event == EV_caml_stash_backtrace) {
        sc_check(r->active, "backtrace.active", "",
                 "`%s` records a backtrace though none is wanted", NAME);
        check_stash(r);
        sc_check_memory("stack.memory");
        sc_c_body(false);
        sc_c_leave(sc_random());
        event = sc_go_any();
    } else if (event == EV_sc_handler) {
        sc_check(!r->active, "backtrace.active", "", "`%s` records no backtrace", NAME);
    }
    if (event != EV_sc_handler)
        sc_abandon("flow.next", "`%s` leaves to %s where it must go to the handler", NAME,
                   sc_event_name(event));
    sc_count("flow.next");
    sc_check_handler(r->exn);
    sc_check(*R.young == r->young, "pointers.young", "young_ptr",
             "`%s` raises with young_ptr 0x%llx, it must be 0x%llx", NAME, (ull)*R.young,
             (ull)r->young);
    if (R.limit)
        sc_check(*R.limit == DOM("young_limit"), "pointers.limit", "young_limit",
                 "`%s` raises with the cached young_limit 0x%llx, it is 0x%llx", NAME,
                 (ull)*R.limit, (ull)DOM("young_limit"));
    sc_zones[Z_STACK].low = W.trap;
    sc_check_memory("stack.memory");
}

static raise_state prepare(bool zeroes)
{
    raise_state r = {.exn = sc_random() & ~7ul, .active = sc_choose(), .zeroes = zeroes};
    wr(dom_at("backtrace_active"), r.active);
    r.position = DOM("backtrace_pos");
    return r;
}

static void from_ocaml(const char *name, bool zeroes)
{
    char *stub = sc_stub_begin(name);
    if (!stub)
        return;
    raise_state r = prepare(zeroes);
    sc_ocaml_state();
    *R.result = r.exn;
    r.young = *R.young;
    sc_call(stub, sc_ocaml_return);
    sc_truth_ocaml();
    sc_truth_cut(sc_five ? W.trap - 16 : W.trap);
    until_handler(&r);
}

static void raise_exn(void) { from_ocaml("caml_raise_exn", sc_five); }
static void reraise_exn(void) { from_ocaml("caml_reraise_exn", false); }

/* The fiber as caml_c_call has left it. */
static void suspend_caller(void)
{
    W.ra = (uint64_t)(uintptr_t)sc_ocaml_return;
    if (!sc_five) {
        wr(dom_at("bottom_of_stack"), W.S);
        wr(dom_at("last_return_address"), W.ra);
        return;
    }
    uint64_t sp = W.S - sc_abi->first_frame, base = W.link + sc_abi->c_link_base;
    wr(W.S + (uint64_t)(int64_t)sc_abi->ra_offset, W.ra);
    wr(base + FK_C_LINK_STACK, W.stack);
    wr(base + FK_C_LINK_SP, sp);
    wr(W.stack + FK_STACK_SP, sp);
    sc_zones[Z_STACK].low = sp;
}

static uint64_t c_stack_pointer(void)
{
    uint64_t sp = sc_five ? W.link - 512 : W.S - 512;
    return sp & ~15ul;
}

static void from_c(const char *name, bool passes_exn, uint64_t exn)
{
    char *stub = sc_stub_begin(name);
    if (!stub)
        return;
    raise_state r = prepare(sc_five);
    if (!passes_exn) {
        r.active = false;
        r.exn = exn;
        wr(dom_at("backtrace_active"), 0);
    }
    suspend_caller();
    r.young = DOM("young_ptr");
    sc_randomize();
    if (sc_five)
        sc_enter_from_c(c_stack_pointer());
    else
        *R.sp = c_stack_pointer();
    *sc_c_arg(0) = W.dom;
    if (passes_exn)
        *sc_c_arg(1) = r.exn;
    uint64_t ra = W.ra, sp = *R.sp;
    sc_call(stub, sc_c_return);
    W.ra = ra;
    if (!passes_exn) { /* the signal handler left the trap pointer and young_ptr in place */
        if (R.trap)
            *R.trap = W.trap;
        r.young = *R.young;
    }
    if (passes_exn)
        sc_truth((sc_frame){sp + sc_this_port.cfa_bias, (uint64_t)(uintptr_t)sc_c_return},
                 (sc_frame){W.S + sc_this_port.cfa_bias, W.ra}, NULL); /* it does not return */
    else
        sc_truth_row_only();
    sc_truth_cut(sc_five ? W.trap - 16 : W.trap);
    if (sc_five)
        sc_zones[Z_C].low = W.link;
    if (!passes_exn && !sc_this_port.pushes_return)
        *R.dom = W.dom;
    until_handler(&r);
}

static void raise_exception(void) { from_c("caml_raise_exception", true, 0); }

extern char caml_exn_Stack_overflow[];
/* Entered from a signal handler by a jump, wherever the stack ended: it has no caller
 * that a row could find. */
static void stack_overflow(void)
{
    from_c("caml_stack_overflow", false, (uint64_t)(uintptr_t)caml_exn_Stack_overflow);
}

const sc_case sc_cases_raise[] = {
    {"raise_exn", raise_exn, 6, true, 0},
    {"reraise_exn", reraise_exn, 6, true, 5},
    {"raise_exception", raise_exception, 6, true, 0},
    {"stack_overflow", stack_overflow, 3, true, 4},
    {0},
};
