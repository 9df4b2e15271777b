/* check_sites.c - what a run proves, and what a live entry is good for.
 *
 *   sites=FILE       one line per return address that a collection met:
 *                      SYMBOL+0xOFF entered=N frames=N LOCATION=N ...
 *                    entered: collections that began there; frames: frames scanned;
 *                    LOCATION: how often that live entry held a block of the heap
 *   kill=SITE/LOCATION
 *                    after each collection the location (S+8, rbx) of every frame at
 *                    SITE that holds a block is replaced by an address that faults.
 *                    A program that ends as before did not need the entry.
 *
 * kill knows nothing of the other checks: it says what a missing entry would do,
 * whatever they think of it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/check.h"
#include "runtime/fiber.h"

static bool is_heap_block(value v)
{
    return is_block(v) && v && (is_young(v) || fk_heap_is_block(v));
}

static value *location(struct walk *w, fk_live l)
{
    if (l.reg >= 0)
        return w->regs ? &w->regs[l.reg] : NULL;
    return (value *)(w->sp + l.offset);
}

/* --- sites: a table by return address -------------------------------------------------- */

struct site {
    uintptr_t ra;
    uint64_t entered, frames;
    uint32_t num_live;
    uint64_t *held; /* per live entry */
};

static struct site *sites;
static size_t num_sites, site_mask;
static FILE *site_file;

static struct site *slot_of(uintptr_t ra)
{
    size_t i = (ra >> 1) * 0x9E3779B97F4A7C15 >> 32;
    while (sites[i & site_mask].ra && sites[i & site_mask].ra != ra)
        i++;
    return &sites[i & site_mask];
}

static void grow(void)
{
    struct site *old = sites;
    size_t n = old ? site_mask + 1 : 0;
    site_mask = old ? 2 * n - 1 : 1023;
    if (!(sites = calloc(site_mask + 1, sizeof *sites)))
        fk_fatal("out of memory: the table of sites");
    for (size_t i = 0; i < n; i++)
        if (old[i].ra)
            *slot_of(old[i].ra) = old[i];
    free(old);
}

static struct site *site_of(const struct walk *w)
{
    if (2 * num_sites >= site_mask)
        grow();
    struct site *s = slot_of(w->ra);
    if (s->ra)
        return s;
    num_sites++;
    *s = (struct site){.ra = w->ra, .num_live = w->descr.num_live};
    if (s->num_live && !(s->held = calloc(s->num_live, sizeof *s->held)))
        fk_fatal("out of memory: the table of sites");
    return s;
}

static void count_frame(struct walk *w, const struct walk *inner, void *arg)
{
    struct site *s = site_of(w);
    (void)inner, (void)arg;
    s->frames++;
    for (uint32_t i = 0; i < s->num_live; i++) {
        value *p = location(w, fk_descr_live(&w->descr, i));
        s->held[i] += p && is_heap_block(*p);
    }
}

void fk_check_site_entered(struct walk *w)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    site_of(w)->entered++;
    pthread_mutex_unlock(&lock);
}

static void print_site(const struct site *s)
{
    char name[256];
    fk_descr d;
    if (!fk_frame_find(s->ra, &d))
        return;
    fk_symbol_name_ra(s->ra, name, sizeof name);
    fprintf(site_file, "%s entered=%zu frames=%zu", name, (size_t)s->entered, (size_t)s->frames);
    for (uint32_t i = 0; i < s->num_live; i++)
        fprintf(site_file, " %s=%zu", fk_location_name(fk_descr_live(&d, i), name, sizeof name),
                (size_t)s->held[i]);
    fputc('\n', site_file);
}

static void print_sites(void)
{
    for (size_t i = 0; i <= site_mask && sites; i++)
        if (sites[i].ra)
            print_site(&sites[i]);
    fclose(site_file);
}

/* --- kill --------------------------------------------------------------------------------- */

static char *trap_area;
enum { TRAP_BYTES = 1 << 20 };
static uintptr_t kill_ra;
static fk_live kill_live;
static uint64_t killed;

bool fk_check_is_killed(value v)
{
    return trap_area && (char *)v >= trap_area && (char *)v < trap_area + TRAP_BYTES;
}

static void kill_frame(struct walk *w, const struct walk *inner, void *arg)
{
    value *p = w->ra == kill_ra ? location(w, kill_live) : NULL;
    (void)inner, (void)arg;
    if (!p || !is_heap_block(*p))
        return;
    *p = (value)(trap_area + TRAP_BYTES / 2);
    killed++;
}

static void print_killed(void)
{
    fprintf(stderr, "framekit kill: %zu words replaced\n", (size_t)killed);
}

static FK_NORETURN void bad_kill(void)
{
    fk_fatal("FRAMEKIT_CHECK: kill=%s: not SITE/LOCATION of a return address of this program",
             fk_check.kill);
}

static fk_live read_location(const char *s)
{
    const fk_reg *r = fk_abi_reg_by_name(fk_here, s);
    char *end = "?";
    fk_live l = {0, -1};
    if (strncmp(s, "S+", 2) == 0)
        l.offset = (int32_t)strtol(s + 2, &end, 10);
    else if (r && r->index >= 0)
        l.reg = r->index, end = "";
    if (*end)
        bad_kill();
    return l;
}

static void init_kill(void)
{
    char *at = strrchr(fk_check.kill, '/');
    fk_descr d;
    if (!at)
        bad_kill();
    kill_live = read_location(at + 1);
    *at = 0;
    kill_ra = fk_site_address(fk_check.kill);
    if (!kill_ra || !fk_frame_find(kill_ra, &d))
        bad_kill();
    trap_area = mmap(NULL, TRAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                     0);
    if (trap_area == MAP_FAILED)
        fk_fatal("out of memory: the area that kill= points into");
    atexit(print_killed);
}

/* --- both --------------------------------------------------------------------------------- */

void fk_check_sites_init(void)
{
    if (fk_check.kill)
        init_kill();
    if (!fk_check.site_log)
        return;
    if (!(site_file = fopen(fk_check.site_log, "w")))
        fk_fatal("FRAMEKIT_CHECK: sites=%s cannot be written", fk_check.site_log);
    atexit(print_sites);
}

void fk_check_sites_work(void)
{
    if (site_file)
        fk_check_each_frame(count_frame, NULL);
    if (trap_area)
        fk_check_each_frame(kill_frame, NULL);
}
