/* test_model.c - the engine against a model, with a heap that moves.
 *
 *   test-memprof-model [SEED [STEPS [EVERY]]]
 *
 * A fake host with several domains: nurseries whose old contents are trashed
 * at every collection, a major heap that is compacted, callbacks that
 * allocate, collect, stop, discard, raise. Every block is sampled (rate 1),
 * so the model knows what must be reported: it is told of each block and of
 * each event, and says at once what is wrong. The seed is printed and taken.
 * EVERY: a minor collection after every EVERY-th step, a major one after 16 times
 * as many; 0: only where the steps have them.
 */
#include "test_model.h"

uint64_t seed, rng;
long step, collections;
fk_mp_host hosts[DOMAINS];
block *blocks;
size_t num_blocks;
fk_mp_value trackers, roots[ROOTS];
int num_roots;
static long events, blocks_made, raised;
static fk_mp_host *self; /* the domain whose code runs */
static size_t cap_blocks;
static fk_mp_profile *profiles[PROFILES];
static int num_profiles;
static int live_ids[LIVE], num_live; /* rooted blocks */
static int depth;                    /* callbacks on the stack */

/* --- the mutator --------------------------------------------------------------------- */

static fk_mp_value immediate(intptr_t n)
{
    return (n << 1) | 1;
}

/* A nursery block that is not sampled: what callbacks return. */
static fk_mp_value small(size_t wosize, fk_mp_value field, uintptr_t tag)
{
    roots[num_roots++] = field;
    while (self->ptr < self->space + wosize + 1 || random_below(16) == 0)
        minor_gc();
    self->ptr -= wosize + 1;
    self->ptr[0] = wosize << 10 | tag;
    fk_mp_value v = (fk_mp_value)(self->ptr + 1);
    for (size_t i = 0; i < wosize; i++)
        words_of(v)[i] = (uintptr_t)FK_MP_UNIT;
    words_of(v)[0] = (uintptr_t)roots[--num_roots];
    return v;
}

static bool samples(void)
{
    fk_mp_profile *p = fk_mp_current_profile(self->engine);
    return depth == 0 && p && fk_mp_profile_status(p) == FK_MP_SAMPLING;
}

static int profile_number(void)
{
    fk_mp_profile *p = fk_mp_current_profile(self->engine);
    for (int i = 0; i < num_profiles; i++)
        if (profiles[i] == p)
            return i;
    return -1;
}

static block *new_block(size_t wosize)
{
    if (num_blocks == cap_blocks)
        blocks = realloc(blocks, (cap_blocks = 2 * cap_blocks + 64) * sizeof *blocks);
    block *b = &blocks[num_blocks++];
    memset(b, 0, sizeof *b);
    b->v = FK_MP_UNIT;
    b->wosize = wosize;
    b->host = (int)(self - hosts);
    b->thread = self->current;
    b->profile = profile_number();
    b->tracked = samples();
    blocks_made++;
    return b;
}

static void make_live(block *b)
{
    if (num_live == LIVE || random_below(3) == 0)
        return;
    b->root = true;
    live_ids[num_live++] = (int)(b - blocks);
}

static void drop_live(void)
{
    if (num_live == 0)
        return;
    int k = (int)random_below((uint32_t)num_live);
    blocks[live_ids[k]].root = false;
    live_ids[k] = live_ids[--num_live];
}

static fk_mp_status status_of(int profile)
{
    return fk_mp_profile_status(profiles[profile]);
}

/* The group whose request is being sampled: block i of it is blocks[group + i]
 * in order of report. */
static size_t group_first, group_size;

/* Which block an allocation callback is about: the first one of this thread
 * that was not reported yet, in order. */
static block *next_unreported(size_t wosize)
{
    for (size_t i = 0; i < num_blocks; i++) {
        block *b = &blocks[i];
        if (b->tracked && b->pending && b->host == self - hosts && b->thread == self->current) {
            if (b->wosize != wosize)
                FAIL("allocation of %zu words reported, %zu expected", wosize, b->wosize);
            return b;
        }
    }
    FAIL("an allocation was reported that nobody made");
}

static void inside_callback(void)
{
    switch (random_below(24)) {
    case 0:
        minor_gc();
        break;
    case 1:
        major_gc();
        break;
    case 2:
        drop_live();
        break;
    }
}

