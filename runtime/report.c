/* report.c - what a failed check says before the program ends with code 97.
 *
 *   framekit check: RULE: SENTENCE
 *     location: stack slot S+16
 *     return address: 0x401234 camlFoo.f_12+0x34 (foo.ml:3, Foo.f), frame 32 bytes, live: S+8 rbx
 *     object: 0x7f.., major heap, 2 fields, tag 0
 *       allocated at: 0x401010 camlFoo.mk_3+0x20 (foo.ml:1, Foo.mk)
 *       moved: in collection 16, from 0x7e.. to 0x7f..
 *     domain 0, collection 17, frames (innermost first):
 *       0x401234 camlFoo.f_12+0x34 (foo.ml:3, Foo.f)
 */
#include "runtime/report.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/backtrace.h"
#include "runtime/fiber.h"

void fk_print_location(uintptr_t ra)
{
    char name[256];
    fk_descr d;
    fk_frame f;
    fk_symbol_name_ra(ra, name, sizeof name);
    fprintf(stderr, "0x%zx %s", (size_t)ra, name);
    if (fk_frame_find(ra, &d) && fk_slot_frame((uintptr_t)d.address, 0, &f))
        fprintf(stderr, " (%s:%d, %s)", f.file, f.line, f.defname ? f.defname : "?");
}

static void print_denial(const fk_descr *d)
{
    if (fk_unwind_denies(d->retaddr, d->frame_size))
        fprintf(stderr, " (which no unwinding row of the function has)");
}

static void print_live(const fk_descr *d)
{
    fprintf(stderr, ", frame %u bytes", d->frame_size);
    print_denial(d);
    fprintf(stderr, ", live:");
    for (uint32_t i = 0; i < d->num_live; i++) {
        fk_live l = fk_descr_live(d, i);
        const fk_reg *r = l.reg >= 0 ? fk_abi_reg(fk_here, l.reg, FK_OCAML_5_3) : NULL;
        if (l.reg >= 0)
            fprintf(stderr, " %s", r ? r->name : "?");
        else
            fprintf(stderr, " S+%d", l.offset);
    }
    if (d->num_live == 0)
        fprintf(stderr, " none");
}

static void print_ra(const char *label, uintptr_t ra)
{
    fk_descr d;
    fprintf(stderr, "  %s: ", label);
    fk_print_location(ra);
    if (fk_frame_find(ra, &d))
        print_live(&d);
    fputc('\n', stderr);
}

enum { MAX_PRINTED = 40 };

/* `h`: a block whose place was emptied, to be looked for in the frames. */
static void print_frames(struct domain *d, const struct history *h)
{
    struct walk w;
    int n = 0;
    if (!d || !d->st.current_stack)
        return;
    fprintf(stderr, "  domain %d, collection %zu, frames at the last entry into the runtime:\n",
            d->slot,
            (size_t)fk_minor_count);
    for (struct fiber *f = d->st.current_stack; f && n < MAX_PRINTED; f = f->handler->parent) {
        fk_walk_start(&w, f, NULL);
        while (n < MAX_PRINTED && !(n && fk_walk_stuck(&w)) && fk_walk_next(&w)) {
            fprintf(stderr, "    ");
            fk_print_location(w.ra);
            if (w.found)
                fk_print_holders(&w, h);
            fputc('\n', stderr);
            n++;
            if (!w.found)
                return;
        }
    }
}

static FK_NORETURN void end(void)
{
    fflush(NULL);
    if (fk_check.core) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    _exit(EXIT_CHECK);
}

/* A report that fails itself must not start another one. */
static _Atomic int reporting;

static void begin(const char *rule)
{
    if (atomic_exchange(&reporting, 1))
        _exit(EXIT_CHECK);
    fflush(stdout);
    fprintf(stderr, "framekit check: %s: ", rule);
}

/* The object's history. */
static struct history print_objects(const struct finding *f)
{
    struct history h = {0};
    if (f->history)
        h = *f->history;
    else if (f->object)
        h = fk_object_at((uintptr_t)f->object, fk_minor_count);
    if (f->object)
        fk_print_object("object", f->object, &h);
    if (f->holder) {
        struct history holder = fk_object_at((uintptr_t)f->holder, fk_minor_count);
        fk_print_object("held by", f->holder, &holder);
    }
    return h;
}

void fk_report(const struct finding *f, const char *format, ...)
{
    va_list args;
    begin(f->rule);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    if (f->location)
        fprintf(stderr, "  location: %s\n", f->location);
    if (f->ra)
        print_ra("return address", f->ra);
    if (f->via) /* the other suspect: with a wrong size there, the frame above is none */
        print_ra("reached through", f->via);
    struct history h = print_objects(f);
    print_frames(fk_self, &h);
    end();
}

/* --- stack walks that fail ------------------------------------------------------------- */

/* Addresses this close to each other are those of one call: the table has the wrong one. */
enum { CALL_BYTES = 6 };

static uintptr_t near_descriptor(uintptr_t ra)
{
    fk_descr d;
    for (uintptr_t n = 1; n <= CALL_BYTES; n++)
        if (fk_frame_find(ra - n, &d) || fk_frame_find(ra + n, &d))
            return d.retaddr;
    return 0;
}

void fk_report_no_descriptor(struct walk *w)
{
    static const char by_rows[] = "; the frame named below led it astray, by its unwinding rows",
                      by_address[] = "; the descriptor named below is a few bytes from it: its "
                                     "return address seems wrong",
                      by_order[] = "; the frame before it, whose descriptor gives the distance, is "
                                   "named below";
    uintptr_t culprit = fk_unwind_culprit(w), near = near_descriptor(w->ra);
    struct finding f = {.rule = "walk", .ra = culprit ? culprit : near ? near : w->previous};
    const char *named = culprit ? by_rows : near ? by_address : f.ra ? by_order : "";
    if (!culprit && near)
        f.via = w->previous;
    fk_report(&f,
              "the stack walk found 0x%zx at 0x%zx, which is no return address of a descriptor%s",
              (size_t)w->ra, (size_t)(w->sp + fk_here->ra_offset), named);
}

void fk_report_stuck(struct walk *w)
{
    struct finding f = {.rule = "walk", .ra = w->ra};
    fk_report(&f, "the stack walk does not advance: a frame that is not the last has the size 0");
}

void fk_report_not_gc_point(struct walk *w)
{
    struct finding f = {.rule = "gc-point", .ra = w->ra};
    fk_report(&f,
              "the collector was entered at a return address whose descriptor is no allocation or poll");
}
