/* fiber.c - making, growing, caching and freeing fibers; effects' C side.
 *
 * New fibers are small (64 words) and double when a function's prologue finds
 * too little room, so an effect handler costs little. A fiber moves when it
 * grows: every address into it that the runtime knows of is rebased (trap
 * chain, C links, dom.exn_handler); compiled code keeps none across the call. */
#include "runtime/fiber.h"

#include <stdlib.h>

#include "runtime/check.h"
#include "runtime/fail.h"
#include "runtime/gc.h"

enum { FIBER_WORDS = 64, CACHE_CLASSES = 5, RED_ZONE_WORDS = 32 };

uintptr_t fk_main_fiber_words = 4096;
_Atomic uintptr_t fk_max_fiber_words = 128 << 20;
const fk_abi *fk_here;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fiber_meta *all;
static _Atomic int64_t next_id;

/* --- allocation -------------------------------------------------------------------- */

static struct fiber **cache_of(struct domain *d)
{
    if (!d->st.stack_cache)
        d->st.stack_cache = calloc(CACHE_CLASSES, sizeof(struct fiber *));
    return d->st.stack_cache;
}

static int cache_class(uintptr_t words)
{
    for (int i = 0; i < CACHE_CLASSES; i++)
        if (words == (uintptr_t)FIBER_WORDS << i)
            return i;
    return -1;
}

static void list_add(struct fiber_meta *m)
{
    pthread_mutex_lock(&list_lock);
    m->prev = NULL;
    m->next = all;
    if (all)
        all->prev = m;
    all = m;
    pthread_mutex_unlock(&list_lock);
}

static void list_remove(struct fiber_meta *m)
{
    pthread_mutex_lock(&list_lock);
    *(m->prev ? &m->prev->next : &all) = m->next;
    if (m->next)
        m->next->prev = m->prev;
    pthread_mutex_unlock(&list_lock);
}

static struct fiber *raw_new(uintptr_t words)
{
    size_t bytes = sizeof(struct fiber_meta) + sizeof(struct fiber) + words * sizeof(value) +
                   sizeof(struct handler) + 16;
    struct fiber_meta *m = malloc(bytes);
    if (!m)
        return NULL;
    *m = (struct fiber_meta){.bytes = bytes, .words = words};
    struct fiber *f = (struct fiber *)(m + 1);
    uintptr_t high = ((uintptr_t)(f + 1) + words * sizeof(value) + 15) & ~(uintptr_t)15;
    f->handler = (struct handler *)high;
    f->cache_bucket = cache_class(words);
    list_add(m);
    return f;
}

static struct fiber *cache_take(struct domain *d, uintptr_t words)
{
    int c = cache_class(words);
    struct fiber **cache = cache_of(d);
    if (c < 0 || !cache || !cache[c])
        return NULL;
    struct fiber *f = cache[c];
    cache[c] = (struct fiber *)f->exception_ptr;
    fiber_meta(f)->cached = false;
    return f;
}

struct fiber *fk_fiber_new(struct domain *d, uintptr_t words, value hval, value hexn, value heff)
{
    struct fiber *f = cache_take(d, words);
    if (!f && !(f = raw_new(words)))
        return NULL;
    f->sp = fiber_high(f);
    f->exception_ptr = NULL;
    f->size = words;
    f->magic = 42;
    f->id = atomic_fetch_add(&next_id, 1);
    *f->handler = (struct handler){hval, hexn, heff, NULL};
    fk_fiber_dirty(d, f);
    return f;
}

/* --- dirty lists --------------------------------------------------------------------- */

void fk_fiber_dirty(struct domain *d, struct fiber *f)
{
    struct fiber_meta *m = fiber_meta(f);
    if (m->dirty_in)
        return;
    pthread_mutex_lock(&d->dirty_lock);
    m->dirty_in = d;
    words_push(&d->dirty_fibers, (uintptr_t)f);
    pthread_mutex_unlock(&d->dirty_lock);
}

static void forget_dirty(struct fiber *f)
{
    struct domain *d = fiber_meta(f)->dirty_in;
    if (!d)
        return;
    pthread_mutex_lock(&d->dirty_lock);
    struct words *w = &d->dirty_fibers;
    for (size_t i = w->size; i-- > 0;) /* most recent last: found at once */
        if (w->data[i] == (uintptr_t)f) {
            w->data[i] = w->data[--w->size];
            break;
        }
    fiber_meta(f)->dirty_in = NULL;
    pthread_mutex_unlock(&d->dirty_lock);
}

/* --- freeing --------------------------------------------------------------------------- */

static void raw_free(struct fiber *f)
{
    forget_dirty(f);
    list_remove(fiber_meta(f));
    free(fiber_meta(f));
}

void fk_fiber_free(struct domain *d, struct fiber *f)
{
    struct fiber **cache = cache_of(d);
    int c = (int)f->cache_bucket;
    if (c < 0 || !cache) {
        raw_free(f);
        return;
    }
    forget_dirty(f);
    fiber_meta(f)->cached = true;
    f->exception_ptr = cache[c];
    cache[c] = f;
}

static void free_buckets(struct domain *d)
{
    for (value *b = d->st.gc_regs_buckets, *next; b; b = next) {
        next = *(value **)b;
        free(b);
    }
    d->st.gc_regs_buckets = NULL;
}

void fk_fiber_free_all(struct domain *d)
{
    struct fiber **cache = d->st.stack_cache;
    for (int c = 0; cache && c < CACHE_CLASSES; c++)
        for (struct fiber *f = cache[c], *next; f; f = next) {
            next = f->exception_ptr;
            raw_free(f);
        }
    free(cache);
    d->st.stack_cache = NULL;
    if (d->st.current_stack)
        raw_free(d->st.current_stack);
    d->st.current_stack = NULL;
    free_buckets(d);
}

