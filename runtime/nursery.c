/* nursery.c - one reserved address range, a slot per domain.
 *
 *   fk_young_start                                             fk_young_end
 *   | slot 0                  | slot 1                  | ...  | slot 127 |
 *   | nursery |   reserved    |
 *
 * "Is this value young" is a range test. Normally a nursery sits at the start
 * of its slot. The checking mode `move` lets it wander: after each collection
 * it continues behind its old place, which becomes inaccessible, so that a
 * pointer that was not updated faults at its first use. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/check.h"
#include "runtime/domain.h"
#include "runtime/fail.h"

char *fk_young_start, *fk_young_end;
uintptr_t fk_nursery_words;
static size_t slot_bytes;

static size_t page_round(size_t bytes)
{
    size_t page = sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static size_t nursery_bytes(const struct domain *d)
{
    return page_round(d->st.minor_heap_wsz * sizeof(value));
}

static bool reserve(size_t per_slot)
{
    size_t total = per_slot * MAX_DOMAINS;
    char *p = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (fk_young_start)
        munmap(fk_young_start, fk_young_end - fk_young_start);
    fk_young_start = p;
    fk_young_end = p + total;
    slot_bytes = per_slot;
    return true;
}

void fk_nursery_init(uintptr_t words)
{
    fk_nursery_words = words;
    size_t bytes = page_round(words * sizeof(value));
    if (!reserve(fk_check.move ? bytes * fk_check.move_slots : bytes))
        fk_fatal("cannot reserve address space for %d nurseries of %zu bytes", MAX_DOMAINS, bytes);
}

static void place(struct domain *d, char *start)
{
    size_t bytes = nursery_bytes(d);
    d->st.young_start = (value *)start;
    d->st.young_end = d->st.young_ptr = (value *)(start + bytes);
    d->st.young_trigger = d->st.young_start;
    d->st.memprof_young_trigger = d->st.young_start;
}

static char *slot_start(const struct domain *d) { return fk_young_start + d->slot * slot_bytes; }

static void set_access(char *p, size_t bytes, int prot)
{
    if (mprotect(p, bytes, prot) != 0)
        fk_fatal("cannot change the access of a nursery of %zu bytes", bytes);
}

void fk_nursery_open(struct domain *d)
{
    d->young_next = 0;
    set_access(slot_start(d), nursery_bytes(d), PROT_READ | PROT_WRITE);
    place(d, slot_start(d));
}

void fk_nursery_close(struct domain *d)
{
    madvise(d->st.young_start, nursery_bytes(d), MADV_DONTNEED);
    set_access((char *)d->st.young_start, nursery_bytes(d), PROT_NONE);
    d->st.young_start = d->st.young_ptr = d->st.young_end = d->st.young_trigger = NULL;
}

static void move_on(struct domain *d)
{
    size_t bytes = nursery_bytes(d);
    fk_nursery_close(d);
    d->young_next += bytes;
    if (d->young_next + bytes > slot_bytes)
        d->young_next = 0;
    char *start = slot_start(d) + d->young_next;
    set_access(start, bytes, PROT_READ | PROT_WRITE);
    place(d, start);
}

void fk_nursery_reset(struct domain *d)
{
    if (fk_check.move)
        move_on(d);
    else
        place(d, (char *)d->st.young_start);
}

bool fk_nursery_resize(struct domain *d, uintptr_t words)
{
    size_t bytes = page_round(words * sizeof(value));
    uintptr_t old = d->st.minor_heap_wsz;
    fk_nursery_close(d);
    d->st.minor_heap_wsz = bytes / sizeof(value);
    if (bytes <= slot_bytes) {
        fk_nursery_open(d);
        return true;
    }
    bool ok = reserve(bytes);
    if (!ok)
        d->st.minor_heap_wsz = old;
    /* The range moved: every domain's nursery does too. */
    for (int i = 0; i < fk_slots_used(); i++)
        if (atomic_load(&fk_domains[i].in_use) && (ok || &fk_domains[i] == d))
            fk_nursery_open(&fk_domains[i]);
    return ok;
}
