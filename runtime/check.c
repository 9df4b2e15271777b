/* check.c - which checks are on, and at which points to collect. */
#include "runtime/check.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/params.h"

struct check_config fk_check;

/* --- configuration -------------------------------------------------------------------- */

static bool set_kind(enum gc_kind kind, uint64_t n)
{
    fk_check.kind = kind;
    fk_check.period = n ? n : 1;
    return true;
}

static bool set_all(uint64_t n)
{
    fk_check.move = fk_check.roots = fk_check.lengths = fk_check.stubs = true;
    if (!fk_check.heap_period)
        fk_check.heap_period = 100;
    return set_kind(GC_MINOR, n);
}

static bool add_site(const char *name)
{
    if (fk_check.nsites == MAX_CHECK_SITES)
        return false;
    fk_check.site_names[fk_check.nsites++] = strdup(name);
    return true;
}

static bool set_seed(uint64_t n)
{
    fk_check.scheduled = true; /* sched.c */
    fk_check.seed = n;
    return true;
}

static bool set_flag(const char *name, uint64_t n, bool has_arg)
{
    static const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"move", &fk_check.move}, {"roots", &fk_check.roots},
                 {"lengths", &fk_check.lengths},
                 {"stubs", &fk_check.stubs}, {"core", &fk_check.core}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0)
            return *flags[i].flag = !has_arg;
    if (strcmp(name, "gc") == 0)
        return set_kind(GC_MINOR, n);
    if (strcmp(name, "major") == 0)
        return set_kind(GC_MAJOR, n);
    if (strcmp(name, "compact") == 0)
        return set_kind(GC_COMPACT, n);
    if (strcmp(name, "heap") == 0)
        return (fk_check.heap_period = n ? n : 1) != 0;
    if (strcmp(name, "seed") == 0)
        return set_seed(n);
    return strcmp(name, "all") == 0 && set_all(n);
}

/* Digits, decimal or 0x..., and nothing else. */
static bool number(const char *s, uint64_t *n)
{
    char *end;
    errno = 0;
    *n = strtoull(s, &end, 0);
    return isdigit((unsigned char)*s) && !*end && errno == 0;
}

static bool set(char *item)
{
    char *arg = strchr(item, '=');
    uint64_t n = 0;
    if (arg) {
        *arg++ = 0;
        if (strcmp(item, "at") == 0)
            return add_site(arg);
        if (strcmp(item, "sites") == 0)
            return (fk_check.site_log = strdup(arg)) != NULL;
        if (strcmp(item, "kill") == 0)
            return (fk_check.kill = strdup(arg)) != NULL;
        if (!number(arg, &n) || (n == 0 && strcmp(item, "seed") != 0))
            return false; /* no period is 0 */
    }
    return set_flag(item, n, arg != NULL);
}

static void settle(void)
{
    struct check_config *c = &fk_check;
    c->after_gc = c->roots || c->heap_period || c->site_log || c->kill;
    c->any = c->move || c->lengths || c->stubs || c->period || c->nsites || c->after_gc ||
        c->scheduled;
    c->history = c->move || c->roots || c->heap_period;
    c->every_alloc = c->period || c->nsites || c->lengths || c->scheduled || c->history;
    if (c->move)
        c->move_slots = 64;
}

bool fk_check_parse(const char *list, const char **error)
{
    static char bad[64];
    char *copy = strdup(list), *save = NULL;
    bool ok = copy != NULL;
    for (char *item = ok ? strtok_r(copy, ",", &save) : NULL; item && ok;
         item = strtok_r(NULL, ",", &save)) {
        snprintf(bad, sizeof bad, "%s", item);
        ok = set(item);
    }
    free(copy);
    *error = bad;
    settle();
    return ok;
}

void fk_check_init(void)
{
    const char *list = getenv("FRAMEKIT_CHECK"), *error;
    if (!list)
        return;
    if (!fk_check_parse(list, &error))
        fk_fatal("FRAMEKIT_CHECK: unknown or bad item '%s' (see docs/checking.md)", error);
    /* A nursery that wanders, and one collection per point: keep it small. */
    if ((fk_check.move || fk_check.period == 1) && !getenv("OCAMLRUNPARAM"))
        fk_params.minor_words = 1024;
}

void fk_check_late_init(void)
{
    for (unsigned i = 0; i < fk_check.nsites; i++) {
        const char *name = fk_check.site_names[i];
        uintptr_t a = fk_site_address(name);
        fk_descr d;
        if (!a || !fk_frame_find(a, &d))
            fk_fatal("FRAMEKIT_CHECK: at=%s is no return address of this program", name);
        fk_check.sites[i] = a;
    }
    fk_check_sites_init();
}

/* --- points ------------------------------------------------------------------------------ */

static bool chosen_site(uintptr_t ra)
{
    for (unsigned i = 0; i < fk_check.nsites; i++)
        if (fk_check.sites[i] == ra)
            return true;
    return false;
}

bool fk_check_due(struct domain *d, uintptr_t ra)
{
    d->alloc_points++;
    if (fk_check.lengths)
        fk_lengths_verify(d);
    if (fk_check.nsites && ra && chosen_site(ra))
        return true;
    return fk_check.period && d->alloc_points % fk_check.period == 0;
}

void fk_check_point(struct domain *d, struct walk *w)
{
    if (fk_check.site_log)
        fk_check_site_entered(w);
    d->stress_due = fk_check_due(d, w->ra);
    if (fk_check.lengths)
        fk_lengths_taken(d, w);
}
