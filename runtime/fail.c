/* fail.c - raising from C, and the runtime's own fatal errors.
 *
 * A raise from C cuts the C stack down to the innermost caml_start_program or
 * callback frame (dom.c_stack), then the fiber down to its trap. Local roots of
 * the C frames that disappear lie below dom.c_stack. */
#include "runtime/fail.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/fiber.h"
#include "runtime/gc.h"
#include "runtime/globals.h"

void fk_fatal(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("framekit runtime: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(EXIT_FATAL);
}

/* --- raising ------------------------------------------------------------------------ */

extern FK_NORETURN void caml_raise_exception(struct domain *, value exn);

static void cut_local_roots(struct domain *d)
{
    while (d->st.local_roots && (char *)d->st.local_roots < (char *)d->st.c_stack)
        d->st.local_roots = d->st.local_roots->next;
}

void fk_raise(value exn)
{
    struct domain *d = fk_self;
    if (!d->st.c_stack || !d->st.exn_handler)
        fk_fatal_uncaught(exn);
    cut_local_roots(d);
    fk_bucket_reserve(d);
    caml_raise_exception(d, exn);
}

void fk_raise_constant(value exn) { fk_raise(exn); }

static FK_NORETURN void raise_with_arg(value exn, value arg)
{
    ROOTS(2, &exn, &arg);
    value v = fk_alloc_small(2, 0);
    FIELD(v, 0) = exn;
    FIELD(v, 1) = arg;
    UNROOT_VOID();
    fk_raise(v);
}

void fk_raise_with_string(value exn, const char *s)
{
    ROOTS(1, &exn);
    value str = fk_copy_string(s);
    UNROOT_VOID();
    raise_with_arg(exn, str);
}

#define PREDEF(name) ((value)caml_exn_##name)

void fk_failwith(const char *s) { fk_raise_with_string(PREDEF(Failure), s); }
void fk_invalid_arg(const char *s) { fk_raise_with_string(PREDEF(Invalid_argument), s); }

/* Nothing may be collected here: on arm64 a function without a frame that fails a bound check
 * has lost its return address, so its stack cannot be scanned. The exception is static data. */
void fk_bound_error(void)
{
    static struct {
        header hd;
        char text[24]; /* the last byte says how many of the last word do not count */
    } message = {(header)3 << 10 | COLOR_STATIC | TAG_STRING, "index out of bounds\0\0\0\0\4"};
    static struct {
        header hd;
        value exn, text;
    } bucket = {(header)2 << 10 | COLOR_STATIC, PREDEF(Invalid_argument), (value)message.text};
    fk_raise((value)&bucket.exn);
}
void fk_raise_out_of_memory(void) { fk_raise(PREDEF(Out_of_memory)); }
void fk_raise_stack_overflow(void) { fk_raise(PREDEF(Stack_overflow)); }

/* A program without the module that registers the exception cannot catch it: it ends
 * as by an uncaught one, and its at_exit functions do not run. */
static value named_exception(const char *name)
{
    value exn = fk_named_value(name);
    if (!exn) {
        fprintf(stderr, "Fatal error: exception %s\n", name);
        exit(EXIT_UNCAUGHT);
    }
    return exn;
}

void fk_raise_named(const char *name) { fk_raise(named_exception(name)); }
void fk_raise_named_arg(const char *name, value arg) { raise_with_arg(named_exception(name), arg); }

void fk_raise_sys_error(const char *name)
{
    char text[512];
    int e = errno;
    if (e == ENOMEM)
        fk_raise_out_of_memory();
    if (name)
        snprintf(text, sizeof text, "%s: %s", name, strerror(e));
    else
        snprintf(text, sizeof text, "%s", strerror(e));
    fk_raise_with_string(PREDEF(Sys_error), text);
}

void fk_raise_sys_error_about(value name)
{
    const char *why = strerror(errno);
    size_t n = string_length(name), m = strlen(why);
    ROOTS(1, &name);
    value text = fk_alloc_string(n + 2 + m);
    memcpy((char *)text, (char *)name, n);
    memcpy((char *)text + n, ": ", 2);
    memcpy((char *)text + n + 2, why, m);
    UNROOT_VOID();
    raise_with_arg(PREDEF(Sys_error), text);
}

/* Loaded by caml_ml_array_bound_error. */
void caml_array_bound_error_asm(void) { fk_bound_error(); }

/* --- the public names ------------------------------------------------------------------ */

void caml_raise(value exn) { fk_raise(exn); }
void caml_raise_constant(value exn) { fk_raise(exn); }
void caml_raise_with_arg(value exn, value arg) { raise_with_arg(exn, arg); }
void caml_raise_with_string(value exn, const char *s) { fk_raise_with_string(exn, s); }
void caml_failwith(const char *s) { fk_failwith(s); }
void caml_invalid_argument(const char *s) { fk_invalid_arg(s); }
void caml_array_bound_error(void) { fk_bound_error(); }
void caml_raise_out_of_memory(void) { fk_raise_out_of_memory(); }
void caml_raise_stack_overflow(void) { fk_raise_stack_overflow(); }
void caml_raise_end_of_file(void) { fk_raise(PREDEF(End_of_file)); }
void caml_raise_zero_divide(void) { fk_raise(PREDEF(Division_by_zero)); }
void caml_raise_not_found(void) { fk_raise(PREDEF(Not_found)); }
void caml_raise_sys_error(value msg) { raise_with_arg(PREDEF(Sys_error), msg); }

/* --- named values ------------------------------------------------------------------------ */

struct named {
    struct named *next;
    value val;
    char name[];
};
static struct named *named_values;
static pthread_mutex_t named_lock = PTHREAD_MUTEX_INITIALIZER;

static struct named *find_named(const char *name)
{
    pthread_mutex_lock(&named_lock);
    struct named *n = named_values;
    while (n && strcmp(n->name, name) != 0)
        n = n->next;
    pthread_mutex_unlock(&named_lock);
    return n;
}

value fk_named_value(const char *name)
{
    struct named *n = find_named(name);
    return n ? n->val : 0;
}

const value *caml_named_value(const char *name)
{
    struct named *n = find_named(name);
    return n ? &n->val : NULL;
}

value caml_register_named_value(value name, value v)
{
    struct named *n = find_named((char *)name);
    if (n) {
        caml_modify_generational_global_root(&n->val, v);
        return VAL_UNIT;
    }
    n = malloc(sizeof *n + string_length(name) + 1);
    if (!n)
        fk_raise_out_of_memory();
    strcpy(n->name, (char *)name);
    n->val = v;
    caml_register_generational_global_root(&n->val);
    pthread_mutex_lock(&named_lock);
    n->next = named_values;
    named_values = n;
    pthread_mutex_unlock(&named_lock);
    return VAL_UNIT;
}
