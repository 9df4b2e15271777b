/* cases_gc.c - caml_call_gc, caml_alloc1/2/3/N, caml_call_realloc_stack. */
#include <string.h>

#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

static uint64_t save_area; /* gc_regs while C runs */
static uint64_t head_after; /* list of buckets as C leaves it */

static void enter_save_area(void)
{
    save_area = DOM("gc_regs");
    if (!sc_five) {
        sc_zone *z = sc_zone_of(save_area);
        sc_check(z == &sc_zones[Z_STACK] && save_area < W.S, "domain.gc-regs", "dom.gc_regs",
                 "`%s` leaves dom.gc_regs at 0x%llx, outside its own frame", NAME, (ull)save_area);
        sc_forget(dom_at("gc_regs"), dom_at("gc_regs") + 8);
        return;
    }
    save_area = W.bucket + sc_abi->bucket_base;
    sc_stored(dom_at("gc_regs_buckets"), W.next_bucket, "domain.buckets", "dom.gc_regs_buckets");
    sc_forget(W.bucket, W.bucket + sc_abi->bucket_size);
}

static void leave_save_area(void)
{
    if (!sc_five) {
        sc_forget(dom_at("gc_regs"), dom_at("gc_regs") + 8);
        return;
    }
    sc_stored(dom_at("gc_regs_buckets"), W.bucket, "domain.buckets", "dom.gc_regs_buckets");
    sc_stored(W.bucket, head_after, "domain.buckets", "the bucket's next pointer");
    sc_forget(W.bucket, W.bucket + sc_abi->bucket_size);
    sc_forget(dom_at("gc_regs"), dom_at("gc_regs") + 8);
}

/* From here the stub must go through the collector and back. `before`: the
 * registers at its entry, young_ptr already lowered. */
static void through_collector(const sc_state *before, uint64_t toc)
{
    sc_state want = *before;
    sc_truth_ocaml();
    sc_go(EV_caml_garbage_collection);
    enter_save_area();
    if (sc_five)
        sc_stored(dom_at("gc_regs"), save_area, "domain.gc-regs", "dom.gc_regs");
    sc_check_c_entry(before);
    sc_move_roots(save_area, before, &want);
    sc_check_memory("stack.memory");
    sc_c_body(false);
    uint64_t young = sc_c_effects(true);
    head_after = sc_choose() ? W.next_bucket : 0;
    if (sc_five)
        wr(dom_at("gc_regs_buckets"), head_after);
    sc_c_leave(sc_random());
    sc_truth_ocaml();
    sc_go(EV_sc_ocaml_return);
    sc_check_sp(W.S);
    sc_check_pointers(young);
    sc_check_moved(before, &want);
    if (R.toc)
        sc_check(*R.toc == toc, "registers.kept", "r2",
                 "`%s` returns r2 = 0x%llx, 24(r1) was 0x%llx", NAME, (ull)*R.toc, (ull)toc);
    leave_save_area();
    sc_check_memory("stack.memory");
}

static void set_young(uint64_t v) { *R.young = v; }

static sc_state enter(char *stub, uint64_t *toc)
{
    *toc = sc_random();
    if (R.toc)
        wr(W.S + 24, *toc);
    sc_call(stub, sc_ocaml_return);
    return sc_block;
}

static void call_gc(void)
{
    char *stub = sc_stub_begin("caml_call_gc");
    uint64_t toc;
    if (!stub)
        return;
    sc_ocaml_state();
    sc_state before = enter(stub, &toc);
    through_collector(&before, toc);
}

/* --- caml_alloc1/2/3/N ------------------------------------------------------------ */
static bool callee_subtracts(void)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++)
        if (sc_reg(&sc_abi->regs[i]) == R.c_function)
            return sc_role_bits(&sc_abi->regs[i]) & FK_REG_ALLOC_DESTROYED;
    return false;
}

