/* host_ocaml.c - the engine as the memprof object of the real OCaml 5.3 and
 * 5.4 runtimes: exactly the symbols that their own object defines, compiled
 * against the installed caml/ headers of that version and nothing else.
 *
 * Differences of the runtimes that matter here:
 *   5.3  calls caml_memprof_after_minor_gc before the other domains have
 *        finished promoting (ocaml/ocaml #14057): fates are UNDECIDED then.
 *   5.4  calls it after the barrier: fates are final.
 */
#define CAML_INTERNALS
#include <caml/alloc.h>
#include <caml/backtrace.h>
#include <caml/backtrace_prim.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/domain.h>
#include <caml/fail.h>
#include <caml/fiber.h>
#include <caml/frame_descriptors.h>
#include <caml/memory.h>
#include <caml/memprof.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/shared_heap.h>
#include <caml/signals.h>
#include <caml/stack.h>
#include <caml/version.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "session.h"
#include "vector.h"

#define MINOR_HOOK_IS_EARLY (OCAML_VERSION < 50400)

/* A return address and what its descriptor says. In one cache line. */
typedef struct {
    _Alignas(32) uintnat pc; /* 0: none yet */
    frame_descr *descr;
    uintnat size; /* of the frame; RETURN_TO_C: there is none */
} known_frame;

enum { KNOWN = 256, RETURN_TO_C = 1 };

struct fk_mp_host {
    caml_domain_state *dom;
    fk_mp_domain *engine;
    fk_mp_slot *slots;
    size_t slots_capacity;
    value *young_start, *young_end; /* at the last minor collection */
    bool outdated;                  /* known: there has been a collection */
    known_frame known[KNOWN];       /* by return address */
};

static fk_mp_host *host_of(caml_domain_state *dom)
{
    return (fk_mp_host *)dom->memprof;
}

static fk_mp_domain *self(void)
{
    return host_of(Caml_state)->engine;
}

/* --- nursery ----------------------------------------------------------------- */

fk_mp_young fk_host_young(fk_mp_host *h)
{
    return (fk_mp_young){(uintptr_t *)h->dom->young_start, (uintptr_t *)h->dom->young_ptr};
}

void fk_host_set_young_ptr(fk_mp_host *h, uintptr_t *ptr)
{
    h->dom->young_ptr = (value *)ptr;
}

uintptr_t *fk_host_sample_trigger(fk_mp_host *h)
{
    return (uintptr_t *)h->dom->memprof_young_trigger;
}

void fk_host_store_sample_trigger(fk_mp_host *h, uintptr_t *trigger)
{
    h->dom->memprof_young_trigger = (value *)trigger;
}

/* A limit of all ones is somebody's interrupt: the poll that sees it resets
 * the limit, and takes the trigger into account, so it is left alone here. */
void fk_host_set_sample_trigger(fk_mp_host *h, uintptr_t *trigger)
{
    caml_domain_state *dom = h->dom;
    dom->memprof_young_trigger = (value *)trigger;
    uintnat limit = (uintnat)(dom->young_trigger > (value *)trigger ? dom->young_trigger : (value *)trigger);
    uintnat old = atomic_load_explicit(&dom->young_limit, memory_order_relaxed);
    while (old != UINTPTR_MAX && old != limit && !atomic_compare_exchange_weak(&dom->young_limit, &old, limit))
        ;
}

void fk_host_make_room(fk_mp_host *h, size_t words)
{
    while (h->dom->young_ptr - words < h->dom->young_trigger)
        caml_poll_gc_work();
}

/* --- heap -------------------------------------------------------------------- */

bool fk_host_is_young(fk_mp_value v)
{
    return Is_young(v);
}

/* A header of 0 is a forwarded block, its new address in field 0. While
 * another domain copies it the header is something else for a moment, so only
 * a final answer may look at anything but 0. */
