/* report_fault.c - the program used an address that is not accessible. */
#include "runtime/report.h"

#include <signal.h>
#include <stdio.h>

#include "runtime/fiber.h"
#include "runtime/signals.h"

/* Where the kernel keeps the program counter and the general registers in ucontext_t (each
 * architecture's asm/ucontext.h and asm/sigcontext.h). */
static const struct context {
    const char *arch;
    unsigned pc, registers, num_registers;
} contexts[] = {{"amd64", 168, 40, 16}, {"arm64", 440, 184, 31}, {"power", 488, 232, 32},
                {"s390x", 48, 56, 16}, {"riscv64", 176, 184, 31}};

static const struct context *context_here(void)
{
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        if (strcmp(contexts[i].arch, fk_here->name) == 0)
            return &contexts[i];
    return NULL;
}

static uintptr_t word_of(const void *context, unsigned offset)
{
    return *(const uintptr_t *)((const char *)context + offset);
}

/* s390x says the page only: the address is that of a register whose block begins there or just
 * before. Elsewhere a fault at the first byte of a page is looked up in the same way. */
static uintptr_t whole_address(uintptr_t address, const void *context)
{
    const struct context *c = context_here();
    for (unsigned i = 0; address % 4096 == 0 && c && i < c->num_registers; i++) {
        uintptr_t r = word_of(context, c->registers + 8 * i);
        if (r - address < 4096 + sizeof(value) && fk_object_at(r, fk_minor_count).at)
            return r;
    }
    return address;
}

static bool was_nursery(uintptr_t a)
{
    return (char *)a >= fk_young_start && (char *)a < fk_young_end;
}

/* Pools that compaction emptied are the only free pages that are not accessible. */
static bool was_pool(uintptr_t a)
{
    struct span *s = fk_span_of((void *)a);
    return s && s->kind == SPAN_FREE;
}

static bool is_beyond_nursery(const struct domain *d, uintptr_t a)
{
    return d && a >= (uintptr_t)d->st.young_end && a < (uintptr_t)d->st.young_end + 4096;
}

static void describe_fault(uintptr_t address, const char *how)
{
    struct finding f = {.rule = "fault"};
    if (was_nursery(address) && is_beyond_nursery(fk_self, address)) {
        f.rule = "nursery-overrun";
        f.ra = fk_lengths_last(fk_self);
        fk_report(&f, "0x%zx, which lies beyond the nursery, %s", (size_t)address, how);
    }
    if (was_nursery(address) || was_pool(address)) {
        f.rule = "stale-pointer";
        f.object = (value)address;
        fk_report(&f, "0x%zx, an address of a %s that was emptied, %s: a block moved or died there",
                  (size_t)address, was_nursery(address) ? "nursery" : "pool", how);
    }
    fk_report(&f, "the address 0x%zx, which is not mapped, %s", (size_t)address, how);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char name[256], how[320];
    const struct context *c = context_here();
    (void)signal;
    fk_symbol_name(c ? word_of(context, c->pc) : 0, name, sizeof name);
    snprintf(how, sizeof how, "was used by %s", name);
    if (fk_is_poison((uintptr_t)info->si_addr))
        fk_report_poison((uintptr_t)info->si_addr, how);
    describe_fault(whole_address((uintptr_t)info->si_addr, context), how);
}

void fk_report_init(void)
{
    struct sigaction a = {.sa_sigaction = on_fault,
                          .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&a.sa_mask);
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
}
