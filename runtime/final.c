/* final.c - Gc.finalise and Gc.finalise_last.
 *
 * A `finalise` value is kept until the major heap finds it unreachable; then it
 * is alive once more, as the argument of its function. A `finalise_last`
 * function is called without the value, after its death, which a minor
 * collection may already notice. What dies together is finalised in the reverse
 * order of attachment: a value before those that it was made of. */
#include <stdlib.h>

#include "runtime/callback.h"
#include "runtime/check.h"
#include "runtime/gc.h"

static void push(struct finals *f, struct final x)
{
    if (f->size == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 32;
        struct final *p = realloc(f->data, f->capacity * sizeof *p);
        if (!p)
            fk_fatal("out of memory: %zu finalised values", f->size);
        f->data = p;
    }
    f->data[f->size++] = x;
}

/* Of these the program may hold a copy without the block: a float in a register, a
 * lazy value that was cut short. Static data may be attached, and never dies. */
static bool may_be_finalised(value v)
{
    unsigned tag = is_block(v) ? tag_of(v) : TAG_FORCING;
    return tag != TAG_FORCING && tag != TAG_LAZY && tag != TAG_FORWARD && tag != TAG_DOUBLE;
}

static value attach(struct finals *f, value fun, value v)
{
    if (!may_be_finalised(v))
        fk_invalid_arg("Gc.finalise");
    push(f, (struct final){.fun = fun, .val = v});
    return VAL_UNIT;
}

value caml_final_register(value fun, value v)
{
    return attach(&fk_self->finals, fun, v);
}
value caml_final_register_called_without_value(value fun, value v)
{
    return attach(&fk_self->finals_last, fun, v);
}
value caml_final_release(value unit)
{
    fk_self->finals_running = false;
    fk_set_action_pending(fk_self);
    return unit;
}

/* Its function is called next, and its place is free: no function is 0. */
static void die(struct domain *d, struct final *x, value arg)
{
    words_push(&d->finals_todo, (uintptr_t)x->fun);
    words_push(&d->finals_todo, (uintptr_t)arg);
    fk_interrupt(d, INT_CALLBACK);
    x->fun = 0;
}

static void drop_dead(struct finals *f, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < f->size; i++)
        if (f->data[i].fun)
            f->data[kept++] = f->data[i];
    f->size = f->young = kept;
}

static void scan_range(struct finals *f, size_t from, bool values, root_fn fn, void *ctx)
{
    for (size_t i = from; i < f->size; i++) {
        fn(ctx, f->data[i].fun, &f->data[i].fun);
        if (values)
            fn(ctx, f->data[i].val, &f->data[i].val);
    }
}

void fk_finals_scan(struct domain *d, enum scan_kind kind, root_fn fn, void *ctx)
{
    bool young = kind == SCAN_YOUNG;
    scan_range(&d->finals, young ? d->finals.young : 0, young, fn, ctx);
    scan_range(&d->finals_last, young ? d->finals_last.young : 0, false, fn, ctx);
    for (size_t i = 0; i < d->finals_todo.size; i++) {
        value *p = (value *)&d->finals_todo.data[i];
        fn(ctx, *p, p);
    }
}

/* Also the weak parts, for compaction. */
void fk_finals_scan_weak(struct domain *d, root_fn fn, void *ctx)
{
    for (size_t i = 0; i < d->finals.size; i++)
        fn(ctx, d->finals.data[i].val, &d->finals.data[i].val);
    for (size_t i = 0; i < d->finals_last.size; i++)
        fn(ctx, d->finals_last.data[i].val, &d->finals_last.data[i].val);
}

void fk_finals_minor(struct domain *d, bool (*forward)(value *))
{
    struct finals *f = &d->finals_last;
    for (size_t i = f->size; i-- > f->young;)
        if (!forward(&f->data[i].val))
            die(d, &f->data[i], VAL_UNIT);
    drop_dead(f, f->young);
    d->finals.young = d->finals.size;
}

void fk_finals_major(struct domain *d, bool first, bool (*alive)(value), root_fn fn, void *ctx)
{
    struct finals *f = first ? &d->finals : &d->finals_last;
    size_t was_todo = d->finals_todo.size;
    for (size_t i = f->size; i-- > 0;)
        if (!alive(f->data[i].val))
            die(d, &f->data[i], first ? f->data[i].val : VAL_UNIT);
    drop_dead(f, 0);
    /* Only now: one dead value may reach another that is finalised as well. */
    for (size_t i = was_todo; i < d->finals_todo.size; i++)
        fn(ctx, (value)d->finals_todo.data[i], (value *)&d->finals_todo.data[i]);
}

static void adopt(struct finals *to, struct finals *from)
{
    for (size_t i = 0; i < from->size; i++)
        push(to, from->data[i]);
    free(from->data);
    *from = (struct finals){0};
}

void fk_finals_adopt(struct domain *to, struct domain *from)
{
    adopt(&to->finals, &from->finals);
    adopt(&to->finals_last, &from->finals_last);
    for (size_t i = 0; i < from->finals_todo.size; i++)
        words_push(&to->finals_todo, from->finals_todo.data[i]);
    if (to->finals_todo.size)
        fk_interrupt(to, INT_CALLBACK);
    from->finals_todo.size = 0;
}

static void take_first(struct words *w, value *fun, value *arg)
{
    *fun = (value)w->data[0];
    *arg = (value)w->data[1];
    w->size -= 2;
    memmove(w->data, w->data + 2, w->size * sizeof *w->data);
}

value fk_finals_run(struct domain *d)
{
    value r = VAL_UNIT;
    atomic_fetch_and(&d->interrupts, ~(uintptr_t)INT_CALLBACK);
    if (d->finals_running)
        return r;
    d->finals_running = true;
    while (d->finals_todo.size && d->finals_running && !is_exn_result(r)) {
        value fun, arg;
        take_first(&d->finals_todo, &fun, &arg);
        r = fk_callback_exn(fun, arg);
        if (fk_self != d) /* a finaliser cannot change the domain */
            fk_fatal("a finaliser returned on another domain");
    }
    d->finals_running = false;
    return is_exn_result(r) ? r : VAL_UNIT;
}
