/* lines.c - line number programs. Bounded: a row costs at least one byte of the program, a file
 * name or directory at least one byte of the header. */
#include "frametable/verify/lines.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frametable/bytes.h"
#include "frametable/search.h"
#include "frametable/verify/reader.h"

enum { MAX_FORMATS = 16 };

typedef struct {
    const char *directory, *name;
} file;

typedef struct {
    uint64_t addr;
    uint32_t file; /* in files */
    uint32_t line : 31, end : 1;
} row;

struct fk_lines {
    bool swap;
    unsigned word;
    const uint8_t *section, *strings[2]; /* .debug_line_str, .debug_str */
    uint64_t size, strings_size[2];
    row *rows;
    file *files;
    size_t num_rows, room_rows, num_files, room_files;
    char fault[128];
};

/* One unit while it is read. */
typedef struct {
    fk_lines *all;
    fk_reader program;
    uint64_t offset;
    uint16_t version;
    bool wide; /* 64-bit DWARF */
    uint8_t min_length, max_ops, opcode_base, line_range;
    int8_t line_base;
    uint8_t lengths[256];
    const char **directories;
    size_t num_directories, room_directories;
    size_t first_file; /* number of the unit's first file in files */
    bool no_memory;
} unit;

static void *more(void *list, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return list;
    size_t n = *room ? *room * 2 : 32;
    void *p = realloc(list, n * size);
    if (p != NULL)
        *room = n;
    return p;
}

static bool add_file(unit *u, const char *directory, const char *name)
{
    fk_lines *l = u->all;
    void *p = more(l->files, &l->room_files, l->num_files, sizeof *l->files);
    u->no_memory |= p == NULL;
    if (p == NULL)
        return false;
    l->files = p;
    l->files[l->num_files++] = (file){directory, name};
    return true;
}

static bool add_directory(unit *u, const char *name)
{
    void *p =
        more(u->directories, &u->room_directories, u->num_directories, sizeof *u->directories);
    u->no_memory |= p == NULL;
    if (p == NULL)
        return false;
    u->directories = p;
    u->directories[u->num_directories++] = name;
    return true;
}

static const char *directory(const unit *u, uint64_t i)
{
    return i < u->num_directories ? u->directories[i] : "";
}

/* --- header, up to version 4 -------------------------------------------------------------- */

/* Directory 0 is where the compiler ran, file 0 does not exist. */
static bool read_old_names(unit *u, fk_reader *r)
{
    const char *name;
    if (!add_directory(u, "") || !add_file(u, "", ""))
        return false;
    while ((name = fk_read_string(r)) != NULL && name[0] != 0)
        if (!add_directory(u, name))
            return false;
    while (name != NULL && (name = fk_read_string(r)) != NULL && name[0] != 0) {
        uint64_t dir = fk_read_uleb(r);
        fk_read_uleb(r); /* time */
        fk_read_uleb(r); /* length */
        if (!add_file(u, directory(u, dir), name))
            return false;
    }
    return name != NULL && !r->bad;
}

/* --- header, version 5 ------------------------------------------------------------------------ */

typedef struct {
    unsigned count;
    uint64_t content[MAX_FORMATS], form[MAX_FORMATS];
} formats;

static bool read_formats(fk_reader *r, formats *f)
{
    f->count = fk_read_u8(r);
    if (f->count > MAX_FORMATS)
        return false;
    for (unsigned i = 0; i < f->count; i++) {
        f->content[i] = fk_read_uleb(r);
        f->form[i] = fk_read_uleb(r);
    }
    return !r->bad;
}

static const char *string_at(const unit *u, unsigned which, uint64_t offset)
{
    const uint8_t *s = u->all->strings[which];
    uint64_t size = u->all->strings_size[which];
    return s != NULL && offset < size && memchr(s + offset, 0, size - offset)
               ? (const char *)s + offset
               : "";
}

static uint64_t read_offset(const unit *u, fk_reader *r)
{
    return u->wide ? fk_read_u64(r) : fk_read_u32(r);
}

static bool skip(fk_reader *r, uint64_t n)
{
    if (n > (uint64_t)(r->end - r->p))
        return false;
    r->p += n;
    return true;
}

/* One attribute: a string or a number, whichever the form has. */
static bool read_form(const unit *u, fk_reader *r, uint64_t form, const char **text,
                      uint64_t *number)
{
    switch (form) {
    case DW_FORM_string: *text = fk_read_string(r); return *text != NULL;
    case DW_FORM_line_strp: *text = string_at(u, 0, read_offset(u, r)); return !r->bad;
    case DW_FORM_strp: *text = string_at(u, 1, read_offset(u, r)); return !r->bad;
    case DW_FORM_udata: *number = fk_read_uleb(r); return !r->bad;
    case DW_FORM_data1: *number = fk_read_u8(r); return !r->bad;
    case DW_FORM_data2: *number = fk_read_u16(r); return !r->bad;
    case DW_FORM_data4: *number = fk_read_u32(r); return !r->bad;
    case DW_FORM_data8: *number = fk_read_u64(r); return !r->bad;
    case DW_FORM_data16: return skip(r, 16);
    case DW_FORM_block: return skip(r, fk_read_uleb(r));
    default: return false;
    }
}

