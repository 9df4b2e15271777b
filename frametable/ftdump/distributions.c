/* distributions.c - --histogram: what OxCaml's runtime counts about its own
 * process (its PR #6304), and more, of any file. */
#include "frametable/ftdump/histogram.h"
#include "frametable/ftdump/stats.h"

#include <stdlib.h>
#include <string.h>

/*  order of the histograms: key, title */
#define HISTOGRAMS(X)                                                                              \
    X(code_distance, "distance of the call from its descriptor, bytes")                            \
    X(delta, "distance to the next return address of the module, bytes")                           \
    X(descriptor_size, "descriptor, bytes")                                                        \
    X(frame_size, "frame, bytes")                                                                  \
    X(live_registers, "live registers at one allocation point")                                    \
    X(live_slots, "live stack slots of one descriptor")                                            \
    X(blocks, "blocks of one allocation (0: poll)")                                                \
    X(wosize, "fields of one block")                                                               \
    X(chain_length, "frames of one debuginfo chain")                                               \
    X(line, "line number")                                                                         \
    X(line_span, "lines that one place spans, beyond the first")                                   \
    X(start_char, "first column")                                                                  \
    X(end_char, "last column")

enum {
#define X(key, title) H_##key,
    HISTOGRAMS(X)
#undef X
        NUM_HISTOGRAMS
};

/* Something stored once per module that could be shared. */
typedef struct {
    const char *key, *title;
    ft_set content; /* distinct by content in the whole file */
    uint64_t references, stored, stored_bytes, distinct_bytes;
} sharing;

enum { S_CHAINS, S_FILES, S_NAMES, NUM_SHARINGS };

static struct {
    ft_heading heading;
    ft_stats stats;
    ft_histogram h[NUM_HISTOGRAMS];
    sharing s[NUM_SHARINGS];
    ft_set shapes;
    uint64_t before, after; /* tables before, after their code */
    uint64_t code_bytes;
} now;

/* --- collecting -------------------------------------------------------------------- */

typedef struct {
    ft_run *run;
    ft_set chains, strings; /* addresses seen in this table */
    uint64_t *retaddrs;
    size_t n, room;
    uint64_t address;
    bool placed;
} walk;

static void table(void *arg, const fk_table *t, const fk_table_info *info)
{
    walk *w = arg;
    (void)t;
    now.code_bytes += info->code_end - info->code_begin;
    w->address = info->address;
    w->placed = false;
    w->n = 0;
    ft_set_clear(&w->chains);
    ft_set_clear(&w->strings);
}

static void note_retaddr(walk *w, uint64_t r)
{
    if (!w->placed) {
        now.before += w->address < r;
        now.after += w->address >= r;
        w->placed = true;
    }
    if (w->n == w->room) {
        size_t room = w->room == 0 ? 1024 : 2 * w->room;
        uint64_t *p = realloc(w->retaddrs, room * sizeof *p);
        if (p == NULL)
            return;
        w->retaddrs = p;
        w->room = room;
    }
    w->retaddrs[w->n++] = r;
}

/* A string of `length` + 1 bytes, referred to from a new record. */
static void note_string(walk *w, sharing *s, const char *text, uint64_t address_key)
{
    size_t size = strlen(text) + 1;
    ft_cell *here = ft_set_cell(&w->strings, address_key);
    ft_cell *content = ft_set_cell(&s->content, ft_hash(size, text, size));
    s->references++;
    if (here != NULL && here->count++ == 0) {
        s->stored++;
        s->stored_bytes += size;
    }
    if (content != NULL && content->count++ == 0)
        s->distinct_bytes += size;
}

static void note_frame(walk *w, const fk_frame *f)
{
    if (f->opaque)
        return;
    ft_histogram_add(&now.h[H_line], (uint64_t)(uint32_t)f->line);
    if (f->end_line >= 0)
        ft_histogram_add(&now.h[H_line_span],
                         (uint64_t)(f->end_line >= f->line ? f->end_line - f->line : 0));
    ft_histogram_add(&now.h[H_start_char], (uint64_t)(f->start_char >= 0 ? f->start_char : 0));
    ft_histogram_add(&now.h[H_end_char], (uint64_t)(f->end_char >= 0 ? f->end_char : 0));
    note_string(w, &now.s[S_FILES], f->file, (uint64_t)(uintptr_t)f->file);
    if (f->defname != NULL)
        note_string(w, &now.s[S_NAMES], f->defname, (uint64_t)(uintptr_t)f->defname);
}

