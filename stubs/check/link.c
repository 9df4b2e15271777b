/* link.c - link the object with its architecture's harness. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

static const sc_port_row rows[] = {
#include "ports.inc"
};

const sc_port_row *sc_port_row_of(const char *arch)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].arch, arch) == 0)
            return &rows[i];
    return NULL;
}

/* Symbols that the harness or the linker has; the rest lead to sc_unknown. */
static const char *const provided[] = {
#define PAD(name) #name,
#include "stubs/check/harness/pads.h"
#undef PAD
    "_GLOBAL_OFFSET_TABLE_", ".TOC.", "caml_exn_Stack_overflow", "_gp_disp", "",
};

static bool is_provided(const char *name)
{
    for (size_t i = 0; i < sizeof provided / sizeof provided[0]; i++)
        if (strcmp(provided[i], name) == 0)
            return true;
    return false;
}

enum { MAX_ARGS = 256 };
typedef struct {
    char *argv[MAX_ARGS];
    int n;
} command;

static void add(command *c, const char *text)
{
    if (c->n < MAX_ARGS - 1)
        c->argv[c->n++] = strdup(text);
}

static bool see_undefined(const sc_symbol *s, void *arg)
{
    char text[256];
    if (s->section == SHN_UNDEF && !is_provided(s->name)) {
        snprintf(text, sizeof text, "-Wl,--defsym=%.200s=sc_unknown", s->name);
        add(arg, text);
    }
    return true;
}

/* build/bin/stubcheck -> build/ARCH/stubcheck.o; installed: ../lib/framekit/ARCH/. */
static bool find_harness(const char *arch, const sc_options *options, char *path, size_t size)
{
    char self[512];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    if (options->harness)
        snprintf(path, size, "%s/%s/stubcheck.o", options->harness, arch);
    else
        snprintf(path, size, "%s/../%s/stubcheck.o", self, arch);
    if (access(path, R_OK) == 0)
        return true;
    snprintf(path, size, "%s/../lib/framekit/%s/stubcheck.o", self, arch);
    return access(path, R_OK) == 0;
}

static bool run_linker(command *c, const sc_object *o, char **error)
{
    char *out = NULL;
    int status = sc_capture(c->argv, 60, true, &out);
    if (status != 0) {
        const char *why = status == -2 ? "time limit" : status == 127 ? "no such program" : out;
        char *start = strstr(out, "error:");
        (void)start;
        if (asprintf(error, "%s cannot be linked with the harness by %s: %.*s", o->name, c->argv[0],
                     (int)strcspn(why, "\n"), why) < 0)
            *error = NULL;
    }
    free(out);
    for (int i = 0; i < c->n; i++)
        free(c->argv[i]);
    return status == 0;
}

bool sc_link(const sc_object *o, const sc_options *options, const char *dir, sc_linked *l,
             char **error)
{
    const sc_port_row *port = sc_port_row_of(o->abi->name);
    command c = {.n = 0};
    char path[1200];
    *l = (sc_linked){0};
    if (!find_harness(o->abi->name, options, path, sizeof path)) {
        if (asprintf(error, "%s: no harness for %s (stubcheck.o)", o->name, o->abi->name) < 0)
            *error = NULL;
        return false;
    }
    if (asprintf(&l->program, "%s/program", dir) < 0)
        return false;
    char tool[64];
    snprintf(tool, sizeof tool, "%s-gcc", port->triplet);
    add(&c, tool);
    add(&c, "-static");
    add(&c, "-no-pie");
    add(&c, "-Wl,--no-relax,--eh-frame-hdr,-z,noexecstack");
    add(&c, "-o");
    add(&c, l->program);
    add(&c, path);
    add(&c, o->path);
    sc_each_symbol(o->elf, see_undefined, &c);
    return run_linker(&c, o, error);
}

bool sc_read_program(const sc_object *o, const char *dir, sc_linked *l, char **error)
{
    return asprintf(&l->table, "%s/table", dir) > 0 && sc_read_code(o, l->program, &l->code, error) &&
           sc_write_table(l, o, l->table);
}

void sc_linked_free(sc_linked *l)
{
    for (size_t i = 0; i < l->code.count; i++)
        free(l->code.insn[i].text);
    free(l->code.insn);
    free(l->program);
    free(l->table);
}
