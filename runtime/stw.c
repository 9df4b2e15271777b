/* stw.c - stop-the-world sections.
 *
 * A domain counts as running while a thread owns it and is not parked here.
 * The leader waits until nobody runs, hands its function to those that are
 * parked, and lets them go when all are done. Domains that are blocked in C
 * need not take part: the workers claim the domains' work from counters, so
 * nobody has to serve a particular domain. */
#include "runtime/domain.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_stopped = PTHREAD_COND_INITIALIZER; /* the leader waits */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;     /* everybody else */

static bool active;
static int running, parked, workers, done;
static uint64_t job; /* number of the section's job; 0 while the leader still waits */
static uint64_t job_count;
static fk_stw_fn job_fn;
static void *job_arg;
static _Atomic int claims[FK_CLAIMS];
static _Atomic int barrier_in, barrier_out;
static _Thread_local bool leader;

void fk_stw_domain_runs(void)
{
    pthread_mutex_lock(&lock);
    while (active)
        pthread_cond_wait(&changed, &lock);
    running++;
    pthread_mutex_unlock(&lock);
}

static void stop_locked(void)
{
    if (--running == 0 && active)
        pthread_cond_signal(&all_stopped);
}

void fk_stw_domain_stops(void)
{
    pthread_mutex_lock(&lock);
    stop_locked();
    pthread_mutex_unlock(&lock);
}

static void work(struct domain *self)
{
    pthread_mutex_unlock(&lock);
    job_fn(self, job_arg);
    pthread_mutex_lock(&lock);
    if (++done == workers)
        pthread_cond_broadcast(&changed);
}

static void park_locked(struct domain *self)
{
    uint64_t last = 0;
    stop_locked();
    parked++;
    while (active) {
        if (job && job != last) {
            last = job;
            work(self);
        } else {
            pthread_cond_wait(&changed, &lock);
        }
    }
    parked--;
    running++;
}

void fk_stw_park(struct domain *self)
{
    pthread_mutex_lock(&lock);
    if (active)
        park_locked(self);
    pthread_mutex_unlock(&lock);
}

static void begin_job(fk_stw_fn fn, void *arg)
{
    workers = parked + 1;
    done = 0;
    job_fn = fn;
    job_arg = arg;
    for (int i = 0; i < FK_CLAIMS; i++)
        atomic_store(&claims[i], 0);
    atomic_store(&barrier_in, 0);
    atomic_store(&barrier_out, 0);
    job = ++job_count;
    pthread_cond_broadcast(&changed);
}

bool fk_stw(struct domain *self, fk_stw_fn fn, void *arg)
{
    pthread_mutex_lock(&lock);
    if (active) {
        park_locked(self);
        pthread_mutex_unlock(&lock);
        return false;
    }
    active = true;
    if (atomic_load(&fk_num_domains) > 1)
        for (int i = 0; i < fk_slots_used(); i++)
            if (atomic_load(&fk_domains[i].in_use) && &fk_domains[i] != self)
                fk_interrupt(&fk_domains[i], INT_STW);
    running--;
    while (running > 0)
        pthread_cond_wait(&all_stopped, &lock);
    begin_job(fn, arg);
    leader = true;
    work(self);
    leader = false;
    while (done < workers)
        pthread_cond_wait(&changed, &lock);
    job = 0;
    active = false;
    running++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return true;
}

int fk_stw_workers(void) { return workers; }
bool fk_stw_is_leader(void) { return leader; }

int fk_stw_claim(int which, int n)
{
    int i = atomic_fetch_add(&claims[which], 1);
    return i < n ? i : -1;
}

/* A spinning barrier would starve a worker that has no processor: sleep. */
void fk_stw_barrier(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    if (workers == 1)
        return;
    pthread_mutex_lock(&m);
    int round = atomic_load(&barrier_out);
    if (atomic_fetch_add(&barrier_in, 1) + 1 == workers) {
        atomic_store(&barrier_in, 0);
        atomic_store(&barrier_out, round + 1);
        pthread_cond_broadcast(&c);
    } else {
        while (atomic_load(&barrier_out) == round)
            pthread_cond_wait(&c, &m);
    }
    pthread_mutex_unlock(&m);
}
