/* signals.c - OCaml signal handlers.
 *
 * The C handler records the signal and raises young_limit of every domain; the
 * OCaml handler runs at the next safepoint of one of them. System calls of
 * blocking sections return EINTR and their primitives look for pending signals. */
#include "runtime/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "runtime/callback.h"
#include "runtime/globals.h"

static _Atomic int pending[NSIG];
static _Atomic int any_pending;
static value handlers = VAL_UNIT; /* array, index = signal number */

/* The OCaml numbers -1, -2, ... of Sys's signals. */
static const int posix_signals[] = {
    SIGABRT, SIGALRM, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGPIPE, SIGQUIT, SIGSEGV,
    SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGVTALRM,
    SIGPROF, SIGBUS, SIGPOLL, SIGSYS, SIGTRAP, SIGURG, SIGXCPU, SIGXFSZ,
};
enum { NUM_POSIX = sizeof posix_signals / sizeof *posix_signals };

int caml_convert_signal_number(int n)
{
    return n < 0 && n >= -NUM_POSIX ? posix_signals[-n - 1] : n;
}

int caml_rev_convert_signal_number(int n)
{
    for (int i = 0; i < NUM_POSIX; i++)
        if (posix_signals[i] == n)
            return -i - 1;
    return n;
}

void caml_record_signal(int n)
{
    atomic_store(&pending[n], 1);
    atomic_store(&any_pending, 1);
    for (int i = 0; i < fk_slots_used(); i++)
        if (atomic_load(&fk_domains[i].in_use))
            fk_interrupt(&fk_domains[i], INT_CALLBACK);
}

static void on_signal(int n)
{
    int e = errno;
    caml_record_signal(n);
    errno = e;
}

bool fk_signals_pending(void) { return atomic_load(&any_pending); }

static value run_one(int n)
{
    value h = is_block(handlers) ? FIELD(handlers, n) : VAL_UNIT;
    return is_block(h) ? fk_callback_exn(h, VAL_INT(caml_rev_convert_signal_number(n))) : VAL_UNIT;
}

value fk_signals_run(struct domain *d)
{
    value r = VAL_UNIT;
    (void)d;
    if (!atomic_exchange(&any_pending, 0))
        return r;
    for (int n = 1; n < NSIG && !is_exn_result(r); n++)
        if (atomic_exchange(&pending[n], 0))
            r = run_one(n);
    if (is_exn_result(r))
        atomic_store(&any_pending, 1);
    return is_exn_result(r) ? r : VAL_UNIT;
}

static value old_action(const struct sigaction *a, int n)
{
    if (a->sa_handler == SIG_DFL)
        return VAL_INT(0);
    if (a->sa_handler == SIG_IGN)
        return VAL_INT(1);
    value h = is_block(handlers) ? FIELD(handlers, n) : VAL_INT(0);
    ROOTS(1, &h);
    value r = fk_alloc_small(1, 0);
    FIELD(r, 0) = h;
    return UNROOT(r);
}

static void remember(int n, value h)
{
    if (!is_block(handlers)) {
        ROOTS(1, &h);
        value a = fk_alloc(NSIG, 0);
        UNROOT_VOID();
        handlers = a;
        caml_register_global_root(&handlers);
    }
    caml_modify(&FIELD(handlers, n), h);
}

value caml_install_signal_handler(value signal, value action)
{
    int n = caml_convert_signal_number((int)INT_VAL(signal));
    struct sigaction a = {0}, old;
    if (n < 1 || n >= NSIG)
        fk_invalid_arg("Sys.signal: unavailable signal");
    a.sa_handler = action == VAL_INT(0) ? SIG_DFL : action == VAL_INT(1) ? SIG_IGN : on_signal;
    a.sa_flags = SA_ONSTACK;
    sigemptyset(&a.sa_mask);
    ROOTS(1, &action);
    if (sigaction(n, NULL, &old) != 0)
        fk_raise_sys_error(NULL);
    value r = old_action(&old, n);
    {
        ROOTS(1, &r);
        if (is_block(action))
            remember(n, FIELD(action, 0));
        UNROOT_VOID();
    }
    UNROOT_VOID();
    if (sigaction(n, &a, NULL) != 0)
        fk_raise_sys_error(NULL);
    return r;
}

/* Every thread's signal handlers run on a stack of their own: fibers are small. */
void fk_signals_stack(void)
{
    stack_t s = {.ss_size = 64 << 10};
    s.ss_sp = malloc(s.ss_size);
    if (s.ss_sp)
        sigaltstack(&s, NULL);
}

void fk_signals_stack_free(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, s;
    if (sigaltstack(&none, &s) == 0 && !(s.ss_flags & SS_DISABLE))
        free(s.ss_sp);
}

void fk_signals_init(void) { fk_signals_stack(); }

int fk_signals_thread(pthread_t *id, void *(*main)(void *))
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int e = pthread_create(id, NULL, main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return e;
}
