/* cases_chain.c - stubs inside each other, of both generations.
 *
 *   C0 caml_start_program -> level A: a handler, caml_c_call
 *   C1 caml_callback_asm  -> level B: a handler, caml_call_gc
 *   C2 caml_callback2/3   -> level C: caml_call_gc
 *   C3 walks over all of them and moves what B and C have in registers.
 *
 * Then the way back: C gets its registers and returns or raises to C2, B gets its
 * registers; it raises to C1, which raises into A's handler; A returns to C0.
 * Each level must find what it had left. */
#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

enum { FRAME = 96, TRAP = 48, LEVELS = 3 };

/* What a level must find when control comes back, and what a walker must find of it. */
typedef struct {
    const char *callback;                     /* the stub that entered it */
    sc_state c_code;                          /* registers of the C code that called */
    uint64_t c_sp, c_link, c_trap, c_gc_regs; /* its state */
    uint64_t bottom, last_ra;                 /* the chunk above it on the stack */
    uint64_t entry, return_address, trap;     /* as OCaml code was entered */
    uint64_t S, link, handler;                /* its own frame and handler */
    uint64_t area;                            /* where its registers are saved; 0: a C call */
    sc_state before, moved, callee;           /* at its call; after; the C function's */
} level;

static level levels[LEVELS];

static const char *trap_field(void) { return sc_five ? "exn_handler" : "exception_pointer"; }
static uint64_t trap_now(void) { return R.trap ? *R.trap : DOM(trap_field()); }

static void same(uint64_t is, uint64_t want, const char *rule, const char *what)
{
    sc_check(is == want, rule, what,
             "in a chain of callbacks `%s` leaves %s at 0x%llx, it must be 0x%llx", NAME, what,
             (ull)is, (ull)want);
}

static void set_low(uint64_t c_sp)
{
    if (sc_five)
        sc_zones[Z_C].low = c_sp;
    else
        sc_zones[Z_STACK].low = c_sp;
}

/* --- down ------------------------------------------------------------------------ */
/* C code, whose frame ends at `sp`, calls `stub`. */
static void from_c(const char *stub, uint64_t sp)
{
    *R.sp = (sp - 256) & ~15ul;
    if (R.toc)
        wr(*R.sp, sp);
    set_low(*R.sp);
    *sc_c_arg(0) = W.dom;
    sc_call(sc_stub_begin(stub), sc_c_return);
}

static void remember_c(level *l)
{
    l->c_code = sc_block;
    l->c_sp = *R.sp + sc_this_port.pushes_return;
    l->c_link = W.link;
    l->c_trap = DOM(trap_field());
    l->c_gc_regs = DOM("gc_regs");
    l->bottom = sc_five ? rd(W.stack + FK_STACK_SP) : DOM("bottom_of_stack");
    l->last_ra = sc_five ? 0 : DOM("last_return_address");
}

/* OCaml code runs: it takes a frame and pushes a handler. */
static void ocaml_frame(level *l)
{
    l->entry = *R.sp + sc_this_port.pushes_return;
    l->return_address = sc_return_address();
    l->trap = trap_now();
    sc_ocaml_body();
    sc_sync();
    W.S = l->S = ((l->entry - FRAME) & ~15ul) - 16;
    wr(l->entry + (uint64_t)(int64_t)sc_abi->ra_offset, l->return_address);
    W.trap = l->handler = l->S + TRAP;
    sc_put_trap(l->handler, l->trap, sc_handler);
    if (R.trap)
        *R.trap = l->handler;
    else
        wr(dom_at(trap_field()), l->handler);
    *R.sp = l->S;
    *R.young = sc_random() & ~7ul;
    sc_zones[Z_STACK].low = l->S;
}

