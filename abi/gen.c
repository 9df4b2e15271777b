/* abi-gen ARCH VERSION - the tables as #defines, for stubs and harnesses.
 * abi-gen --doc registers-ARCH|frames|calls|relocations|domain - a table of docs/abi.md.
 *
 * The output is valid in assembler (through the C preprocessor) and in C. It is
 * how a .S file reads abi/: no stub contains an offset of its own.
 *
 *   DOM_YOUNG_PTR     byte offset of a domain-state field
 *   GCREG_RBX         byte offset of a register's word from gc_regs
 *   BUCKET_RBX        ... and from the start of the bucket
 *   STACK_ HANDLER_ C_LINK_ TRAP_ HEADER_   the structures drawn in abi.h
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "abi/abi.h"
#include "abi/doc.h"

static void define(const char *prefix, const char *name, long value)
{
    printf("#define %s", prefix);
    for (; *name; name++)
        putchar(toupper((unsigned char)*name));
    printf(" %ld\n", value);
}

static void domain_state(fk_ocaml_version version)
{
    size_t n = fk_domain_fields(version);
    for (size_t i = 0; i < n; i++)
        define("DOM_", fk_domain_field(version, i), (long)(8 * i));
    define("DOM_", "size", (long)(8 * (n - 1 + FK_EXTRA_PARAMS)));
}

static void save_area(const fk_abi *abi)
{
    define("BUCKET_", "size", abi->bucket_size);
    define("BUCKET_", "gc_regs", abi->bucket_base);
    define("BUCKET_", "next", 0);
    for (size_t i = 0; i < abi->num_regs; i++) {
        const fk_reg *r = &abi->regs[i];
        if (r->slot < 0)
            continue;
        define("GCREG_", r->name, 8L * r->slot);
        define("BUCKET_", r->name, 8L * r->slot + abi->bucket_base);
    }
}

static void structures(const fk_abi *abi)
{
    define("STACK_", "sp", FK_STACK_SP);
    define("STACK_", "exception", FK_STACK_EXCEPTION);
    define("STACK_", "handler", FK_STACK_HANDLER);
    define("STACK_", "ctx_words", FK_STACK_CTX_WORDS);
    define("STACK_", "threshold", FK_STACK_THRESHOLD);
    define("HANDLER_", "value", FK_HANDLER_VALUE);
    define("HANDLER_", "exn", FK_HANDLER_EXN);
    define("HANDLER_", "effect", FK_HANDLER_EFFECT);
    define("HANDLER_", "parent", FK_HANDLER_PARENT);
    define("C_LINK_", "stack", abi->c_link_base + FK_C_LINK_STACK);
    define("C_LINK_", "sp", abi->c_link_base + FK_C_LINK_SP);
    define("C_LINK_", "prev", abi->c_link_base + FK_C_LINK_PREV);
    define("C_LINK_", "size", abi->c_link_base + FK_C_LINK_SIZE);
    define("C_STACK_", "reserved", abi->c_stack_reserved);
    define("TRAP_", "previous", FK_TRAP_PREVIOUS);
    define("TRAP_", "handler", FK_TRAP_HANDLER);
    define("TRAP_", "size", FK_TRAP_SIZE);
    define("HEADER_", "size", abi->header_size);
    define("HEADER_", "gc_regs", abi->header_gc_regs);
    define("FIRST_", "frame", abi->first_frame);
    define("FRAME_", "reserved", abi->frame_reserved);
}

static void constants(const fk_abi *abi, fk_ocaml_version version)
{
    int major = version >= FK_OCAML_5_0 ? 5 : 4;
    int minor = version >= FK_OCAML_5_0 ? version - FK_OCAML_5_0 : version - FK_OCAML_4_11 + 11;
    printf("/* Written by abi-gen from the tables in abi/. */\n");
    printf("#define FK_ABI_%s 1\n#define FK_OCAML %d%02d\n", abi->name, major, minor);
    domain_state(version);
    save_area(abi);
    structures(abi);
}

static bool doc(const char *table)
{
    static const struct {
        const char *name;
        void (*put)(void);
    } tables[] = {{"frames", fk_doc_frames}, {"calls", fk_doc_calls},
                  {"relocations", fk_doc_relocations}, {"domain", fk_doc_domain}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(table, tables[i].name) == 0) {
            tables[i].put();
            return true;
        }
    const fk_abi *abi = strncmp(table, "registers-", 10) == 0 ? fk_abi_by_name(table + 10) : NULL;
    if (abi)
        fk_doc_registers(abi);
    return abi != NULL;
}

int main(int argc, char **argv)
{
    fk_ocaml_version version;
    if (argc == 3 && strcmp(argv[1], "--doc") == 0 && doc(argv[2]))
        return 0;
    const fk_abi *abi = argc == 3 ? fk_abi_by_name(argv[1]) : NULL;
    if (!abi || !fk_ocaml_version_parse(argv[2], &version)) {
        fprintf(stderr, "usage: abi-gen ARCH VERSION\n"
                        "       abi-gen --doc registers-ARCH|frames|calls|relocations|domain\n");
        return 3;
    }
    constants(abi, version);
    return 0;
}
