/* cases_fiber.c - caml_perform, caml_reperform, caml_resume, caml_runstack.
 *
 * Three fibers: the current one (its caller's frame at W.S), a second that it
 * switches to, and a third. A suspended fiber's return address lies where a
 * walker finds it: at stack->sp + first_frame + ra_offset. */
#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

static uint64_t suspended_sp(int zone)
{
    return rd(sc_zone_base(zone) + FK_STACK_SP) + sc_abi->first_frame;
}

/* A fiber that waits in a call of its own. */
static uint64_t suspended(int zone, uint64_t parent)
{
    uint64_t S = sc_fiber_top(zone) - 1024 - 16 * (sc_random() % 8);
    sc_make_fiber(zone, S - sc_abi->first_frame, (S + 128) & ~15ul, parent);
    wr(S + (uint64_t)(int64_t)sc_abi->ra_offset, (uint64_t)(uintptr_t)sc_outer_return);
    sc_zones[zone].low = S - sc_abi->first_frame;
    return sc_zone_base(zone);
}

static void truth_of_two(int zone)
{
    uint64_t S = suspended_sp(zone);
    sc_truth((sc_frame){W.S + sc_this_port.cfa_bias, W.ra},
             (sc_frame){S + sc_this_port.cfa_bias, (uint64_t)(uintptr_t)sc_outer_return}, NULL);
}

static void check_saved(void)
{
    uint64_t trap = W.trap;
    sc_stored(W.stack + FK_STACK_SP, W.S - sc_abi->first_frame, "fiber.saved",
              "the fiber's stack pointer");
    sc_stored(W.stack + FK_STACK_EXCEPTION, trap, "fiber.saved", "the fiber's exception pointer");
    sc_check_walk();
}

/* Code runs on the fiber of `zone` as if its call had returned or tail-called. */
static void check_switched(int zone, uint64_t S, uint64_t exn, const char *ra)
{
    uint64_t sp = *R.sp + sc_this_port.pushes_return, is = sc_return_address();
    sc_stored(dom_at("current_stack"), sc_zone_base(zone), "fiber.switch", "dom.current_stack");
    sc_check(sp == S, "fiber.switch", "sp",
             "`%s` goes on with stack pointer 0x%llx, the fiber's is 0x%llx (off by %lld)", NAME,
             (ull)sp, (ull)S, (long long)(sp - S));
    sc_check(is == (uint64_t)(uintptr_t)ra, "fiber.switch", "return address",
             "`%s` goes on with return address %s, the fiber's is %s", NAME, sc_place(is),
             sc_place((uint64_t)(uintptr_t)ra));
    if (R.trap) {
        sc_check(*R.trap == exn, "fiber.switch", "trap",
                 "`%s` goes on with trap pointer 0x%llx, the fiber's is 0x%llx", NAME, (ull)*R.trap,
                 (ull)exn);
        sc_forget(dom_at("exn_handler"), dom_at("exn_handler") + 8);
    } else {
        sc_stored(dom_at("exn_handler"), exn, "fiber.switch", "dom.exn_handler");
    }
    sc_check(*R.dom == W.dom, "pointers.domain", "the domain-state pointer",
             "`%s` makes 0x%llx the domain state, it is at 0x%llx", NAME, (ull)*R.dom, (ull)W.dom);
}

static void check_arg(int n, uint64_t want, const char *what)
{
    sc_check(*sc_ocaml_arg(n) == want, "arguments.registers", what,
             "`%s` passes %s as 0x%llx, it is 0x%llx", NAME, what, (ull)*sc_ocaml_arg(n),
             (ull)want);
}

static void check_young(uint64_t young)
{
    sc_check(*R.young == young, "pointers.young", "young_ptr",
             "`%s` changes young_ptr: 0x%llx before, 0x%llx after", NAME, (ull)young,
             (ull)*R.young);
}

typedef struct {
    uint64_t eff, cont, young, effect;
} performed;

static performed perform_setup(bool re, uint64_t parent)
{
    performed p = {.eff = sc_random(), .cont = sc_zone_base(Z_HEAP) + 256};
    wr(W.handler + FK_HANDLER_PARENT, parent);
    p.effect = rd(W.handler + FK_HANDLER_EFFECT);
    uint64_t third = suspended(Z_THIRD, 0);
    wr(p.cont, re ? third + 1 : sc_random());
    sc_ocaml_state();
    *sc_ocaml_arg(0) = p.eff;
    *sc_ocaml_arg(1) = p.cont;
    if (re)
        *sc_ocaml_arg(2) = third + 1;
    p.young = *R.young;
    sc_call(sc_stubs[sc_current].address, sc_ocaml_return);
    return p;
}

