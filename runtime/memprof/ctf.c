/* ctf.c - packets of a trace. See ctf.h and docs/memprof.md, "Traces".
 *
 *   packet   0 magic  4 size in bits  8 t_begin  16 t_end  24 0  28 version
 *            30 pid  38 domain  40 check slot  42 its next  44 its value
 *            52 first alloc id  60 last alloc id + 1  68 events
 *   event    low 25 bits: microseconds, high 7: kind; then the payload
 *
 * New return addresses are collected and written in packets of their own before
 * the packet that refers to them. */
#include "ctf.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { INFO = 0, LOCATION = 1, ALLOC = 2, PROMOTE = 3, COLLECT = 4, SHORT_ALLOC = 100, MAX_SHORT = 16 };
enum { PACKET = 32768, HEADER = 68, VERSION = 3, TIME_BITS = 25, NO_CHECK = 0xFFFF };
enum { ROOM = FK_CTF_CODE_BYTES + 64, MAX_NEW = 128, MAX_SPAN = 30 * 1000000, ID_CHUNK = 10000 };
enum { CHECK_FIRST = 4242, CHECK_STEP = 5413, FIRST_CODES = 1024 };
enum { LISTED = 31, MAX_FRAMES = 255, MAX_STRING = 1024, LOCATION_BYTES = 4096 };
#define MAGIC 0xC1FC1FC1u

typedef struct {
    uint8_t data[PACKET];
    size_t size;
    uint64_t begin;
    unsigned check, check_next; /* a slot of the cache when the packet was opened */
    uint64_t check_value, first_id;
} packet;

/* A string of a move-to-front list; a file's entry lists its functions. */
typedef struct {
    const char *file;
    const char *function[LISTED];
} recent_file;

struct fk_mp_ctf {
    fk_mp_hooks hooks;
    pthread_mutex_t lock;
    int fd, error;
    double rate;
    pid_t pid;
    uint64_t now, next_id;
    unsigned next_check;
    packet events, locations;
    fk_ctf_cache cache;
    recent_file files[LISTED];
    uint64_t fresh[MAX_NEW]; /* codes without a location yet */
    size_t num_fresh;
    uint64_t *seen;          /* open addressing; 0 is free */
    size_t num_seen, mask;
    uint64_t codes[FK_CTF_DEPTH];
};

/* --- scalars ------------------------------------------------------------------- */

static void put(packet *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p->data[p->size++] = (uint8_t)(v >> 8 * i);
}

static void put_vint(packet *p, uint64_t v)
{
    int width = v <= 252 ? 0 : v <= UINT16_MAX ? 1 : v <= UINT32_MAX ? 2 : 3;
    if (width == 0) {
        put(p, v, 1);
        return;
    }
    put(p, 252 + (uint64_t)width, 1);
    put(p, v, 1 << width);
}

static void put_string(packet *p, const char *s)
{
    for (size_t n = 0; *s && n < MAX_STRING; n++)
        put(p, (uint8_t)*s++, 1);
    put(p, 0, 1);
}

static void put_event(packet *p, unsigned kind, uint64_t time)
{
    put(p, (time & ((1u << TIME_BITS) - 1)) | (uint64_t)kind << TIME_BITS, 4);
}

/* --- packets --------------------------------------------------------------------- */

static uint64_t clock_now(fk_mp_ctf *c)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    uint64_t now = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
    c->now = now > c->now ? now : c->now; /* times never go back */
    return c->now;
}

static void open_packet(fk_mp_ctf *c, packet *p, unsigned check)
{
    p->size = HEADER;
    p->begin = c->now;
    p->check = check;
    p->first_id = c->next_id;
    if (check != NO_CHECK) {
        p->check_next = c->cache.next[check];
        p->check_value = c->cache.value[check];
    }
}

static void fill_header(const fk_mp_ctf *c, packet *p, uint64_t end_id)
{
    size_t size = p->size;
    p->size = 0;
    put(p, MAGIC, 4);
    put(p, 8 * size, 4);
    put(p, p->begin, 8);
    put(p, c->now, 8);
    put(p, 0, 4);
    put(p, VERSION, 2);
    put(p, (uint64_t)c->pid, 8);
    put(p, 0, 2); /* domain: one stream for all */
    put(p, p->check, 2);
    put(p, p->check == NO_CHECK ? 0 : p->check_next, 2);
    put(p, p->check == NO_CHECK ? 0 : p->check_value, 8);
    put(p, p->first_id, 8);
    put(p, end_id, 8);
    p->size = size;
}

/* A pipe whose reader has gone must not kill the program. */
static void write_all(fk_mp_ctf *c, const uint8_t *data, size_t n)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGPIPE, &ignore, &old);
    while (n > 0 && !c->error) {
        ssize_t k = write(c->fd, data, n);
        if (k > 0) {
            data += k;
            n -= (size_t)k;
        } else if (k < 0 && errno != EINTR) {
            c->error = errno;
        }
    }
    sigaction(SIGPIPE, &old, NULL);
}