static void enter(level *l, const char *stub, int event, uint64_t c_sp)
{
    uint64_t closure = sc_zone_base(Z_HEAP) + 64;
    wr(closure, (uint64_t)(uintptr_t)sc_closure_code);
    l->callback = stub;
    sc_randomize();
    if (event != EV_caml_program) {
        *sc_c_arg(1) = closure;
        *sc_c_arg(2) = closure + 64;
    }
    from_c(stub, c_sp);
    remember_c(l);
    sc_go(event);
    if (sc_five)
        W.link = l->link = DOM("c_stack");
    ocaml_frame(l);
}

static uint64_t c_function_sp(void) { return *R.sp + sc_this_port.pushes_return; }

/* The level calls `stub`, which goes on to C. */
static void call(level *l, const char *stub, int event)
{
    if (R.toc)
        wr(l->S + 24, sc_random());
    if (event == EV_sc_c_function)
        *R.c_function = (uint64_t)(uintptr_t)sc_c_function;
    sc_call(sc_stub_begin(stub), sc_ocaml_return);
    l->before = l->moved = sc_block;
    sc_go(event);
    sc_check_c_entry(&l->before);
    l->area = event == EV_caml_garbage_collection ? DOM("gc_regs") : 0;
    sc_sync();
    l->callee = sc_block;
}

/* --- the walk --------------------------------------------------------------------- */
typedef struct {
    uint64_t sp, ra, gc_regs;
} walker;

static walker walk_from_domain(void)
{
    uint64_t gc_regs = DOM("gc_regs"), sp;
    if (!sc_five)
        return (walker){DOM("bottom_of_stack"), DOM("last_return_address"), gc_regs};
    sp = rd(W.stack + FK_STACK_SP) + sc_abi->first_frame;
    return (walker){sp, rd(sp + (uint64_t)(int64_t)sc_abi->ra_offset), gc_regs};
}

/* Over the C frame at `pos`, where OCaml code returns to a stub. */
static walker skip_c_frame(uint64_t pos)
{
    if (sc_five) {
        uint64_t trap = pos + sc_abi->header_size - 32, sp = trap + 32 + sc_abi->first_frame;
        uint64_t gc_regs = rd(trap + sc_abi->header_gc_regs - sc_abi->frame_reserved);
        return (walker){sp, rd(sp + (uint64_t)(int64_t)sc_abi->ra_offset), gc_regs};
    }
    uint64_t link = pos + sc_this_port.trap4_size + sc_abi->frame_reserved;
    return (walker){rd(link), rd(link + 8), rd(link + 16)};
}

/* As the collector does: from the frame that called it to the C code that began. */
static void walk(void)
{
    walker w = walk_from_domain();
    for (int i = LEVELS - 1; i >= 0; i--) {
        level *l = &levels[i];
        sc_stub_begin(l->area ? "caml_call_gc" : "caml_c_call");
        same(w.sp, l->S, "walk.bottom", "the stack pointer that a walk finds");
        same(w.ra, (uint64_t)(uintptr_t)sc_ocaml_return, "walk.return-address",
             "the return address that a walk finds");
        if (l->area) {
            same(w.gc_regs, l->area, "domain.gc-regs", "the registers that a walk finds");
            sc_move_roots(l->area, &l->before, &l->moved);
        }
        uint64_t ra = rd(l->entry + (uint64_t)(int64_t)sc_abi->ra_offset);
        sc_stub_begin(l->callback);
        sc_check(sc_is_c_frame(ra), "frametable.return-address", "walk",
                 "a walk meets return address 0x%llx, which caml_system's frametable does not "
                 "describe as a C frame", (ull)ra);
        w = skip_c_frame(l->entry);
    }
    /* What the first callback saved. */
    same(sc_five ? w.sp - sc_abi->first_frame : w.sp, levels[0].bottom, "walk.bottom",
         "the end of the walk");
    if (!sc_five)
        same(w.ra, levels[0].last_ra, "walk.return-address", "the end of the walk");
}