static bool read_entry(const unit *u, fk_reader *r, const formats *f, const char **path,
                       uint64_t *dir)
{
    *path = "";
    *dir = 0;
    for (unsigned i = 0; i < f->count; i++) {
        const char *text = "";
        uint64_t number = 0;
        if (!read_form(u, r, f->form[i], &text, &number))
            return false;
        if (f->content[i] == DW_LNCT_path)
            *path = text;
        else if (f->content[i] == DW_LNCT_directory_index)
            *dir = number;
    }
    return true;
}

/* Entries without a byte would never end the loop's room: they have at least one attribute. */
static bool read_new_names(unit *u, fk_reader *r)
{
    formats f;
    const char *path;
    uint64_t dir, count;
    for (int files = 0; files < 2; files++) {
        if (!read_formats(r, &f))
            return false;
        count = fk_read_uleb(r);
        if (count > 0 && (f.count == 0 || count > (uint64_t)(r->end - r->p)))
            return false;
        for (uint64_t i = 0; i < count; i++) {
            if (!read_entry(u, r, &f, &path, &dir))
                return false;
            if (!(files ? add_file(u, directory(u, dir), path) : add_directory(u, path)))
                return false;
        }
    }
    return !r->bad;
}

/* --- header ----------------------------------------------------------------------------------- */

static bool read_header(unit *u)
{
    fk_reader *r = &u->program;
    u->version = fk_read_u16(r);
    if (u->version < 2 || u->version > 5)
        return false;
    if (u->version == 5 && (fk_read_u8(r) != u->all->word || fk_read_u8(r) != 0))
        return false;
    uint64_t length = read_offset(u, r);
    if (r->bad || length > (uint64_t)(r->end - r->p))
        return false;
    const uint8_t *start = r->p + length;
    u->min_length = fk_read_u8(r);
    u->max_ops = u->version >= 4 ? fk_read_u8(r) : 1;
    fk_read_u8(r); /* default_is_stmt */
    u->line_base = (int8_t)fk_read_u8(r);
    u->line_range = fk_read_u8(r);
    u->opcode_base = fk_read_u8(r);
    for (unsigned i = 1; i < u->opcode_base; i++)
        u->lengths[i] = fk_read_u8(r);
    fk_reader names = {r->p, start, r->swap, false};
    u->first_file = u->all->num_files;
    if (r->bad || r->p > start || u->line_range == 0 || u->max_ops != 1 || u->opcode_base == 0)
        return false;
    r->p = start;
    bool good = u->version < 5 ? read_old_names(u, &names) : read_new_names(u, &names);
    return good && (u->all->num_files > u->first_file || add_file(u, "", "")); /* rows need one */
}

/* --- program ---------------------------------------------------------------------------------- */

typedef struct {
    uint64_t addr, file, line;
    size_t first_row; /* of the sequence */
} state;

static bool add_row(unit *u, const state *s, bool end)
{
    fk_lines *l = u->all;
    void *p = more(l->rows, &l->room_rows, l->num_rows, sizeof *l->rows);
    u->no_memory |= p == NULL;
    if (p == NULL)
        return false;
    l->rows = p;
    uint64_t number =
        s->file < l->num_files - u->first_file ? u->first_file + s->file : u->first_file;
    l->rows[l->num_rows++] = (row){s->addr, (uint32_t)number, (uint32_t)s->line & 0x7FFFFFFF, end};
    return true;
}

/* A sequence that is empty or goes back in addresses is dropped: nothing can be looked up in it. */
static bool end_sequence(unit *u, state *s)
{
    fk_lines *l = u->all;
    bool good = add_row(u, s, true);
    for (size_t i = s->first_row + 1; good && i < l->num_rows; i++)
        if (l->rows[i].addr < l->rows[i - 1].addr)
            l->num_rows = s->first_row;
    if (good && l->num_rows > s->first_row && l->rows[s->first_row].addr == s->addr)
        l->num_rows = s->first_row;
    *s = (state){.file = 1, .line = 1, .first_row = l->num_rows};
    return good;
}

static bool extended(unit *u, state *s)
{
    fk_reader *r = &u->program;
    uint64_t size = fk_read_uleb(r);
    const uint8_t *start = r->p;
    if (size == 0 || size > (uint64_t)(r->end - r->p))
        return false;
    uint8_t op = fk_read_u8(r);
    if (op == DW_LNE_set_address)
        s->addr = size == 9 ? fk_read_u64(r) : size == 5 ? fk_read_u32(r) : 0;
    else if (op == DW_LNE_end_sequence && !end_sequence(u, s))
        return false;
    r->p = start + size;
    return true;
}

