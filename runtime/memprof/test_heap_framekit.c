/* test_heap_framekit.c - framekit's runtime as the heap of test_model.c.
 *
 * Every host is a domain and every thread a thread of the runtime, but only one
 * of them runs: the others wait, in a blocking section or at a safepoint, until
 * another one hands them a function. Compiled code (lit-tests/memprof/Inputs/
 * model.py) makes the requests and holds the callbacks, which call back here.
 *
 *   main (domain 0, thread 0) -- heap_run --> servant of a host's thread -- f --> operations
 *                                                                              |
 *                            another servant <-- heap_run (drain) -------------+
 *
 * Collections happen wherever the runtime has them, more with FRAMEKIT_CHECK
 * (move, gc=N); heap_sync tells the model by the runtime's own counters. Nothing
 * that the runtime allocates for itself is sampled: its thread is suspended then.
 *
 * A seed gives the same operations again, but for one thing: of several workers of a
 * collection the first one adopts what dead domains left, and calls back for it.
 */
#include "test_model.h"

#include <pthread.h>
#include <time.h>

#include "framekit/runtime.h"
#include "internal.h"
#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/fail.h"

/* The first fields are host_framekit.c's. */
struct fk_mp_host {
    struct domain *dom;
    fk_mp_domain *engine;
};

typedef struct servant {
    pthread_cond_t wake;
    void (*job)(void);
    struct servant *caller; /* of the job */
    bool answered, end;
    bool awake;             /* waits at safepoints: a worker of every collection */
    value descr;            /* its Thread.t, a root; UNIT for a domain's first */
    fk_rt_domain *domain;   /* of a domain's first */
} servant;

/* Made by model.py. */
extern const value model_shapes[];     /* closures; 0 ends */
extern const intptr_t model_sizes[];   /* n, then the fields of each block, in order */
extern const value model_on[5];        /* the tracker's closures */
extern const value model_alloc_small[], model_alloc_large[], model_thread[];
/* Called by compiled code. */
value model_called(value code, value argument);
value model_make_small(value wosize);
value model_make_large(value wosize);
value model_serve(value unit);

extern value caml_thread_new(value closure), caml_thread_join(value thread);
extern void caml_register_global_root(value *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static servant servants[DOMAINS][THREADS];
static servant *newborn;
static _Thread_local servant *me;
static const intptr_t **shapes; /* their sizes */
static size_t num_shapes, shape;
static uint64_t minors, majors;

/* --- turns --------------------------------------------------------------------- */

/* Something to do: a job, an answer to its own, or the end. */
static bool has_turn(const servant *s)
{
    return s->job || s->answered || s->end;
}

/* At safepoints: takes part in every collection. */
static void await_turn_awake(servant *s)
{
    const struct timespec pause = {0, 20000};
    for (;;) {
        pthread_mutex_lock(&lock);
        bool mine = has_turn(s);
        pthread_mutex_unlock(&lock);
        if (mine)
            return;
        if (atomic_load(&fk_self->interrupts))
            fk_poll_gc(fk_self);
        nanosleep(&pause, NULL);
    }
}

static void await_turn(servant *s)
{
    if (s->awake && atomic_load(&fk_self->num_threads) == 1) { /* or it would keep them out */
        await_turn_awake(s);
        return;
    }
    fk_blocking_enter();
    pthread_mutex_lock(&lock);
    while (!has_turn(s))
        pthread_cond_wait(&s->wake, &lock);
    pthread_mutex_unlock(&lock);
    fk_blocking_leave();
}

static void tell(servant *s, bool *flag)
{
    pthread_mutex_lock(&lock);
    *flag = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&lock);
}

/* Until there is an answer, or the end: what it is asked for. */
static void serve(servant *s)
{
    for (await_turn(s); s->job; await_turn(s)) {
        servant *caller = s->caller;
        void (*job)(void) = s->job;
        s->job = NULL;
        job();
        tell(caller, &caller->answered);
    }
    s->answered = false;
}

