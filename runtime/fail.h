/* fail.h - OCaml exceptions from C, and fatal errors of the runtime itself. */
#ifndef FK_RT_FAIL_H
#define FK_RT_FAIL_H

#include "runtime/value.h"

#if defined(__GNUC__)
#define FK_NORETURN __attribute__((noreturn))
#define FK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define FK_NORETURN
#define FK_PRINTF(f, a)
#endif

struct fiber;

/* Exit codes of the runtime. */
enum { EXIT_UNCAUGHT = 2, EXIT_FATAL = 96, EXIT_CHECK = 97 };

/* "framekit runtime: MESSAGE", exit code 96. */
FK_NORETURN void fk_fatal(const char *format, ...) FK_PRINTF(1, 2);

FK_NORETURN void fk_raise(value exn);
FK_NORETURN void fk_raise_constant(value exn);
FK_NORETURN void fk_raise_with_string(value exn, const char *);
FK_NORETURN void fk_raise_named(const char *name);
FK_NORETURN void fk_raise_named_arg(const char *name, value arg);
FK_NORETURN void fk_raise_out_of_memory(void);
FK_NORETURN void fk_raise_stack_overflow(void);
FK_NORETURN void fk_failwith(const char *);
FK_NORETURN void fk_invalid_arg(const char *);
FK_NORETURN void fk_bound_error(void);
FK_NORETURN void fk_raise_sys_error(const char *name); /* errno; "NAME: text" */
FK_NORETURN void fk_raise_sys_error_about(value name); /* a string of any length */

/* The registered value, or 0. */
value fk_named_value(const char *name);

/* The predefined exceptions, in the startup object of every program. */
extern value caml_exn_Out_of_memory[], caml_exn_Sys_error[], caml_exn_Failure[],
    caml_exn_Invalid_argument[], caml_exn_End_of_file[], caml_exn_Division_by_zero[],
    caml_exn_Not_found[], caml_exn_Match_failure[], caml_exn_Stack_overflow[],
    caml_exn_Sys_blocked_io[], caml_exn_Assert_failure[], caml_exn_Undefined_recursive_module[];

#endif
