/* world.c - the memory around a stub.
 *
 *   fiber                              C stack
 *   +------------------+ handler       +------------------+
 *   | outer trap frame |               | C frames         |
 *   | outer frame      |               | previous link    |
 *   | frame of caller  | S .. S+F      | ...              |
 *   |   trap frame     | S+48          | link             | <- dom.c_stack
 *   |   (stub)         |               | (C function)     |
 *   | ...              |
 *   | stack_info       |
 *   +------------------+
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"

sc_zone sc_zones[Z_COUNT] = {
    [Z_DOM] = {.name = "domain state", .size = SC_DOM_SIZE},
    [Z_STACK] = {.name = "OCaml stack", .size = SC_STACK_SIZE},
    [Z_OTHER] = {.name = "second OCaml stack", .size = SC_STACK_SIZE},
    [Z_THIRD] = {.name = "third OCaml stack", .size = SC_STACK_SIZE},
    [Z_C] = {.name = "C stack", .size = SC_C_SIZE},
    [Z_BUCKET] = {.name = "save area", .size = 1024},
    [Z_BUCKET2] = {.name = "second save area", .size = 1024},
    [Z_HEAP] = {.name = "heap", .size = 4096},
};
sc_world W;

enum { FRAME = 96, TRAP_IN_FRAME = 48, BUCKET_GUARD = 64, DOM_GUARD = 64 };

static void make_zones(void)
{
    for (int i = 0; i < Z_COUNT; i++) {
        sc_zone *z = &sc_zones[i];
        /* One unmapped page on each side: a wild access faults. */
        uint8_t *p = mmap(NULL, z->size + 3 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        z->mem = p + 65536;
        mprotect(z->mem, (z->size + 65535) & ~65535ul, PROT_READ | PROT_WRITE);
        z->model = malloc(z->size);
    }
}

sc_zone *sc_zone_of(uint64_t address)
{
    for (int i = 0; i < Z_COUNT; i++) {
        uint64_t at = (uint64_t)(uintptr_t)sc_zones[i].mem;
        if (address >= at && address < at + sc_zones[i].size)
            return &sc_zones[i];
    }
    return NULL;
}

static uint8_t *model_of(uint64_t address)
{
    sc_zone *z = sc_zone_of(address);
    return z ? z->model + (address - (uint64_t)(uintptr_t)z->mem) : NULL;
}

uint64_t sc_zone_base(int zone) { return (uint64_t)(uintptr_t)sc_zones[zone].mem; }

bool sc_changed(uint64_t address)
{
    return sc_zone_of(address) && sc_zone_of(address + 7) &&
           memcmp(model_of(address), (void *)(uintptr_t)address, 8) != 0;
}

/* Every address given to rd() came out of a register or of memory: it may be
 * wild, and then reads as a value nobody has. */
uint64_t rd(uint64_t address)
{
    uint64_t v = 0xdeadbeefdeadbeef;
    if (sc_zone_of(address) && sc_zone_of(address + 7))
        memcpy(&v, (void *)(uintptr_t)address, 8);
    return v;
}

void wr(uint64_t address, uint64_t value)
{
    if (!sc_zone_of(address) || !sc_zone_of(address + 7))
        return;
    memcpy((void *)(uintptr_t)address, &value, 8);
    memcpy(model_of(address), &value, 8);
}

void sc_forget(uint64_t from, uint64_t to)
{
    sc_zone *z = sc_zone_of(from);
    if (z && sc_zone_of(to - 1) == z)
        memcpy(model_of(from), (void *)(uintptr_t)from, to - from);
}

void sc_scribble(uint64_t from, uint64_t to)
{
    sc_zone *z = sc_zone_of(to - 1);
    if (!z)
        return;
    if (from < (uint64_t)(uintptr_t)z->mem)
        from = (uint64_t)(uintptr_t)z->mem;
    for (uint64_t a = from; a < to; a += 8) {
        uint64_t v = sc_random();
        memcpy((void *)(uintptr_t)a, &v, to - a < 8 ? to - a : 8);
    }
    memcpy(model_of(from), (void *)(uintptr_t)from, to - from);
}

void sc_sync(void)
{
    for (int i = 0; i < Z_COUNT; i++)
        memcpy(sc_zones[i].model, sc_zones[i].mem, sc_zones[i].size);
}

uint64_t dom_at(const char *field)
{
    int offset = fk_domain_offset(sc_version, field);
    return offset < 0 ? 0 : W.dom + (uint64_t)offset;
}

bool dom_has(const char *field) { return fk_domain_offset(sc_version, field) >= 0; }

bool sc_stored(uint64_t address, uint64_t value, const char *rule, const char *what)
{
    uint64_t is = rd(address);
    sc_forget(address, address + 8);
    return sc_check(is == value, rule, what, "`%s` leaves %s at 0x%llx, it must be 0x%llx",
                    sc_stubs[sc_current].name, what, (unsigned long long)is,
                    (unsigned long long)value);
}

