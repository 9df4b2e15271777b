/* check_stub.c - is the state that a stub hands over sound?
 *
 *   current_stack->sp   between the red zone and the high end of the fiber
 *   save areas          a chain without a cycle
 *   trap chain          ascending inside a fiber, ends in NULL
 *   c_stack links       each belongs to a fiber and points into it */
#include "runtime/check.h"
#include "runtime/fiber.h"

static FK_NORETURN void wrong(const char *rule, const char *what, uintptr_t v)
{
    struct finding f = {.rule = rule};
    fk_report(&f, "%s (0x%zx)", what, (size_t)v);
}

static bool inside(struct fiber *f, const char *p)
{
    return p >= (char *)(f + 1) && p <= fiber_high(f);
}

static void check_sp(struct domain *d)
{
    struct fiber *f = d->st.current_stack;
    if (!inside(f, f->sp))
        wrong("stack-pointer", "the saved stack pointer is outside the running fiber",
              (uintptr_t)f->sp);
    if ((uintptr_t)f->sp & 7)
        wrong("stack-pointer", "the saved stack pointer is not aligned", (uintptr_t)f->sp);
}

static void check_buckets(struct domain *d)
{
    unsigned n = 0;
    for (value *b = d->st.gc_regs_buckets; b; b = *(value **)b)
        if (++n > 10000)
            wrong("save-areas", "the list of register save areas has a cycle", (uintptr_t)b);
}

/* The fiber of the chain that holds p. */
static struct fiber *fiber_of(struct domain *d, const char *p)
{
    for (struct fiber *f = d->st.current_stack; f; f = f->handler->parent)
        if (inside(f, p))
            return f;
    for (struct cut_parent *c = d->cut_parents; c; c = c->prev)
        for (struct fiber *f = c->parent; f; f = f->handler->parent)
            if (inside(f, p))
                return f;
    return NULL;
}

/* Only the newest traps: the whole chain would make deep recursion quadratic. */
static void check_traps(struct domain *d)
{
    char *t = d->st.exn_handler, *prev = NULL;
    for (int i = 0; t && i < 16; i++, prev = t, t = *(char **)t) {
        struct fiber *f = fiber_of(d, t);
        if (!f || ((uintptr_t)t & 7))
            wrong("trap-chain", "a trap frame is not on a live fiber", (uintptr_t)t);
        if (prev && inside(f, prev) && t <= prev)
            wrong("trap-chain", "a trap frame is linked to one below it", (uintptr_t)t);
    }
}

static void check_links(struct domain *d)
{
    int n = 0;
    for (void *p = d->st.c_stack; p && n < 16; p = c_link_of(p)->prev, n++) {
        struct c_link *l = c_link_of(p);
        if (n == 0 && l->stack != d->st.current_stack)
            wrong("c-link", "the newest link of the C stack names another fiber",
                  (uintptr_t)l->stack);
        if (n == 0 && l->sp != d->st.current_stack->sp)
            wrong("c-link", "link and fiber disagree about the stack pointer", (uintptr_t)l->sp);
    }
}

void fk_check_stub(struct domain *d)
{
    check_sp(d);
    check_buckets(d);
    check_traps(d);
    check_links(d);
}
