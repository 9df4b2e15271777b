/* pprof.c - the profile.proto message of github.com/google/pprof, by hand:
 * the drop-in object must not pull a protobuf library into foreign programs.
 *
 * Protocol buffers' wire format: a field is a varint key (number << 3 | type)
 * and a varint (type 0), or a length and that many bytes (type 2). Messages
 * nest by length, so they are built in memory from the inside out.
 *
 *   Profile   sample_type 1, sample 2, location 4, function 5,
 *             string_table 6, period_type 11, period 12, default_sample_type 14
 *   ValueType type 1, unit 2          Sample   location_id 1, value 2
 *   Location  id 1, address 3, line 4 Line     function_id 1, line 2
 *   Function  id 1, name 2, system_name 3, filename 4
 */
#include "frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} buffer;

static void put_bytes(buffer *b, const void *data, size_t n)
{
    if (b->size + n > b->capacity && !b->failed) {
        size_t capacity = 2 * (b->size + n) + 64;
        uint8_t *p = realloc(b->data, capacity);
        b->failed = !p;
        if (p) {
            b->data = p;
            b->capacity = capacity;
        }
    }
    if (b->failed || n == 0)
        return;
    memcpy(b->data + b->size, data, n);
    b->size += n;
}

static void put_varint(buffer *b, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n] = (uint8_t)(v & 0x7f);
        v >>= 7;
        bytes[n++] |= v ? 0x80 : 0;
    } while (v);
    put_bytes(b, bytes, n);
}

static void put_int(buffer *b, unsigned field, uint64_t v)
{
    put_varint(b, field << 3);
    put_varint(b, v);
}

static void put_data(buffer *b, unsigned field, const void *data, size_t n)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    put_bytes(b, data, n);
}

/* Moves a finished message into its parent. */
static void put_message(buffer *b, unsigned field, buffer *message)
{
    put_data(b, field, message->data, message->size);
    b->failed |= message->failed;
    message->size = 0;
}

/* --- strings: fixed ones first, then a function's name and file for each frame --- */

enum { S_EMPTY, S_ALLOC_OBJECTS, S_COUNT, S_ALLOC_SPACE, S_BYTES, S_INUSE_OBJECTS, S_INUSE_SPACE, S_SPACE, S_FRAMES };
static const char *const fixed[] = {"", "alloc_objects", "count", "alloc_space", "bytes",
                                    "inuse_objects", "inuse_space", "space"};

typedef struct {
    buffer out, message, inner, ids;
    fk_mp_frames frames;
} writer;

static void value_type(writer *w, unsigned field, uint64_t type, uint64_t unit)
{
    put_int(&w->message, 1, type);
    put_int(&w->message, 2, unit);
    put_message(&w->out, field, &w->message);
}

/* Samples list the innermost frame first: ids are collected outermost first
 * and then turned round. */
static void collect_id(void *arg, const fk_mp_frame *frame, bool first)
{
    writer *w = arg;
    uint64_t id = fk_mp_frames_number(&w->frames, frame) + 1;
    (void)first;
    put_bytes(&w->ids, &id, sizeof id);
}

static void sample(writer *w, const fk_mp_site *s)
{
    const double values[] = {s->alloc_blocks, s->alloc_bytes, s->live_blocks, s->live_bytes};
    uint64_t id;
    w->ids.size = 0;
    fk_mp_each_frame(s, collect_id, w);
    for (size_t n = w->ids.size / sizeof id; n-- > 0;) {
        memcpy(&id, w->ids.data + n * sizeof id, sizeof id);
        put_varint(&w->inner, id);
    }
    put_message(&w->message, 1, &w->inner);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        put_varint(&w->inner, (uint64_t)llround(fmax(values[i], 0)));
    put_message(&w->message, 2, &w->inner);
    put_message(&w->out, 2, &w->message);
}

static void location(writer *w, size_t i)
{
    const fk_mp_frame *f = &w->frames.frame[i];
    put_int(&w->inner, 1, i + 1);
    put_int(&w->inner, 2, (uint64_t)(f->line > 0 ? f->line : 0));
    put_int(&w->message, 1, i + 1);
    if (f->address)
        put_int(&w->message, 3, f->address);
    put_message(&w->message, 4, &w->inner);
    put_message(&w->out, 4, &w->message);
    put_int(&w->message, 1, i + 1);
    put_int(&w->message, 2, S_FRAMES + 2 * i);
    put_int(&w->message, 3, S_FRAMES + 2 * i);
    put_int(&w->message, 4, S_FRAMES + 2 * i + 1);
    put_message(&w->out, 5, &w->message);
}

static void strings(writer *w)
{
    for (size_t i = 0; i < S_FRAMES; i++)
        put_data(&w->out, 6, fixed[i], strlen(fixed[i]));
    for (size_t i = 0; i < w->frames.size; i++) {
        char name[512];
        const char *file = w->frames.frame[i].file ? w->frames.frame[i].file : "";
        fk_mp_frame_name(&w->frames.frame[i], name, sizeof name);
        put_data(&w->out, 6, name, strlen(name));
        put_data(&w->out, 6, file, strlen(file));
    }
}

static void profile(writer *w, const fk_mp_recorder *r)
{
    value_type(w, 1, S_ALLOC_OBJECTS, S_COUNT);
    value_type(w, 1, S_ALLOC_SPACE, S_BYTES);
    value_type(w, 1, S_INUSE_OBJECTS, S_COUNT);
    value_type(w, 1, S_INUSE_SPACE, S_BYTES);
    for (size_t i = 0; i < r->num_sites; i++)
        if (r->sites[i].samples)
            sample(w, &r->sites[i]);
    for (size_t i = 0; i < w->frames.size; i++)
        location(w, i);
    strings(w);
    value_type(w, 11, S_SPACE, S_BYTES);
    put_int(&w->out, 12, (uint64_t)llround(sizeof(fk_mp_value) / r->rate));
    put_int(&w->out, 14, S_ALLOC_SPACE);
}

bool fk_mp_export_pprof(fk_mp_recorder *r, FILE *f)
{
    writer w = {0};
    if (!fk_mp_frames_init(&w.frames))
        return false;
    pthread_mutex_lock(&r->lock);
    profile(&w, r);
    pthread_mutex_unlock(&r->lock);
    bool good = !w.out.failed && fwrite(w.out.data, 1, w.out.size, f) == w.out.size && fflush(f) == 0;
    fk_mp_frames_free(&w.frames);
    free(w.out.data);
    free(w.message.data);
    free(w.inner.data);
    free(w.ids.data);
    return good;
}