static void write_packet(fk_mp_ctf *c, packet *p, uint64_t end_id)
{
    if (c->error || getpid() != c->pid) /* a forked child has no trace */
        return;
    fill_header(c, p, end_id);
    write_all(c, p->data, p->size);
}

/* --- locations --------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Index of the file, LISTED if it is new; in both cases it is first now. */
static unsigned touch_file(fk_mp_ctf *c, const char *file)
{
    unsigned i = 0;
    while (i < LISTED && !same(c->files[i].file, file))
        i++;
    recent_file f = i < LISTED ? c->files[i] : (recent_file){.file = file};
    memmove(c->files + 1, c->files, (i < LISTED ? i : LISTED - 1) * sizeof f);
    c->files[0] = f;
    return i;
}

static unsigned touch_function(const char **list, const char *name)
{
    unsigned i = 0;
    while (i < LISTED && !same(list[i], name))
        i++;
    memmove(list + 1, list, (i < LISTED ? i : LISTED - 1) * sizeof *list);
    list[0] = name;
    return i;
}

static uint64_t field(int64_t v, int bits)
{
    int64_t most = ((int64_t)1 << bits) - 1;
    return (uint64_t)(v < 0 ? 0 : v > most ? most : v);
}

static void put_frame(fk_mp_ctf *c, packet *p, const fk_mp_frame *f)
{
    const char *name = f->function ? f->function : "";
    unsigned file = touch_file(c, f->file), function = touch_function(c->files[0].function, name);
    put(p, field(f->line, 20) | field(f->start_char, 8) << 20 | field(f->end_char, 10) << 28 |
               (uint64_t)file << 38 | (uint64_t)function << 43, 6);
    if (file == LISTED)
        put_string(p, f->file);
    if (function == LISTED)
        put_string(p, name);
}

/* Frames of a code that have a place, innermost first; too long a list becomes
 * one placeholder. */
static size_t frames_of(uint64_t code, fk_mp_frame *frames)
{
    size_t n = 0, bytes = 0;
    void *cursor = NULL;
    fk_mp_frame f;
    while (fk_host_frame((fk_mp_slot)code, &cursor, &f)) {
        if (!f.file)
            continue;
        bytes += 8 + strnlen(f.file, MAX_STRING) + (f.function ? strnlen(f.function, MAX_STRING) : 0);
        if (n == MAX_FRAMES || bytes > LOCATION_BYTES) {
            frames[0] = (fk_mp_frame){.file = "(inlined too deeply)", .function = ""};
            return 1;
        }
        frames[n++] = f;
    }
    return n;
}

static void write_locations(fk_mp_ctf *c)
{
    packet *p = &c->locations;
    fk_mp_frame frames[MAX_FRAMES];
    for (size_t i = 0; i < c->num_fresh; i++) {
        if (i == 0 || p->size + LOCATION_BYTES + ROOM > PACKET) {
            if (i > 0)
                write_packet(c, p, p->first_id);
            open_packet(c, p, NO_CHECK);
            p->begin = c->events.begin;
            p->first_id = c->events.first_id;
        }
        size_t n = frames_of(c->fresh[i], frames);
        put_event(p, LOCATION, p->begin);
        put(p, c->fresh[i], 8);
        put(p, n, 1);
        while (n-- > 0) /* outermost first */
            put_frame(c, p, &frames[n]);
    }
    if (c->num_fresh)
        write_packet(c, p, p->first_id);
    c->num_fresh = 0;
}

static size_t seen_slot(const fk_mp_ctf *c, uint64_t code)
{
    size_t i = (size_t)(code * 0x9E3779B97F4A7C15u >> 20) & c->mask;
    while (c->seen[i] && c->seen[i] != code)
        i = (i + 1) & c->mask;
    return i;
}

static bool grow_seen(fk_mp_ctf *c)
{
    uint64_t *old = c->seen;
    size_t n = c->mask + 1;
    uint64_t *larger = calloc(2 * n, sizeof *larger);
    if (!larger)
        return false;
    c->seen = larger;
    c->mask = 2 * n - 1;
    for (size_t i = 0; i < n; i++)
        if (old[i])
            larger[seen_slot(c, old[i])] = old[i];
    free(old);
    return true;
}

/* Without memory the code stays without a location: the trace is still good. */
static void note_code(fk_mp_ctf *c, uint64_t code)
{
    size_t i = seen_slot(c, code);
    if (c->seen[i] || (2 * c->num_seen > c->mask && !grow_seen(c)))
        return;
    c->seen[seen_slot(c, code)] = code;
    c->num_seen++;
    c->fresh[c->num_fresh++] = code;
}

/* --- events ---------------------------------------------------------------------------- */

static void flush(fk_mp_ctf *c)
{
    write_locations(c);
    write_packet(c, &c->events, c->next_id);
    open_packet(c, &c->events, c->next_check);
    c->next_check = (c->next_check + CHECK_STEP) % FK_CTF_SLOTS;
}

