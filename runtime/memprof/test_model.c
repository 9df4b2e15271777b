/* test_model.c - the engine against a model, with a heap that moves.
 *
 *   memprof-model [SEED [STEPS [EVERY]]]
 *
 * Operations drawn from a seed: allocations of every kind, collections, domains
 * and threads that begin, end and take turns, start, stop, discard, callbacks
 * that allocate, collect and raise. Every block is sampled (rate 1), so the
 * model knows what must be reported: it is told of each block, each collection
 * and each event, and says at once what is wrong. The seed is printed and taken.
 * EVERY: a minor collection after every EVERY-th step, a major one after 16 times
 * as many; 0: only where the steps have them.
 *
 * The heap is another file's (test_model.h): a fake one that moves everything
 * (test_heap.c), or framekit's runtime with its domains, threads and compiled
 * code (test_heap_framekit.c).
 */
#include "test_model.h"

/* What the model knows of a block. */
typedef struct {
    int host, thread, profile;
    size_t wosize;
    bool tracked, root, young, pending, reported, promoted, dead, born_major;
    bool promote_seen, dealloc_seen, ended; /* ended: None, raised: no more events */
} block;

uint64_t seed, rng;
long step;
model_host hosts[DOMAINS], *self = hosts;
fk_mp_value trackers, live_values[LIVE];
int num_live;
static int live_ids[LIVE]; /* the blocks that live_values holds */
static block *blocks;
static size_t num_blocks, cap_blocks;
static size_t maybe_young;   /* blocks before this one are not */
static size_t maybe_pending; /* ... not */
static long steps, every, collections, events, blocks_made, raised;
static fk_mp_profile *profiles[PROFILES];
static int num_profiles;
static model_host *ending; /* it has no more code to run */
static int depth;          /* callbacks on the stack */
static bool raising;       /* a callback has raised: it ends the pass, and the step sees it */

/* --- the mutator --------------------------------------------------------------------- */

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
    b->wosize = wosize;
    b->host = (int)(self - hosts);
    b->thread = self->current;
    b->profile = profile_number();
    b->tracked = samples();
    blocks_made++;
    return b;
}

static void make_live(block *b, fk_mp_value v)
{
    if (num_live == LIVE || random_below(3) == 0)
        return;
    b->root = true;
    live_values[num_live] = v;
    live_ids[num_live++] = (int)(b - blocks);
}

static void drop_live(void)
{
    heap_sync();
    if (num_live == 0)
        return;
    int k = (int)random_below((uint32_t)num_live);
    blocks[live_ids[k]].root = false;
    live_values[k] = live_values[--num_live];
    live_values[num_live] = FK_MP_UNIT;
    live_ids[k] = live_ids[num_live];
}

/* --- collections: what becomes of the blocks ---------------------------------------- */

void model_minor(void)
{
    collections++;
    for (size_t i = maybe_young; i < num_blocks; i++) {
        block *b = &blocks[i];
        if (!b->young)
            continue;
        b->young = false;
        b->promoted = b->root;
        b->dead = !b->root;
    }
    maybe_young = num_blocks;
}