static uint64_t frame_content(uint64_t h, const fk_frame *f)
{
    const int32_t v[] = {f->line, f->end_line, f->start_char, f->end_char, f->end_offset, f->raise};
    h = ft_hash(h, v, sizeof v);
    if (f->file != NULL)
        h = ft_hash(h, f->file, strlen(f->file));
    return f->defname != NULL ? ft_hash(h, f->defname, strlen(f->defname)) : h;
}

/* Bytes of a record without its names: two words, and in A the link. */
static uint64_t record_bytes(const fk_table *t)
{
    return fk_table_generation(t) == FK_GEN_A ? 16 : 8;
}

static void note_new_chain(walk *w, const fk_descr *d, uint64_t at)
{
    fk_chain c;
    fk_frame f;
    fk_error err;
    uint64_t frames = 0, h = 0;
    fk_chain_start(d->table, at, &c);
    for (; fk_chain_next(&c, &f, &err) == FK_OK; frames++) {
        note_frame(w, &f);
        h = f.opaque ? ft_hash(h, f.raw, sizeof f.raw) : frame_content(h, &f);
    }
    sharing *s = &now.s[S_CHAINS];
    ft_cell *content = ft_set_cell(&s->content, h);
    ft_histogram_add(&now.h[H_chain_length], frames);
    s->stored++;
    s->stored_bytes += frames * record_bytes(d->table);
    if (content != NULL && content->count++ == 0)
        s->distinct_bytes += frames * record_bytes(d->table);
}

static void note_chains(walk *w, const fk_descr *d)
{
    for (uint32_t i = 0; i < d->num_debug; i++) {
        uint64_t at = fk_descr_debuginfo(d, i);
        ft_cell *c = at != 0 ? ft_set_cell(&w->chains, at) : NULL;
        if (c == NULL)
            continue;
        now.s[S_CHAINS].references++;
        if (c->count++ == 0)
            note_new_chain(w, d, at);
    }
}

/* A shape is all of a descriptor but where it lies: size, flags, roots, blocks. */
static void note_shape(const fk_descr *d)
{
    const uint32_t head[] = {d->frame_size, d->flags, d->num_live, d->num_allocs};
    uint64_t h = ft_hash(1, head, sizeof head);
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        const int32_t v[] = {l.reg, l.reg < 0 ? l.offset : 0};
        h = ft_hash(h, v, sizeof v);
    }
    for (uint32_t i = 0; i < d->num_allocs; i++) {
        uint32_t v = fk_descr_wosize(d, i);
        h = ft_hash(h, &v, sizeof v);
        ft_histogram_add(&now.h[H_wosize], v);
    }
    ft_cell *c = ft_set_cell(&now.shapes, h);
    if (c != NULL)
        c->count++;
}

static void note_roots(const fk_descr *d)
{
    uint64_t registers = 0;
    for (uint32_t i = 0; i < d->num_live; i++)
        registers += fk_descr_live(d, i).reg >= 0;
    ft_histogram_add(&now.h[H_live_slots], d->num_live - registers);
    if (d->flags & FK_DESCR_ALLOC) {
        ft_histogram_add(&now.h[H_live_registers], registers);
        ft_histogram_add(&now.h[H_blocks], d->num_allocs);
    }
}

