/* cases_buckets.c - save areas and exceptions that leave a collection. */
#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

enum { FRAME = 96, TRAP = 48 };

static uint64_t trap_now(void) { return R.trap ? *R.trap : DOM("exn_handler"); }

/* OCaml code takes a frame below the stack pointer it was entered with. */
static void ocaml_frame(void)
{
    uint64_t sp = *R.sp + sc_this_port.pushes_return;
    sc_ocaml_body();
    W.S = ((sp - FRAME) & ~15ul) - 16;
    *R.sp = W.S;
}

static void from_c(const char *name, uint64_t sp, const char *ra)
{
    char *stub = sc_stub_begin(name);
    *R.sp = sp;
    if (R.toc)
        wr(sp, W.prev_link);
    sc_zones[Z_C].low = sp;
    *sc_c_arg(0) = W.dom;
    sc_call(stub, ra);
}

static void into_ocaml(int event)
{
    sc_go(event);
    sc_sync();
    W.trap = trap_now();
    W.link = DOM("c_stack");
    sc_zones[Z_C].low = W.link;
    sc_zones[Z_STACK].low = W.S;
}

static void call_gc_until_c(void)
{
    sc_ocaml_state();
    if (R.toc)
        wr(W.S + 24, sc_random());
    sc_call(sc_stub_begin("caml_call_gc"), sc_ocaml_return);
    sc_go(EV_caml_garbage_collection);
    sc_sync();
}

/* C raises; returns when the handler of `trap` runs. */
static void raise_from_c(uint64_t exn, uint64_t young)
{
    wr(dom_at("young_ptr"), young);
    W.trap = DOM("exn_handler");
    sc_randomize();
    *sc_c_arg(1) = exn;
    from_c("caml_raise_exception", (W.link - 256) & ~15ul, sc_c_return);
    sc_go(EV_sc_handler);
    sc_check_handler(exn);
    sc_check(*R.young == young, "pointers.young", "young_ptr",
             "`%s` raises with young_ptr 0x%llx, the domain state says 0x%llx", NAME,
             (ull)*R.young, (ull)young);
}

static void check_buckets(const char *when)
{
    uint64_t head = DOM("gc_regs_buckets");
    sc_check(
        head == W.bucket && rd(head) == W.next_bucket, "domain.buckets", when,
        "%s `%s` leaves dom.gc_regs_buckets at 0x%llx and its next at 0x%llx, they must be 0x%llx "
        "and 0x%llx",
        when, NAME, (ull)head, (ull)rd(head), (ull)W.bucket, (ull)W.next_bucket);
}

/* A finaliser, a signal handler or a memprof callback raises: the save area of
 * the collection it leaves must be free again, once. */
static void gc_raises(void)
{
    if (!sc_stub_begin("caml_raise_exception") || !sc_stub_begin("caml_call_gc"))
        return;
    wr(dom_at("backtrace_active"), 0);
    uint64_t trap = W.trap;
    call_gc_until_c();
    raise_from_c(sc_random() & ~7ul, sc_random() & ~7ul);
    uint64_t head = DOM("gc_regs_buckets");
    sc_check(head == W.bucket && rd(head) == W.next_bucket, "domain.buckets", "after an exception",
             "an exception that `%s` takes out of a collection leaves its save area taken: "
             "dom.gc_regs_buckets is 0x%llx, the area is at 0x%llx", NAME, (ull)head,
             (ull)W.bucket);
    uint64_t next = rd(head);
    wr(dom_at("exn_handler"), trap);
    raise_from_c(sc_random() & ~7ul, sc_random() & ~7ul);
    sc_check(DOM("gc_regs_buckets") == head && rd(head) == next, "domain.buckets", "after two",
             "a second exception through `%s` changes the list of save areas again", NAME);
}

/* A collection has ended; a later exception from C is none of its business. */
static void gc_then_raise(void)
{
    if (!sc_stub_begin("caml_raise_exception") || !sc_stub_begin("caml_call_gc"))
        return;
    wr(dom_at("backtrace_active"), 0);
    call_gc_until_c();
    sc_c_body(false);
    sc_c_leave(0);
    sc_go(EV_sc_ocaml_return);
    check_buckets("after a collection");
    wr(dom_at("exn_handler"), W.trap);
    raise_from_c(sc_random() & ~7ul, sc_random() & ~7ul);
    check_buckets("after a collection and an exception");
}

/* A callback inside a collection: an exception that it handles itself must leave
 * the area of the collection around it taken. */
static void gc_callback_raises(void)
{
    if (!sc_stub_begin("caml_raise_exception") || !sc_stub_begin("caml_callback_asm") ||
        !sc_stub_begin("caml_call_gc"))
        return;
    uint64_t closure = sc_zone_base(Z_HEAP) + 64;
    wr(dom_at("backtrace_active"), 0);
    wr(closure, (uint64_t)(uintptr_t)sc_closure_code);
    call_gc_until_c();
    *sc_c_arg(1) = closure;
    *sc_c_arg(2) = closure + 64;
    from_c("caml_callback_asm", (W.link - 256) & ~15ul, sc_c_return);
    into_ocaml(EV_sc_closure_code);
    ocaml_frame();
    wr(W.S + TRAP, trap_now());
    wr(W.S + TRAP + FK_TRAP_HANDLER, (uint64_t)(uintptr_t)sc_handler);
    W.outer_trap = trap_now();
    wr(dom_at("exn_handler"), W.S + TRAP);
    wr(W.stack + FK_STACK_SP, W.S - sc_abi->first_frame);
    wr(W.S + (uint64_t)(int64_t)sc_abi->ra_offset, (uint64_t)(uintptr_t)sc_ocaml_return);
    raise_from_c(sc_random() & ~7ul, sc_random() & ~7ul);
    sc_check(
        DOM("gc_regs_buckets") == W.next_bucket, "domain.buckets", "in a callback",
        "an exception handled inside a callback frees the save area of the collection around it");
}

const sc_case sc_cases_buckets[] = {
    {"gc_raises", gc_raises, 4, false, 5},
    {"gc_then_raise", gc_then_raise, 4, false, 5},
    {"gc_callback_raises", gc_callback_raises, 4, false, 5},
    {0},
};
