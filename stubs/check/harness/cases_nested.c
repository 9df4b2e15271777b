/* cases_nested.c - stubs inside each other.
 *
 *   nested:  C -> caml_start_program -> OCaml -> caml_c_call -> C -> caml_callback_asm
 *            -> OCaml -> caml_call_gc -> C, back, caml_raise_exn -> the callback's
 *            handler -> C -> caml_raise_exception -> OCaml's handler -> return -> C
 *   gc_raises: an exception leaves a collection
 */
#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

enum { FRAME = 96, TRAP = 48 };


static uint64_t trap_now(void) { return R.trap ? *R.trap : DOM("exn_handler"); }

static void set_trap(uint64_t v)
{
    if (R.trap)
        *R.trap = v;
    else
        wr(dom_at("exn_handler"), v);
}

static void same(uint64_t is, uint64_t want, const char *rule, const char *what)
{
    sc_check(is == want, rule, what, "in a chain of callbacks `%s` leaves %s at 0x%llx, it must be 0x%llx",
             NAME, what, (ull)is, (ull)want);
}

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

/* What each level must find when control comes back to it. */
static struct {
    sc_state outer_c, inner_c;                   /* registers of the two C callers */
    uint64_t outer_sp, inner_sp;                 /* stack pointers at their calls */
    uint64_t link, fiber_sp, trap;               /* before anything ran */
    uint64_t start_return, start_sp, start_trap; /* caml_start_program's header */
    uint64_t start_link, S, handler_trap;        /* outer OCaml code's frame */
    uint64_t exn, young;
} N;

static void start_outer(void)
{
    N.link = W.link;
    N.trap = W.trap;
    N.exn = sc_random() & ~7ul;
    wr(W.stack + FK_STACK_SP, N.fiber_sp = (W.S - 512) & ~15ul);
    sc_randomize();
    from_c("caml_start_program", N.outer_sp = (W.link - 512) & ~15ul, sc_c_return);
    N.outer_c = sc_block;
    into_ocaml(EV_caml_program);
    N.start_return = sc_return_address();
    N.start_trap = W.trap;
    N.start_link = W.link;
    N.start_sp = *R.sp + sc_this_port.pushes_return;
}

/* Outer OCaml code pushes a handler and calls C. */
static void call_c_from_outer(void)
{
    ocaml_frame();
    N.S = W.S;
    N.handler_trap = W.S + TRAP;
    wr(N.handler_trap, N.start_trap);
    wr(N.handler_trap + FK_TRAP_HANDLER, (uint64_t)(uintptr_t)sc_handler);
    set_trap(W.trap = N.handler_trap);
    sc_zones[Z_STACK].low = W.S;
    *R.c_function = (uint64_t)(uintptr_t)sc_c_function;
    sc_call(sc_stub_begin("caml_c_call"), sc_ocaml_return);
    sc_state before = sc_block;
    sc_go(EV_sc_c_function);
    sc_check_c_entry(&before);
}

static void call_back_into_inner(void)
{
    uint64_t closure = sc_zone_base(Z_HEAP) + 64;
    wr(closure, (uint64_t)(uintptr_t)sc_closure_code);
    *sc_c_arg(1) = closure;
    *sc_c_arg(2) = closure + 64;
    from_c("caml_callback_asm", N.inner_sp = (*R.sp - 512) & ~15ul, sc_c_return);
    N.inner_c = sc_block;
    into_ocaml(EV_sc_closure_code);
    same(rd(W.link + sc_abi->c_link_base + FK_C_LINK_PREV), N.start_link, "walk.link",
         "the previous link");
    same(rd(N.start_link + sc_abi->c_link_base + FK_C_LINK_SP), N.S - sc_abi->first_frame,
         "walk.link", "the outer chunk's stack pointer");
    same(rd(N.S + (uint64_t)(int64_t)sc_abi->ra_offset), (uint64_t)(uintptr_t)sc_ocaml_return,
         "walk.return-address", "the outer chunk's return address");
}

static void collect_in_inner(void)
{
    ocaml_frame();
    *R.young = sc_random() & ~7ul;
    if (R.toc)
        wr(W.S + 24, sc_random());
    sc_zones[Z_STACK].low = W.S;
    sc_call(sc_stub_begin("caml_call_gc"), sc_ocaml_return);
    sc_state before = sc_block;
    sc_go(EV_caml_garbage_collection);
    same(DOM("gc_regs"), W.bucket + sc_abi->bucket_base, "domain.gc-regs", "dom.gc_regs");
    sc_check_c_entry(&before);
    sc_sync();
    sc_c_body(false);
    sc_c_leave(0);
    sc_go(EV_sc_ocaml_return);
    same(DOM("gc_regs_buckets"), W.bucket, "domain.buckets", "dom.gc_regs_buckets");
}

