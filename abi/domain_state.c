/* domain_state.c - where each field of the domain state (Caml_state) lies.
 *
 * Every field takes 8 bytes, so a number here is offset / 8; the last field,
 * extra_params, is an array of 64 words. The stub objects of every release carry
 * the same numbers as absolute symbols (domain_field_caml_NAME), which the test
 * suite compares with this table. docs/abi.md, "Domain state".
 */
#include <string.h>

#include "abi/abi.h"

#define NA (-1)

typedef struct {
    const char *name;
    int8_t index[FK_OCAML_VERSIONS];
} field;

static const field fields[] = {
    /*          4.11 4.12 4.13 4.14 5.0 5.1 5.2 5.3 5.4 */
    {"young_limit", {1, 1, 0, 0, 0, 0, 0, 0, 0}},
    {"young_ptr", {0, 0, 1, 1, 1, 1, 1, 1, 1}},
    {"young_start", {4, 4, 4, 4, 2, 2, 2, 2, 2}},
    {"young_end", {5, 5, 5, 5, 3, 3, 3, 3, 3}},
    {"young_trigger", {9, 9, 9, 9, NA, 4, 4, 4, 4}},
    {"current_stack", {NA, NA, NA, NA, 4, 5, 5, 5, 5}},
    {"exn_handler", {NA, NA, NA, NA, 5, 6, 6, 6, 6}},
    {"action_pending", {NA, NA, NA, NA, 6, 7, 7, 7, 7}},
    {"c_stack", {NA, NA, NA, NA, 7, 8, 8, 8, 8}},
    {"stack_cache", {NA, NA, NA, NA, 8, 9, 9, 9, 9}},
    {"gc_regs_buckets", {NA, NA, NA, NA, 9, 10, 10, 10, 10}},
    {"gc_regs", {27, 28, 28, 28, 10, 11, 11, 11, 11}},
    {"minor_tables", {NA, NA, NA, NA, 11, 12, 12, 12, 12}},
    {"mark_stack", {NA, 16, 16, 16, 12, 13, 13, 13, 13}},
    {"marking_done", {NA, NA, NA, NA, 13, 14, 14, 14, 14}},
    {"sweeping_done", {NA, NA, NA, NA, 14, 15, 15, 15, 15}},
    {"allocated_words", {NA, NA, NA, NA, 15, 16, 16, 16, 16}},
    {"allocated_words_direct", {NA, NA, NA, NA, NA, NA, NA, 17, 17}},
    {"allocated_words_suspended", {NA, NA, NA, NA, NA, NA, NA, NA, 18}},
    {"allocated_words_resumed", {NA, NA, NA, NA, NA, NA, NA, NA, 19}},
    {"current_ramp_up_allocated_words_diff", {NA, NA, NA, NA, NA, NA, NA, NA, 20}},
    {"swept_words", {NA, NA, NA, NA, 16, 17, 17, 18, 21}},
    {"gc_policy", {NA, NA, NA, NA, NA, NA, NA, NA, 22}},
    {"major_slice_epoch", {NA, NA, NA, NA, NA, 18, 18, 19, 23}},
    {"local_roots", {35, 36, 36, 36, 20, 19, 19, 20, 24}},
    {"ephe_info", {NA, NA, NA, NA, 21, 20, 20, 21, 25}},
    {"final_info", {NA, NA, NA, NA, 22, 21, 21, 22, 26}},
    {"backtrace_pos", {29, 30, 30, 30, 23, 22, 22, 23, 27}},
    {"backtrace_active", {28, 29, 29, 29, 24, 23, 23, 24, 28}},
    {"backtrace_buffer", {30, 31, 31, 31, 25, 24, 24, 25, 29}},
    {"backtrace_last_exn", {31, 32, 32, 32, 26, 25, 25, 26, 30}},
    {"compare_unordered", {32, 33, 33, 33, 27, 26, 26, 27, 31}},
    {"oo_next_id_local", {NA, NA, NA, NA, 28, 27, 27, 28, 32}},
    {"requested_major_slice", {33, 34, 34, 34, 29, 28, 28, 29, 33}},
    {"requested_global_major_slice", {NA, NA, NA, NA, NA, 29, 29, 30, 34}},
    {"requested_minor_gc", {34, 35, 35, 35, 30, 30, 30, 31, 35}},
    {"requested_external_interrupt", {NA, NA, NA, NA, 31, 31, 31, 32, 36}},
    {"parser_trace", {NA, NA, NA, NA, 32, 32, 32, 33, 37}},
    {"minor_heap_wsz", {10, 10, 10, 10, 33, 33, 33, 34, 38}},
    {"shared_heap", {NA, NA, NA, NA, 34, 34, 34, 35, 39}},
    {"id", {NA, NA, NA, NA, 35, 35, 35, 36, 40}},
    {"unique_id", {NA, NA, NA, NA, 36, 36, 36, 37, 41}},
    {"dls_root", {NA, NA, NA, NA, 40, 37, 37, 38, 42}},
    {"extra_heap_resources", {NA, NA, NA, NA, 41, 38, 38, 39, 43}},
    {"extra_heap_resources_minor", {12, 12, 12, 12, 42, 39, 39, 40, 44}},
    {"dependent_size", {NA, NA, NA, NA, 43, 40, 40, 41, 45}},
    {"dependent_allocated", {NA, NA, NA, NA, 44, 41, 41, 42, 46}},
    {"slice_target", {NA, NA, NA, NA, NA, 42, 42, 43, 47}},
    {"slice_budget", {NA, NA, NA, NA, NA, 43, 43, 44, 48}},
    {"major_work_done_between_slices", {NA, NA, NA, NA, NA, 44, 44, 45, 49}},
    {"extern_state", {NA, NA, NA, NA, 45, 45, 45, 46, 50}},
    {"intern_state", {NA, NA, NA, NA, 46, 46, 46, 47, 51}},
    {"stat_minor_words", {36, 37, 37, 37, 47, 47, 47, 48, 52}},
    {"stat_promoted_words", {37, 38, 38, 38, 48, 48, 48, 49, 53}},
    {"stat_major_words", {38, 39, 39, 39, 49, 49, 49, 50, 54}},
    {"stat_forced_major_collections", {NA, 45, 45, 45, 51, 50, 50, 51, 55}},
    {"stat_blocks_marked", {NA, NA, NA, NA, 52, 51, 51, 52, 56}},
    {"inside_stw_handler", {NA, NA, NA, NA, 53, 52, 52, 53, 57}},
    {"trap_sp_off", {NA, NA, NA, NA, 54, 53, 53, 54, 58}},
    {"trap_barrier_off", {NA, NA, NA, NA, 55, 54, 54, 55, 59}},
    {"trap_barrier_block", {NA, NA, NA, NA, 56, 55, 55, 56, 60}},
    {"external_raise", {22, 23, 23, 23, 57, 56, 56, 57, 61}},
    {"memprof", {NA, NA, NA, NA, NA, NA, 57, 58, 62}},
    {"memprof_young_trigger", {NA, NA, NA, NA, NA, NA, 58, 59, 63}},
    {"extra_params", {NA, NA, NA, 52, 58, 57, 59, 60, 64}},
    {"major_work_computed", {NA, NA, NA, NA, 17, NA, NA, NA, NA}},
    {"major_work_todo", {NA, NA, NA, NA, 18, NA, NA, NA, NA}},
    {"major_gc_clock", {NA, NA, NA, NA, 19, NA, NA, NA, NA}},
    {"pools_to_rescan", {NA, NA, NA, NA, 37, NA, NA, NA, NA}},
    {"pools_to_rescan_len", {NA, NA, NA, NA, 38, NA, NA, NA, NA}},
    {"pools_to_rescan_count", {NA, NA, NA, NA, 39, NA, NA, NA, NA}},
    {"stat_minor_collections", {39, 40, 40, 40, 50, NA, NA, NA, NA}},
    {"exception_pointer", {2, 2, 2, 2, NA, NA, NA, NA, NA}},
    {"young_base", {3, 3, 3, 3, NA, NA, NA, NA, NA}},
    {"young_alloc_start", {6, 6, 6, 6, NA, NA, NA, NA, NA}},
    {"young_alloc_end", {7, 7, 7, 7, NA, NA, NA, NA, NA}},
    {"young_alloc_mid", {8, 8, 8, 8, NA, NA, NA, NA, NA}},
    {"in_minor_collection", {11, 11, 11, 11, NA, NA, NA, NA, NA}},
    {"ref_table", {13, 13, 13, 13, NA, NA, NA, NA, NA}},
    {"ephe_ref_table", {14, 14, 14, 14, NA, NA, NA, NA, NA}},
    {"custom_table", {15, 15, 15, 15, NA, NA, NA, NA, NA}},
    {"stack_low", {16, 17, 17, 17, NA, NA, NA, NA, NA}},
    {"stack_high", {17, 18, 18, 18, NA, NA, NA, NA, NA}},
    {"stack_threshold", {18, 19, 19, 19, NA, NA, NA, NA, NA}},
    {"extern_sp", {19, 20, 20, 20, NA, NA, NA, NA, NA}},
    {"trapsp", {20, 21, 21, 21, NA, NA, NA, NA, NA}},
    {"trap_barrier", {21, 22, 22, 22, NA, NA, NA, NA, NA}},
    {"exn_bucket", {23, 24, 24, 24, NA, NA, NA, NA, NA}},
    {"top_of_stack", {24, 25, 25, 25, NA, NA, NA, NA, NA}},
    {"bottom_of_stack", {25, 26, 26, 26, NA, NA, NA, NA, NA}},
    {"last_return_address", {26, 27, 27, 27, NA, NA, NA, NA, NA}},
    {"stat_major_collections", {40, 41, 41, 41, NA, NA, NA, NA, NA}},
    {"stat_heap_wsz", {41, 42, 42, 42, NA, NA, NA, NA, NA}},
    {"stat_top_heap_wsz", {42, 43, 43, 43, NA, NA, NA, NA, NA}},
    {"stat_compactions", {43, 44, 44, 44, NA, NA, NA, NA, NA}},
    {"stat_heap_chunks", {44, 46, 46, 46, NA, NA, NA, NA, NA}},
    {"eventlog_startup_timestamp", {45, 47, 47, 47, NA, NA, NA, NA, NA}},
    {"eventlog_startup_pid", {46, 48, 48, 48, NA, NA, NA, NA, NA}},
    {"eventlog_paused", {47, 49, 49, 49, NA, NA, NA, NA, NA}},
    {"eventlog_enabled", {48, 50, 50, 50, NA, NA, NA, NA, NA}},
    {"eventlog_out", {49, 51, 51, 51, NA, NA, NA, NA, NA}},
};

