/* prims_sys.c - Sys: files, environment, process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/callback.h"
#include "runtime/fail.h"
#include "runtime/gc.h"
#include "runtime/params.h"
#include "runtime/sys.h"

char **fk_argv;
char fk_exe_name[PATH_MAX];

void fk_sys_init(char **argv)
{
    static char *none[] = {"", NULL};
    fk_argv = argv && argv[0] ? argv : none;
    ssize_t n = readlink("/proc/self/exe", fk_exe_name, sizeof fk_exe_name - 1);
    if (n <= 0)
        n = snprintf(fk_exe_name, sizeof fk_exe_name, "%s", fk_argv[0]);
    fk_exe_name[n < PATH_MAX ? n : PATH_MAX - 1] = 0;
}

/* --- strings and lists ------------------------------------------------------------------ */

static value string_array(char *const *s, size_t n)
{
    if (n == 0)
        return fk_atom(0);
    value a = fk_alloc(n, 0);
    ROOTS(1, &a);
    for (size_t i = 0; i < n; i++) {
        value x = fk_copy_string(s[i]); /* before the address: it may collect */
        caml_modify(&FIELD(a, i), x);
    }
    return UNROOT(a);
}

/* A copy of the name for use without values; one with a zero in it is an error. */
static char *c_name(value name, int error)
{
    if (strlen((char *)name) != string_length(name)) {
        errno = error;
        fk_raise_sys_error_about(name);
    }
    char *s = strdup((char *)name);
    if (!s)
        fk_raise_out_of_memory();
    return s;
}

/* Runs a call on a string that c_name made, with the domain released, and frees it. */
static int on_copy(char *s, int (*f)(const char *, void *), void *arg)
{
    fk_blocking_enter();
    int r = f(s, arg), e = errno;
    free(s);
    fk_blocking_leave();
    errno = e;
    return r;
}

static int on_name(value name, int (*f)(const char *, void *), void *arg)
{
    ROOTS(1, &name);
    int r = on_copy(c_name(name, ENOENT), f, arg);
    if (r < 0)
        fk_raise_sys_error_about(name);
    UNROOT_VOID();
    return r;
}

/* --- arguments, environment --------------------------------------------------------------- */

value caml_sys_argv(value unit)
{
    size_t n = 0;
    (void)unit;
    while (fk_argv[n])
        n++;
    return string_array(fk_argv, n);
}
value caml_sys_executable_name(value unit) { (void)unit; return fk_copy_string(fk_exe_name); }

value caml_sys_getenv(value name)
{
    const char *s = strlen((char *)name) == string_length(name) ? getenv((char *)name) : NULL;
    if (!s)
        fk_raise((value)caml_exn_Not_found);
    return fk_copy_string(s);
}
value caml_sys_unsafe_getenv(value name) { return caml_sys_getenv(name); }

value caml_sys_get_config(value unit)
{
    (void)unit;
    value os = fk_copy_string("Unix");
    ROOTS(1, &os);
    value v = fk_alloc_small(3, 0);
    union { uint16_t n; char c[2]; } probe = {1};
    FIELD(v, 0) = os;
    FIELD(v, 1) = VAL_INT(64);
    FIELD(v, 2) = VAL_BOOL(!probe.c[0]);
    return UNROOT(v);
}
value caml_sys_get_argv(value unit)
{
    value args = caml_sys_argv(unit), exe = VAL_UNIT;
    ROOTS(2, &args, &exe);
    exe = fk_copy_string(fk_argv[0]);
    value v = fk_alloc_small(2, 0);
    FIELD(v, 0) = exe;
    FIELD(v, 1) = args;
    return UNROOT(v);
}

#define CONSTANT(name, v) \
    value caml_sys_const_##name(value unit) { (void)unit; return (v); }