/* Allocate `bytes` with young_ptr = `young` against `limit`. */
static void alloc(const char *name, uint64_t bytes, uint64_t young, uint64_t limit)
{
    char *stub = sc_stub_begin(name);
    bool n = strcmp(name, "caml_allocN") == 0;
    uint64_t toc, after = young - bytes;
    if (!stub)
        return;
    wr(dom_at("young_limit"), limit);
    sc_ocaml_state();
    set_young(n && !callee_subtracts() ? after : young);
    if (n && callee_subtracts())
        *R.c_function = bytes;
    sc_state before = enter(stub, &toc);
    *(uint64_t *)((char *)&before + ((char *)R.young - (char *)&sc_block)) = after;
    sc_truth_ocaml();
    if (after < limit) {
        through_collector(&before, toc);
        return;
    }
    int event = sc_go_any();
    if (event != EV_sc_ocaml_return) {
        sc_abandon("allocation.decision",
                   "`%s` of %llu bytes goes to %s with young_ptr 0x%llx (after) and limit 0x%llx",
                   NAME, (ull)bytes, sc_event_name(event), (ull)after, (ull)limit);
    }
    sc_check(*R.young == after, "allocation.size", "young_ptr",
             "`%s` leaves young_ptr at 0x%llx, %llu bytes below 0x%llx is 0x%llx", NAME,
             (ull)*R.young, (ull)bytes, (ull)young, (ull)after);
    sc_check_sp(W.S);
    sc_check_pointers(after);
    sc_check_kept(&before, FK_REG_ALLOCATABLE, FK_REG_ALLOC_DESTROYED, "registers.kept");
    sc_check_memory("stack.memory");
}

/* Limits around young_ptr after the allocation: equal and below: no collection;
 * above by a byte or a word, or all ones: collection. Also on the two sides of
 * the sign bit. */
static void alloc_at(const char *name, uint64_t bytes, int which)
{
    static const int64_t near[] = {0, 1, -1, 8, -8};
    uint64_t young = (sc_random() & ~7ul) | 1ul << 40;
    if (which < 5)
        alloc(name, bytes, young, young - bytes + (uint64_t)near[which]);
    else if (which == 5)
        alloc(name, bytes, young, UINT64_MAX);
    else if (which == 6)
        alloc(name, bytes, 0x8000000000001000, 0x7ffffffffffff000);
    else
        alloc(name, bytes, 0x7fffffffffff0000, 0x8000000000000000);
}

static void alloc_fixed(const char *name, uint64_t bytes)
{
    for (int which = 0; which < 8; which++) {
        sc_new_world();
        alloc_at(name, bytes, which);
    }
}

static void alloc1(void) { alloc_fixed("caml_alloc1", 16); }
static void alloc2(void) { alloc_fixed("caml_alloc2", 24); }
static void alloc3(void) { alloc_fixed("caml_alloc3", 32); }

/* Every size exactly at the limit, a word below it and a word above. */
static void alloc_n(void)
{
    if (!sc_stub_begin("caml_allocN"))
        return;
    for (int words = 1; words <= 256; words++)
        for (int k = words < 9 ? 0 : 1; k < 4; k++) {
            sc_new_world();
            alloc_at("caml_allocN", 8 * ((uint64_t)words + 1),
                     k == 0   ? words - 1
                     : k == 1 ? 0
                              : k + 1);
        }
}

static void alloc_n_traced(void)
{
    sc_new_world();
    alloc_at("caml_allocN", 48, 1);
}

/* --- caml_call_realloc_stack ---------------------------------------------------------- */
static sc_state enter_realloc(uint64_t *size)
{
    const char *reg = sc_this_port.realloc_size;
    *size = 64 + sc_random() % 4096;
    sc_ocaml_state();
    if (reg)
        *sc_reg(fk_abi_reg_by_name(sc_abi, reg)) = *size;
    else
        wr(W.S, *size);
    sc_call(sc_stubs[sc_current].address, sc_ocaml_return);
    sc_state before = sc_block;
    sc_truth_ocaml();
    sc_go(EV_caml_try_realloc_stack);
    enter_save_area();
    sc_forget(dom_at("gc_regs"), dom_at("gc_regs") + 8);
    sc_check_c_entry(&before);
    sc_check(*sc_c_arg(0) == *size, "arguments.registers", "size",
             "`%s` passes 0x%llx to caml_try_realloc_stack, it was asked for 0x%llx words", NAME,
             (ull)*sc_c_arg(0), (ull)*size);
    sc_check_memory("stack.memory");
    sc_c_body(false);
    return before;
}

static void realloc_grows(void)
{
    uint64_t size;
    if (!sc_stub_begin("caml_call_realloc_stack"))
        return;
    sc_state before = enter_realloc(&size);
    uint64_t young = DOM("young_ptr");
    sc_move_stack(W.S - sc_abi->first_frame);
    head_after = W.next_bucket;
    sc_c_leave(1);
    sc_truth_ocaml();
    sc_go(EV_sc_ocaml_return);
    sc_check_sp(W.S);
    sc_check_pointers(young);
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        uint32_t bits = sc_role_bits(r);
        if ((bits & FK_REG_ALLOCATABLE) && (!(bits & FK_REG_ALLOC_DESTROYED) || r->ocaml_arg >= 0))
            sc_check(*sc_reg(r) == sc_value(&before, r), "registers.kept", r->name,
                     "`%s` does not preserve %s: 0x%llx before, 0x%llx after", NAME, r->name,
                     (ull)sc_value(&before, r), (ull)*sc_reg(r));
    }
    leave_save_area();
    sc_check_memory("stack.memory");
}