static void check_areas(void)
{
    uint64_t b = levels[1].area, c = levels[2].area;
    uint64_t size = sc_five ? sc_abi->bucket_size : 8;
    sc_check(
        b + size <= c || c + size <= b, "domain.buckets", "nested",
        "two collections inside each other save registers in the same place: 0x%llx and 0x%llx",
        (ull)b, (ull)c);
    if (!sc_five)
        return;
    same(b, W.bucket + sc_abi->bucket_base, "domain.gc-regs", "the outer collection's save area");
    same(c, W.next_bucket + sc_abi->bucket_base, "domain.gc-regs",
         "the inner collection's save area");
    same(DOM("gc_regs_buckets"), 0, "domain.buckets", "dom.gc_regs_buckets");
}

/* --- up ------------------------------------------------------------------------------ */
static void collector_returns(level *l, uint64_t bucket)
{
    uint64_t young = sc_random() & ~7ul;
    sc_stub_begin("caml_call_gc");
    sc_sync();
    sc_block = l->callee; /* the C function has its registers back */
    W.S = l->S;
    W.trap = l->handler;
    W.link = l->link;
    set_low(c_function_sp());
    sc_c_body(false);
    wr(dom_at("young_ptr"), young);
    sc_c_leave(sc_random());
    sc_go(EV_sc_ocaml_return);
    sc_check_sp(l->S);
    sc_check_pointers(young);
    sc_check_moved(&l->before, &l->moved);
    if (sc_five)
        same(DOM("gc_regs_buckets"), bucket, "domain.buckets", "dom.gc_regs_buckets");
}

/* Back in the C code that entered `l`. */
static void check_c_code(const level *l, uint64_t result, uint64_t young)
{
    sc_stub_begin(l->callback);
    sc_check_sp(l->c_sp);
    same(*R.result, result, "result.value", "the result");
    sc_check_kept(&l->c_code, FK_REG_C_CALLEE_SAVED, FK_REG_SP, "c-abi.kept");
    same(DOM(trap_field()), l->c_trap, "exception.chain", "the current handler");
    same(DOM("gc_regs"), l->c_gc_regs, "domain.gc-regs", "dom.gc_regs");
    same(DOM("young_ptr"), young, "domain.young-stored", "dom.young_ptr");
    if (sc_five) {
        same(DOM("c_stack"), l->c_link, "walk.link", "dom.c_stack");
        same(rd(W.stack + FK_STACK_SP), l->bottom, "walk.bottom", "the fiber's stack pointer");
    } else {
        same(DOM("bottom_of_stack"), l->bottom, "walk.bottom", "dom.bottom_of_stack");
        same(DOM("last_return_address"), l->last_ra, "walk.return-address",
             "dom.last_return_address");
    }
}

/* The raise of `exn` in `l` goes to `event`; if backtraces are active, by way of
 * caml_stash_backtrace. */
static void raised(const level *l, uint64_t exn, uint64_t trap, int event)
{
    bool active = DOM("backtrace_active");
    int is = sc_go_any();
    sc_check(active == (is == EV_caml_stash_backtrace), "backtrace.active", "",
             "`%s` goes to %s with backtrace_active = %d", NAME, sc_event_name(is), active);
    if (is == EV_caml_stash_backtrace) {
        same(*sc_c_arg(0), exn, "backtrace.arguments", "the exception");
        same(*sc_c_arg(1), (uint64_t)(uintptr_t)sc_ocaml_return, "backtrace.arguments", "pc");
        same(*sc_c_arg(2), l->S, "backtrace.arguments", "the stack pointer of the raise");
        same(*sc_c_arg(3), trap, "backtrace.arguments", "the trap pointer");
        if (sc_five)
            same(DOM("backtrace_pos"), 0, "backtrace.position", "dom.backtrace_pos");
        sc_check_alignment();
        sc_c_body(false);
        sc_c_leave(sc_random());
        is = sc_go_any();
    }
    if (is != event)
        sc_abandon("flow.next", "in a chain of callbacks `%s` leaves to %s where it must go to %s",
                   NAME, sc_event_name(is), sc_event_name(event));
    sc_count("flow.next");
}