static servant *servant_of(const model_host *h, int t)
{
    return &servants[h - hosts][t];
}

void heap_run(void (*f)(void))
{
    servant *s = servant_of(self, self->current);
    if (s == me) {
        f();
        return;
    }
    pthread_mutex_lock(&lock);
    s->job = f;
    s->caller = me;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&lock);
    serve(me);
}

/* The first word of a new servant is an answer. */
static void begin(servant *s)
{
    me = s;
    tell(s->caller, &s->caller->answered);
    serve(s);
}

static void servant_init(servant *s, bool awake)
{
    pthread_cond_init(&s->wake, NULL);
    s->job = NULL;
    s->caller = me;
    s->answered = s->end = false;
    s->awake = awake;
    s->descr = VAL_UNIT;
}

/* --- domains and threads ----------------------------------------------------------- */

static fk_mp_domain *own_engine(void)
{
    return ((fk_mp_host *)fk_self->st.memprof)->engine;
}

static void domain_body(void *s)
{
    begin(s);
}

static void find_engine(void)
{
    self->engine = own_engine();
}

/* One in three waits at safepoints. */
void heap_spawn(model_host *h)
{
    servant *s = servant_of(h, 0);
    servant_init(s, random_below(3) == 0);
    s->domain = fk_rt_spawn(domain_body, s);
    serve(me);
    model_host *was = self;
    self = h;
    heap_run(find_engine);
    self = was;
}

/* Domain 0 is the program. */
bool heap_may_end(const model_host *h)
{
    return h != hosts;
}

void heap_end(model_host *h)
{
    for (int t = THREADS - 1; t >= 0; t--)
        if (h->threads[t])
            tell(servant_of(h, t), &servant_of(h, t)->end);
    fk_rt_join(servant_of(h, 0)->domain);
    h->engine = NULL;
}

value model_serve(value unit)
{
    begin(newborn);
    return unit;
}

void heap_thread_new(int t)
{
    servant *s = newborn = servant_of(self, t);
    servant_init(s, false);
    fk_mp_suspend(self->engine, true);
    s->descr = caml_thread_new((value)model_thread);
    fk_mp_suspend(self->engine, false);
    serve(me);
}

/* A domain's first thread ends with it. */
bool heap_may_end_thread(int t)
{
    return t != 0;
}

void heap_thread_delete(int t)
{
    servant *s = servant_of(self, t);
    tell(s, &s->end);
    caml_thread_join(s->descr);
    s->descr = VAL_UNIT;
}

/* --- collections ---------------------------------------------------------------------- */

void heap_sync(void)
{
    if (minors != fk_minor_count)
        model_minor();
    minors = fk_minor_count;
    if (majors != fk_major_count)
        model_major();
    majors = fk_major_count;
}

void minor_gc(void)
{
    fk_gc_collect(fk_self, GC_MINOR);
    heap_sync();
}

void major_gc(void)
{
    fk_gc_collect(fk_self, random_below(3) == 0 ? GC_COMPACT : GC_MAJOR);
    heap_sync();
}

/* --- allocation ------------------------------------------------------------------------- */

size_t heap_shape(unsigned char *lens)
{
    shape = random_below((uint32_t)num_shapes);
    size_t n = (size_t)shapes[shape][0];
    for (size_t i = 0; i < n; i++)
        lens[n - 1 - i] = (unsigned char)(shapes[shape][1 + i] - 1);
    return n;
}

/* The blocks come as a chain, the last one first, by their field 0. */
bool heap_compiled(size_t n, const unsigned char *lens, fk_mp_value *values)
{
    value v = fk_callback_exn(model_shapes[shape], VAL_UNIT);
    if (is_exn_result(v))
        return false;
    for (size_t i = n; i-- > 0;) {
        if (wosize_of(v) != (size_t)lens[n - 1 - i] + 1)
            FAIL("compiled code wrote another header");
        values[i] = v;
        v = FIELD(v, 0);
        FIELD(values[i], 0) = VAL_UNIT; /* a nursery block: no barrier */
    }
    return true;
}