static fk_mp_result answer(block *b)
{
    intptr_t id = b - blocks;
    depth++;
    inside_callback();
    depth--;
    b = &blocks[id];
    uint32_t what = random_below(20);
    if (what == 0 && depth == 0) {
        b->ended = true;
        raised++;
        return (fk_mp_result){true, immediate(id)};
    }
    if (what < 3) {
        b->ended = true;
        return (fk_mp_result){false, FK_MP_UNIT};
    }
    fk_mp_value datum = immediate(id);
    if (random_below(2))
        datum = small(1, datum, TAG_DATUM);
    return (fk_mp_result){false, small(1, datum, 0)};
}

static int code_of(fk_mp_value closure)
{
    if (wosize_of(closure) != 2)
        FAIL("closure was not kept as a root");
    return (int)((intptr_t)words_of(closure)[0] >> 1);
}

fk_mp_result fk_host_call_alloc(fk_mp_value closure, const fk_mp_allocation *a)
{
    events++;
    block *b = next_unreported(a->wosize);
    if (status_of(b->profile) != FK_MP_SAMPLING)
        FAIL("allocation reported for a profile that is not sampling");
    if (a->samples != a->wosize + 1)
        FAIL("%zu samples for a block of %zu words at rate 1", a->samples, a->wosize);
    if (a->depth != 3)
        FAIL("callstack of depth %zu", a->depth);
    bool in_group = group_size && b >= &blocks[group_first];
    if (in_group && a->slots[0] != (fk_mp_slot)(group_size - 1 - (size_t)(b - &blocks[group_first])))
        FAIL("callstack of the wrong block of a combined allocation");
    bool major = b->v != FK_MP_UNIT && !b->young && !b->promoted && !b->dead;
    if (!b->dead && code_of(closure) != (major ? 1 : 0))
        FAIL("wrong allocation callback");
    b->pending = false;
    b->reported = true;
    return answer(b);
}

static block *block_of_datum(fk_mp_value datum)
{
    if (fk_mp_is_block(datum)) {
        if ((*header_of(datum) & 0xFF) != TAG_DATUM)
            FAIL("datum was not kept as a root");
        datum = (fk_mp_value)words_of(datum)[0];
    }
    size_t id = (size_t)(datum >> 1);
    if (id >= num_blocks)
        FAIL("datum was not kept as a root");
    return &blocks[id];
}

fk_mp_result fk_host_call(fk_mp_value closure, fk_mp_value argument)
{
    events++;
    block *b = block_of_datum(argument);
    if (b->ended || !b->reported)
        FAIL("event for a block that is not tracked");
    if (status_of(b->profile) == FK_MP_DISCARDED)
        FAIL("event for a discarded profile");
    int code = code_of(closure);
    if (code == 2) {
        if (!b->promoted || b->promote_seen)
            FAIL("promotion reported %s", b->promoted ? "twice" : "of a block that did not move");
        b->promote_seen = true;
        return answer(b);
    }
    if (!b->dead)
        FAIL("death of a live block reported");
    if (b->promoted && !b->promote_seen)
        FAIL("death reported before promotion");
    if ((code == 4) != (b->promoted || b->next_live == -1))
        FAIL("death reported by the wrong callback");
    b->dealloc_seen = b->ended = true;
    return (fk_mp_result){false, FK_MP_UNIT};
}

static fk_mp_result run_callbacks(void)
{
    self->pending = false;
    fk_mp_result res = fk_mp_run_callbacks(self->engine);
    if (res.is_exception)
        self->pending = true;
    return res;
}

static void forget_thread(int host, int thread)
{
    for (size_t i = 0; i < num_blocks; i++)
        if (blocks[i].host == host && (thread < 0 || blocks[i].thread == thread) && blocks[i].pending)
            blocks[i].pending = blocks[i].tracked = false;
}