/* OCaml code of `l` raises past its own handler, to the one of the stub. */
static void raise_out(level *l)
{
    uint64_t exn = sc_random() & ~7ul, young = sc_random() & ~7ul;
    sc_ocaml_body();
    if (R.trap)
        *R.trap = l->trap;
    else
        wr(dom_at(trap_field()), l->trap);
    *R.result = exn;
    *R.young = young;
    *R.sp = l->S;
    sc_zones[Z_STACK].low = l->S;
    wr(dom_at("backtrace_pos"), sc_random());
    sc_call(sc_stub_begin("caml_raise_exn"), sc_ocaml_return);
    raised(l, exn, l->trap, EV_sc_c_return);
    check_c_code(l, exn | 2, young);
}

static void return_from(level *l)
{
    uint64_t result = sc_random(), young = sc_random() & ~7ul;
    sc_stub_begin(l->callback);
    sc_ocaml_body();
    if (R.trap)
        *R.trap = l->trap;
    else
        wr(dom_at(trap_field()), l->trap);
    *R.result = result;
    *R.young = young;
    *R.sp = l->entry;
    sc_block.pc = l->return_address;
    sc_go(EV_sc_c_return);
    check_c_code(l, result, young);
}

/* The C function that the level called raises into its handler. */
static void raise_into(level *l)
{
    uint64_t exn = sc_random() & ~7ul, young = sc_random() & ~7ul, sp;
    sc_sync();
    sc_block = l->callee;
    sp = c_function_sp();
    sc_randomize();
    *sc_c_arg(1) = exn;
    W.S = l->S;
    W.trap = l->handler;
    W.outer_trap = l->trap;
    W.link = l->link;
    wr(dom_at("young_ptr"), young);
    from_c("caml_raise_exception", sp);
    raised(l, exn, l->handler, EV_sc_handler);
    sc_check_handler(exn);
    same(*R.young, young, "pointers.young", "young_ptr");
}

static bool stubs_there(void)
{
    static const char *const needed[] = {
        "caml_start_program", "caml_c_call",  "caml_callback_asm", "caml_callback2_asm",
        "caml_callback3_asm", "caml_call_gc", "caml_raise_exn",    "caml_raise_exception"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!sc_stub_begin(needed[i]))
            return false;
    return true;
}

static void first_c_code(void)
{
    wr(dom_at("backtrace_active"), sc_choose());
    wr(dom_at("gc_regs"), sc_random());
    if (sc_five)
        wr(W.stack + FK_STACK_SP, (W.S - 512) & ~15ul);
}

static void chain(void)
{
    bool two = sc_choose(), raises = sc_choose();
    level *a = &levels[0], *b = &levels[1], *c = &levels[2];
    if (!stubs_there())
        return;
    first_c_code();
    enter(a, "caml_start_program", EV_caml_program, sc_five ? W.link : (W.S - 256) & ~15ul);
    call(a, "caml_c_call", EV_sc_c_function);
    enter(b, "caml_callback_asm", EV_sc_closure_code, c_function_sp());
    call(b, "caml_call_gc", EV_caml_garbage_collection);
    enter(c, two ? "caml_callback2_asm" : "caml_callback3_asm",
          two ? EV_caml_apply2 : EV_caml_apply3, c_function_sp());
    call(c, "caml_call_gc", EV_caml_garbage_collection);
    check_areas();
    walk();
    collector_returns(c, W.next_bucket);
    if (raises)
        raise_out(c);
    else
        return_from(c);
    collector_returns(b, W.bucket);
    if (sc_five)
        same(rd(W.bucket), W.next_bucket, "domain.buckets", "the second save area");
    raise_out(b);
    raise_into(a);
    return_from(a);
}

const sc_case sc_cases_chain[] = {
    {"chain", chain, 8, false, 0},
    {0},
};