static void point(void *arg, const ft_point *p)
{
    walk *w = arg;
    const fk_descr *d = &p->d;
    uint64_t r = d->retaddr, a = d->address;
    note_retaddr(w, r);
    note_shape(d);
    ft_histogram_add(&now.h[H_code_distance], r > a ? r - a : a - r);
    ft_histogram_add(&now.h[H_descriptor_size], d->size);
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    ft_histogram_add(&now.h[H_frame_size], d->frame_size);
    note_roots(d);
    note_chains(w, d);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void table_end(void *arg, const fk_table *t, const fk_error *fault)
{
    walk *w = arg;
    (void)t, (void)fault;
    if (w->n > 0)
        qsort(w->retaddrs, w->n, sizeof *w->retaddrs, by_value);
    for (size_t i = 1; i < w->n; i++)
        ft_histogram_add(&now.h[H_delta], w->retaddrs[i] - w->retaddrs[i - 1]);
}

static void image(ft_run *run, const fk_image *im)
{
    static const ft_visitor v = {table, point, table_end, true};
    walk w = {.run = run};
    ft_heading_add(&now.heading, run->path, im);
    ft_walk(run, im, &v, &w);
    ft_set_free(&w.chains);
    ft_set_free(&w.strings);
    free(w.retaddrs);
    bool before = run->broken;
    ft_stats_add(run, im, &now.stats);
    run->broken |= before;
}

/* --- shapes --------------------------------------------------------------------------- */

static int largest(const void *a, const void *b)
{
    const ft_cell *x = a, *y = b;
    return x->count > y->count ? -1 : x->count < y->count;
}

enum { COVERS = 4 };
static const size_t cover_sizes[COVERS] = {10, 100, 255, 4096};

/* How many descriptors the most frequent shapes cover. Ends the use of the
 * set as a hash table. */
static void cover(uint64_t out[COVERS])
{
    uint64_t sum = 0;
    size_t k = 0;
    memset(out, 0, COVERS * sizeof *out);
    if (now.shapes.capacity > 0)
        qsort(now.shapes.cells, now.shapes.capacity, sizeof *now.shapes.cells, largest);
    for (size_t i = 0; i < cover_sizes[COVERS - 1]; i++) {
        if (i < now.shapes.used)
            sum += now.shapes.cells[i].count;
        if (i + 1 == cover_sizes[k])
            out[k++] = sum;
    }
}

/* --- text ------------------------------------------------------------------------------- */

static double percent(uint64_t v, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)v / (double)whole : 0;
}

static void share(ft_out *o, const char *title, uint64_t v, uint64_t whole)
{
    ft_printf(o, "  %-28s %12llu  %6.2f %%\n", title, (unsigned long long)v, percent(v, whole));
}

static void text_bytes(ft_out *o)
{
    const ft_stats *s = &now.stats;
    uint64_t debug = s->debuginfo_bytes + s->name_bytes;
    uint64_t all = now.code_bytes + s->descriptor_bytes + debug;
    share(o, "code, bytes", now.code_bytes, all);
    share(o, "descriptors, bytes", s->descriptor_bytes, all);
    share(o, "debuginfo, bytes", debug, all);
    share(o, "tables before their code", now.before, s->modules);
    share(o, "tables after their code", now.after, s->modules);
    share(o, "tables without descriptors", s->empty, s->modules);
    share(o, "descriptors", s->descriptors, s->descriptors);
    share(o, "  long form", s->long_form, s->descriptors);
    share(o, "  returns to C", s->return_to_c, s->descriptors);
    share(o, "  allocations and polls", s->alloc, s->descriptors);
    share(o, "  polls", s->polls, s->descriptors);
    share(o, "  with debuginfo", s->debug, s->descriptors);
}

static void text_shapes(ft_out *o, const uint64_t covered[COVERS])
{
    ft_putc(o, '\n');
    ft_puts_color(o, FT_BOLD, "shapes");
    ft_printf(o, ": %zu different (frame, flags, roots, blocks)\n", now.shapes.used);
    for (int i = 0; i < COVERS; i++)
        ft_printf(o, "  the %4zu most frequent cover %12llu  %6.2f %%\n", cover_sizes[i],
                  (unsigned long long)covered[i], percent(covered[i], now.stats.descriptors));
}

static void text_sharing(ft_out *o)
{
    ft_putc(o, '\n');
    ft_puts_color(o, FT_BOLD, "sharing");
    ft_puts(o, ": how often something is used, stored, and different in the whole file\n");
    ft_puts(o, "                        used      stored   different  bytes stored   different\n");
    for (int i = 0; i < NUM_SHARINGS; i++) {
        const sharing *s = &now.s[i];
        ft_printf(o, "  %-15s %12llu%12llu%12zu%14llu%12llu\n", s->title,
                  (unsigned long long)s->references, (unsigned long long)s->stored, s->content.used,
                  (unsigned long long)s->stored_bytes, (unsigned long long)s->distinct_bytes);
    }
}

