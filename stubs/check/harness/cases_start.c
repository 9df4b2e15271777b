/* cases_start.c - caml_start_program, caml_callback_asm, caml_callback2/3_asm.
 *
 *   5.x, on the fiber              4.x, on the stack
 *   S0      +------------+         (callback link)  | gc_regs             |
 *   S0-8    | gc_regs    |                          | last_return_address |
 *   S0-16   | C SP       |         T + trap size    | bottom_of_stack     |
 *   S0-24   | handler    |                          | trap frame          |
 *   S0-32 T | previous   |         T                +---------------------+
 */
#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

typedef struct {
    const char *name;
    int args, event;
    char *code; /* where it must jump to */
} kind;

static const kind kinds[] = {
    {"caml_start_program", 0, EV_caml_program, caml_program},
    {"caml_callback_asm", 1, EV_sc_closure_code, sc_closure_code},
    {"caml_callback2_asm", 2, EV_caml_apply2, caml_apply2},
    {"caml_callback3_asm", 3, EV_caml_apply3, caml_apply3},
};

typedef struct {
    uint64_t sp, sp0, exn, gc_regs, bottom, last_ra, closure, args, trap;
    sc_state before;
} entry;

static void make_c_caller(entry *e)
{
    if (sc_five) {
        e->sp = (W.link - 512 - 16 * (sc_random() % 8)) & ~15ul;
        e->sp0 = (W.S - 256 - 16 * (sc_random() % 8)) & ~15ul;
        wr(W.stack + FK_STACK_SP, e->sp0);
        sc_enter_from_c(e->sp);
        sc_zones[Z_STACK].low = e->sp0;
    } else {
        e->sp = (W.S - 256 - 16 * (sc_random() % 8)) & ~15ul;
        *R.sp = e->sp;
        sc_zones[Z_STACK].low = e->sp;
        e->bottom = DOM("bottom_of_stack");
        e->last_ra = DOM("last_return_address");
    }
    wr(dom_at("gc_regs"), sc_random()); /* C may run inside a collection */
    e->exn = W.trap;
    e->gc_regs = DOM("gc_regs");
}

static entry enter(const kind *k)
{
    entry e = {0};
    sc_randomize();
    make_c_caller(&e);
    e.closure = sc_zone_base(Z_HEAP) + 64;
    e.args = sc_zone_base(Z_HEAP) + 512;
    wr(e.closure, (uint64_t)(uintptr_t)sc_closure_code);
    *sc_c_arg(0) = W.dom;
    if (k->args) {
        *sc_c_arg(1) = e.closure;
        *sc_c_arg(2) = e.args;
    }
    sc_call(sc_stubs[sc_current].address, sc_c_return);
    e.before = sc_block;
    return e;
}

static void truth(const entry *e)
{
    sc_frame f = {e->sp + sc_this_port.cfa_bias, (uint64_t)(uintptr_t)sc_c_return};
    sc_truth(f, f, &e->before);
}

static void check_args(const kind *k, const entry *e)
{
    for (int i = 0; i < k->args; i++) {
        uint64_t want = rd(e->args + 8 * (uint64_t)i);
        sc_check(*sc_ocaml_arg(i) == want, "arguments.registers", "argument",
                 "`%s` passes 0x%llx as argument %d, it is 0x%llx", NAME, (ull)*sc_ocaml_arg(i),
                 i + 1, (ull)want);
    }
    if (k->args)
        sc_check(*sc_ocaml_arg(k->args) == e->closure, "arguments.registers", "closure",
                 "`%s` passes 0x%llx as the closure, it is 0x%llx", NAME,
                 (ull)*sc_ocaml_arg(k->args), (ull)e->closure);
}

static void check_c_link(entry *e)
{
    uint64_t link = DOM("c_stack"), base = link + sc_abi->c_link_base;
    sc_check(link < e->sp && link > e->sp - 1024 && link % sc_this_port.c_align == 0,
             "c-entry.stack", "link",
             "`%s` makes 0x%llx the C stack, its caller's frame is at 0x%llx", NAME, (ull)link,
             (ull)e->sp);
    if (R.toc)
        sc_check(rd(link) == e->sp, "c-entry.back-chain", "back chain",
                 "`%s` leaves back chain 0x%llx in its frame, its caller's frame is at 0x%llx",
                 NAME, (ull)rd(link), (ull)e->sp);
    sc_check(rd(base + FK_C_LINK_PREV) == W.link, "walk.link", "the previous link",
             "`%s` links to 0x%llx, the previous C link is at 0x%llx", NAME,
             (ull)rd(base + FK_C_LINK_PREV), (ull)W.link);
    sc_check(rd(e->trap + 16) == link, "walk.link", "the C stack pointer in the header",
             "`%s` leaves 0x%llx in the stack header as the C stack pointer, it is 0x%llx", NAME,
             (ull)rd(e->trap + 16), (ull)link);
    sc_check(rd(e->trap + sc_abi->header_gc_regs - sc_abi->frame_reserved) == e->gc_regs,
             "domain.gc-regs", "gc_regs in the header",
             "`%s` saves gc_regs as 0x%llx, it is 0x%llx", NAME, (ull)rd(e->trap + 24),
             (ull)e->gc_regs);
    sc_forget(dom_at("c_stack"), dom_at("c_stack") + 8);
}

