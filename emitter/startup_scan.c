/* startup_scan.c - which units and generic functions a program needs, from ELF symbols. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emitter/startup.h"

typedef struct {
    char **items;
    size_t count, cap;
} names;

typedef struct {
    names defined, undefined;
    char *unit; /* symbol of the OCaml unit, NULL: none */
    bool lazy;  /* of an archive: only when needed */
    bool used;
} object;

typedef struct {
    object *objects;
    size_t count, cap;
} program;

static void *need(void *p) {
    if (p == NULL) {
        abort();
    }
    return p;
}

static void add(names *n, const char *s) {
    if (n->count == n->cap) {
        n->cap = n->cap == 0 ? 32 : 2 * n->cap;
        n->items = need(realloc(n->items, n->cap * sizeof *n->items));
    }
    n->items[n->count++] = need(strdup(s));
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(names *n) {
    if (n->count > 0) {
        qsort(n->items, n->count, sizeof *n->items, by_text);
    }
}

static bool has(const names *n, const char *s) {
    return n->count > 0 && bsearch(&s, n->items, n->count, sizeof *n->items, by_text) != NULL;
}

static void drop(names *n) {
    for (size_t i = 0; i < n->count; i++) {
        free(n->items[i]);
    }
    free(n->items);
}

/* --- objects ------------------------------------------------------------------------ */
static bool has_member(const names *defined, const char *unit, const char *member) {
    char *symbol = NULL;
    if (asprintf(&symbol, "%s.%s", unit, member) < 0) {
        abort();
    }
    bool found = has(defined, symbol);
    free(symbol);
    return found;
}

/* X of an object that defines X.frametable and X.code_begin. The runtime's stubs
 * (caml_system) are no unit: they come with the runtime. */
static char *unit_of(const names *defined) {
    static const char suffix[] = ".frametable";
    for (size_t i = 0; i < defined->count; i++) {
        const char *s = defined->items[i];
        size_t n = strlen(s), k = sizeof suffix - 1;
        if (n <= k || strcmp(s + n - k, suffix) != 0 || strncmp(s, "caml_system.", 12) == 0) {
            continue;
        }
        char *unit = need(strndup(s, n - k));
        if (has_member(defined, unit, "code_begin")) {
            return unit;
        }
        free(unit);
    }
    return NULL;
}

/* Assemblers see odd characters as $hh; turns them back. */
static void decode(char *s) {
    char *out = s;
    for (; *s != 0; s++) {
        unsigned byte;
        if (*s == '$' && sscanf(s + 1, "%2x", &byte) == 1 && s[2] != 0) {
            *out++ = (char)byte;
            s += 2;
        } else {
            *out++ = *s;
        }
    }
    *out = 0;
}

static bool read_symbols(Elf *elf, object *o) {
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
        GElf_Shdr sh;
        if (gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_SYMTAB || sh.sh_entsize == 0) {
            continue;
        }
        Elf_Data *data = elf_getdata(scn, NULL);
        if (data == NULL) {
            return false;
        }
        for (size_t i = 0; i < data->d_size / sh.sh_entsize; i++) {
            GElf_Sym sym;
            const char *name = gelf_getsym(data, (int)i, &sym) != NULL
                                   ? elf_strptr(elf, sh.sh_link, sym.st_name)
                                   : NULL;
            if (name != NULL && *name != 0 && GELF_ST_BIND(sym.st_info) != STB_LOCAL) {
                add(sym.st_shndx == SHN_UNDEF ? &o->undefined : &o->defined, name);
            }
        }
    }
    return true;
}

static bool add_object(program *p, Elf *elf, bool lazy) {
    if (p->count == p->cap) {
        p->cap = p->cap == 0 ? 64 : 2 * p->cap;
        p->objects = need(realloc(p->objects, p->cap * sizeof *p->objects));
    }
    object *o = &p->objects[p->count];
    *o = (object){.lazy = lazy};
    p->count++;
    if (!read_symbols(elf, o)) {
        return false;
    }
    sort(&o->defined);
    o->unit = unit_of(&o->defined);
    return true;
}

static bool add_archive(program *p, int fd, Elf *archive) {
    Elf_Cmd command = ELF_C_READ;
    bool ok = true;
    for (Elf *m; ok && (m = elf_begin(fd, command, archive)) != NULL;) {
        if (elf_kind(m) == ELF_K_ELF) {
            ok = add_object(p, m, true);
        }
        command = elf_next(m);
        elf_end(m);
    }
    return ok;
}

static bool add_file(program *p, const char *path, char *error, size_t size) {
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        snprintf(error, size, "%.300s: %s", path, strerror(errno));
        return false;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Elf_Kind kind = elf != NULL ? elf_kind(elf) : ELF_K_NONE;
    bool ok = kind == ELF_K_AR    ? add_archive(p, fd, elf)
              : kind == ELF_K_ELF ? add_object(p, elf, false)
                                  : false;
    if (!ok) {
        snprintf(error, size, "%.300s: not an ELF object or archive", path);
    }
    elf_end(elf);
    close(fd);
    return ok;
}

/* --- what is used --------------------------------------------------------------------- */
static bool defines_any(const object *o, const names *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        if (has(&o->defined, wanted->items[i])) {
            return true;
        }
    }
    return false;
}

/* Takes objects, then archive members that one taken needs, until nothing changes. */
static void take(program *p, names *wanted) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < p->count; i++) {
            object *o = &p->objects[i];
            if (o->used || (o->lazy && !defines_any(o, wanted))) {
                continue;
            }
            o->used = changed = true;
            for (size_t k = 0; k < o->undefined.count; k++) {
                add(wanted, o->undefined.items[k]);
            }
        }
    }
    sort(wanted);
}

static void write_program(program *p, names *wanted, const cmmc_options *options, FILE *out) {
    cmmc_startup_unit *units = need(calloc(p->count + 1, sizeof *units));
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++) {
        const object *o = &p->objects[i];
        if (o->used && o->unit != NULL) {
            units[n].entry = has_member(&o->defined, o->unit, "entry");
            units[n].roots = has_member(&o->defined, o->unit, "gc_roots");
            decode(o->unit);
            units[n++].symbol = o->unit;
        }
    }
    cmmc_startup_text(units, n, (const char *const *)wanted->items, wanted->count, options, out);
    free(units);
}

bool cmmc_startup_scan(char *const *files, size_t nfiles, const cmmc_options *options, FILE *out,
                       char *error, size_t error_size) {
    program p = {0};
    names wanted = {0};
    bool ok = elf_version(EV_CURRENT) != EV_NONE;
    for (size_t i = 0; ok && i < nfiles; i++) {
        ok = add_file(&p, files[i], error, error_size);
    }
    if (ok) {
        take(&p, &wanted);
        write_program(&p, &wanted, options, out);
    }
    for (size_t i = 0; i < p.count; i++) {
        drop(&p.objects[i].defined);
        drop(&p.objects[i].undefined);
        free(p.objects[i].unit);
    }
    free(p.objects);
    drop(&wanted);
    return ok;
}