static void text(ft_run *run)
{
    ft_out *o = &run->out;
    uint64_t covered[COVERS];
    ft_heading_show(run, &now.heading);
    ft_putc(o, '\n');
    text_bytes(o);
    for (int i = 0; i < NUM_HISTOGRAMS; i++)
        ft_histogram_text(o, &now.h[i]);
    cover(covered);
    text_shapes(o, covered);
    text_sharing(o);
}

/* --- JSON, CSV ------------------------------------------------------------------------------ */

static json_t *integer(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *json_sharing(const sharing *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "used", integer(s->references));
    json_object_set_new(o, "stored", integer(s->stored));
    json_object_set_new(o, "different", integer(s->content.used));
    json_object_set_new(o, "stored_bytes", integer(s->stored_bytes));
    json_object_set_new(o, "different_bytes", integer(s->distinct_bytes));
    return o;
}

static void json_shapes(ft_json *j)
{
    uint64_t covered[COVERS];
    cover(covered);
    json_t *o = json_object(), *a = json_array();
    json_object_set_new(o, "different", integer(now.shapes.used));
    for (int i = 0; i < COVERS; i++) {
        json_t *e = json_object();
        json_object_set_new(e, "top", integer(cover_sizes[i]));
        json_object_set_new(e, "descriptors", integer(covered[i]));
        json_array_append_new(a, e);
    }
    json_object_set_new(o, "covered", a);
    ft_json_value(j, "shapes", o);
}

static void json(ft_run *run)
{
    ft_json *j = &run->json;
    const ft_stats *s = &now.stats;
    ft_heading_json(run, &now.heading);
    ft_json_value(j, "code_bytes", integer(now.code_bytes));
    ft_json_value(j, "tables_before_code", integer(now.before));
    ft_json_value(j, "tables_after_code", integer(now.after));
    for (size_t i = 0; i < ft_num_stats_fields; i++)
        ft_json_value(j, ft_stats_fields[i].key, integer(ft_stats_value(s, &ft_stats_fields[i])));
    ft_json_open(j, "histograms", '{');
    for (int i = 0; i < NUM_HISTOGRAMS; i++)
        ft_json_value(j, now.h[i].key, ft_histogram_json(&now.h[i]));
    ft_json_close(j, '}');
    json_shapes(j);
    ft_json_open(j, "sharing", '{');
    for (int i = 0; i < NUM_SHARINGS; i++)
        ft_json_value(j, now.s[i].key, json_sharing(&now.s[i]));
    ft_json_close(j, '}');
    ft_heading_json_end(run);
}

static void csv(ft_run *run)
{
    for (int i = 0; i < NUM_HISTOGRAMS; i++)
        ft_histogram_csv(run, now.heading.path, &now.h[i]);
}

/* --- mode ------------------------------------------------------------------------------------- */

static void reset(void)
{
    static const char *const words[][2] = {
#define X(key, title) {#key, title},
        HISTOGRAMS(X)
#undef X
    };
    static const char *const shared[NUM_SHARINGS][2] = {
        {"chains", "chains"}, {"files", "file names"}, {"defnames", "function names"}};
    for (int i = 0; i < NUM_HISTOGRAMS; i++)
        ft_set_free(&now.h[i].values);
    for (int i = 0; i < NUM_SHARINGS; i++)
        ft_set_free(&now.s[i].content);
    ft_set_free(&now.shapes);
    memset(&now, 0, sizeof now);
    for (int i = 0; i < NUM_HISTOGRAMS; i++) {
        now.h[i].key = words[i][0];
        now.h[i].title = words[i][1];
    }
    for (int i = 0; i < NUM_SHARINGS; i++) {
        now.s[i].key = shared[i][0];
        now.s[i].title = shared[i][1];
    }
}

static void begin(ft_run *run)
{
    reset();
    if (run->opt->style == FT_CSV)
        ft_puts(&run->out, "file,histogram,low,high,count\n");
}

static void file_end(ft_run *run, const char *path)
{
    static void (*const show[])(ft_run *) = {[FT_TEXT] = text, [FT_JSON] = json, [FT_CSV] = csv};
    (void)path;
    show[run->opt->style](run);
    reset();
}

const ft_mode ft_mode_histogram = {
    .option = "histogram", .begin = begin, .image = image, .file_end = file_end};