/* Inner OCaml code raises: the callback returns an exception result to C. */
static void raise_out_of_inner(void)
{
    wr(dom_at("backtrace_active"), 0);
    *R.result = N.exn;
    N.young = *R.young = sc_random() & ~7ul;
    sc_call(sc_stub_begin("caml_raise_exn"), sc_ocaml_return);
    sc_go(EV_sc_c_return);
    sc_stub_begin("caml_callback_asm");
    sc_check_sp(N.inner_sp);
    same(*R.result, N.exn | 2, "result.value", "the exception result");
    sc_check_kept(&N.inner_c, FK_REG_C_CALLEE_SAVED, FK_REG_SP, "c-abi.kept");
    same(DOM("c_stack"), N.start_link, "walk.link", "dom.c_stack");
    same(DOM("exn_handler"), N.handler_trap, "exception.chain", "dom.exn_handler");
    same(rd(W.stack + FK_STACK_SP), N.S - sc_abi->first_frame, "walk.bottom",
         "the fiber's stack pointer");
    same(DOM("young_ptr"), N.young, "domain.young-stored", "dom.young_ptr");
}

/* C raises it again, into the handler of outer OCaml code. */
static void raise_into_outer(void)
{
    sc_sync();
    *sc_c_arg(1) = N.exn;
    from_c("caml_raise_exception", N.inner_sp - 64, sc_c_return);
    sc_go(EV_sc_handler);
    same(*R.sp, N.handler_trap + FK_TRAP_SIZE - sc_abi->frame_reserved, "exception.handler",
         "the handler's stack pointer");
    same(*R.result, N.exn, "exception.bucket", "the exception");
    same(trap_now(), N.start_trap, "exception.chain", "the previous handler");
    same(*R.young, N.young, "pointers.young", "young_ptr");
}

static void return_from_outer(void)
{
    uint64_t result = sc_random();
    sc_stub_begin("caml_start_program");
    sc_ocaml_body();
    *R.result = result;
    *R.sp = N.start_sp;
    sc_block.pc = N.start_return;
    sc_go(EV_sc_c_return);
    same(*R.result, result, "result.value", "the result");
    sc_check_kept(&N.outer_c, FK_REG_C_CALLEE_SAVED, FK_REG_SP, "c-abi.kept");
    same(DOM("c_stack"), N.link, "walk.link", "dom.c_stack");
    same(DOM("exn_handler"), N.trap, "exception.chain", "dom.exn_handler");
    same(rd(W.stack + FK_STACK_SP), N.fiber_sp, "walk.bottom", "the fiber's stack pointer");
}

static void nested(void)
{
    static const char *const needed[] = {"caml_start_program", "caml_c_call", "caml_callback_asm",
                                         "caml_call_gc", "caml_raise_exn", "caml_raise_exception"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!sc_stub_begin(needed[i]))
            return;
    start_outer();
    call_c_from_outer();
    call_back_into_inner();
    collect_in_inner();
    raise_out_of_inner();
    raise_into_outer();
    return_from_outer();
}

/* --- save areas and exceptions --------------------------------------------------- */
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
    same(*R.young, young, "pointers.young", "young_ptr");
}

static void check_buckets(const char *when)
{
    uint64_t head = DOM("gc_regs_buckets");
    sc_check(head == W.bucket && rd(head) == W.next_bucket, "domain.buckets", when,
             "%s `%s` leaves dom.gc_regs_buckets at 0x%llx and its next at 0x%llx, they must be 0x%llx "
             "and 0x%llx", when, NAME, (ull)head, (ull)rd(head), (ull)W.bucket, (ull)W.next_bucket);
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
    sc_check(DOM("gc_regs_buckets") == W.next_bucket, "domain.buckets", "in a callback",
             "an exception handled inside a callback frees the save area of the collection around it");
}

const sc_case sc_cases_nested[] = {
    {"nested", nested, 6, false, 5},
    {"gc_raises", gc_raises, 4, false, 5},
    {"gc_then_raise", gc_then_raise, 4, false, 5},
    {"gc_callback_raises", gc_callback_raises, 4, false, 5},
    {0},
};