static void dom_difference(uint64_t offset)
{
    if (offset < DOM_GUARD)
        offset += SC_DOM_SIZE; /* before the first field: shown as after the last */
    size_t field = (offset - DOM_GUARD) / 8;
    const char *name =
        field < fk_domain_fields(sc_version) ? fk_domain_field(sc_version, field) : "extra_params";
    uint64_t was;
    memcpy(&was, sc_zones[Z_DOM].model + DOM_GUARD + field * 8, 8);
    sc_check(false, "domain.other", name,
             "`%s` changes the domain state's %s: 0x%llx before, 0x%llx after",
             sc_stubs[sc_current].name, name, (unsigned long long)was,
             (unsigned long long)rd(W.dom + field * 8));
}

static void difference(const sc_zone *z, uint64_t offset, const char *rule)
{
    if (z == &sc_zones[Z_DOM]) {
        dom_difference(offset);
        return;
    }
    uint64_t was, is, at = offset & ~7ul;
    memcpy(&was, z->model + at, 8);
    memcpy(&is, z->mem + at, 8);
    sc_check(false, rule, z->name,
             "`%s` changes the %s %lld bytes from the caller's stack pointer (%llu from its "
             "start): 0x%llx before, 0x%llx after",
             sc_stubs[sc_current].name, z->name,
             (long long)((uint64_t)(uintptr_t)z->mem + at - W.S), (unsigned long long)at,
             (unsigned long long)was, (unsigned long long)is);
}

/* Where memory differs from the model, at or after `from`; the size: nowhere. Words: a
 * memcmp of the C library may be one instruction that QEMU emulates byte by byte. */
static size_t first_difference(const sc_zone *z, size_t from)
{
    const uint64_t *mem = (const uint64_t *)z->mem, *model = (const uint64_t *)z->model;
    size_t at = from / 8;
    while (at < z->size / 8 && mem[at] == model[at])
        at++;
    for (at = 8 * at > from ? 8 * at : from; at < z->size && z->mem[at] == z->model[at]; at++)
        ;
    return at;
}

void sc_check_memory(const char *rule)
{
    for (int i = 0; i < Z_COUNT; i++) {
        sc_zone *z = &sc_zones[i];
        uint64_t base = (uint64_t)(uintptr_t)z->mem;
        size_t from = z->low > base ? z->low - base : 0;
        sc_count(i == Z_DOM ? "domain.other" : rule);
        size_t at = first_difference(z, from);
        if (at >= z->size)
            continue;
        difference(z, at, rule);
        memcpy(z->model, z->mem, z->size);
    }
}

uint64_t sc_fiber_top(int zone)
{
    return (uint64_t)(uintptr_t)sc_zones[zone].mem + sc_zones[zone].size - 32;
}

void sc_make_fiber(int zone, uint64_t sp, uint64_t exn, uint64_t parent)
{
    uint64_t info = (uint64_t)(uintptr_t)sc_zones[zone].mem, handler = sc_fiber_top(zone);
    wr(info + FK_STACK_SP, sp);
    wr(info + FK_STACK_EXCEPTION, exn);
    wr(info + FK_STACK_HANDLER, handler);
    wr(handler + FK_HANDLER_PARENT, parent);
    sc_zones[zone].low = info;
}

void sc_put_trap(uint64_t at, uint64_t previous, const char *handler)
{
    const sc_port *p = &sc_this_port;
    wr(at + (sc_five ? FK_TRAP_PREVIOUS : p->trap4_previous), previous);
    wr(at + (sc_five ? FK_TRAP_HANDLER : p->trap4_pc), (uint64_t)(uintptr_t)handler);
}

static uint64_t pick_sp(int zone)
{
    uint64_t align = sc_version >= FK_OCAML_5_2 ? sc_abi->frame_align : sc_abi->frame_align_old;
    if (!sc_five && align < sc_this_port.c_align)
        align = sc_this_port.c_align;
    uint64_t top = sc_fiber_top(zone) - 2048;
    return (top & ~15ul) - align * (sc_random() % 16);
}

static void caller_frames(void)
{
    W.S = pick_sp(Z_STACK);
    wr(W.S + FRAME + (uint64_t)(int64_t)sc_abi->ra_offset, (uint64_t)(uintptr_t)sc_outer_return);
    W.trap = W.S + TRAP_IN_FRAME;
    W.outer_trap = W.S + FRAME + 64;
    sc_put_trap(W.trap, W.outer_trap, sc_handler);
    sc_put_trap(W.outer_trap, 0, sc_outer_handler);
}

