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

typedef struct {
    sc_state before;
    uint64_t sp, trap, link, ra;
} level;

static void nested(void)
{
    static const char *const needed[] = {"caml_start_program", "caml_c_call", "caml_callback_asm",
                                         "caml_call_gc", "caml_raise_exn", "caml_raise_exception"};
    for (int i = 0; i < 6; i++)
        if (!sc_stub_begin(needed[i]))
            return;
    level a = {.link = W.link, .trap = W.trap}, b = {0};
    uint64_t exn = sc_random() & ~7ul, closure = sc_zone_base(Z_HEAP) + 64;
    wr(closure, (uint64_t)(uintptr_t)sc_closure_code);
    wr(W.stack + FK_STACK_SP, a.sp = (W.S - 512) & ~15ul);

    sc_randomize();
    from_c("caml_start_program", (W.link - 512) & ~15ul, sc_c_return);
    a.before = sc_block;
    into_ocaml(EV_caml_program);
    a.ra = sc_return_address();
    uint64_t trap0 = W.trap, link0 = W.link, sp0 = *R.sp + sc_this_port.pushes_return;

    ocaml_frame();
    uint64_t S1 = W.S, trap1 = W.S + TRAP;
    wr(trap1, trap0);
    wr(trap1 + FK_TRAP_HANDLER, (uint64_t)(uintptr_t)sc_handler);
    set_trap(trap1);
    W.trap = trap1;
    sc_zones[Z_STACK].low = W.S;
    *R.c_function = (uint64_t)(uintptr_t)sc_c_function;
    sc_call(sc_stub_begin("caml_c_call"), sc_ocaml_return);
    b.before = sc_block;
    sc_go(EV_sc_c_function);
    sc_check_c_entry(&b.before);

    b.sp = (*R.sp - 512) & ~15ul;
    *sc_c_arg(1) = closure;
    *sc_c_arg(2) = closure + 64;
    from_c("caml_callback_asm", b.sp, sc_c_return);
    b.before = sc_block;
    into_ocaml(EV_sc_closure_code);
    same(rd(W.link + sc_abi->c_link_base + FK_C_LINK_PREV), link0, "walk.link", "the previous link");
    same(rd(link0 + sc_abi->c_link_base + FK_C_LINK_SP), S1 - sc_abi->first_frame, "walk.link",
         "the outer chunk's stack pointer");
    same(rd(S1 + (uint64_t)(int64_t)sc_abi->ra_offset), (uint64_t)(uintptr_t)sc_ocaml_return,
         "walk.return-address", "the outer chunk's return address");

    ocaml_frame();
    *R.young = sc_random() & ~7ul;
    uint64_t toc = sc_random();
    if (R.toc)
        wr(W.S + 24, toc);
    sc_zones[Z_STACK].low = W.S;
    sc_call(sc_stub_begin("caml_call_gc"), sc_ocaml_return);
    level c = {.before = sc_block};
    sc_go(EV_caml_garbage_collection);
    same(DOM("gc_regs"), W.bucket + sc_abi->bucket_base, "domain.gc-regs", "dom.gc_regs");
    sc_check_c_entry(&c.before);
    sc_sync();
    sc_c_body(false);
    sc_c_leave(0);
    sc_go(EV_sc_ocaml_return);
    same(DOM("gc_regs_buckets"), W.bucket, "domain.buckets", "dom.gc_regs_buckets");

    wr(dom_at("backtrace_active"), 0);
    *R.result = exn;
    uint64_t young = *R.young = sc_random() & ~7ul;
    sc_call(sc_stub_begin("caml_raise_exn"), sc_ocaml_return);
    sc_go(EV_sc_c_return);
    sc_stub_begin("caml_callback_asm");
    sc_check_sp(b.sp);
    same(*R.result, exn | 2, "result.value", "the exception result");
    sc_check_kept(&b.before, FK_REG_C_CALLEE_SAVED, FK_REG_SP, "c-abi.kept");
    same(DOM("c_stack"), link0, "walk.link", "dom.c_stack");
    same(DOM("exn_handler"), trap1, "exception.chain", "dom.exn_handler");
    same(rd(W.stack + FK_STACK_SP), S1 - sc_abi->first_frame, "walk.bottom",
         "the fiber's stack pointer");
    same(DOM("young_ptr"), young, "domain.young-stored", "dom.young_ptr");

    sc_sync();
    *sc_c_arg(1) = exn;
    from_c("caml_raise_exception", b.sp - 64, sc_c_return);
    sc_go(EV_sc_handler);
    same(*R.sp, trap1 + FK_TRAP_SIZE - sc_abi->frame_reserved, "exception.handler",
         "the handler's stack pointer");
    same(*R.result, exn, "exception.bucket", "the exception");
    same(trap_now(), trap0, "exception.chain", "the previous handler");
    same(*R.young, young, "pointers.young", "young_ptr");

    sc_stub_begin("caml_start_program");
    uint64_t result = sc_random();
    sc_ocaml_body();
    *R.result = result;
    *R.sp = sp0;
    sc_block.pc = a.ra;
    sc_go(EV_sc_c_return);
    same(*R.result, result, "result.value", "the result");
    sc_check_kept(&a.before, FK_REG_C_CALLEE_SAVED, FK_REG_SP, "c-abi.kept");
    same(DOM("c_stack"), a.link, "walk.link", "dom.c_stack");
    same(DOM("exn_handler"), a.trap, "exception.chain", "dom.exn_handler");
    same(rd(W.stack + FK_STACK_SP), a.sp, "walk.bottom", "the fiber's stack pointer");
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
