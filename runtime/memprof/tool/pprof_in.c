/* pprof_in.c - reads the message that pprof.c writes, or any other profile of
 * github.com/google/pprof's profile.proto: fields as listed there.
 *
 * Messages are not copied: a list of their places, sorted by id, is kept. */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct {
    const uint8_t *data, *end;
} span;

typedef struct {
    unsigned number, type;
    uint64_t value; /* VARINT */
    span bytes;     /* BYTES */
} field;

typedef struct {
    uint64_t id;
    span message;
} item;

typedef struct {
    item *data;
    size_t size, capacity;
} items;

typedef struct {
    const uint8_t *start;
    items strings, functions, locations, samples, types;
    size_t column; /* of the samples' values */
    size_t built;  /* bytes of text so far */
    fk_stacks_error *error;
} reader;

static bool fail(reader *r, const uint8_t *at, const char *why)
{
    return fk_stacks_fail(r->error, (size_t)(at - r->start), "%s", why);
}

/* --- wire format --------------------------------------------------------------- */

static bool varint(span *s, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && s->data < s->end; shift += 7) {
        uint8_t b = *s->data++;
        *out |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return true;
    }
    return false;
}

/* The next field; false at the end and, with *bad set, on damage. */
static bool next_field(span *s, field *f, bool *bad)
{
    uint64_t key, n = 0;
    if (s->data == s->end)
        return false;
    *bad = true;
    if (!varint(s, &key))
        return false;
    *f = (field){.number = (unsigned)(key >> 3), .type = key & 7};
    if (f->type == VARINT) {
        *bad = !varint(s, &f->value);
        return !*bad;
    }
    n = f->type == FIXED64 ? 8 : f->type == FIXED32 ? 4 : 0;
    if (f->type == BYTES ? !varint(s, &n) : n == 0)
        return false;
    if (n > (uint64_t)(s->end - s->data))
        return false;
    f->bytes = (span){s->data, s->data + n};
    s->data += n;
    *bad = false;
    return true;
}

/* The first number in field `number`; 0: there is none. */
static uint64_t number_in(span message, unsigned number)
{
    field f;
    bool bad = false;
    while (next_field(&message, &f, &bad))
        if (f.number == number && f.type == VARINT)
            return f.value;
    return 0;
}

/* --- lists ------------------------------------------------------------------------ */

static bool add(reader *r, items *list, uint64_t id, span message)
{
    if (list->size == list->capacity) {
        size_t n = 2 * list->capacity + 64;
        item *p = realloc(list->data, n * sizeof *p);
        if (!p)
            return fail(r, message.data, "out of memory");
        list->data = p;
        list->capacity = n;
    }
    list->data[list->size++] = (item){id, message};
    return true;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const item *)a)->id, y = ((const item *)b)->id;
    return (x > y) - (x < y);
}

static const item *find(const items *list, uint64_t id)
{
    item key = {.id = id};
    return list->size ? bsearch(&key, list->data, list->size, sizeof key, by_id) : NULL;
}

static bool collect(reader *r, span all)
{
    field f;
    bool bad = false;
    items *lists[] = {[1] = &r->types, [2] = &r->samples, [4] = &r->locations, [5] = &r->functions, [6] = &r->strings};
    while (next_field(&all, &f, &bad)) {
        items *list = f.number < sizeof lists / sizeof *lists ? lists[f.number] : NULL;
        if (!list || f.type != BYTES)
            continue;
        bool has_id = list == &r->locations || list == &r->functions;
        if (!add(r, list, has_id ? number_in(f.bytes, 1) : list->size, f.bytes))
            return false;
    }
    if (bad)
        return fail(r, all.data, "a field of the profile is cut off or damaged");
    if (r->locations.size)
        qsort(r->locations.data, r->locations.size, sizeof(item), by_id);
    if (r->functions.size)
        qsort(r->functions.data, r->functions.size, sizeof(item), by_id);
    return true;
}

/* --- samples ------------------------------------------------------------------------ */

static bool is_text(const reader *r, uint64_t string, const char *text)
{
    const item *i = find(&r->strings, string);
    size_t n = i ? (size_t)(i->message.end - i->message.data) : 0;
    return i && n == strlen(text) && memcmp(i->message.data, text, n) == 0;
}