static bool standard(unit *u, state *s, uint8_t op)
{
    fk_reader *r = &u->program;
    switch (op) {
    case DW_LNS_copy: return add_row(u, s, false);
    case DW_LNS_advance_pc: s->addr += fk_read_uleb(r) * u->min_length; return true;
    case DW_LNS_advance_line: s->line += (uint64_t)fk_read_sleb(r); return true;
    case DW_LNS_set_file: s->file = fk_read_uleb(r); return true;
    case DW_LNS_const_add_pc:
        s->addr += (uint64_t)((255 - u->opcode_base) / u->line_range) * u->min_length;
        return true;
    case DW_LNS_fixed_advance_pc: s->addr += fk_read_u16(r); return true;
    default:
        for (unsigned i = 0; i < u->lengths[op]; i++)
            fk_read_uleb(r);
        return true;
    }
}

static bool special(unit *u, state *s, uint8_t op)
{
    unsigned n = (unsigned)op - u->opcode_base;
    s->addr += (uint64_t)(n / u->line_range) * u->min_length;
    s->line += (uint64_t)(int64_t)(u->line_base + (int)(n % u->line_range));
    return add_row(u, s, false);
}

static bool run(unit *u)
{
    fk_reader *r = &u->program;
    state s = {.file = 1, .line = 1, .first_row = u->all->num_rows};
    bool good = true;
    while (good && r->p < r->end && !r->bad) {
        uint8_t op = fk_read_u8(r);
        good = op >= u->opcode_base ? special(u, &s, op)
               : op == 0            ? extended(u, &s)
                                    : standard(u, &s, op);
    }
    u->all->num_rows = s.first_row; /* a sequence without end */
    return good && !r->bad;
}

/* --- units ------------------------------------------------------------------------------------ */

static void fault(fk_lines *l, uint64_t offset, const char *why)
{
    if (l->fault[0] == 0)
        snprintf(l->fault, sizeof l->fault, ".debug_line+0x%llx: %s", (unsigned long long)offset,
                 why);
}

/* Steps *at over one unit; false: the section ends. */
static bool next_unit(fk_lines *l, uint64_t *at, unit *u)
{
    fk_reader r = {l->section + *at, l->section + l->size, l->swap, false};
    if (*at >= l->size)
        return false;
    uint64_t length = fk_read_u32(&r);
    *u = (unit){.all = l, .offset = *at, .wide = length == 0xFFFFFFFF};
    if (u->wide)
        length = fk_read_u64(&r);
    if (r.bad || length > (uint64_t)(r.end - r.p)) {
        fault(l, *at, "the length of the unit runs past the end of the section");
        return false;
    }
    r.end = r.p + length;
    u->program = r;
    *at = (uint64_t)(r.end - l->section);
    return true;
}

/* false: no memory. */
static bool read_units(fk_lines *l)
{
    uint64_t at = 0;
    unit u;
    while (next_unit(l, &at, &u)) {
        if (!read_header(&u) || !run(&u))
            fault(l, u.offset, "the unit's header or program has a form that is not known");
        free(u.directories);
        if (u.no_memory)
            return false;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (int)y->end - (int)x->end; /* the next sequence begins where one ends */
}

/* Sequences lie in the order of their units: a merge of runs would do, but sorting is not what
 * costs. Rows at one address keep their order: the last of them holds. */
static void sort_rows(fk_lines *l)
{
    bool sorted = true;
    for (size_t i = 1; i < l->num_rows && sorted; i++)
        sorted = by_address(&l->rows[i - 1], &l->rows[i]) <= 0;
    if (sorted)
        return;
    for (size_t i = l->num_rows - 1; i > 0; i--)
        if (l->rows[i].addr == l->rows[i - 1].addr && !l->rows[i].end && !l->rows[i - 1].end)
            l->rows[i - 1] = l->rows[i];
    qsort(l->rows, l->num_rows, sizeof *l->rows, by_address);
}

fk_lines *fk_lines_open(const fk_image *im)
{
    fk_lines *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->swap = fk_image_big_endian(im) != fk_host_big_endian();
    l->word = fk_image_word(im);
    fk_image_debug_section(im, ".debug_line_str", &l->strings[0], &l->strings_size[0]);
    fk_image_debug_section(im, ".debug_str", &l->strings[1], &l->strings_size[1]);
    if (fk_image_debug_section(im, ".debug_line", &l->section, &l->size) == FK_OK &&
        !read_units(l)) {
        fk_lines_close(l);
        return NULL;
    }
    sort_rows(l);
    return l;
}

void fk_lines_close(const fk_lines *l)
{
    if (l == NULL)
        return;
    free(l->rows);
    free(l->files);
    free((void *)(uintptr_t)l);
}

size_t fk_lines_count(const fk_lines *l)
{
    return l->num_rows;
}

const char *fk_lines_fault(const fk_lines *l)
{
    return l->fault[0] ? l->fault : NULL;
}

fk_result fk_line_at(const fk_lines *l, uint64_t pc, fk_line *out)
{
    size_t lo = FK_COUNT_UPTO(row, l->rows, l->num_rows, addr, pc);
    if (lo == 0 || lo == l->num_rows || l->rows[lo - 1].end)
        return FK_ABSENT;
    const row *r = &l->rows[lo - 1];
    const file *f = &l->files[r->file];
    *out = (fk_line){r->addr, l->rows[lo].addr, f->directory, f->name, r->line};
    return FK_OK;
}