static void check_continuation(const performed *p, bool re)
{
    uint64_t third = sc_zone_base(Z_THIRD);
    sc_stored(p->cont, (re ? third : W.stack) + 1, "fiber.links", "the continuation's fiber");
    if (sc_version >= FK_OCAML_5_3)
        sc_stored(p->cont + 8, W.stack + 1, "fiber.links", "the continuation's last fiber");
    if (re)
        sc_stored(sc_fiber_top(Z_THIRD) + FK_HANDLER_PARENT, W.stack, "fiber.links",
                  "the last fiber's parent");
}

static void perform_to_parent(const char *name, bool re)
{
    if (!sc_stub_begin(name))
        return;
    uint64_t parent = suspended(Z_OTHER, 0), exn = rd(parent + FK_STACK_EXCEPTION);
    performed p = perform_setup(re, parent);
    truth_of_two(Z_OTHER);
    sc_go(EV_caml_apply3);
    check_continuation(&p, re);
    check_saved();
    sc_stored(W.handler + FK_HANDLER_PARENT, 0, "fiber.links", "the performer's parent");
    check_switched(Z_OTHER, suspended_sp(Z_OTHER), exn, sc_outer_return);
    check_arg(0, p.eff, "the effect");
    check_arg(1, p.cont, "the continuation");
    check_arg(2, W.stack + 1, "the last fiber");
    check_arg(3, p.effect, "the effect handler");
    check_young(p.young);
    sc_check_indirect(caml_apply3);
    sc_check_memory("stack.memory");
}

static void perform(void) { perform_to_parent("caml_perform", false); }
static void reperform(void) { perform_to_parent("caml_reperform", true); }

/* Nobody handles it: back to the performer, then a raise from C. */
static void perform_unhandled(const char *name, bool re)
{
    if (!sc_stub_begin(name))
        return;
    performed p = perform_setup(re, 0);
    sc_state before = sc_block;
    truth_of_two(Z_THIRD);
    sc_go(EV_caml_raise_unhandled_effect);
    check_continuation(&p, re);
    check_saved();
    if (re) { /* the third fiber runs again */
        W.stack = sc_zone_base(Z_THIRD);
        W.S = suspended_sp(Z_THIRD);
        W.ra = (uint64_t)(uintptr_t)sc_outer_return;
        W.trap = rd(W.stack + FK_STACK_EXCEPTION);
        sc_zones[Z_THIRD].low = W.S;
    }
    sc_stored(dom_at("current_stack"), W.stack, "fiber.switch", "dom.current_stack");
    if (!R.trap)
        sc_stored(dom_at("exn_handler"), W.trap, "fiber.switch", "dom.exn_handler");
    sc_check_c_entry(&before);
    sc_check(*sc_c_arg(0) == p.eff, "arguments.registers", "the effect",
             "`%s` passes 0x%llx as the effect, it is 0x%llx", NAME, (ull)*sc_c_arg(0), (ull)p.eff);
    sc_check_indirect(caml_raise_unhandled_effect);
    sc_check_memory("stack.memory");
}

static void unhandled(void) { perform_unhandled("caml_perform", false); }
static void reunhandled(void) { perform_unhandled("caml_reperform", true); }

static void resume(void)
{
    if (!sc_stub_begin("caml_resume"))
        return;
    uint64_t fiber = suspended(Z_OTHER, 0), exn = rd(fiber + FK_STACK_EXCEPTION);
    bool chain = sc_choose(); /* is the last fiber another one? */
    int last = chain ? Z_THIRD : Z_OTHER;
    if (chain) {
        uint64_t third = suspended(Z_THIRD, 0);
        wr(sc_fiber_top(Z_OTHER) + FK_HANDLER_PARENT, third);
    }
    uint64_t fun = sc_zone_base(Z_HEAP) + 128, arg = sc_random();
    wr(fun, (uint64_t)(uintptr_t)sc_closure_code);
    sc_ocaml_state();
    *sc_ocaml_arg(0) = fiber + 1;
    *sc_ocaml_arg(1) = fun;
    *sc_ocaml_arg(2) = arg;
    *sc_ocaml_arg(3) = sc_zone_base(last) + 1;
    uint64_t young = *R.young;
    sc_call(sc_stubs[sc_current].address, sc_ocaml_return);
    truth_of_two(Z_OTHER);
    sc_go(EV_sc_closure_code);
    check_saved();
    sc_stored(sc_fiber_top(last) + FK_HANDLER_PARENT, W.stack, "fiber.links",
              "the last fiber's parent");
    check_switched(Z_OTHER, suspended_sp(Z_OTHER), exn, sc_outer_return);
    check_arg(0, arg, "the argument");
    check_arg(1, fun, "the closure");
    check_young(young);
    sc_check_indirect(sc_closure_code);
    sc_check_memory("stack.memory");
}