void model_major(void)
{
    for (size_t i = 0; i < num_blocks; i++) {
        block *b = &blocks[i];
        if ((b->promoted || b->born_major) && !b->root)
            b->dead = true;
    }
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
    while (maybe_pending < num_blocks && !blocks[maybe_pending].pending)
        maybe_pending++;
    for (size_t i = maybe_pending; i < num_blocks; i++) {
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

static void begin_event(void)
{
    events++;
    heap_sync();
    if (raising)
        FAIL("a callback after one that raised, in the same pass");
}

/* What may run callbacks is over; did an exception come out of it? */
static void end_pass(bool came)
{
    heap_sync();
    if (came != raising)
        FAIL(came ? "an exception that no callback raised" : "a callback's exception is lost");
    raising = false;
}

static void run_callbacks(void)
{
    end_pass(heap_run_callbacks());
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
        b->ended = raising = true;
        raised++;
        return (fk_mp_result){true, heap_small(immediate(id), 0)};
    }
    if (what < 3) {
        b->ended = true;
        return (fk_mp_result){false, FK_MP_UNIT};
    }
    fk_mp_value datum = immediate(id);
    if (random_below(2))
        datum = heap_small(datum, TAG_DATUM);
    return (fk_mp_result){false, heap_small(datum, 0)};
}

fk_mp_result model_allocated(int code, const model_allocation *a)
{
    begin_event();
    block *b = next_unreported(a->wosize);
    if (status_of(b->profile) != FK_MP_SAMPLING)
        FAIL("allocation reported for a profile that is not sampling");
    if (a->samples != a->wosize + 1)
        FAIL("%zu samples for a block of %zu words at rate 1", a->samples, a->wosize);
    bool in_group = group_size && b >= &blocks[group_first];
    if (in_group && a->index != (int)(b - &blocks[group_first]))
        FAIL("callstack of the wrong block of a combined allocation");
    if (code != (b->born_major ? 1 : 0))
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

fk_mp_result model_event(int code, fk_mp_value datum)
{
    begin_event();
    block *b = block_of_datum(datum);
    if (b->ended || !b->reported)
        FAIL("event for a block that is not tracked");
    if (status_of(b->profile) == FK_MP_DISCARDED)
        FAIL("event for a discarded profile");
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
    if ((code == 4) != (b->promoted || b->born_major))
        FAIL("death reported by the wrong callback");
    b->dealloc_seen = b->ended = true;
    return (fk_mp_result){false, FK_MP_UNIT};
}

static void forget_thread(int host, int thread)
{
    for (size_t i = 0; i < num_blocks; i++)
        if (blocks[i].pending && blocks[i].host == host &&
            (thread < 0 || blocks[i].thread == thread))
            blocks[i].pending = blocks[i].tracked = false;
}

/* Compiled code: one request of several blocks. */
static void allocate_compiled(void)
{
    unsigned char lens[MAX_GROUP]; /* lens[0] at the lowest address */
    fk_mp_value values[MAX_GROUP];
    size_t n = heap_shape(lens), first = num_blocks;
    if (random_below(200) == 0)
        run_callbacks();
    bool sampled = samples();
    for (size_t i = n; i-- > 0;)
        new_block((size_t)lens[i] + 1)->pending = sampled;
    group_first = first;
    group_size = n;
    bool placed = heap_compiled(n, lens, values);
    group_size = 0;
    end_pass(!placed);
    for (size_t i = first; i < first + n; i++) {
        block *b = &blocks[i];
        if (!placed) { /* undone: what was reported dies in the nursery */
            b->pending = false;
            b->dead = b->tracked = b->reported;
            continue;
        }
        if (b->pending)
            FAIL("a sampled block was not reported at once");
        b->young = true;
        make_live(b, values[i - first]);
    }
    maybe_young = maybe_young < first ? maybe_young : first;
}

static void allocate_c(void)
{
    size_t wosize = 1 + random_below(20);
    fk_mp_value v = heap_c(wosize);
    end_pass(v == FK_MP_UNIT);
    if (v == FK_MP_UNIT)
        return;
    block *b = new_block(wosize);
    b->young = true;
    b->pending = b->tracked;
    make_live(b, v);
}

static void allocate_major(void)
{
    size_t wosize = 300 + random_below(20);
    fk_mp_value v = heap_major(wosize);
    end_pass(v == FK_MP_UNIT);
    if (v == FK_MP_UNIT)
        return;
    block *b = new_block(wosize);
    b->born_major = true;
    b->pending = b->tracked;
    make_live(b, v);
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
    end_pass(e == FK_MP_EXCEPTION);
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
    for (int i = 0; i < DOMAINS; i++)
        if (!hosts[i].alive) {
            hosts[i] = (model_host){.alive = true, .threads = {true}};
            heap_spawn(&hosts[i]);
            return;
        }
}

/* The domain's code has ended; the rest is done from outside (main). */
static void terminate(void)
{
    int alive = 0;
    for (int i = 0; i < DOMAINS; i++)
        alive += hosts[i].alive;
    if (alive < 2 || !heap_may_end(self))
        return;
    minor_gc();
    forget_thread((int)(self - hosts), -1);
    ending = self;
    ending->alive = false;
    for (self = hosts; !self->alive; self++)
        ;
}

static void new_thread(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!self->threads[i]) {
            self->threads[i] = true;
            heap_thread_new(i);
            return;
        }
}

static void switch_thread(void)
{
    int t = (int)random_below(THREADS);
    if (self->threads[t])
        self->current = t;
}

static void end_thread(void)
{
    int t = (int)random_below(THREADS);
    if (!self->threads[t] || t == self->current || !heap_may_end_thread(t))
        return;
    forget_thread((int)(self - hosts), t);
    heap_thread_delete(t);
    self->threads[t] = false;
}

static void switch_domain(void)
{
    int d = (int)random_below(DOMAINS);
    if (hosts[d].alive)
        self = &hosts[d];
}

static void as_host(model_host *h, void (*f)(void))
{
    model_host *was = self;
    self = h;
    heap_run(f);
    self = was;
}

/* Everything that is due has been delivered once every domain has collected
 * and polled. */
static void drain(void)
{
    minor_gc();
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].alive && heap_pending(&hosts[i])) {
            as_host(&hosts[i], run_callbacks);
            i = -1; /* its callbacks may have collected: ask all again */
        }
    heap_sync();
    for (size_t i = 0; i < num_blocks; i++) {
        block *b = &blocks[i];
        if (b->pending && b->thread == hosts[b->host].current &&
            status_of(b->profile) == FK_MP_SAMPLING)
            FAIL("block %zu: allocation never reported", i);
        if (!b->tracked || !b->reported || b->ended || status_of(b->profile) == FK_MP_DISCARDED)
            continue;
        if (b->promoted && !b->promote_seen)
            FAIL("block %zu: promotion never reported", i);
        if (b->dead && !b->dealloc_seen)
            FAIL("block %zu: death never reported", i);
    }
}

