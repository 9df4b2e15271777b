/* process.c - run a program, read what it prints, do not wait for ever. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stubs/check/stubcheck.h"

enum { MOST = 64 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- Ctrl-C ---------------------------------------------------------------------
 * A child is a process group of its own, which the terminal does not reach: the handler
 * ends it, nothing new is started, and main() gets to remove its folder. */
static volatile sig_atomic_t stopped, running;

static void stop(int signal_number)
{
    stopped = signal_number;
    if (running > 0)
        kill(-(pid_t)running, SIGKILL);
}

void sc_catch_stops(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, s = {.sa_handler = stop};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &s, NULL);
}

void sc_end_if_stopped(void)
{
    if (!stopped)
        return;
    signal(stopped, SIG_DFL);
    raise(stopped);
}

static _Noreturn void child(char *const argv[], int out, bool errors)
{
    int null = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    dup2(null, 0);
    dup2(out, 1);
    dup2(errors ? out : null, 2);
    execvp(argv[0], argv);
    _exit(127);
}

/* False: the time is over. */
static bool read_all(int fd, double until, char **out, size_t *used)
{
    size_t size = 0;
    for (;;) {
        double left = until - now();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) == 0)
            return false;
        if (size - *used < 4096 && size < MOST)
            *out = realloc(*out, (size = size ? 2 * size : 65536) + 1);
        if (size - *used == 0)
            return true;
        ssize_t n = read(fd, *out + *used, size - *used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        *used += (size_t)n;
    }
}

int sc_capture(char *const argv[], int seconds, bool errors, char **out)
{
    int p[2], status;
    size_t used = 0;
    *out = malloc(1);
    (*out)[0] = 0;
    if (stopped || pipe2(p, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        child(argv, p[1], errors);
    if (pid > 0)
        setpgid(pid, pid);
    running = pid;
    if (stopped && pid > 0)
        kill(-pid, SIGKILL);
    close(p[1]);
    bool ended = pid > 0 && read_all(p[0], now() + seconds, out, &used);
    close(p[0]);
    (*out)[used] = 0;
    if (pid < 0)
        return -1;
    if (!ended)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    if (!ended)
        return -2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