fk_mp_fate fk_host_minor_fate(fk_mp_host *h, fk_mp_value v, bool final, fk_mp_value *moved)
{
    if (final && (h->dom->young_start != h->young_start || h->dom->young_end != h->young_end))
        return FK_MP_LOST; /* the nursery was replaced before anybody could look */
    if (Hd_val(v) == 0) {
        *moved = Field(v, 0);
        return FK_MP_MOVED;
    }
    return MINOR_HOOK_IS_EARLY && !final && !caml_domain_alone() ? FK_MP_UNDECIDED : FK_MP_DIED;
}

bool fk_host_is_unmarked(fk_mp_value v)
{
    return is_unmarked(v);
}

/* --- callbacks ---------------------------------------------------------------- */

fk_mp_value fk_host_tracker(fk_mp_value tracker, int n)
{
    return Field(tracker, n);
}

/* A piece of the nursery, when nothing has to be collected for it; NULL else.
 * What is made here is never sampled, so only the collector's trigger counts. */
static value *take_young(size_t words)
{
    value *ptr = Caml_state->young_ptr - words;
    if (ptr < Caml_state->young_trigger)
        return NULL;
    return Caml_state->young_ptr = ptr;
}

static void fill_callstack(value v, const fk_mp_allocation *a)
{
    for (size_t i = 0; i < a->depth; i++)
        Field(v, i) = Val_backtrace_slot((backtrace_slot)a->slots[i]);
}

static void fill_argument(value arg, const fk_mp_allocation *a, value stack)
{
    Field(arg, 0) = Val_long(a->samples);
    Field(arg, 1) = Val_long(a->wosize);
    Field(arg, 2) = Val_long(a->source);
    Field(arg, 3) = stack;
}

enum { ARGUMENT = 4 }; /* fields */

/* Callstack and argument at once: nothing moves, so there is nothing to protect. */
static value argument_at_once(const fk_mp_allocation *a)
{
    size_t stack_words = a->depth ? Whsize_wosize(a->depth) : 0;
    value *p = a->depth <= Max_young_wosize ? take_young(Whsize_wosize(ARGUMENT) + stack_words) : NULL;
    if (!p)
        return Val_unit;
    value arg = Val_hp(p), stack = Atom(0);
    *p = Make_header(ARGUMENT, 0, 0);
    if (a->depth) {
        p += Whsize_wosize(ARGUMENT);
        *p = Make_header(a->depth, 0, 0);
        stack = Val_hp(p);
        fill_callstack(stack, a);
    }
    fill_argument(arg, a, stack);
    return arg;
}

static value callstack_value(const fk_mp_allocation *a)
{
    if (a->depth == 0)
        return Atom(0);
    value v = a->depth <= Max_young_wosize ? caml_alloc_small(a->depth, 0) : caml_alloc_shr(a->depth, 0);
    fill_callstack(v, a);
    return v;
}

static fk_mp_result from_caml(caml_result res)
{
    return (fk_mp_result){res.is_exception != 0, res.data};
}

static fk_mp_result call_alloc_slowly(fk_mp_value closure, const fk_mp_allocation *a)
{
    CAMLparam1(closure);
    CAMLlocal2(stack, arg);
    stack = callstack_value(a);
    arg = caml_alloc_small(ARGUMENT, 0);
    fill_argument(arg, a, stack);
    fk_mp_result res = from_caml(caml_callback_res(closure, arg));
    CAMLreturnT(fk_mp_result, res);
}

fk_mp_result fk_host_call_alloc(fk_mp_value closure, const fk_mp_allocation *a)
{
    value arg = argument_at_once(a);
    return arg != Val_unit ? from_caml(caml_callback_res(closure, arg)) : call_alloc_slowly(closure, a);
}

fk_mp_result fk_host_call(fk_mp_value closure, fk_mp_value argument)
{
    return from_caml(caml_callback_res(closure, argument));
}

bool fk_host_option(fk_mp_value option, fk_mp_value *some)
{
    if (!Is_block(option))
        return false;
    *some = Field(option, 0);
    return true;
}

