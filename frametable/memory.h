/* memory.h - large arrays. */
#ifndef FK_FRAMETABLE_MEMORY_H
#define FK_FRAMETABLE_MEMORY_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define FK_HUGE_PAGE ((size_t)2 << 20)

/* Half of the time of filling a new array would go to page faults, one for 4 KB, and most of the
 * time of a random read to finding its page: asks for large ones, and for all of [p, p + n) at
 * once. Kernels that refuse lose nothing. Returns p, which may be NULL. */
static inline void *fk_populate(void *p, size_t n)
{
#ifdef MADV_POPULATE_WRITE
    const int how = MADV_POPULATE_WRITE;
#else
    const int how = 23;
#endif
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + n) & ~(page - 1);
    if (!p || n <= 16 * page)
        return p;
#ifdef MADV_HUGEPAGE
    if (n >= 2 * FK_HUGE_PAGE)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
    (void)madvise((void *)from, to - from, how);
    return p;
}

#endif