extern char caml_exn_Stack_overflow[];

/* Two ways to record the raise are right: in the overflow code, or (better, it
 * has a descriptor) in the caller of the function that overflowed. */
typedef struct {
    uint64_t pc, sp;
} raise_place;

static raise_place overflow_caller(const sc_state *before)
{
    const sc_port *p = &sc_this_port;
    uint64_t sp = W.S + p->overflow_words;
    if (p->overflow_link)
        return (raise_place){sc_value(before, fk_abi_reg_by_name(sc_abi, p->overflow_link)), sp};
    return (raise_place){rd(sp - 8), sp};
}

static void realloc_fails(void)
{
    uint64_t size, exn = (uint64_t)(uintptr_t)caml_exn_Stack_overflow;
    if (!sc_stub_begin("caml_call_realloc_stack"))
        return;
    bool active = sc_choose();
    wr(dom_at("backtrace_active"), active);
    sc_state before = enter_realloc(&size);
    raise_place outer = overflow_caller(&before);
    uint64_t young = DOM("young_ptr");
    head_after = W.next_bucket;
    sc_c_leave(0);
    sc_truth((sc_frame){W.S + sc_this_port.cfa_bias, W.ra},
             (sc_frame){outer.sp + sc_this_port.cfa_bias, outer.pc}, NULL);
    sc_truth_cut(W.trap - 16);
    int event = sc_go_any();
    leave_save_area();
    if (event == EV_caml_stash_backtrace) {
        sc_check(active, "backtrace.active", "", "`%s` records a backtrace though none is wanted",
                 NAME);
        sc_stored(dom_at("backtrace_pos"), 0, "backtrace.position", "dom.backtrace_pos");
        sc_check(
            *sc_c_arg(0) == exn && *sc_c_arg(3) == W.trap, "backtrace.arguments", "exn",
            "`%s` passes exception 0x%llx and trap pointer 0x%llx to caml_stash_backtrace, they "
            "are 0x%llx and 0x%llx",
            NAME, (ull)*sc_c_arg(0), (ull)*sc_c_arg(3), (ull)exn, (ull)W.trap);
        sc_check((*sc_c_arg(1) == outer.pc && *sc_c_arg(2) == outer.sp) ||
                     (*sc_c_arg(1) == W.ra && !sc_this_port.pushes_return),
                 "backtrace.arguments", "pc", "`%s` passes pc 0x%llx and stack pointer 0x%llx to "
                 "caml_stash_backtrace, they are 0x%llx and 0x%llx", NAME, (ull)*sc_c_arg(1),
                 (ull)*sc_c_arg(2), (ull)outer.pc, (ull)outer.sp);
        sc_check_alignment();
        sc_c_body(false);
        sc_c_leave(sc_random());
        event = sc_go_any();
    } else {
        sc_check(!active, "backtrace.active", "", "`%s` records no backtrace", NAME);
    }
    if (event != EV_sc_handler)
        sc_abandon("flow.next", "`%s` leaves to %s when the stack cannot grow", NAME,
                   sc_event_name(event));
    sc_check_handler(exn);
    sc_check(*R.young == young, "pointers.young", "young_ptr",
             "`%s` raises with young_ptr 0x%llx, the domain state says 0x%llx", NAME,
             (ull)*R.young, (ull)young);
    sc_check_memory("stack.memory");
}

const sc_case sc_cases_gc[] = {
    {"call_gc", call_gc, 6, true, 0},
    {"alloc1", alloc1, 2, true, 0},
    {"alloc2", alloc2, 2, true, 0},
    {"alloc3", alloc3, 2, true, 0},
    {"allocN-once", alloc_n_traced, 1, true, 0},
    {"realloc_stack", realloc_grows, 4, true, 5},
    {"realloc_stack-fails", realloc_fails, 6, true, 5},
    {0},
};

/* Last: it takes the longest, and most faults have been seen by then. */
const sc_case sc_cases_sizes[] = {
    {"allocN", alloc_n, 1, false, 0},
    {0},
};