static void resume_used(void)
{
    if (!sc_stub_begin("caml_resume"))
        return;
    uint64_t fun = sc_zone_base(Z_HEAP) + 128;
    wr(fun, (uint64_t)(uintptr_t)sc_closure_code);
    sc_ocaml_state();
    *sc_ocaml_arg(0) = 1;
    *sc_ocaml_arg(1) = fun;
    sc_call(sc_stubs[sc_current].address, sc_ocaml_return);
    sc_state before = sc_block;
    sc_truth_ocaml();
    sc_go(EV_caml_raise_continuation_already_resumed);
    sc_check_c_entry(&before);
    sc_check_indirect(caml_raise_continuation_already_resumed);
    sc_check_memory("stack.memory");
}

/* --- caml_runstack ---------------------------------------------------------------------- */
typedef struct {
    uint64_t fiber, exn, top, trap, ra, fun, arg, value, handler_value, handler_exn, toc;
    int zone;
} running;

static uint64_t handler_closure(uint64_t at, char *code)
{
    wr(at, (uint64_t)(uintptr_t)code);
    return at;
}

static running runstack_enter(void)
{
    running r = {.zone = Z_OTHER, .fiber = sc_zone_base(Z_OTHER), .top = sc_fiber_top(Z_OTHER)};
    uint64_t heap = sc_zone_base(Z_HEAP);
    r.exn = sc_random() & ~15ul;
    sc_make_fiber(Z_OTHER, r.top, r.exn, 0);
    sc_zones[Z_OTHER].low = r.top;
    wr(r.top + FK_HANDLER_VALUE, handler_closure(heap + 64, sc_handle_value));
    wr(r.top + FK_HANDLER_EXN, handler_closure(heap + 128, sc_handle_exn));
    r.fun = handler_closure(heap + 192, sc_closure_code);
    r.arg = sc_random();
    sc_ocaml_state();
    *sc_ocaml_arg(0) = r.fiber + 1;
    *sc_ocaml_arg(1) = r.fun;
    *sc_ocaml_arg(2) = r.arg;
    sc_call(sc_stubs[sc_current].address, sc_ocaml_return);
    sc_truth_ocaml();
    sc_go(EV_sc_closure_code);
    return r;
}

static void runstack_started(running *r, uint64_t young)
{
    uint64_t sp = *R.sp + sc_this_port.pushes_return, want = r->top - sc_abi->header_size;
    r->ra = sc_return_address();
    check_arg(0, r->arg, "the argument");
    check_arg(1, r->fun, "the closure");
    check_young(young);
    sc_check_indirect(sc_closure_code);
    check_saved();
    sc_stored(r->top + FK_HANDLER_PARENT, W.stack, "fiber.links", "the new fiber's parent");
    sc_stored(dom_at("current_stack"), r->fiber, "fiber.switch", "dom.current_stack");
    sc_check(sp == want, "fiber.switch", "sp",
             "`%s` starts the fiber with stack pointer 0x%llx, it must be 0x%llx", NAME, (ull)sp,
             (ull)want);
    r->trap = R.trap ? *R.trap : DOM("exn_handler");
    sc_forget(dom_at("exn_handler"), dom_at("exn_handler") + 8);
    sc_check(r->trap == r->top - 32, "exception.frame", "trap",
             "`%s` makes 0x%llx the trap frame, it must be 0x%llx", NAME, (ull)r->trap,
             (ull)(r->top - 32));
    sc_check(rd(r->top - 32) == r->exn, "exception.frame", "previous",
             "`%s` makes 0x%llx the previous handler, the fiber's is 0x%llx", NAME,
             (ull)rd(r->top - 32), (ull)r->exn);
    sc_check(sc_is_c_frame(r->ra), "frametable.return-address", "runstack",
             "`%s` calls with return address 0x%llx, which caml_system's frametable does not "
             "describe as a C frame", NAME, (ull)r->ra);
    if (R.toc) /* the frame's TOC word */
        sc_forget(W.S + 8, W.S + 16);
    sc_check_memory("stack.memory");
}