void fk_fibers_sweep(uint64_t cycle)
{
    for (struct fiber_meta *m = all, *next; m; m = next) {
        next = m->next;
        if (!m->cached && m->marked != cycle)
            raw_free((struct fiber *)(m + 1));
    }
}

/* --- growth ------------------------------------------------------------------------------- */

/* Addresses inside the old stack keep their distance from the high end. */
struct move {
    char *low, *high;
    ptrdiff_t delta;
};

static void *rebase(const struct move *m, void *p)
{
    return (char *)p >= m->low && (char *)p <= m->high ? (char *)p + m->delta : p;
}

static void move_traps(const struct move *m, struct domain *d)
{
    d->st.exn_handler = rebase(m, d->st.exn_handler);
    /* Links leave this fiber at its bottom: a trap of another fiber or NULL. */
    for (void **t = d->st.exn_handler; t && (char *)t < m->high + m->delta &&
                                       (char *)t >= m->low + m->delta; t = *t)
        *t = rebase(m, *t);
}

static void move_links(const struct move *m, struct domain *d, struct fiber *from, struct fiber *to)
{
    for (void *p = d->st.c_stack; p; p = c_link_of(p)->prev) {
        struct c_link *l = c_link_of(p);
        if (l->stack != from)
            continue;
        l->stack = to;
        l->sp = rebase(m, l->sp);
    }
}

static bool move_to(struct domain *d, struct fiber *from, struct fiber *to)
{
    size_t used = fiber_high(from) - from->sp;
    struct move m = {from->sp, fiber_high(from), fiber_high(to) - fiber_high(from)};
    memcpy(fiber_high(to) - used, from->sp, used);
    *to->handler = *from->handler;
    to->sp = fiber_high(to) - used;
    to->id = from->id;
    move_traps(&m, d);
    move_links(&m, d, from, to);
    return true;
}

/* 0: overflow. As in OCaml, the last doubling may go beyond the limit. */
static uintptr_t grown_size(struct fiber *f, uintptr_t more)
{
    uintptr_t need = (uintptr_t)(fiber_high(f) - f->sp) / sizeof(value) + more;
    uintptr_t words = fiber_meta(f)->words;
    do {
        if (words >= fk_max_fiber_words)
            return 0;
        words *= 2;
    } while (words < need);
    return words;
}

/* From caml_call_realloc_stack: no collection, no OCaml code. 0: overflow. */
int caml_try_realloc_stack(uintptr_t more)
{
    struct domain *d = fk_self;
    struct fiber *old = d->st.current_stack;
    fk_check_stub_entry(d);
    uintptr_t words = grown_size(old, more);
    struct fiber *f = words ? fk_fiber_new(d, words, VAL_UNIT, VAL_UNIT, VAL_UNIT) : NULL;
    if (!f)
        return 0;
    move_to(d, old, f);
    d->st.current_stack = f;
    fk_fiber_free(d, old);
    return 1;
}

/* --- register save areas ---------------------------------------------------------------------- */

void fk_bucket_reserve(struct domain *d)
{
    if (d->st.gc_regs_buckets)
        return;
    value *b = calloc(1, fk_here->bucket_size);
    if (!b)
        fk_fatal("out of memory: a register save area");
    d->st.gc_regs_buckets = b;
}

/* Room for a callback's prefix and the first frames. */
void fk_fiber_room(struct domain *d)
{
    struct fiber *f = d->st.current_stack;
    fk_bucket_reserve(d);
    if ((size_t)(f->sp - (char *)(f + 1)) < (RED_ZONE_WORDS + 64) * sizeof(value))
        if (!caml_try_realloc_stack(FIBER_WORDS))
            fk_raise_stack_overflow();
}

/* --- effects ------------------------------------------------------------------------------------ */

value caml_alloc_stack(value hval, value hexn, value heff)
{
    struct fiber *f = fk_fiber_new(fk_self, FIBER_WORDS, hval, hexn, heff);
    if (!f)
        fk_raise_out_of_memory();
    return tag_ptr(f);
}

void caml_free_stack(struct fiber *f) { fk_fiber_free(fk_self, f); }

/* Takes the fiber out of a continuation; tag_ptr(NULL) when it was taken before. */
value caml_continuation_use_noexc(value cont)
{
    value v = atomic_exchange((_Atomic value *)&FIELD(cont, 0), tag_ptr(NULL));
    for (struct fiber *f = untag_ptr(v); f; f = f->handler->parent)
        fk_fiber_dirty(fk_self, f);
    return v;
}

value caml_continuation_use(value cont)
{
    value v = caml_continuation_use_noexc(cont);
    if (v == tag_ptr(NULL))
        fk_raise_named("Effect.Continuation_already_resumed");
    return v;
}

/* Shallow handlers: the outermost fiber of the continuation gets new handlers. */
value caml_continuation_use_and_update_handler_noexc(value cont, value hval, value hexn, value heff)
{
    value v = caml_continuation_use_noexc(cont);
    struct fiber *f = untag_ptr(v);
    if (!f)
        return v;
    while (f->handler->parent)
        f = f->handler->parent;
    f->handler->handle_value = hval;
    f->handler->handle_exn = hexn;
    f->handler->handle_effect = heff;
    return v;
}

void caml_raise_continuation_already_resumed(void)
{
    fk_raise_named("Effect.Continuation_already_resumed");
}

void caml_raise_unhandled_effect(value effect)
{
    fk_raise_named_arg("Effect.Unhandled", effect);
}
