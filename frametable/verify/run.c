/* run.c - workers over the tables of an image.
 *
 *   tables   | 0 | 1 | 2 | 3 | 4 | ...        a worker takes the next one that nobody has
 *   kept     | * | * |   | * |   |          findings wait until all before them are given away
 *              ^ given away by the calling thread, in order
 *
 * A table is the unit because modules are independent of each other: nothing that a rule looks at
 * crosses a table but what fk_check marks const. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frametable/verify/facts.h"
#include "frametable/verify/internal.h"

enum { MAX_WORKERS = 16 };

typedef struct {
    fk_rule_number rule;
    fk_verdict verdict;
    bool about_descriptor;
    fk_descr d;
    size_t sentence; /* offset in text */
} kept_finding;

struct fk_kept {
    kept_finding *list;
    size_t count, room;
    char *text;
    size_t text_size, text_room;
    bool done, lost;
};

static bool grow(void **p, size_t *room, size_t want, size_t size)
{
    if (want <= *room)
        return true;
    size_t n = *room ? *room * 2 : 16;
    while (n < want)
        n *= 2;
    void *q = realloc(*p, n * size);
    if (q == NULL)
        return false;
    *p = q;
    *room = n;
    return true;
}

bool fk_keep(struct fk_kept *k, fk_rule_number rule, fk_verdict verdict, const fk_descr *d,
             const char *sentence)
{
    size_t n = strlen(sentence) + 1;
    void *list = k->list, *text = k->text;
    bool good = grow(&list, &k->room, k->count + 1, sizeof *k->list);
    k->list = list;
    good = good && grow(&text, &k->text_room, k->text_size + n, 1);
    k->text = text;
    if (!good) {
        k->lost = true;
        return false;
    }
    memcpy(k->text + k->text_size, sentence, n);
    k->list[k->count] = (kept_finding){
        .rule = rule, .verdict = verdict, .about_descriptor = d != NULL, .sentence = k->text_size};
    if (d != NULL)
        k->list[k->count].d = *d;
    k->text_size += n;
    k->count++;
    return true;
}

/* --- workers ------------------------------------------------------------------------ */

typedef struct {
    const fk_check *model;
    struct fk_kept *kept; /* one a table */
    size_t num_tables, next;
    bool failed;
    fk_tally *tally;
    fk_facts *facts; /* the first round: filled in; NULL in the second */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} run;

/* The next table that nobody has; num_tables: none. */
static size_t take(run *r)
{
    pthread_mutex_lock(&r->lock);
    size_t i = r->next < r->num_tables ? r->next++ : r->num_tables;
    pthread_mutex_unlock(&r->lock);
    return i;
}

static void put_back(run *r, size_t i, bool failed)
{
    pthread_mutex_lock(&r->lock);
    r->kept[i].done = true;
    r->failed |= failed || r->kept[i].lost;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void add_tally(run *r, const fk_tally *t)
{
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < FK_RULES; i++)
        for (unsigned v = 0; v < FK_VERDICTS; v++)
            r->tally->count[i][v] += t->count[i][v];
    for (unsigned i = 0; i < t->num_reasons; i++)
        fk_tally_reason(r->tally, t->reasons[i].rule, t->reasons[i].text, t->reasons[i].count);
    pthread_mutex_unlock(&r->lock);
}

static void add_facts(run *r, fk_facts *own)
{
    pthread_mutex_lock(&r->lock);
    fk_facts_add(r->facts, own);
    pthread_mutex_unlock(&r->lock);
    fk_facts_close(own);
}

static void *work(void *arg)
{
    run *r = arg;
    fk_tally tally = {0};
    fk_facts own = {0};
    fk_check c = *r->model;
    c.tally = &tally;
    c.learned = r->facts == NULL ? NULL : &own;
    bool open = fk_check_open(&c);
    for (size_t i; (i = take(r)) < r->num_tables;) {
        c.table = fk_image_table(c.image, i);
        c.kept = &r->kept[i];
        put_back(r, i, !(open && (r->facts != NULL ? fk_check_code(&c) : fk_check_table(&c))));
    }
    fk_check_close(&c);
    if (r->facts != NULL)
        add_facts(r, &own);
    else
        add_tally(r, &tally);
    return NULL;
}

static void wait_for(run *r, size_t i)
{
    pthread_mutex_lock(&r->lock);
    while (!r->kept[i].done)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static void give(struct fk_kept *k, const fk_table *t, fk_finding_fn each, void *arg)
{
    for (size_t i = 0; i < k->count; i++) {
        const kept_finding *f = &k->list[i];
        each(&(fk_finding){f->rule, f->verdict, t, f->about_descriptor ? &f->d : NULL,
                           k->text + f->sentence},
             arg);
    }
    free(k->list);
    free(k->text);
    *k = (struct fk_kept){.done = true};
}

static size_t workers_for(size_t tables)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : (size_t)n;
    return tables < most ? tables : most;
}

static void run_all(run *r, fk_finding_fn each, void *arg)
{
    pthread_t threads[MAX_WORKERS];
    size_t wanted = workers_for(r->num_tables), n = 0;
    while (wanted > 1 && n < wanted && pthread_create(&threads[n], NULL, work, r) == 0)
        n++;
    if (n == 0)
        work(r);
    for (size_t i = 0; i < r->num_tables; i++) {
        wait_for(r, i);
        give(&r->kept[i], fk_image_table(r->model->image, i), each, arg);
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static fk_result run_tables(const fk_check *model, fk_finding_fn each, void *arg, fk_tally *tally,
                            fk_facts *facts)
{
    run r = {.model = model,
             .num_tables = fk_image_num_tables(model->image),
             .tally = tally,
             .facts = facts};
    r.kept = calloc(r.num_tables + 1, sizeof *r.kept);
    if (r.kept == NULL)
        return FK_SYSTEM;
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    run_all(&r, each, arg);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    free(r.kept);
    return r.failed ? FK_SYSTEM : FK_OK;
}

fk_result fk_run_tables(const fk_check *model, fk_finding_fn each, void *arg, fk_tally *tally)
{
    return run_tables(model, each, arg, tally, NULL);
}

fk_result fk_run_facts(const fk_check *model, fk_facts *facts)
{
    fk_result r = run_tables(model, NULL, NULL, NULL, facts);
    fk_facts_conclude(facts);
    return facts->lost ? FK_SYSTEM : r;
}