/* The fiber ends, perhaps on a stack that has moved meanwhile. Its parent need not be
 * the fiber that started it: after a caml_resume it is another, whose frame holds
 * nothing that caml_runstack has put there. */
static void fiber_ends(running *r, bool raises)
{
    uint64_t result = sc_random();
    sc_ocaml_body();
    if (R.toc)
        sc_scribble(W.S + 8, W.S + 16);
    *R.result = result;
    r->value = result;
    if (raises) {
        sc_block.pc = rd(r->trap + FK_TRAP_HANDLER);
        *R.sp = r->trap + FK_TRAP_SIZE - sc_abi->frame_reserved;
        if (R.trap)
            *R.trap = rd(r->trap);
        else
            wr(dom_at("exn_handler"), rd(r->trap));
    } else {
        sc_block.pc = r->ra;
        *R.sp += sc_this_port.pushes_return;
    }
    if (sc_choose()) {
        uint64_t delta = sc_zone_base(Z_THIRD) - sc_zone_base(Z_OTHER);
        uint64_t from = r->top - 64;
        for (uint64_t a = from; a < r->top + 32; a += 8)
            wr(a + delta, rd(a));
        sc_scribble(r->fiber, r->top + 32);
        r->zone = Z_THIRD;
        r->fiber += delta;
        r->top += delta;
        *R.sp += delta;
        wr(r->fiber + FK_STACK_HANDLER, r->top);
        wr(dom_at("current_stack"), r->fiber);
        sc_zones[Z_THIRD].low = r->top;
    }
}

static void runstack(void)
{
    if (!sc_stub_begin("caml_runstack"))
        return;
    bool raises = sc_choose();
    running r = runstack_enter();
    runstack_started(&r, *R.young);
    fiber_ends(&r, raises);
    uint64_t young = *R.young;
    sc_truth_ocaml();
    sc_go(EV_caml_free_stack);
    if (R.toc)
        sc_check(*R.toc == sc_symbol(".TOC."), "c-entry.toc", "r2",
                 "`%s` calls caml_free_stack with r2 = 0x%llx, the TOC is at 0x%llx", NAME,
                 (ull)*R.toc, (ull)sc_symbol(".TOC."));
    sc_stored(dom_at("current_stack"), W.stack, "fiber.switch", "dom.current_stack");
    sc_stored(dom_at("exn_handler"), W.trap, "fiber.switch", "dom.exn_handler");
    sc_check(*sc_c_arg(0) == r.fiber, "arguments.registers", "the fiber",
             "`%s` frees the fiber at 0x%llx, it is at 0x%llx", NAME, (ull)*sc_c_arg(0),
             (ull)r.fiber);
    sc_check_alignment();
    uint64_t sp = *R.sp + sc_this_port.pushes_return;
    sc_check(sp == W.link, "c-entry.stack", "sp",
             "`%s` calls caml_free_stack with stack pointer 0x%llx, dom.c_stack is 0x%llx", NAME,
             (ull)sp, (ull)W.link);
    sc_forget_c_area(W.link);
    sc_check_memory("stack.memory");
    uint64_t closure = rd(r.top + (raises ? FK_HANDLER_EXN : FK_HANDLER_VALUE));
    sc_scribble(r.fiber, r.top + 32);
    sc_c_body(false);
    sc_c_leave(sc_random());
    sc_truth_ocaml();
    sc_go(raises ? EV_sc_handle_exn : EV_sc_handle_value);
    check_arg(0, r.value, "the value");
    check_arg(1, closure, "the handler");
    check_young(young);
    check_switched(Z_STACK, W.S, W.trap, sc_ocaml_return);
    sc_check_indirect(raises ? sc_handle_exn : sc_handle_value);
    sc_check_memory("stack.memory");
}

const sc_case sc_cases_fiber[] = {
    {"perform", perform, 4, true, 5},
    {"perform-unhandled", unhandled, 3, true, 5},
    {"reperform", reperform, 4, true, 5},
    {"reperform-unhandled", reunhandled, 3, true, 5},
    {"resume", resume, 5, true, 5},
    {"resume-used", resume_used, 2, true, 5},
    {"runstack", runstack, 8, true, 5},
    {0},
};
