/* session.c - see session.h. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctf.h"
#include "record.h"

enum { MAX_PATH = 4096, CLOCK_EVERY = 64 };

static struct {
    double rate, every, limit;
    uint64_t seed;
    int64_t depth;
    size_t sites;
    int signal;
    bool quiet;
    char out[MAX_PATH], format[16];
    fk_mp_export_fn write;   /* NULL: a trace */
    fk_mp_recorder *recorder;
    fk_mp_ctf *trace;
    const fk_mp_hooks *inner; /* the recorder's or the trace's */
    fk_mp_hooks hooks;        /* those, with a look at the clock */
    fk_mp_profile *profile;
    pid_t pid;
    struct timespec next;
    unsigned calls, snapshots;
} session;

static volatile sig_atomic_t asked;

static void say(const char *format, ...)
{
    va_list args;
    fputs("framekit-memprof: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* --- options ------------------------------------------------------------------- */

static bool number(const char *text, double least, double most, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (!*text || *end || !(v >= least && v <= most))
        return false;
    *out = v;
    return true;
}

static bool text(const char *value, char *out, size_t size)
{
    return *value && (size_t)snprintf(out, size, "%s", value) < size;
}

static bool set_format(const char *name)
{
    session.write = fk_mp_export_by_name(name);
    return text(name, session.format, sizeof session.format) && (session.write || strcmp(name, "ctf") == 0);
}

static bool set_option(const char *key, const char *value)
{
    double v;
    if (strcmp(key, "rate") == 0)
        return number(value, 0, 1, &session.rate) && session.rate > 0;
    if (strcmp(key, "out") == 0)
        return text(value, session.out, sizeof session.out);
    if (strcmp(key, "format") == 0)
        return set_format(value);
    if (strcmp(key, "every") == 0)
        return number(value, 0.001, 1e9, &session.every);
    if (strcmp(key, "quiet") == 0)
        return session.quiet = true;
    if (strcmp(key, "depth") == 0 && number(value, 0, 1e9, &v))
        return session.depth = (int64_t)v, true;
    if (strcmp(key, "sites") == 0 && number(value, 1, 1 << 22, &v))
        return session.sites = (size_t)v, true;
    if (strcmp(key, "signal") == 0 && number(value, 1, 64, &v))
        return session.signal = (int)v, true;
    if (strcmp(key, "limit") == 0)
        return number(value, 1, 1e9, &session.limit);
    if (strcmp(key, "seed") == 0 && number(value, 1, 1e15, &v))
        return session.seed = (uint64_t)v, true;
    return false;
}

static bool parse(const char *options)
{
    char copy[2 * MAX_PATH], *save = NULL;
    if ((size_t)snprintf(copy, sizeof copy, "%s", options) >= sizeof copy) {
        say("FRAMEKIT_MEMPROF is too long; no profile is made");
        return false;
    }
    for (char *o = strtok_r(copy, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
        char *value = strchr(o, '=');
        if (value)
            *value++ = 0;
        if (!set_option(o, value ? value : "")) {
            say("FRAMEKIT_MEMPROF: bad option '%s%s%s'; no profile is made (options: rate=R out=FILE "
                "format=pprof|folded|folded-live|speedscope|ctf depth=N every=S signal=N sites=N limit=N seed=N quiet)",
                o, value ? "=" : "", value ? value : "");
            return false;
        }
    }
    return true;
}

/* FILE with %p replaced, and `.N` for a snapshot, `.PID` in a forked child. */
static bool output_path(char *path, unsigned snapshot)
{
    size_t n = 0;
    for (const char *s = session.out; *s && n + 24 < MAX_PATH; s++)
        if (s[0] == '%' && s[1] == 'p') {
            n += (size_t)sprintf(path + n, "%ld", (long)getpid());
            s++;
        } else {
            path[n++] = *s;
        }
    path[n] = 0;
    if (getpid() != session.pid && !strstr(session.out, "%p"))
        n += (size_t)snprintf(path + n, MAX_PATH - n, ".%ld", (long)getpid());
    if (snapshot)
        n += (size_t)snprintf(path + n, MAX_PATH - n, ".%u", snapshot);
    return n < MAX_PATH - 8;
}

/* --- writing --------------------------------------------------------------------- */

/* A named pipe that nobody reads is an error, not a reason to wait. -1: errno tells. */
static int create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    return fd;
}

static bool write_file(const char *path)
{
    int fd = create(path);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!f)
        return false;
    bool good = session.write(session.recorder, f);
    int saved = errno;
    good &= fclose(f) == 0;
    if (!good && saved)
        errno = saved;
    return good;
}

/* A regular file appears whole or not at all; a device or a pipe is written as
 * it stands. */
static bool write_whole(const char *path)
{
    struct stat st;
    char part[MAX_PATH + 8];
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_file(path);
    snprintf(part, sizeof part, "%s.part", path);
    if (write_file(part) && rename(part, path) == 0)
        return true;
    int saved = errno;
    unlink(part);
    errno = saved;
    return false;
}

static void write_trace(void)
{
    static bool said; /* nothing is written after the first error */
    int error = fk_mp_ctf_flush(session.trace);
    if (error && !said)
        say("cannot write the trace: %s", strerror(error));
    said |= error != 0;
}

static void write_profile(unsigned snapshot)
{
    char path[MAX_PATH];
    if (session.trace) {
        write_trace();
        return;
    }
    /* A pipe whose reader has gone must not kill the program. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGPIPE, &ignore, &old);
    if (!output_path(path, snapshot))
        say("the name of the output file is too long");
    else if (!write_whole(path))
        say("cannot write %s: %s", path, strerror(errno));
    sigaction(SIGPIPE, &old, NULL);
}

static void write_last(void)
{
    write_profile(0);
}

/* --- snapshots --------------------------------------------------------------------- */

static void on_signal(int number)
{
    (void)number;
    asked = 1;
}

static void set_next(const struct timespec *now)
{
    double next = (double)now->tv_sec + 1e-9 * (double)now->tv_nsec + session.every;
    session.next.tv_sec = (time_t)next;
    session.next.tv_nsec = (long)(1e9 * (next - floor(next)));
}

static bool clock_says_now(void)
{
    struct timespec now;
    if (session.every <= 0 || ++session.calls % CLOCK_EVERY)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < session.next.tv_sec ||
        (now.tv_sec == session.next.tv_sec && now.tv_nsec < session.next.tv_nsec))
        return false;
    set_next(&now);
    return true;
}

static bool on_alloc(void *arg, const fk_mp_allocation *a, bool major, fk_mp_value *datum)
{
    bool keep = session.inner->alloc(arg, a, major, datum);
    if (asked || clock_says_now()) {
        asked = 0;
        write_profile(++session.snapshots);
    }
    return keep;
}

/* --- start ---------------------------------------------------------------------------- */

static void defaults(void)
{
    session.rate = 1e-4;
    session.depth = 256;
    session.sites = 65536;
    strcpy(session.format, "pprof");
    session.write = fk_mp_export_pprof;
    session.pid = getpid();
}

static void arm_snapshots(void)
{
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    if (session.signal && sigaction(session.signal, &sa, NULL) != 0)
        say("signal=%d: %s", session.signal, strerror(errno));
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    set_next(&now);
}

static const fk_mp_hooks *open_recorder(void)
{
    session.recorder = fk_mp_recorder_new(session.rate, session.sites, 64 * session.sites);
    if (!session.recorder)
        say("no memory; no profile is made");
    return session.recorder ? &session.recorder->hooks : NULL;
}

/* A trace is written as it comes, so its file must be there first. */
static const fk_mp_hooks *open_trace(void)
{
    char path[MAX_PATH];
    if (!output_path(path, 0)) {
        say("the name of the output file is too long");
        return NULL;
    }
    int fd = create(path);
    session.trace = fd >= 0 ? fk_mp_ctf_open(fd, session.rate) : NULL;
    if (!session.trace)
        say("cannot write %s: %s; no trace is made", path, strerror(errno));
    return session.trace ? fk_mp_ctf_hooks(session.trace) : NULL;
}

static bool attach(fk_mp_domain *d)
{
    session.profile = fk_mp_profile_new(session.rate, (size_t)session.depth, &session.hooks);
    if (!session.profile)
        return false;
    if (session.seed)
        session.profile->seed = session.seed;
    fk_mp_limit_init(&session.profile->limit, session.limit);
    return fk_mp_attach(d, session.profile) == FK_MP_OK;
}

void fk_mp_session_begin(fk_mp_domain *d, const char *engine)
{
    const char *options = getenv("FRAMEKIT_MEMPROF");
    if (!options)
        return;
    defaults();
    if (!parse(options))
        return;
    if (!session.out[0])
        snprintf(session.out, sizeof session.out, "memprof.%%p.%s", session.format);
    session.inner = session.write ? open_recorder() : open_trace();
    if (!session.inner)
        return;
    session.hooks = *session.inner;
    session.hooks.alloc = on_alloc;
    if (!attach(d)) {
        say("no memory; no profile is made");
        return;
    }
    arm_snapshots();
    atexit(write_last);
    if (!session.quiet)
        say("%s, rate %g, %s to %s", engine, session.rate, session.format, session.out);
}
