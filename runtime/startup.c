/* startup.c - from main to caml_program and back.
 *
 * FK_ARCH is the architecture that this archive is built for; everything that
 * depends on it is read from abi/'s tables. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/check_history.h"
#include "runtime/fiber.h"
#include "runtime/memory.h"
#include "runtime/params.h"
#include "runtime/profiler.h"
#include "runtime/sched.h"
#include "runtime/signals.h"
#include "runtime/sys.h"

extern value caml_start_program(struct domain *);

static struct domain *start_domain(void)
{
    fk_nursery_init(fk_params.minor_words);
    struct domain *d = fk_domain_new();
    if (!d)
        fk_fatal("out of memory: the first domain");
    fk_prof_new_domain(NULL, d);
    if (fk_check.scheduled)
        fk_sched_add(d->current);
    fk_thread_enter(d->current);
    return d;
}

static struct domain *init(char **argv)
{
    fk_here = fk_abi_by_name(FK_ARCH);
    fk_params_init();
    fk_check_init();
    if (fk_check.history)
        fk_history_init();
    fk_sys_init(argv);
    fk_frames_init();
    fk_atoms_init();
    struct domain *d = start_domain();
    fk_signals_init();
    fk_report_init();
    fk_check_late_init();
    fk_backtrace_enable(d, fk_params.backtrace);
    return d;
}

value caml_startup_exn(char **argv)
{
    struct domain *d = init(argv);
    return caml_start_program(d);
}

void caml_startup(char **argv)
{
    value r = caml_startup_exn(argv);
    if (is_exn_result(r))
        fk_fatal_uncaught(exn_of_result(r));
}
void caml_main(char **argv) { caml_startup(argv); }

/* OCaml's at_exit functions run inside caml_program (Std_exit). */
void fk_exit(int code)
{
    exit(code);
}