CONSTANT(backend_type, VAL_INT(0))
CONSTANT(word_size, VAL_INT(64))
CONSTANT(int_size, VAL_INT(63))
CONSTANT(max_wosize, VAL_INT(MAX_WOSIZE))
CONSTANT(ostype_unix, VAL_TRUE)
CONSTANT(ostype_win32, VAL_FALSE)
CONSTANT(ostype_cygwin, VAL_FALSE)
CONSTANT(naked_pointers_checked, VAL_FALSE)
value caml_sys_const_big_endian(value unit)
{
    union { uint16_t n; char c[2]; } probe = {1};
    (void)unit;
    return VAL_BOOL(!probe.c[0]);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Stdlib.open_flag in its order. */
static const int open_flags[] = {O_RDONLY, O_WRONLY, O_APPEND | O_WRONLY, O_CREAT, O_TRUNC, O_EXCL,
                                 0, 0, O_NONBLOCK};

struct open_args {
    int flags, mode;
};
static int do_open(const char *s, void *p)
{
    struct open_args *a = p;
    return open(s, a->flags | O_CLOEXEC, a->mode);
}
value caml_sys_open(value name, value flags, value mode)
{
    struct open_args a = {0, (int)INT_VAL(mode)};
    for (value l = flags; is_block(l); l = FIELD(l, 1))
        a.flags |= open_flags[INT_VAL(FIELD(l, 0))];
    return VAL_INT(on_name(name, do_open, &a));
}
value caml_sys_close(value fd)
{
    fk_blocking_enter();
    close((int)INT_VAL(fd));
    fk_blocking_leave();
    return VAL_UNIT;
}

static int do_stat(const char *s, void *p) { return stat(s, p); }
static int do_mkdir(const char *s, void *p) { return mkdir(s, *(int *)p); }
static int do_rmdir(const char *s, void *p) { (void)p; return rmdir(s); }
static int do_unlink(const char *s, void *p) { (void)p; return unlink(s); }
static int do_chdir(const char *s, void *p) { (void)p; return chdir(s); }
static int do_rename(const char *s, void *p) { return rename(s, p); }

value caml_sys_file_exists(value name)
{
    struct stat st;
    return VAL_BOOL(strlen((char *)name) == string_length(name) && stat((char *)name, &st) == 0);
}
value caml_sys_is_directory(value name)
{
    struct stat st;
    on_name(name, do_stat, &st);
    return VAL_BOOL(S_ISDIR(st.st_mode));
}
value caml_sys_is_regular_file(value name)
{
    struct stat st;
    on_name(name, do_stat, &st);
    return VAL_BOOL(S_ISREG(st.st_mode));
}
value caml_sys_mkdir(value name, value mode)
{
    int m = (int)INT_VAL(mode);
    on_name(name, do_mkdir, &m);
    return VAL_UNIT;
}
value caml_sys_rmdir(value name) { on_name(name, do_rmdir, NULL); return VAL_UNIT; }
value caml_sys_remove(value name) { on_name(name, do_unlink, NULL); return VAL_UNIT; }
value caml_sys_chdir(value name) { on_name(name, do_chdir, NULL); return VAL_UNIT; }
value caml_sys_rename(value from, value to)
{
    char *target = c_name(to, ENOENT);
    char *source = c_name(from, ENOENT);
    int r = on_copy(source, do_rename, target), e = errno;
    free(target);
    errno = e;
    if (r < 0) /* which of the two names was wrong is not known */
        fk_raise_sys_error(NULL);
    return VAL_UNIT;
}
value caml_sys_getcwd(value unit)
{
    char buf[PATH_MAX];
    (void)unit;
    if (!getcwd(buf, sizeof buf))
        fk_raise_sys_error(NULL);
    return fk_copy_string(buf);
}

struct names {
    char **name;
    size_t size, capacity;
};

static bool add_name(struct names *l, const char *s)
{
    if (l->size == l->capacity) {
        size_t n = l->capacity ? 2 * l->capacity : 64;
        char **p = realloc(l->name, n * sizeof *p);
        if (!p)
            return false;
        l->name = p;
        l->capacity = n;
    }
    l->name[l->size] = strdup(s);
    return l->name[l->size++] != NULL;
}

static int do_read_directory(const char *s, void *p)
{
    DIR *d = opendir(s);
    if (!d)
        return -1;
    int r = 0;
    for (struct dirent *e; !r && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !add_name(p, e->d_name)) {
            errno = ENOMEM;
            r = -1;
        }
    int e = errno;
    closedir(d);
    errno = e;
    return r;
}

value caml_sys_read_directory(value name)
{
    struct names l = {0};
    ROOTS(1, &name);
    int r = on_copy(c_name(name, ENOENT), do_read_directory, &l), e = errno;
    value v = r < 0 ? VAL_UNIT : string_array(l.name, l.size);
    while (l.size > 0)
        free(l.name[--l.size]);
    free(l.name);
    errno = e;
    if (r < 0)
        fk_raise_sys_error_about(name);
    return UNROOT(v);
}
value caml_sys_isatty(value ch)
{
    extern value caml_channel_descriptor(value);
    return VAL_BOOL(isatty((int)INT_VAL(caml_channel_descriptor(ch))));
}

/* --- process -------------------------------------------------------------------------------------- */

value caml_sys_exit(value code) { fk_exit((int)INT_VAL(code)); }

static int do_system(const char *s, void *p)
{
    (void)p;
    return system(s);
}
value caml_sys_system_command(value command)
{
    ROOTS(1, &command);
    int status = on_copy(c_name(command, EINVAL), do_system, NULL);
    if (status < 0)
        fk_raise_sys_error_about(command);
    UNROOT_VOID();
    return VAL_INT(WIFEXITED(status) ? WEXITSTATUS(status) : 255);
}

double caml_sys_time_include_children_unboxed(value include)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    double t = u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6 + u.ru_stime.tv_sec + u.ru_stime.tv_usec / 1e6;
    if (INT_VAL(include)) {
        getrusage(RUSAGE_CHILDREN, &u);
        t += u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6 + u.ru_stime.tv_sec + u.ru_stime.tv_usec / 1e6;
    }
    return t;
}
double caml_sys_time_unboxed(value unit)
{
    (void)unit;
    return caml_sys_time_include_children_unboxed(VAL_FALSE);
}
value caml_sys_time(value unit) { return fk_copy_double(caml_sys_time_unboxed(unit)); }

value caml_sys_random_seed(value unit)
{
    int64_t data[4] = {0};
    (void)unit;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, data, sizeof data);
        (void)n;
        close(fd);
    }
    data[3] ^= (int64_t)time(NULL) ^ getpid();
    value v = fk_alloc_small(4, 0);
    for (int i = 0; i < 4; i++)
        FIELD(v, i) = VAL_INT(data[i]);
    return v;
}

static _Atomic int warnings;
value caml_ml_enable_runtime_warnings(value on)
{
    atomic_store(&warnings, INT_VAL(on));
    return VAL_UNIT;
}
value caml_ml_runtime_warnings_enabled(value unit)
{
    (void)unit;
    return VAL_BOOL(atomic_load(&warnings));
}

value caml_runtime_variant(value unit) { (void)unit; return fk_copy_string(""); }
value caml_runtime_parameters(value unit)
{
    char buf[256];
    (void)unit;
    snprintf(buf, sizeof buf, "b=%d,l=%zu,o=%zu,s=%zu,v=%zu", fk_params.backtrace,
             (size_t)fk_params.stack_words, (size_t)fk_params.space_overhead,
             (size_t)fk_params.minor_words, (size_t)fk_params.verbose);
    return fk_copy_string(buf);
}
value caml_sys_modify_argv(value args) { (void)args; return VAL_UNIT; }
