/* common.c - checks that belong to more than one stub. */
#include <string.h>

#include "harness.h"

#define NAME sc_stubs[sc_current].name
typedef unsigned long long ull;

/* What a C callee owns above its stack pointer; on power also the word where the
 * owner of a frame, or a PLT entry, keeps the TOC pointer over a call. */
void sc_forget_c_area(uint64_t sp)
{
    for (int i = 0; i < sc_this_port.num_c_scratch; i++)
        sc_forget(sp + sc_this_port.c_scratch[i], sp + sc_this_port.c_scratch[i] + 8);
    if (R.toc)
        sc_forget(sp + 24, sp + 32);
}

void sc_check_alignment(void)
{
    uint64_t sp = *R.sp + sc_this_port.pushes_return;
    sc_check(sp % sc_this_port.c_align == 0, "c-entry.alignment", "sp",
             "`%s` calls C with stack pointer 0x%llx, it must be a multiple of %d", NAME, (ull)sp,
             sc_this_port.c_align);
}

static void check_c_stack(void)
{
    uint64_t sp = *R.sp + sc_this_port.pushes_return;
    sc_check(sp == W.link, "c-entry.stack", "sp",
             "`%s` calls C with stack pointer 0x%llx, dom.c_stack is 0x%llx", NAME, (ull)sp,
             (ull)W.link);
    sc_forget_c_area(W.link);
}

static void check_links(void)
{
    uint64_t sp = W.S - sc_abi->first_frame, base = W.link + sc_abi->c_link_base;
    sc_stored(base + FK_C_LINK_STACK, W.stack, "walk.link", "the C link's fiber");
    sc_stored(base + FK_C_LINK_SP, sp, "walk.link", "the C link's stack pointer");
    sc_stored(W.stack + FK_STACK_SP, sp, "walk.bottom", "the fiber's stack pointer");
}

/* The slot of the return address into the caller, found from the stack pointer
 * that the stub recorded. */
void sc_check_walk(void)
{
    uint64_t at = W.S + (uint64_t)(int64_t)sc_abi->ra_offset;
    uint64_t is = rd(at);
    sc_check(is == W.ra, "walk.return-address", "return address",
             "a walker finds %s as the return address of `%s`'s caller, it is %s", sc_place(is),
             NAME, sc_place(W.ra));
    sc_forget(at, at + 8);
}

static void check_back_chain(void)
{
    uint64_t v = rd(*R.sp);
    if (!R.toc || !sc_changed(*R.sp))
        return;
    sc_zone *z = sc_zone_of(v);
    sc_check(z && z == sc_zone_of(*R.sp) && v > *R.sp, "c-entry.back-chain", "back chain",
             "`%s` calls C with back chain 0x%llx, the caller's frame is at 0x%llx", NAME, (ull)v,
             (ull)W.S);
}

static void check_c_entry4(void)
{
    sc_stored(dom_at("bottom_of_stack"), W.S, "walk.bottom", "dom.bottom_of_stack");
    sc_stored(dom_at("last_return_address"), W.ra, "walk.return-address",
              "dom.last_return_address");
    sc_check(*R.sp <= W.S, "c-entry.stack", "sp",
             "`%s` calls C with stack pointer 0x%llx, above its caller's 0x%llx", NAME,
             (ull)*R.sp, (ull)W.S);
    check_back_chain();
    sc_zones[Z_STACK].low = W.S;
}

void sc_check_c_entry(const sc_state *before)
{
    uint64_t young =
        *(const uint64_t *)((const char *)before + ((char *)R.young - (char *)&sc_block));
    sc_check_alignment();
    sc_stored(dom_at("young_ptr"), young, "domain.young-stored", "dom.young_ptr");
    if (R.trap)
        sc_stored(dom_at(sc_five ? "exn_handler" : "exception_pointer"), W.trap,
                  "domain.trap-stored", sc_five ? "dom.exn_handler" : "dom.exception_pointer");
    if (sc_five) {
        check_c_stack();
        check_links();
        sc_check_walk();
    } else {
        check_c_entry4();
    }
}

uint64_t sc_c_effects(bool may_move)
{
    uint64_t young = sc_random() & ~7ul;
    if (sc_five && may_move && sc_choose())
        sc_move_stack(W.S - sc_abi->first_frame);
    else if (sc_five && R.trap && may_move && sc_choose())
        wr(dom_at("exn_handler"), W.trap = sc_random() & ~15ul);
    wr(dom_at("young_ptr"), young);
    if (R.limit)
        wr(dom_at("young_limit"), sc_random());
    return young;
}

void sc_check_sp(uint64_t want)
{
    sc_check(*R.sp == want, "stack.pointer", "sp",
             "`%s` returns with stack pointer 0x%llx, it must be 0x%llx (off by %lld)", NAME,
             (ull)*R.sp, (ull)want, (long long)(*R.sp - want));
}

