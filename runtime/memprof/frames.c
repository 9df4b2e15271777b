#include "frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool fk_mp_frames_init(fk_mp_frames *t)
{
    memset(t, 0, sizeof *t);
    t->mask = 255;
    t->index = calloc(t->mask + 1, sizeof *t->index);
    return t->index != NULL;
}

void fk_mp_frames_free(fk_mp_frames *t)
{
    free(t->frame);
    free(t->index);
}

static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; s && *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return h * 31 + 1;
}

static uint64_t hash_frame(const fk_mp_frame *f)
{
    uint64_t h = hash_text(hash_text(0xcbf29ce484222325u, f->function), f->file);
    h = (h ^ (uint64_t)f->line) * 0x100000001b3u;
    return f->file ? h : (h ^ f->address) * 0x100000001b3u;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_frame(const fk_mp_frame *a, const fk_mp_frame *b)
{
    return a->line == b->line && same_text(a->function, b->function) && same_text(a->file, b->file) &&
           (a->file || a->address == b->address);
}

static size_t slot_of(const fk_mp_frames *t, const fk_mp_frame *f)
{
    uint64_t h = hash_frame(f);
    size_t i = (size_t)(h ^ h >> 32) & t->mask;
    while (t->index[i] && !same_frame(&t->frame[t->index[i] - 1], f))
        i = (i + 1) & t->mask;
    return i;
}

static bool grow(fk_mp_frames *t)
{
    if (t->size == t->capacity) {
        size_t n = 2 * t->capacity + 64;
        fk_mp_frame *p = realloc(t->frame, n * sizeof *p);
        if (!p)
            return false;
        t->frame = p;
        t->capacity = n;
    }
    if (2 * t->size <= t->mask)
        return true;
    uint32_t *index = calloc(2 * (t->mask + 1), sizeof *index);
    if (!index)
        return false;
    free(t->index);
    t->index = index;
    t->mask = 2 * t->mask + 1;
    for (size_t k = 0; k < t->size; k++)
        t->index[slot_of(t, &t->frame[k])] = (uint32_t)k + 1;
    return true;
}

size_t fk_mp_frames_number(fk_mp_frames *t, const fk_mp_frame *f)
{
    size_t i = slot_of(t, f);
    if (t->index[i])
        return t->index[i] - 1;
    if (!grow(t))
        return 0;
    t->frame[t->size] = *f;
    t->index[slot_of(t, f)] = (uint32_t)++t->size;
    return t->size - 1;
}

void fk_mp_frame_name(const fk_mp_frame *f, char *buf, size_t size)
{
    if (f->function && *f->function)
        snprintf(buf, size, "%s", f->function);
    else if (f->file)
        snprintf(buf, size, "%s:%d", f->file, f->line);
    else
        snprintf(buf, size, "0x%" PRIxPTR, f->address);
}

enum { MAX_INLINED = 64 };

static size_t frames_of(fk_mp_slot slot, fk_mp_frame *frames)
{
    size_t n = 0;
    void *cursor = NULL;
    while (n < MAX_INLINED && fk_host_frame(slot, &cursor, &frames[n]))
        n++;
    return n;
}

void fk_mp_each_frame(const fk_mp_site *s, fk_mp_frame_fn emit, void *arg)
{
    bool first = true;
    fk_mp_frame frames[MAX_INLINED];
    for (size_t i = s->depth; i-- > 0;)
        for (size_t n = frames_of(s->slots[i], frames); n-- > 0; first = false)
            emit(arg, &frames[n], first);
    if (first)
        emit(arg, &(fk_mp_frame){.function = s->slots ? "(no callstack)" : "(other)"}, true);
}