void fk_host_set_pending(fk_mp_host *h)
{
    caml_set_action_pending(h->dom);
}

uint64_t fk_host_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- callstacks -----------------------------------------------------------------
 *
 * caml_get_callstack looks up every frame in the runtime's hash table and reads
 * its descriptor: two cache misses each, in a program that has better use for its
 * cache. Programs return to few places, so those seen lately are kept side by
 * side. The table of descriptors may only change in a collection.
 *
 *     sp (before)  +-----------+       a chunk begins at First_frame; one ends at a
 *                  |   frame   | size  frame that returns to C, which is followed by
 *     sp (after)   +-----------+       a header and the next chunk, or by the end of
 *                                      the stack; then comes the parent fiber's */

static bool look_up(known_frame *k, uintnat pc)
{
    frame_descr *d = caml_find_frame_descr(caml_get_frame_descrs(), pc);
    if (!d)
        return false;
    *k = (known_frame){pc, d, frame_return_to_C(d) ? RETURN_TO_C : frame_size(d)};
    return true;
}

/* The debuginfo of one block of a combined allocation, else the descriptor. */
static fk_mp_slot innermost_slot(frame_descr *d, ptrdiff_t alloc_index)
{
    if (alloc_index < 0 || !frame_has_debug(d))
        return (fk_mp_slot)d;
    unsigned char *lens = (unsigned char *)&d->live_ofs[d->num_live];
    uint32_t *info = Align_to(frame_has_allocs(d) ? lens + 1 + *lens : lens, uint32_t);
    if (frame_has_allocs(d))
        info += alloc_index;
    return *info ? (fk_mp_slot)((uintnat)info + *info) + 2 : (fk_mp_slot)d;
}

static bool more_slots(fk_mp_host *h)
{
    size_t n = h->slots_capacity ? 2 * h->slots_capacity : 64;
    fk_mp_slot *p = realloc(h->slots, n * sizeof *p);
    if (!p)
        return false;
    h->slots = p;
    h->slots_capacity = n;
    return true;
}

/* The slots of one stack are added to the first n. */
static size_t walk(fk_mp_host *h, struct stack_info *stack, size_t n, size_t limit)
{
    char *first_sp;
    uintnat first_pc;
    caml_get_stack_sp_pc(stack, &first_sp, &first_pc);
    char *sp = first_sp; /* these stay in registers */
    uintnat pc = first_pc, size = 0;
    fk_mp_slot *out = h->slots;
    size_t room = limit < h->slots_capacity ? limit : h->slots_capacity;
    for (;;) {
        known_frame *k = &h->known[pc / 4 % KNOWN];
        if (k->pc != pc && !look_up(k, pc))
            return n;
        if (k->size == RETURN_TO_C) {
            sp += Stack_header_size;
            if (sp == (char *)Stack_high(stack))
                return n;
            sp = First_frame(sp);
        } else {
            if (n == room) {
                if (n == limit || !more_slots(h))
                    return n;
                out = h->slots;
                room = limit < h->slots_capacity ? limit : h->slots_capacity;
            }
            out[n++] = (fk_mp_slot)k->descr;
            FK_PREDICT_SAME(size, k->size); /* the next frame need not wait for the table */
            sp += size;
        }
        pc = (uintnat)Saved_return_address(sp);
    }
}

enum { KEEP_SLOTS = 256, KEEP_FACTOR = 8 };

static void fewer_slots(fk_mp_host *h, size_t depth)
{
    if (h->slots_capacity <= KEEP_SLOTS || h->slots_capacity <= KEEP_FACTOR * (depth + 1))
        return;
    size_t n = depth > KEEP_SLOTS ? depth : KEEP_SLOTS;
    fk_mp_slot *smaller = realloc(h->slots, n * sizeof *smaller);
    if (smaller) {
        h->slots = smaller;
        h->slots_capacity = n;
    }
}