static bool choose_column(reader *r, bool live)
{
    const char *name = live ? "inuse_space" : "alloc_space";
    for (size_t i = 0; i < r->types.size; i++)
        if (is_text(r, number_in(r->types.data[i].message, 1), name)) {
            r->column = i;
            return true;
        }
    return fk_stacks_fail(r->error, 0, "the profile has no %s values", name);
}

/* Text that is built from its end: samples name the innermost frame first. */
typedef struct {
    char *data;
    size_t start, size;
} text;

static bool prepend(text *t, span name)
{
    size_t n = (size_t)(name.end - name.data), need = n + (t->start < t->size);
    if (need > t->start) {
        size_t used = t->size - t->start, size = 2 * (used + need) + 256;
        char *p = malloc(size);
        if (!p)
            return false;
        if (used)
            memcpy(p + size - used, t->data + t->start, used);
        free(t->data);
        *t = (text){p, size - used, size};
    }
    if (t->start < t->size)
        t->data[--t->start] = ';';
    t->start -= n;
    if (n)
        memcpy(t->data + t->start, name.data, n);
    for (size_t i = 0; i < n; i++)
        if (t->data[t->start + i] == ';' || t->data[t->start + i] == '\n' || t->data[t->start + i] == 0)
            t->data[t->start + i] = ':';
    return true;
}

static span function_name(const reader *r, uint64_t id)
{
    static const uint8_t unknown[] = "?";
    const item *f = find(&r->functions, id);
    const item *s = f ? find(&r->strings, number_in(f->message, 2)) : NULL;
    return s ? s->message : (span){unknown, unknown + 1};
}

static bool prepend_location(reader *r, text *t, uint64_t id)
{
    const item *l = find(&r->locations, id);
    field f;
    bool bad = false;
    if (!l)
        return fail(r, r->start, "a sample names a location that is not there");
    for (span s = l->message; next_field(&s, &f, &bad);)
        if (f.number == 4 && f.type == BYTES && !prepend(t, function_name(r, number_in(f.bytes, 1))))
            return fail(r, l->message.data, "out of memory");
    return true;
}

/* Calls on each number of a repeated field, packed or not. */
static bool next_number(span *message, unsigned number, span *packed, uint64_t *out, bool *bad)
{
    field f;
    while (packed->data == packed->end) {
        if (!next_field(message, &f, bad))
            return false;
        if (f.number != number)
            continue;
        if (f.type == VARINT) {
            *out = f.value;
            return true;
        }
        if (f.type == BYTES)
            *packed = f.bytes;
    }
    *bad = !varint(packed, out);
    return !*bad;
}

static bool read_sample(reader *r, span message, fk_stacks *out)
{
    text t = {0};
    uint64_t n = 0, v;
    bool bad = false;
    span s = message, packed = {0};
    while (next_number(&s, 1, &packed, &v, &bad))
        if (!prepend_location(r, &t, v) || t.size > FK_STACKS_MAX) {
            free(t.data);
            return t.size > FK_STACKS_MAX ? fail(r, message.data, "a stack is too long") : false;
        }
    s = message;
    packed = (span){0};
    for (size_t i = 0; !bad && next_number(&s, 2, &packed, &v, &bad); i++)
        if (i == r->column)
            n = v;
    char *stack = strndup(t.data ? t.data + t.start : "", t.size - t.start);
    r->built += t.size - t.start;
    free(t.data);
    if (bad || r->built > FK_STACKS_MAX) {
        free(stack);
        return fail(r, message.data, bad ? "a sample is damaged" : "the stacks are too long in total");
    }
    return fk_stacks_add(out, stack, (double)(int64_t)n) || fail(r, message.data, "out of memory");
}

bool fk_stacks_read_pprof(fk_stacks *out, const uint8_t *data, size_t size, bool live, fk_stacks_error *error)
{
    reader r = {.start = data, .error = error};
    bool good = collect(&r, (span){data, data + size}) && choose_column(&r, live);
    for (size_t i = 0; good && i < r.samples.size; i++)
        good = read_sample(&r, r.samples.data[i].message, out);
    free(r.strings.data);
    free(r.functions.data);
    free(r.locations.data);
    free(r.samples.data);
    free(r.types.data);
    return good;
}