static void check_callback_link(entry *e)
{
    uint64_t at = e->trap + sc_this_port.trap4_size + sc_abi->frame_reserved;
    const uint64_t want[3] = {e->bottom, e->last_ra, e->gc_regs};
    static const char *const what[3] = {"bottom_of_stack", "last_return_address", "gc_regs"};
    for (int i = 0; i < 3; i++)
        sc_check(rd(at + 8 * (uint64_t)i) == want[i], "walk.link", what[i],
                 "`%s` saves %s as 0x%llx in the callback link, it is 0x%llx", NAME, what[i],
                 (ull)rd(at + 8 * (uint64_t)i), (ull)want[i]);
}

static void check_trap_frame(entry *e)
{
    const sc_port *p = &sc_this_port;
    uint64_t sp = *R.sp + p->pushes_return, want;
    e->trap = R.trap ? *R.trap : DOM(sc_five ? "exn_handler" : "exception_pointer");
    sc_forget(dom_at(sc_five ? "exn_handler" : "exception_pointer"),
              dom_at(sc_five ? "exn_handler" : "exception_pointer") + 8);
    want = sc_five ? e->sp0 - 32 : sp;
    sc_check(e->trap == want, "exception.frame", "trap",
             "`%s` makes 0x%llx the trap frame, it must be 0x%llx", NAME, (ull)e->trap, (ull)want);
    want = sc_five ? e->sp0 - sc_abi->header_size : e->trap;
    sc_check(sp == want, "stack.pointer", "sp",
             "`%s` enters OCaml code with stack pointer 0x%llx, it must be 0x%llx", NAME, (ull)sp,
             (ull)want);
    uint64_t align = sc_five ? sc_abi->frame_align : p->c_align;
    sc_check(sp % align == 0, "c-entry.alignment", "OCaml sp",
             "`%s` enters OCaml code with stack pointer 0x%llx, it must be a multiple of %llu",
             NAME, (ull)sp, (ull)align);
    want = rd(e->trap + (sc_five ? FK_TRAP_PREVIOUS : p->trap4_previous));
    sc_check(want == e->exn, "exception.frame", "previous",
             "`%s` makes 0x%llx the previous handler, it is 0x%llx", NAME, (ull)want, (ull)e->exn);
}

static void check_entry(const kind *k, entry *e)
{
    check_args(k, e);
    check_trap_frame(e);
    sc_check(*R.dom == W.dom, "pointers.domain", "the domain-state pointer",
             "`%s` makes 0x%llx the domain state, it is at 0x%llx", NAME, (ull)*R.dom, (ull)W.dom);
    sc_check(*R.young == DOM("young_ptr"), "pointers.young", "young_ptr",
             "`%s` starts with young_ptr 0x%llx, the domain state says 0x%llx", NAME,
             (ull)*R.young, (ull)DOM("young_ptr"));
    if (R.limit)
        sc_check(*R.limit == DOM("young_limit"), "pointers.limit", "young_limit",
                 "`%s` starts with the cached young_limit 0x%llx, it is 0x%llx", NAME,
                 (ull)*R.limit, (ull)DOM("young_limit"));
    if (sc_five)
        check_c_link(e);
    else
        check_callback_link(e);
    sc_check_indirect(k->code);
    sc_check(
        sc_is_c_frame(sc_return_address()), "frametable.return-address", "callback",
        "`%s` calls OCaml code with return address 0x%llx, which caml_system's frametable does "
        "not describe as a C frame",
        NAME, (ull)sc_return_address());
    sc_forget_c_area(e->sp);
    if (R.toc) /* the TOC save word of the C caller's frame is the callee's too */
        sc_forget(e->sp, e->sp + 32);
    sc_forget(dom_at("gc_regs"), dom_at("gc_regs") + 8); /* no collection runs in this chunk */
    sc_check_memory("stack.memory");
}