/* Compiled code: one request of several blocks. */
static void allocate_compiled(void)
{
    unsigned char lens[8];
    size_t n = 1 + random_below(5), words = 0;
    if (random_below(200) == 0)
        run_callbacks();
    for (size_t i = 0; i < n; i++) {
        lens[i] = (unsigned char)random_below(12);
        words += (size_t)lens[i] + 2;
    }
    while (self->ptr < self->space + words)
        minor_gc();
    self->ptr -= words;
    bool sampled = samples();
    size_t first = num_blocks;
    for (size_t i = n; i-- > 0;)
        new_block((size_t)lens[i] + 1)->pending = sampled;
    group_first = first;
    group_size = n;
    if (self->ptr < self->sample_trigger) {
        fk_mp_result res = fk_mp_sample_young(self->engine, words, n, lens);
        if (res.is_exception) { /* undone: what was reported dies in the nursery */
            for (size_t i = first; i < first + n; i++) {
                blocks[i].pending = false;
                blocks[i].dead = blocks[i].reported;
                blocks[i].tracked = blocks[i].reported;
            }
            group_size = 0;
            return;
        }
    }
    group_size = 0;
    uintptr_t *p = self->ptr + words;
    for (size_t i = first; i < first + n; i++) {
        block *b = &blocks[i];
        if (b->pending)
            FAIL("a sampled block was not reported at once");
        p -= b->wosize + 1;
        p[0] = b->wosize << 10;
        memset(p + 1, 1, b->wosize * sizeof *p);
        b->v = (fk_mp_value)(p + 1);
        b->young = true;
        make_live(b);
    }
}

static void allocate_c(void)
{
    size_t wosize = 1 + random_below(20);
    while (self->ptr < self->space + wosize + 1)
        minor_gc();
    self->ptr -= wosize + 1;
    self->ptr[0] = wosize << 10;
    memset(self->ptr + 1, 1, wosize * sizeof *self->ptr);
    block *b = new_block(wosize);
    b->v = (fk_mp_value)(self->ptr + 1);
    b->young = true;
    b->pending = b->tracked;
    make_live(b);
    if (self->ptr < self->sample_trigger)
        fk_mp_sample_young_c(self->engine, wosize);
}

static void allocate_major(void)
{
    size_t wosize = 300 + random_below(20);
    block *b = new_block(wosize);
    b->v = major_block(wosize, wosize << 10);
    memset(words_of(b->v), 1, wosize * sizeof(uintptr_t));
    b->pending = b->tracked;
    b->next_live = -1; /* born major */
    b->root = true;
    if (num_live < LIVE)
        live_ids[num_live++] = (int)(b - blocks);
    fk_mp_sample_block(self->engine, b->v, wosize, wosize + 1, 0);
}

/* --- control --------------------------------------------------------------------------- */

static void start(void)
{
    if (num_profiles == PROFILES)
        return;
    fk_mp_profile *p;
    fk_mp_error e = fk_mp_start(self->engine, 1, 100, trackers, &p);
    if (e == FK_MP_ALREADY_STARTED)
        return;
    if (e != FK_MP_OK)
        FAIL("start: error %d", e);
    profiles[num_profiles++] = p;
    for (size_t i = 0; i < num_blocks; i++) /* pending reports of the old profile are dropped */
        if (blocks[i].pending && blocks[i].host == self - hosts)
            blocks[i].pending = blocks[i].tracked = false;
}

static void stop(void)
{
    fk_mp_value exn;
    fk_mp_error e = fk_mp_stop(self->engine, &exn);
    if (e == FK_MP_EXCEPTION || e == FK_MP_NOT_RUNNING)
        return;
    for (size_t i = 0; i < num_blocks; i++)
        if (blocks[i].pending && status_of(blocks[i].profile) != FK_MP_SAMPLING)
            blocks[i].pending = blocks[i].tracked = false;
}

static void discard(void)
{
    if (num_profiles)
        fk_mp_discard(profiles[random_below((uint32_t)num_profiles)]);
}

static void spawn(void)
{
    for (int i = 0; i < DOMAINS; i++) {
        fk_mp_host *h = &hosts[i];
        if (h->alive)
            continue;
        memset(h, 0, sizeof *h);
        h->ptr = h->space + NURSERY;
        h->sample_trigger = h->space;
        h->engine = fk_mp_domain_new(h, self->engine, (uint64_t)i);
        h->threads[0] = fk_mp_domain_main_thread(h->engine);
        h->alive = true;
        fk_mp_set_trigger(h->engine, false);
        return;
    }
}

static void terminate(void)
{
    int alive = 0;
    for (int i = 0; i < DOMAINS; i++)
        alive += hosts[i].alive;
    if (alive < 2)
        return;
    minor_gc();
    forget_thread((int)(self - hosts), -1);
    self->alive = false;
    fk_mp_domain_delete(self->engine);
    for (self = hosts; !self->alive; self++)
        ;
}

static void new_thread(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!self->threads[i]) {
            self->threads[i] = fk_mp_thread_new(self->engine);
            return;
        }
}

