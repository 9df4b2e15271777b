/* uncaught.c - the end of a program by an exception: its text as
 * Printexc.to_string would write it, at_exit functions, code 2. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/backtrace.h"
#include "runtime/callback.h"
#include "runtime/profiler.h"

struct text {
    char buf[512];
    size_t n;
};

static void add(struct text *t, const char *s)
{
    t->n += snprintf(t->buf + t->n, sizeof t->buf - t->n, "%s", s);
    if (t->n >= sizeof t->buf)
        t->n = sizeof t->buf - 1;
}

static void add_argument(struct text *t, value v)
{
    char buf[32];
    if (is_int(v)) {
        snprintf(buf, sizeof buf, "%td", INT_VAL(v));
        add(t, buf);
    } else if (tag_of(v) == TAG_STRING) {
        add(t, "\"");
        add(t, (char *)v);
        add(t, "\"");
    } else {
        add(t, "_");
    }
}

static bool has_location(value constructor)
{
    return constructor == (value)caml_exn_Match_failure ||
        constructor == (value)caml_exn_Assert_failure ||
           constructor == (value)caml_exn_Undefined_recursive_module;
}

/* A single tuple argument (file, line, column) is shown as arguments. */
static void format_exception(struct text *t, value exn)
{
    t->n = 0;
    t->buf[0] = 0;
    if (tag_of(exn) == TAG_OBJECT) {
        add(t, (char *)FIELD(exn, 0));
        return;
    }
    value constructor = FIELD(exn, 0), args = exn;
    uintptr_t first = 1;
    add(t, (char *)FIELD(constructor, 0));
    if (wosize_of(exn) == 2 && is_block(FIELD(exn, 1)) && tag_of(FIELD(exn, 1)) == 0 &&
        has_location(constructor)) {
        args = FIELD(exn, 1);
        first = 0;
    }
    add(t, "(");
    for (uintptr_t i = first; i < wosize_of(args); i++) {
        if (i > first)
            add(t, ", ");
        add_argument(t, FIELD(args, i));
    }
    add(t, ")");
}

char *fk_format_exception(value exn)
{
    struct text t;
    format_exception(&t, exn);
    return strdup(t.buf);
}

char *caml_format_exception(value exn) { return fk_format_exception(exn); }

static bool handled_by_printexc(value exn)
{
    value handler = fk_named_value("Printexc.handle_uncaught_exception");
    return handler && !is_exn_result(fk_callback2_exn(handler, exn, VAL_FALSE));
}

void fk_fatal_uncaught(value exn)
{
    struct domain *d = fk_self;
    struct text t;
    ROOTS(1, &exn);
    fk_prof_suspend(d);
    if (handled_by_printexc(exn))
        exit(EXIT_UNCAUGHT);
    format_exception(&t, exn);
    /* at_exit functions may raise as well; their backtrace is not this one's. */
    intptr_t pos = d->st.backtrace_pos, active = d->st.backtrace_active;
    d->st.backtrace_active = 0;
    value at_exit = fk_named_value("Pervasives.do_at_exit");
    if (at_exit)
        fk_callback_exn(at_exit, VAL_UNIT);
    d->st.backtrace_pos = pos;
    fflush(stdout);
    fprintf(stderr, "Fatal error: exception %s\n", t.buf);
    if (active)
        fk_print_backtrace(d);
    exit(EXIT_UNCAUGHT);
}

/* C programs that embed OCaml end it with this. */
void caml_shutdown(void)
{
    value at_exit = fk_named_value("Pervasives.do_at_exit");
    if (at_exit)
        fk_callback_exn(at_exit, VAL_UNIT);
}
