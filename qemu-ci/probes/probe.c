/* What framekit's programs ask of an emulator, tried before they are run under
 * it, so that a fault of the emulator is not taken for one of theirs. Prints
 * one line per property that does not hold and exits 1, or `ok`. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <setjmp.h>

/* ARCH.S: runs every kind of instruction that the stubs contain on a scratch
 * area of 64 words; returns 0x5eed when all had their effect. It does not keep
 * float registers: nothing here has a value in one across the call. */
long probe_instructions(uint64_t *scratch);

/* OCaml 5 reserves the minor heaps of 128 domains at once: 128 x 256 Ki words
 * x 8 bytes = 256 MiB; a runtime given larger minor heaps asks for this much. */
#define RESERVATION ((size_t)4 << 30)

static sigjmp_buf back;
static void *volatile fault_address;
static int *volatile forbidden;
static int wrong;

static void fails(const char *property, const char *detail)
{
    printf("%s: %s\n", property, detail);
    wrong = 1;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char here;
    (void)signal;
    fault_address = info->si_addr;
    if (!context || (char *)((ucontext_t *)context)->uc_stack.ss_sp > &here)
        fault_address = NULL; /* not on the alternate stack */
    siglongjmp(back, 1);
}

/* A guard page must fault, on the alternate stack, with its address: stack
 * overflow detection depends on it. */
static void signals(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_fault;
    if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL))
        fails("signals", "sigaltstack or sigaction refused");
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(back, 1) == 0) {
        *forbidden = 1;
        fails("signals", "a store into a guard page went through");
    } else if (fault_address != (void *)forbidden) {
        fails("signals", "a fault did not arrive on the alternate stack with its address");
    }
}

static void reservation(void)
{
    char *area =
        mmap(NULL, RESERVATION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) {
        fails("address space", "4 GiB cannot be reserved (ulimit -v? -R?)");
        return;
    }
    char *middle = area + RESERVATION / 2;
    if (mprotect(middle, 1 << 20, PROT_READ | PROT_WRITE))
        fails("address space", "a reserved part cannot be committed");
    else
        memset(middle, 1, 1 << 20);
    munmap(area, RESERVATION);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared;

static void *add(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, add, NULL)) {
            fails("threads", "cannot be created");
            return;
        }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    if (shared != 4000)
        fails("threads", "a mutex did not exclude");
}

static void instructions(void)
{
    uint64_t scratch[64] = {0};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_fault;
    sigaction(SIGILL, &action, NULL);
    if (sigsetjmp(back, 1) != 0)
        fails("instructions", "one is not known to the emulator");
    else if (probe_instructions(scratch) != 0x5eed)
        fails("instructions", "one had not its effect");
}

int main(void)
{
    signals();
    reservation();
    threads();
    instructions();
    if (!wrong)
        puts("ok");
    return wrong;
}