static void switch_thread(void)
{
    int t = (int)random_below(THREADS);
    if (!self->threads[t])
        return;
    self->current = t;
    fk_mp_thread_enter(self->threads[t]);
}

static void end_thread(void)
{
    int t = (int)random_below(THREADS);
    if (!self->threads[t] || t == self->current)
        return;
    forget_thread((int)(self - hosts), t);
    fk_mp_thread_delete(self->threads[t]);
    self->threads[t] = NULL;
}

static void switch_domain(void)
{
    int d = (int)random_below(DOMAINS);
    if (hosts[d].alive)
        self = &hosts[d];
}

/* Everything that is due has been delivered once every domain has collected
 * and polled. */
static void drain(void)
{
    minor_gc();
    fk_mp_host *was = self;
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].alive && hosts[i].pending) {
            self = &hosts[i];
            run_callbacks();
            i = -1; /* its callbacks may have collected: ask all again */
        }
    self = was;
    for (size_t i = 0; i < num_blocks; i++) {
        block *b = &blocks[i];
        if (!b->tracked || !b->reported || b->ended || status_of(b->profile) == FK_MP_DISCARDED)
            continue;
        if (b->promoted && !b->promote_seen)
            FAIL("block %zu: promotion never reported", i);
        if (b->dead && !b->dealloc_seen)
            FAIL("block %zu: death never reported", i);
    }
}

/* Forgets what is over, to keep the model small. Ids are datums of tracked
 * blocks, so only a fully silent state may be reset. */
static void reset_if_silent(void)
{
    if (num_blocks < 3000)
        return;
    while (num_live)
        drop_live();
    for (int i = 0; i < num_profiles; i++)
        fk_mp_profile_move(profiles[i], FK_MP_SAMPLING, FK_MP_STOPPED);
    for (int i = 0; i < num_profiles; i++)
        fk_mp_discard(profiles[i]);
    major_gc();
    drain();
    fk_mp_host *was = self;
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].alive) {
            self = &hosts[i];
            num_profiles = 0;
            start(); /* lets go of the old profile */
            stop();
        }
    self = was;
    num_blocks = 0;
    num_profiles = 0;
    start();
}

/* The closures first: a block may only point to older ones, there is no write
 * barrier here. */
static void make_trackers(void)
{
    self = &hosts[0];
    for (int i = 0; i < 5; i++) {
        fk_mp_value closure = small(2, immediate(i), 0);
        roots[num_roots++] = closure;
    }
    trackers = small(5, FK_MP_UNIT, 0);
    while (num_roots > 0) {
        num_roots--;
        words_of(trackers)[num_roots] = (uintptr_t)roots[num_roots];
    }
}

static void one_step(void)
{
    static void (*const rare[])(void) = {minor_gc, major_gc, start, stop,         discard,    spawn,        terminate,
                                         new_thread, end_thread, switch_thread, switch_domain, drain};
    uint32_t what = random_below(100);
    if (what < 45)
        allocate_compiled();
    else if (what < 60)
        allocate_c();
    else if (what < 63)
        allocate_major();
    else if (what < 80)
        drop_live();
    else if (what < 88)
        run_callbacks();
    else
        rare[random_below(sizeof rare / sizeof *rare)]();
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].alive && !fk_mp_domain_is_valid(hosts[i].engine))
            FAIL("invariant of a table");
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    long steps = argc > 2 ? atol(argv[2]) : 100000, every = argc > 3 ? atol(argv[3]) : 0;
    rng = seed * 0x9E3779B97F4A7C15u + 1;
    trackers = FK_MP_UNIT;
    hosts[0].ptr = hosts[0].space + NURSERY;
    hosts[0].sample_trigger = hosts[0].space;
    hosts[0].engine = fk_mp_domain_new(&hosts[0], NULL, 0);
    hosts[0].threads[0] = fk_mp_domain_main_thread(hosts[0].engine);
    hosts[0].alive = true;
    make_trackers();
    for (step = 0; step < steps; step++) {
        one_step();
        if (every && step % every == 0)
            (step % (16 * every) ? minor_gc : major_gc)();
        reset_if_silent();
    }
    printf("seed %" PRIu64 ": %ld steps, %ld blocks, %ld events, %ld collections, %ld exceptions: no difference\n", seed,
           steps, blocks_made, events, collections, raised);
    return 0;
}