static const char *const versions[FK_OCAML_VERSIONS] = {
    "4.11", "4.12", "4.13", "4.14", "5.0", "5.1", "5.2", "5.3", "5.4",
};

#define NUM_FIELDS (sizeof(fields) / sizeof(fields[0]))

int fk_domain_offset(fk_ocaml_version version, const char *name)
{
    for (size_t i = 0; i < NUM_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].index[version] == NA ? -1 : 8 * fields[i].index[version];
    return -1;
}

size_t fk_domain_fields(fk_ocaml_version version)
{
    size_t n = 0;
    for (size_t i = 0; i < NUM_FIELDS; i++)
        n += fields[i].index[version] != NA;
    return n;
}

const char *fk_domain_field(fk_ocaml_version version, size_t index)
{
    for (size_t i = 0; i < NUM_FIELDS; i++)
        if (fields[i].index[version] >= 0 && (size_t)fields[i].index[version] == index)
            return fields[i].name;
    return NULL;
}

const char *fk_domain_field_nth(size_t n)
{
    return n < NUM_FIELDS ? fields[n].name : NULL;
}

bool fk_ocaml_version_parse(const char *text, fk_ocaml_version *out)
{
    for (int v = 0; v < FK_OCAML_VERSIONS; v++)
        if (strcmp(versions[v], text) == 0) {
            *out = (fk_ocaml_version)v;
            return true;
        }
    return false;
}

const char *fk_ocaml_version_name(fk_ocaml_version version)
{
    return versions[version];
}