static void check_pointer(const uint64_t *reg, uint64_t want, const char *rule, const char *what)
{
    if (reg)
        sc_check(*reg == want, rule, what, "`%s` leaves %s at 0x%llx, the domain state says 0x%llx",
                 NAME, what, (ull)*reg, (ull)want);
}

void sc_check_pointers(uint64_t young)
{
    check_pointer(R.young, young, "pointers.young", "young_ptr");
    check_pointer(R.trap, W.trap, "pointers.trap", "the trap pointer");
    check_pointer(R.dom, W.dom, "pointers.domain", "the domain-state pointer");
    check_pointer(R.limit, DOM("young_limit"), "pointers.limit", "the cached young_limit");
}

void sc_check_indirect(char *target)
{
    uint64_t want = (uint64_t)(uintptr_t)target;
    if (R.toc)
        sc_check(sc_block.r[12] == want, "c-entry.toc", "r12",
                 "`%s` jumps to 0x%llx with r12 = 0x%llx: the callee cannot find its TOC", NAME,
                 (ull)want, (ull)sc_block.r[12]);
}

void sc_enter_from_c(uint64_t sp)
{
    *R.sp = sp;
    sc_zones[Z_C].low = sp;
    if (R.toc)
        wr(sp, W.prev_link);
}

/* At sc_handler, reached by any raise. */
void sc_check_handler(uint64_t bucket)
{
    uint64_t sp = sc_five ? W.trap + FK_TRAP_SIZE - sc_abi->frame_reserved
                          : W.trap + sc_this_port.trap4_size;
    sc_check(*R.sp == sp, "exception.handler", "sp",
             "after `%s` the handler starts with stack pointer 0x%llx, it must be 0x%llx (off by "
             "%lld)", NAME, (ull)*R.sp, (ull)sp, (long long)(*R.sp - sp));
    sc_check(*R.result == bucket, "exception.bucket", "bucket",
             "`%s` delivers exception 0x%llx, it was 0x%llx", NAME, (ull)*R.result, (ull)bucket);
    if (R.trap)
        sc_check(*R.trap == W.outer_trap, "exception.chain", "trap",
                 "after `%s` the trap pointer is 0x%llx, the previous handler is at 0x%llx", NAME,
                 (ull)*R.trap, (ull)W.outer_trap);
    else
        sc_stored(dom_at(sc_five ? "exn_handler" : "exception_pointer"), W.outer_trap,
                  "exception.chain", "the current handler");
    check_pointer(R.dom, W.dom, "pointers.domain", "the domain-state pointer");
}

/* --- registers over a collection -------------------------------------------------- */
static bool has_slot(const fk_reg *r)
{
    uint32_t bits = sc_role_bits(r);
    int index = fk_abi_index(sc_abi, r, sc_version);
    return (bits & FK_REG_ALLOCATABLE) && !r->is_float && r->slot >= 0 && index >= 0 &&
           index != sc_this_port.dead_index;
}

static uint64_t slot_of(uint64_t area, const fk_reg *r)
{
    int slot = sc_five ? r->slot : fk_abi_index(sc_abi, r, sc_version);
    return area + 8 * (uint64_t)slot;
}

/* As caml_garbage_collection sees the registers; then they move. */
void sc_move_roots(uint64_t area, const sc_state *before, sc_state *want)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        if (!has_slot(r))
            continue;
        uint64_t is = rd(slot_of(area, r)), was = sc_value(before, r), moved = sc_random();
        sc_check(
            is == was, "roots.visible", r->name,
            "while the collector runs gc_regs[%d] is 0x%llx, `%s` was entered with 0x%llx in %s",
            (int)((slot_of(area, r) - area) / 8), (ull)is, NAME, (ull)was, r->name);
        wr(slot_of(area, r), moved);
        memcpy((char *)want + ((char *)sc_reg(r) - (char *)&sc_block), &moved, 8);
    }
}

void sc_check_moved(const sc_state *before, const sc_state *want)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        uint32_t bits = sc_role_bits(r);
        if (!(bits & FK_REG_ALLOCATABLE) || r->index == sc_this_port.dead_index)
            continue;
        uint64_t was = sc_value(before, r), moved = sc_value(want, r), is = *sc_reg(r);
        if (was == moved || is == was)
            sc_check(is == moved && is == was,
                     is == was && was != moved       ? "roots.moved"
                     : bits & FK_REG_ALLOC_DESTROYED ? "registers.nodynlink"
                                                     : "registers.kept",
                     r->name,
                     is == was ? "`%s` keeps the old %s: 0x%llx, the collector made it 0x%llx"
                               : "`%s` does not preserve %s: 0x%llx before, 0x%llx after",
                     NAME, r->name, is == was ? (ull)is : (ull)was,
                     is == was ? (ull)moved : (ull)is);
        else
            sc_check(is == moved,
                     bits & FK_REG_ALLOC_DESTROYED ? "registers.nodynlink" : "roots.moved", r->name,
                     "`%s` returns %s = 0x%llx; it was 0x%llx, the collector made it 0x%llx", NAME,
                     r->name, (ull)is, (ull)was, (ull)moved);
    }
}