/* Before an event: is there room for it, and may it be in the open packet? */
static uint64_t begin_event(fk_mp_ctf *c)
{
    uint64_t now = clock_now(c);
    packet *p = &c->events;
    if (p->size + ROOM > PACKET || now - p->begin > MAX_SPAN || c->next_id - p->first_id == ID_CHUNK)
        flush(c);
    return now;
}

/* The stack as codes, outermost first. */
static size_t read_codes(fk_mp_ctf *c, const fk_mp_allocation *a)
{
    size_t depth = a->depth < FK_CTF_DEPTH ? a->depth : FK_CTF_DEPTH;
    for (size_t i = 0; i < depth; i++) {
        c->codes[i] = (uint64_t)a->slots[depth - 1 - i];
        if (c->num_fresh == MAX_NEW)
            flush(c);
        note_code(c, c->codes[i]);
    }
    return depth;
}

static void put_alloc(fk_mp_ctf *c, const fk_mp_allocation *a, unsigned source)
{
    uint8_t words[FK_CTF_CODE_BYTES];
    size_t common, num_words, depth = read_codes(c, a);
    size_t bytes = fk_ctf_encode(&c->cache, c->codes, depth, words, &common, &num_words);
    packet *p = &c->events;
    uint64_t samples = (uint64_t)((double)a->samples * (c->rate / a->rate)); /* a limit halves the rate */
    bool brief = samples == 1 && source == 0 && a->wosize >= 1 && a->wosize <= MAX_SHORT && num_words < 256;
    put_event(p, brief ? SHORT_ALLOC + (unsigned)a->wosize : ALLOC, c->now);
    if (!brief) {
        put_vint(p, a->wosize);
        put_vint(p, samples);
        put(p, source, 1);
    }
    put_vint(p, common);
    put(p, num_words, brief ? 1 : 2);
    memcpy(p->data + p->size, words, bytes);
    p->size += bytes;
}

static bool on_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    fk_mp_ctf *c = arg;
    pthread_mutex_lock(&c->lock);
    begin_event(c);
    put_alloc(c, a, a->source > 1 ? 2 : major);
    *datum = (fk_mp_value)(c->next_id++ << 1 | 1);
    pthread_mutex_unlock(&c->lock);
    return true;
}

static void put_later(fk_mp_ctf *c, unsigned kind, fk_mp_value datum)
{
    pthread_mutex_lock(&c->lock);
    begin_event(c);
    put_event(&c->events, kind, c->now);
    put_vint(&c->events, c->next_id - 1 - ((uint64_t)datum >> 1));
    pthread_mutex_unlock(&c->lock);
}

static bool on_promote(void *arg, fk_mp_value *datum)
{
    put_later(arg, PROMOTE, *datum);
    return true;
}

static void on_dealloc(void *arg, fk_mp_value datum, bool major)
{
    (void)major;
    put_later(arg, COLLECT, datum);
}

/* --- life --------------------------------------------------------------------------------- */

static void write_info(fk_mp_ctf *c, double rate)
{
    packet *p = &c->events;
    char host[256] = "", program[MAX_STRING] = "";
    uint64_t bits;
    gethostname(host, sizeof host - 1);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        program[0] = 0;
    memcpy(&bits, &rate, sizeof bits);
    open_packet(c, p, NO_CHECK);
    put_event(p, INFO, c->now);
    put(p, bits, 8);
    put(p, 64, 1);
    put_string(p, program);
    put_string(p, host);
    put_string(p, getenv("OCAMLRUNPARAM") ? getenv("OCAMLRUNPARAM") : "");
    put(p, (uint64_t)c->pid, 8);
    put_string(p, "");
    write_packet(c, p, 0);
    open_packet(c, p, NO_CHECK); /* nothing is in the cache yet */
    c->next_check = CHECK_FIRST;
}

static fk_mp_ctf *give_up(fk_mp_ctf *c, int fd, int error)
{
    close(fd);
    if (c)
        free(c->seen);
    free(c);
    errno = error;
    return NULL;
}

fk_mp_ctf *fk_mp_ctf_open(int fd, double rate)
{
    fk_mp_ctf *c = calloc(1, sizeof *c);
    if (!c || !(c->seen = calloc(FIRST_CODES, sizeof *c->seen)))
        return give_up(c, fd, ENOMEM);
    c->mask = FIRST_CODES - 1;
    c->fd = fd;
    c->rate = rate;
    c->pid = getpid();
    c->hooks = (fk_mp_hooks){on_alloc, on_promote, on_dealloc, c};
    pthread_mutex_init(&c->lock, NULL);
    clock_now(c);
    write_info(c, rate);
    return c->error ? give_up(c, fd, c->error) : c;
}

const fk_mp_hooks *fk_mp_ctf_hooks(fk_mp_ctf *c)
{
    return &c->hooks;
}

int fk_mp_ctf_flush(fk_mp_ctf *c)
{
    pthread_mutex_lock(&c->lock);
    clock_now(c);
    if (c->events.size > HEADER)
        flush(c);
    int error = c->error;
    pthread_mutex_unlock(&c->lock);
    return error;
}