value model_make_small(value wosize)
{
    value v = fk_alloc_small((uintptr_t)INT_VAL(wosize), 0);
    for (intptr_t i = 0; i < INT_VAL(wosize); i++)
        FIELD(v, i) = VAL_UNIT;
    return v;
}

value model_make_large(value wosize)
{
    return fk_alloc_shr((uintptr_t)INT_VAL(wosize), 0);
}

static fk_mp_value made_by(const value *closure, size_t wosize)
{
    value v = fk_callback_exn((value)closure, VAL_INT(wosize));
    return is_exn_result(v) ? FK_MP_UNIT : v;
}

fk_mp_value heap_c(size_t wosize)
{
    return made_by(model_alloc_small, wosize);
}

fk_mp_value heap_major(size_t wosize)
{
    return made_by(model_alloc_large, wosize);
}

fk_mp_value heap_small(fk_mp_value field, uintptr_t tag)
{
    value v = field;
    ROOTS(1, &v);
    if (random_below(16) == 0)
        fk_gc_collect(fk_self, GC_MINOR);
    value block = fk_alloc_small(1, (unsigned)tag);
    FIELD(block, 0) = v;
    UNROOT_VOID();
    return block;
}

/* --- callbacks ----------------------------------------------------------------------------- */

bool heap_run_callbacks(void)
{
    return is_exn_result(fk_pending_actions(fk_self));
}

bool heap_pending(const model_host *h)
{
    return h->engine->host->dom->st.action_pending;
}

/* Which block of a combined allocation: model.py gave each a line of its own. */
static int line_of(value callstack)
{
    fk_frame f;
    size_t depth = callstack == fk_atom(0) ? 0 : wosize_of(callstack);
    size_t expected = self->current == 0 ? 1 : 2; /* a thread's body is compiled */
    if (depth != expected)
        FAIL("callstack of depth %zu, not %zu", depth, expected);
    if (!fk_slot_frame((uintptr_t)FIELD(callstack, 0) & ~(uintptr_t)1, 0, &f))
        return -1;
    return f.line - 1;
}

value model_called(value code, value argument)
{
    fk_mp_result said;
    int n = (int)INT_VAL(code);
    if (n < 2) {
        model_allocation a = {(size_t)INT_VAL(FIELD(argument, 0)),
                              (size_t)INT_VAL(FIELD(argument, 1)), line_of(FIELD(argument, 3))};
        said = model_allocated(n, &a);
    } else {
        said = model_event(n, argument);
    }
    if (said.is_exception)
        fk_raise(said.value);
    return said.value;
}

/* --- start ------------------------------------------------------------------------------------- */

static void find_shapes(void)
{
    while (model_shapes[num_shapes])
        num_shapes++;
    shapes = malloc(num_shapes * sizeof *shapes);
    const intptr_t *p = model_sizes;
    for (size_t i = 0; i < num_shapes; i++, p += 1 + *p)
        shapes[i] = p;
}

static void register_roots(void)
{
    caml_register_global_root(&trackers);
    for (int i = 0; i < LIVE; i++)
        caml_register_global_root(&live_values[i]);
    for (int i = 0; i < DOMAINS; i++)
        for (int t = 0; t < THREADS; t++) {
            servants[i][t].descr = VAL_UNIT;
            caml_register_global_root(&servants[i][t].descr);
        }
}

void heap_main(char **argv, void (*run)(void))
{
    if (fk_rt_start(argv) != 0)
        exit(1);
    find_shapes();
    register_roots();
    me = servant_of(hosts, 0);
    servant_init(me, false);
    hosts[0].engine = own_engine();
    trackers = fk_alloc_small(5, 0);
    for (int i = 0; i < 5; i++)
        FIELD(trackers, i) = model_on[i];
    run();
}
