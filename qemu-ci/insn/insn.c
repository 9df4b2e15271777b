/* A QEMU TCG plugin that counts executed guest instructions.
 *
 * qemu-CPU -plugin libinsn.so,out=FILE PROGRAM writes the number into FILE when
 * the program ends, so it cannot be mistaken for the program's own output.
 * The counter is one plain word that the translated code adds to: exact for one
 * thread; threads lose additions to each other. Programs to be compared must
 * therefore run one domain.
 *
 * QEMU's plugin header is packaged by no distribution, so the few prototypes
 * used are declared here (API version 1: QEMU 4.2 to 8.2). */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define INLINE_ADD_U64 0

typedef uint64_t plugin_id;
struct qemu_plugin_tb;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr,
                                              uint64_t imm);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*cb)(plugin_id, void *), void *data);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t executed;
static FILE *out;

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &executed,
                                             qemu_plugin_tb_n_insns(tb));
}

static void ended(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    fprintf(out, "%" PRIu64 "\n", executed);
    fclose(out);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || !(out = fopen(argv[0] + 4, "w"))) {
        fprintf(stderr, "insn: usage: -plugin libinsn.so,out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