static void c_stack(void)
{
    uint64_t top = (uint64_t)(uintptr_t)sc_zones[Z_C].mem + SC_C_SIZE;
    uint64_t base = sc_abi->c_link_base;
    W.prev_link = (top - 4096) & ~15ul;
    W.link = (W.prev_link - 4096 - 16 * (sc_random() % 8)) & ~15ul;
    if (sc_this_port.c_align == 8 && (sc_random() & 1))
        W.link += 8;
    wr(W.link + base + FK_C_LINK_PREV, W.prev_link);
    wr(W.prev_link + base + FK_C_LINK_PREV, 0);
    if (R.toc) /* back chains, the way caml_start_program leaves them */
        wr(W.link, W.prev_link);
}

static void buckets(void)
{
    W.bucket = (uint64_t)(uintptr_t)sc_zones[Z_BUCKET].mem + BUCKET_GUARD;
    W.next_bucket = (uint64_t)(uintptr_t)sc_zones[Z_BUCKET2].mem + BUCKET_GUARD;
    wr(W.bucket, W.next_bucket);
    wr(W.next_bucket, 0);
}

static void domain(void)
{
    W.old_gc_regs = 0; /* no collection is running */
    wr(dom_at("gc_regs"), W.old_gc_regs);
    wr(dom_at("backtrace_active"), 0);
    wr(dom_at("young_limit"), 0);
    if (!sc_five) {
        wr(dom_at("exception_pointer"), W.trap);
        return;
    }
    W.stack = (uint64_t)(uintptr_t)sc_zones[Z_STACK].mem;
    wr(dom_at("current_stack"), W.stack);
    wr(dom_at("exn_handler"), W.trap);
    wr(dom_at("c_stack"), W.link);
    wr(dom_at("gc_regs_buckets"), W.bucket);
    wr(dom_at("action_pending"), 0);
}

/* Random bytes: a piece of a pool that depends on the seed alone, for an emulated loop
 * over all words of all zones would take most of the time. */
static void fill(sc_zone *z)
{
    enum { POOL = 2 * SC_C_SIZE / 8 };
    static uint64_t pool[POOL];
    for (uint64_t i = 0, x = sc_seed; !pool[POOL - 1] && i < POOL; i++) {
        x += 0x9e3779b97f4a7c15u; /* splitmix64 */
        uint64_t v = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        v = (v ^ v >> 27) * 0x94d049bb133111ebu;
        pool[i] = v ^ v >> 31;
    }
    memcpy(z->mem, pool + sc_random() % (POOL - z->size / 8), z->size);
    z->low = 0;
}

void sc_new_world(void)
{
    if (!sc_zones[0].mem)
        make_zones();
    for (int i = 0; i < Z_COUNT; i++)
        fill(&sc_zones[i]);
    memset(&W, 0, sizeof W);
    W.dom = (uint64_t)(uintptr_t)sc_zones[Z_DOM].mem + DOM_GUARD;
    sc_sync();
    caller_frames();
    sc_make_fiber(Z_STACK, sc_random(), sc_random(), 0);
    W.handler = sc_fiber_top(Z_STACK);
    c_stack();
    buckets();
    domain();
    sc_zones[Z_STACK].low = W.S;
    sc_zones[Z_C].low = W.link;
}

void sc_ocaml_state(void)
{
    sc_randomize();
    *R.sp = W.S;
    *R.dom = W.dom;
    *R.young = sc_random() & ~7ul;
    if (R.trap)
        *R.trap = W.trap;
    if (R.limit)
        *R.limit = DOM("young_limit");
}

static void relocate_traps(int64_t delta)
{
    for (uint64_t t = W.trap; t && sc_zone_of(t); t = rd(t))
        if (rd(t))
            wr(t, rd(t) + (uint64_t)delta);
}

void sc_move_stack(uint64_t sp)
{
    sc_zone *from = &sc_zones[Z_STACK], *to = &sc_zones[Z_OTHER];
    uint64_t old = (uint64_t)(uintptr_t)from->mem, new = (uint64_t)(uintptr_t)to->mem;
    W.moved = (int64_t)(new - old);
    if (sp >= old && sp < old + from->size) {
        memcpy(to->mem + (sp - old), from->mem + (sp - old), from->size - (sp - old));
        memcpy(to->model, to->mem, to->size);
    }
    W.S += (uint64_t)W.moved;
    W.trap += (uint64_t)W.moved;
    W.outer_trap += (uint64_t)W.moved;
    W.stack = new;
    relocate_traps(W.moved);
    sc_make_fiber(Z_OTHER, sp + (uint64_t)W.moved, sc_random(), 0);
    W.handler = sc_fiber_top(Z_OTHER);
    sc_zones[Z_OTHER].low = W.S;
    sc_scribble(old, old + from->size);
    sc_zones[Z_STACK].low = old;
    wr(dom_at("current_stack"), new);
    wr(dom_at("exn_handler"), W.trap);
    wr(W.link + sc_abi->c_link_base + FK_C_LINK_STACK, new);
    wr(W.link + sc_abi->c_link_base + FK_C_LINK_SP, sp + (uint64_t)W.moved);
}
