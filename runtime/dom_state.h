/* dom_state.h - the domain state block that compiled code and stubs address
 * by fixed offsets (docs/abi.md). Every field is one 8-byte word, except the
 * last. FK_ABI is 503 or 504; domain.c asserts the offsets against abi/. */
#ifndef FK_RT_DOM_STATE_H
#define FK_RT_DOM_STATE_H

#include "runtime/value.h"

#ifndef FK_ABI
#define FK_ABI 503
#endif

#if FK_ABI >= 504
#define DOM_FIELDS_54(X) \
    X(intptr_t, allocated_words_suspended) X(intptr_t, allocated_words_resumed) \
    X(intptr_t, current_ramp_up_allocated_words_diff)
#define DOM_FIELDS_54_POLICY(X) X(intptr_t, gc_policy)
#else
#define DOM_FIELDS_54(X)
#define DOM_FIELDS_54_POLICY(X)
#endif

#define DOM_FIELDS(X) \
    X(_Atomic uintptr_t, young_limit) X(value *, young_ptr) \
    X(value *, young_start) X(value *, young_end) X(value *, young_trigger) \
    X(struct fiber *, current_stack) X(void *, exn_handler) X(intptr_t, action_pending) \
    X(void *, c_stack) X(void *, stack_cache) X(value *, gc_regs_buckets) X(value *, gc_regs) \
    X(void *, minor_tables) X(void *, mark_stack) X(intptr_t, marking_done) \
    X(intptr_t, sweeping_done) X(intptr_t, allocated_words) X(intptr_t, allocated_words_direct) \
    DOM_FIELDS_54(X) X(intptr_t, swept_words) DOM_FIELDS_54_POLICY(X) \
    X(intptr_t, major_slice_epoch) X(struct local_roots *, local_roots) X(void *, ephe_info) \
    X(void *, final_info) X(intptr_t, backtrace_pos) X(intptr_t, backtrace_active) \
    X(uintptr_t *, backtrace_buffer) X(value, backtrace_last_exn) X(intptr_t, compare_unordered) \
    X(intptr_t, oo_next_id_local) X(intptr_t, requested_major_slice) \
    X(intptr_t, requested_global_major_slice) X(intptr_t, requested_minor_gc) \
    X(intptr_t, requested_external_interrupt) X(int, parser_trace) \
    X(uintptr_t, minor_heap_wsz) X(void *, shared_heap) X(int, id) X(int, unique_id) \
    X(value, dls_root) X(double, extra_heap_resources) X(double, extra_heap_resources_minor) \
    X(uintptr_t, dependent_size) X(uintptr_t, dependent_allocated) X(intptr_t, slice_target) \
    X(intptr_t, slice_budget) X(intptr_t, major_work_done_between_slices) X(void *, extern_state) \
    X(void *, intern_state) X(uintptr_t, stat_minor_words) X(uintptr_t, stat_promoted_words) \
    X(uintptr_t, stat_major_words) X(intptr_t, stat_forced_major_collections) \
    X(uintptr_t, stat_blocks_marked) X(intptr_t, inside_stw_handler) X(intptr_t, trap_sp_off) \
    X(intptr_t, trap_barrier_off) X(int64_t, trap_barrier_block) X(void *, external_raise) \
    X(void *, memprof) X(value *, memprof_young_trigger)

#define DOM_EXTRA_PARAMS 64

struct dom_state {
#define X(type, name) _Alignas(8) type name;
    DOM_FIELDS(X)
#undef X
    _Alignas(8) value extra_params[DOM_EXTRA_PARAMS];
};

#endif