size_t fk_host_callstack(fk_mp_host *h, size_t limit, ptrdiff_t alloc_index, const fk_mp_slot **slots)
{
    size_t n = 0;
    if (h->outdated)
        memset(h->known, 0, sizeof h->known);
    h->outdated = false;
    for (struct stack_info *s = h->dom->current_stack; s && n < limit; s = Stack_parent(s))
        n = walk(h, s, n, limit);
    if (n > 0)
        h->slots[0] = innermost_slot((frame_descr *)h->slots[0], alloc_index);
    fewer_slots(h, n);
    *slots = h->slots;
    return n;
}

/* The innermost frame tells: compiled code enters at an allocation point, a
 * primitive is an ordinary call. */
bool fk_host_in_compiled_code(fk_mp_host *h)
{
    const fk_mp_slot *slots;
    return fk_host_callstack(h, 1, -1, &slots) == 1 && frame_has_allocs((frame_descr *)slots[0]);
}

/* A slot is a frame descriptor, or (low bits 2) the debuginfo of one block of a
 * combined allocation. A descriptor begins with its return address. */
static uintptr_t slot_address(fk_mp_slot slot)
{
    return (slot & 3) == 0 ? *(const uintptr_t *)slot : 0;
}

static char unknown; /* the cursor after the one frame of a slot without debuginfo */

bool fk_host_frame(fk_mp_slot slot, void **cursor, fk_mp_frame *out)
{
    struct caml_loc_info li;
    if (*cursor == &unknown)
        return false;
    bool first = *cursor == NULL;
    debuginfo dbg = first ? caml_debuginfo_extract((backtrace_slot)slot) : caml_debuginfo_next(*cursor);
    *out = (fk_mp_frame){.address = slot_address(slot)};
    *cursor = dbg ? dbg : &unknown;
    if (!dbg)
        return first;
    caml_debuginfo_location(dbg, &li);
    if (li.loc_valid)
        *out = (fk_mp_frame){li.loc_defname,   li.loc_filename,   li.loc_start_lnum,
                             li.loc_start_chr, li.loc_end_offset, out->address};
    return true;
}

/* --- domains and threads ----------------------------------------------------------- */

static void host_free(fk_mp_host *h)
{
    free(h->slots);
    free(h);
}

void caml_memprof_new_domain(caml_domain_state *parent, caml_domain_state *child)
{
    static _Atomic uint64_t born; /* a new stream for every domain, the same in every run */
    fk_mp_host *h = aligned_alloc(_Alignof(fk_mp_host), sizeof *h);
    child->memprof = NULL;
    if (!h)
        return;
    memset(h, 0, sizeof *h);
    h->dom = child;
    h->engine = fk_mp_domain_new(h, parent ? host_of(parent)->engine : NULL, atomic_fetch_add(&born, 1));
    if (!h->engine) {
        host_free(h);
        return;
    }
    child->memprof = (struct memprof_domain_s *)h;
    if (!parent)
        fk_mp_session_begin(h->engine, "framekit's engine in OCaml " OCAML_VERSION_STRING);
}

void caml_memprof_delete_domain(caml_domain_state *dom)
{
    fk_mp_host *h = host_of(dom);
    if (!h)
        return;
    fk_mp_domain_delete(h->engine);
    host_free(h);
    dom->memprof = NULL;
}

memprof_thread_t caml_memprof_main_thread(caml_domain_state *dom)
{
    return (memprof_thread_t)fk_mp_domain_main_thread(host_of(dom)->engine);
}

memprof_thread_t caml_memprof_new_thread(caml_domain_state *dom)
{
    return (memprof_thread_t)fk_mp_thread_new(host_of(dom)->engine);
}

void caml_memprof_enter_thread(memprof_thread_t th)
{
    fk_mp_thread_enter((fk_mp_thread *)th);
}

void caml_memprof_delete_thread(memprof_thread_t th)
{
    fk_mp_thread_delete((fk_mp_thread *)th);
}

