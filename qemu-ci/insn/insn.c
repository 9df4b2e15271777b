/* A QEMU TCG plugin that counts executed guest instructions.
 *
 * qemu-CPU -plugin libinsn.so,out=FILE[,ranges=FILE] PROGRAM writes the number into FILE
 * when the program ends, so it cannot be mistaken for the program's own output.
 * The counter is one plain word that the translated code adds to: exact for one
 * thread; threads lose additions to each other. Programs to be compared must
 * therefore run one domain.
 *
 * A file of ranges holds lines `LOW HIGH` of hexadecimal guest addresses; what is executed
 * in each follows the total, a line each. These counters are exact for threads too.
 *
 * QEMU's plugin header is packaged by no distribution, so the few prototypes
 * used are declared here (API version 1: QEMU 4.2 to 8.2). */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define INLINE_ADD_U64 0
#define NO_REGISTERS 0
#define MAX_RANGES 64

typedef uint64_t plugin_id;
struct qemu_plugin_tb;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr,
                                              uint64_t imm);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          void (*cb)(unsigned vcpu, void *data), int flags,
                                          void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*cb)(plugin_id, void *), void *data);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t executed;
static FILE *out;
static struct range {
    uint64_t low, high, executed;
} ranges[MAX_RANGES];
static unsigned num_ranges;

/* A translation block is shared by threads: its length rides in the data's upper bits. */
static void ran_in_range(unsigned vcpu, void *data)
{
    uintptr_t d = (uintptr_t)data;
    (void)vcpu;
    __atomic_fetch_add(&ranges[d % MAX_RANGES].executed, d / MAX_RANGES, __ATOMIC_RELAXED);
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    uint64_t at = qemu_plugin_tb_vaddr(tb);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &executed, n);
    for (unsigned k = 0; k < num_ranges; k++)
        if (at >= ranges[k].low && at < ranges[k].high)
            qemu_plugin_register_vcpu_tb_exec_cb(tb, ran_in_range, NO_REGISTERS,
                                                 (void *)(uintptr_t)(n * MAX_RANGES + k));
}

static void ended(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    fprintf(out, "%" PRIu64 "\n", executed);
    for (unsigned k = 0; k < num_ranges; k++)
        fprintf(out, "%" PRIu64 "\n", ranges[k].executed);
    fclose(out);
}

static int read_ranges(const char *file)
{
    FILE *f = fopen(file, "r");
    if (!f)
        return 0;
    struct range r = {0};
    while (fscanf(f, "%" SCNx64 " %" SCNx64, &r.low, &r.high) == 2) {
        if (num_ranges == MAX_RANGES)
            break;
        ranges[num_ranges++] = r;
    }
    int whole = feof(f);
    fclose(f);
    return whole;
}

static int read_option(const char *o)
{
    if (strncmp(o, "out=", 4) == 0)
        return (out = fopen(o + 4, "w")) != NULL;
    return strncmp(o, "ranges=", 7) == 0 && read_ranges(o + 7);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    int ok = 1;
    for (int k = 0; k < argc; k++)
        ok &= read_option(argv[k]);
    if (!ok || !out) {
        fprintf(stderr, "insn: usage: -plugin libinsn.so,out=FILE[,ranges=FILE]\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