/* OCaml code has run; now and then its stack has moved. */
static uint64_t ocaml_runs(entry *e)
{
    uint64_t link = W.link, sp = *R.sp;
    sc_ocaml_body();
    *R.young = sc_random() & ~7ul;
    wr(dom_at("gc_regs"), sc_random());
    if (!sc_five || sc_choose())
        return *R.young;
    W.trap = e->trap;
    sc_move_stack(e->sp0 - sc_abi->header_size - sc_this_port.pushes_return);
    W.link = link;
    *R.sp = sp + (uint64_t)W.moved;
    if (R.trap)
        *R.trap += (uint64_t)W.moved;
    e->sp0 += (uint64_t)W.moved;
    e->trap += (uint64_t)W.moved;
    e->exn += (uint64_t)W.moved;
    sc_zones[Z_OTHER].low = e->sp0;
    return *R.young;
}

static void check_domain(const entry *e, uint64_t young)
{
    sc_stored(dom_at("young_ptr"), young, "domain.young-stored", "dom.young_ptr");
    sc_stored(dom_at("gc_regs"), e->gc_regs, "domain.gc-regs", "dom.gc_regs");
    sc_stored(dom_at(sc_five ? "exn_handler" : "exception_pointer"), e->exn, "exception.chain",
              sc_five ? "dom.exn_handler" : "dom.exception_pointer");
    if (sc_five) {
        sc_stored(dom_at("c_stack"), W.link, "walk.link", "dom.c_stack");
        sc_stored(W.stack + FK_STACK_SP, e->sp0, "walk.bottom", "the fiber's stack pointer");
    } else {
        sc_stored(dom_at("bottom_of_stack"), e->bottom, "walk.bottom", "dom.bottom_of_stack");
        sc_stored(dom_at("last_return_address"), e->last_ra, "walk.return-address",
                  "dom.last_return_address");
    }
}

static void check_return(const entry *e, uint64_t young, uint64_t result)
{
    sc_check_sp(e->sp);
    sc_check_kept(&e->before, FK_REG_C_CALLEE_SAVED, FK_REG_SP, "c-abi.kept");
    uint64_t toc = sc_symbol(".TOC.");
    if (R.toc)
        sc_check(*R.toc == toc, "c-abi.kept", "r2",
                 "`%s` returns r2 = 0x%llx to C, the TOC is at 0x%llx", NAME, (ull)*R.toc,
                 (ull)toc);
    uint64_t cc = (sc_block.cc ^ e->before.cc) & sc_this_port.cc_kept;
    sc_check(cc == 0, "c-abi.kept", "cr",
             "`%s` changes condition fields that C keeps: 0x%llx before, "
             "0x%llx after",
             NAME, (ull)e->before.cc, (ull)sc_block.cc);
    sc_check(*R.result == result, "result.value", "result",
             "`%s` returns 0x%llx, it must be 0x%llx", NAME, (ull)*R.result, (ull)result);
    check_domain(e, young);
    sc_forget_c_area(e->sp);
    sc_check_memory("stack.memory");
}

static void run(const kind *k)
{
    if (!sc_stub_begin(k->name))
        return;
    entry e = enter(k);
    truth(&e);
    sc_go(k->event);
    uint64_t ra = sc_return_address();
    check_entry(k, &e);
    bool raises = sc_choose();
    uint64_t result = sc_random(), young = ocaml_runs(&e), handler = e.trap;
    *R.result = raises ? (result &= ~7ul) : result;
    if (raises) {
        sc_block.pc = rd(handler + (sc_five ? FK_TRAP_HANDLER : sc_this_port.trap4_pc));
        uint64_t previous =
            rd(handler + (sc_five ? FK_TRAP_PREVIOUS : sc_this_port.trap4_previous));
        *R.sp = sc_five ? handler + FK_TRAP_SIZE - sc_abi->frame_reserved
                        : handler + sc_this_port.trap4_size;
        if (R.trap)
            *R.trap = previous;
        else
            wr(dom_at(sc_five ? "exn_handler" : "exception_pointer"), previous);
        result |= 2;
    } else {
        sc_block.pc = ra;
        *R.sp += sc_this_port.pushes_return;
    }
    truth(&e);
    sc_go(EV_sc_c_return);
    check_return(&e, young, result);
}

static void start_program(void) { run(&kinds[0]); }
static void callback(void) { run(&kinds[1]); }
static void callback2(void) { run(&kinds[2]); }
static void callback3(void) { run(&kinds[3]); }

const sc_case sc_cases_start[] = {
    {"start_program", start_program, 8, true, 0},
    {"callback", callback, 8, true, 0},
    {"callback2", callback2, 6, true, 0},
    {"callback3", callback3, 6, true, 0},
    {0},
};