static void let_go(void)
{
    while (num_profiles > 0)
        fk_mp_profile_unref(profiles[--num_profiles]);
}

/* The domain lets go of the old profile. */
static void restart(void)
{
    start();
    stop();
    let_go();
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
    let_go();
    for (int i = 0; i < DOMAINS; i++)
        if (hosts[i].alive)
            as_host(&hosts[i], restart);
    num_blocks = maybe_young = maybe_pending = 0;
    start();
}

static void one_step(void)
{
    static void (*const rare[])(void) = {minor_gc,  major_gc,   start,      stop,
                                         discard,   spawn,      terminate,  new_thread,
                                         end_thread, switch_thread, switch_domain, drain};
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

/* As the current thread, while it stays that. */
static void run_steps(void)
{
    model_host *h = self;
    int t = h->current;
    while (step < steps && !ending && self == h && h->current == t) {
        if (every && step % every == 0)
            (step % (16 * every) ? minor_gc : major_gc)();
        reset_if_silent();
        one_step();
        step++;
    }
}

static void run(void)
{
    while (step < steps) {
        heap_run(run_steps);
        if (ending)
            heap_end(ending);
        ending = NULL;
    }
    printf("seed %" PRIu64 ": %ld steps, %ld blocks, %ld events, %ld collections, %ld exceptions: "
           "no difference\n", seed, steps, blocks_made, events, collections, raised);
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    steps = argc > 2 ? atol(argv[2]) : 100000;
    every = argc > 3 ? atol(argv[3]) : 0;
    rng = seed * 0x9E3779B97F4A7C15u + 1;
    trackers = FK_MP_UNIT;
    for (int i = 0; i < LIVE; i++)
        live_values[i] = FK_MP_UNIT;
    hosts[0] = (model_host){.alive = true, .threads = {true}};
    heap_main(argv, run);
    return 0;
}