void caml_memprof_update_suspended(_Bool suspended)
{
    fk_mp_suspend(self(), suspended);
}

/* --- sampling and callbacks ----------------------------------------------------------- */

void caml_memprof_set_trigger(caml_domain_state *dom)
{
    fk_mp_set_trigger(host_of(dom)->engine, true);
}

void caml_memprof_sample_block(value block, size_t allocated_words, size_t sampled_words, int source)
{
    fk_mp_sample_block(self(), block, allocated_words, sampled_words, source);
}

void caml_memprof_sample_young(uintnat wosize, int from_caml_code, int allocs, unsigned char *lens)
{
    if (!from_caml_code) {
        fk_mp_sample_young_c(self(), wosize);
        return;
    }
    fk_mp_result res = fk_mp_sample_young(self(), Whsize_wosize(wosize), (size_t)allocs, lens);
    if (res.is_exception)
        caml_raise(res.value);
}

caml_result caml_memprof_run_callbacks_res(void)
{
    fk_mp_result res = fk_mp_run_callbacks(self());
    return (caml_result){.is_exception = res.is_exception, .data = res.value};
}

/* --- collector ------------------------------------------------------------------------- */

void caml_memprof_scan_roots(scanning_action f, scanning_action_flags flags, void *data, caml_domain_state *dom,
                             _Bool weak)
{
    fk_mp_roots roots = weak ? FK_MP_ROOTS_WEAK
                             : (flags & SCANNING_ONLY_YOUNG_VALUES ? FK_MP_ROOTS_YOUNG : FK_MP_ROOTS_ALL);
    fk_mp_scan_roots(host_of(dom)->engine, (fk_mp_root_fn)f, data, roots);
}

void caml_memprof_after_minor_gc(caml_domain_state *dom)
{
    fk_mp_host *h = host_of(dom);
    h->young_start = dom->young_start;
    h->young_end = dom->young_end;
    h->outdated = true;
    fk_mp_after_minor(h->engine);
}

void caml_memprof_after_major_gc(caml_domain_state *dom)
{
    host_of(dom)->outdated = true;
    fk_mp_after_major(host_of(dom)->engine);
}

/* --- Gc.Memprof ----------------------------------------------------------------------------- */

static fk_mp_profile **profile_cell(value handle)
{
    return (fk_mp_profile **)Data_custom_val(handle);
}

static void handle_finalize(value handle)
{
    fk_mp_profile_unref(*profile_cell(handle));
}

static struct custom_operations handle_ops = {
    "framekit.memprof.profile", handle_finalize,            custom_compare_default,     custom_hash_default,
    custom_serialize_default,   custom_deserialize_default, custom_compare_ext_default, custom_fixed_length_default};

static void fail(fk_mp_error e)
{
    if (e == FK_MP_OK)
        return;
    if (e == FK_MP_NO_MEMORY)
        caml_raise_out_of_memory();
    if (e == FK_MP_BAD_ARGUMENT)
        caml_invalid_argument(fk_mp_error_text(e));
    caml_failwith(fk_mp_error_text(e));
}

value caml_memprof_start(value rate, value depth, value tracker)
{
    CAMLparam1(tracker);
    CAMLlocal1(handle);
    double r = Double_val(rate);
    handle = caml_alloc_custom(&handle_ops, sizeof(fk_mp_profile *), 0, 1);
    *profile_cell(handle) = NULL;
    fail(fk_mp_start(self(), r, Long_val(depth), tracker, profile_cell(handle)));
    CAMLreturn(handle);
}

value caml_memprof_stop(value unit)
{
    value exn = Val_unit;
    fk_mp_error e = fk_mp_stop(self(), &exn);
    if (e == FK_MP_EXCEPTION)
        caml_raise(exn);
    fail(e);
    (void)unit;
    return Val_unit;
}

value caml_memprof_discard(value handle)
{
    fail(fk_mp_discard(*profile_cell(handle)));
    return Val_unit;
}
