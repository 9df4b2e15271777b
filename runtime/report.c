/* report.c - what a failed check says before the program ends with code 97.
 *
 *   framekit check: RULE: SENTENCE
 *     location: stack slot S+16
 *     return address: 0x401234 camlFoo.f_12+0x34 (foo.ml:3, Foo.f), frame 32 bytes, live: S+8 rbx
 *     object: 0x7f.. 2 fields, tag 0, major heap
 *     domain 0, collection 17, frames (innermost first):
 *       0x401234 camlFoo.f_12+0x34 (foo.ml:3, Foo.f)
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/backtrace.h"
#include "runtime/check.h"
#include "runtime/fiber.h"
#include "runtime/signals.h"

static void print_location(uintptr_t ra)
{
    char name[256];
    fk_descr d;
    fk_frame f;
    fk_symbol_name_ra(ra, name, sizeof name);
    fprintf(stderr, "0x%zx %s", (size_t)ra, name);
    if (fk_frame_find(ra, &d) && fk_slot_frame((uintptr_t)d.address, 0, &f))
        fprintf(stderr, " (%s:%d, %s)", f.file, f.line, f.defname ? f.defname : "?");
}

static void print_live(const fk_descr *d)
{
    fprintf(stderr, ", frame %u bytes, live:", d->frame_size);
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
    print_location(ra);
    if (fk_frame_find(ra, &d))
        print_live(&d);
    fputc('\n', stderr);
}

static void print_object(value v)
{
    struct span *s = fk_span_of((void *)v);
    fprintf(stderr, "  object: 0x%zx", (size_t)v);
    if (is_young(v))
        fprintf(stderr, ", in the nursery range");
    else if (s)
        fprintf(stderr, ", major heap, %zu fields, tag %u", (size_t)wosize_of(v), tag_of(v));
    fputc('\n', stderr);
}

enum { MAX_PRINTED = 40 };

static void print_frames(struct domain *d)
{
    struct walk w;
    int n = 0;
    if (!d || !d->st.current_stack)
        return;
    fprintf(stderr, "  domain %d, collection %zu, frames at the last entry into the runtime:\n", d->slot,
            (size_t)fk_minor_count);
    for (struct fiber *f = d->st.current_stack; f && n < MAX_PRINTED; f = f->handler->parent) {
        fk_walk_start(&w, f, NULL);
        while (n < MAX_PRINTED && !(n && fk_walk_stuck(&w)) && fk_walk_next(&w)) {
            fprintf(stderr, "    ");
            print_location(w.ra);
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
    if (f->object)
        print_object(f->object);
    print_frames(fk_self);
    end();
}

/* --- stack walks that fail ------------------------------------------------------------- */

void fk_report_no_descriptor(struct walk *w)
{
    char prev[320] = "";
    uintptr_t ra = w->ra;
    struct finding f = {.rule = "walk", .ra = w->previous};
    if (w->previous)
        snprintf(prev, sizeof prev, "; the frame before it, whose descriptor gives the distance, is named below");
    fk_report(&f, "the stack walk found 0x%zx at 0x%zx, which is no return address of a descriptor%s", (size_t)ra,
              (size_t)(w->sp + fk_here->ra_offset), prev);
}

void fk_report_stuck(struct walk *w)
{
    struct finding f = {.rule = "walk", .ra = w->ra};
    fk_report(&f, "the stack walk does not advance: a frame that is not the last has the size 0");
}

void fk_report_not_gc_point(struct walk *w)
{
    struct finding f = {.rule = "gc-point", .ra = w->ra};
    fk_report(&f, "the collector was entered at a return address whose descriptor is no allocation or poll");
}

/* --- faults ------------------------------------------------------------------------------- */

/* Where the kernel keeps the program counter in ucontext_t (each
 * architecture's asm/ucontext.h and asm/sigcontext.h). */
static const struct {
    const char *arch;
    unsigned pc;
} context_pc[] = {{"amd64", 168}, {"arm64", 440}, {"power", 488}, {"s390x", 48}, {"riscv64", 176}};

static uintptr_t pc_of(void *context)
{
    for (size_t i = 0; i < sizeof context_pc / sizeof *context_pc; i++)
        if (strcmp(context_pc[i].arch, fk_here->name) == 0)
            return *(uintptr_t *)((char *)context + context_pc[i].pc);
    return 0;
}

static void describe_fault(uintptr_t address, const char *name)
{
    struct domain *d = fk_self;
    struct finding f = {.rule = "fault"};
    if ((char *)address >= fk_young_start && (char *)address < fk_young_end) {
        f.rule = "stale-pointer";
        if (d && (char *)address >= (char *)d->st.young_end && (char *)address < (char *)d->st.young_end + 4096)
            f.rule = "nursery-overrun", f.ra = fk_lengths_last(d);
        fk_report(&f, "%s used 0x%zx, an address of a nursery that is not in use: a block moved or died there", name,
                  (size_t)address);
    }
    fk_report(&f, "%s used the address 0x%zx, which is not mapped", name, (size_t)address);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char name[256], how[320];
    uintptr_t address = (uintptr_t)info->si_addr, pc = pc_of(context);
    (void)signal;
    fk_symbol_name(pc, name, sizeof name);
    snprintf(how, sizeof how, "was used by %s", name);
    if (fk_is_poison(address))
        fk_report_poison(address, how);
    describe_fault(address, name);
}

void fk_report_init(void)
{
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&a.sa_mask);
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
}
