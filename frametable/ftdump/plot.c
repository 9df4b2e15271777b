/* plot.c - box plots through gnuplot, the only place that knows it. */
#include "frametable/ftdump/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* An input is never overwritten, under whatever name --plot gives it. */
static bool is_input(const ft_options *o, const struct stat *plot)
{
    struct stat st;
    for (int i = 0; i < o->num_files; i++)
        if (stat(o->files[i], &st) == 0 && st.st_dev == plot->st_dev && st.st_ino == plot->st_ino)
            return true;
    return false;
}

static int open_plot(ft_run *run)
{
    struct stat st;
    int fd = open(run->opt->plot, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        ft_complain(run, run->opt->plot, strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) == 0 && is_input(run->opt, &st)) {
        ft_complain(run, run->opt->plot, "is an input: not overwritten");
        close(fd);
        return -1;
    }
    if (S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
        ft_complain(run, run->opt->plot, strerror(errno));
    return fd;
}

/* gnuplot reads its program from our pipe and writes the picture to `fd`. */
static FILE *start(int fd, pid_t *pid)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    char *argv[] = {"gnuplot", "-", NULL};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    int rc = posix_spawnp(pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (rc != 0) {
        close(ends[1]);
        errno = rc;
        return NULL;
    }
    return fdopen(ends[1], "w");
}

static void range(const ft_series *s, size_t n, double *low, double *high)
{
    *low = 1e300;
    *high = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].n; k++) {
            *low = s[i].values[k] < *low ? s[i].values[k] : *low;
            *high = s[i].values[k] > *high ? s[i].values[k] : *high;
        }
    if (*high <= 0)
        *low = *high = 1;
}

/* One direction of ticks from "no change": 5 % apart as in PR #8805, dropping
 * those that would crowd on the logarithmic axis. */
static void ticks_towards(FILE *g, double end, double gap)
{
    double sign = end < 1 ? -1 : 1, last = 0;
    for (int percent = 5; percent <= 100000; percent += percent < 100 ? 5 : percent / 2) {
        double v = 1 + sign * percent / 100.0;
        if (v <= 0 || (sign < 0 ? v < end : v > end))
            return;
        double at = fabs(log(v));
        if (at - last < gap)
            continue;
        fprintf(g, ", \"%+.0f %%%%\" %g", sign * percent, v);
        last = at;
    }
}

static void ratio_ticks(FILE *g, double low, double high)
{
    double gap = (log(high > 1 ? high : 1) - log(low < 1 ? low : 1)) / 22;
    fputs("set ytics nomirror (\"0 %%\" 1", g);
    ticks_towards(g, low / 1.05, gap);
    ticks_towards(g, high * 1.05, gap);
    fputs(")\n", g);
}

static void put_quoted(FILE *g, const char *s)
{
    fputc('\'', g);
    for (; *s != 0; s++)
        fputs(*s == '\'' ? "''" : (char[]){*s, 0}, g);
    fputc('\'', g);
}

static void program(FILE *g, const char *title, const char *axis, bool ratio, const ft_series *s,
                    size_t n)
{
    double low, high;
    range(s, n, &low, &high);
    fputs("set terminal svg size 640,480 dynamic background rgb 'white'\nset title ", g);
    put_quoted(g, title);
    fputs(" noenhanced\nset ylabel ", g);
    put_quoted(g, axis);
    fprintf(g, "\nset logscale y\nset yrange [%g:%g]\nset grid ytics\nunset key\n", low / 1.05,
            high * 1.05);
    fputs("set style boxplot outliers pointtype 7\nset style fill solid 0.3 border -1\n", g);
    fputs("set pointsize 0.4\nset border 3\nset ytics nomirror\n", g);
    if (ratio)
        ratio_ticks(g, low, high);
    fputs("set xtics nomirror\nset xtics (", g);
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "" : ", ", g);
        put_quoted(g, s[i].name);
        fprintf(g, " %zu", i + 1);
    }
    fprintf(g, ")\nset xrange [0.5:%g]\nplot", (double)n + 0.5);
    for (size_t i = 0; i < n; i++)
        fprintf(g, "%s '-' using (%zu):1:(0.5) with boxplot", i == 0 ? "" : ",", i + 1);
    fputc('\n', g);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < s[i].n; k++)
            fprintf(g, "%.9g\n", s[i].values[k]);
        fputs(s[i].n == 0 ? "1\ne\n" : "e\n", g);
    }
}

static void feed(ft_run *run, FILE *g, pid_t pid, const char *title, const char *axis, bool ratio,
                 const ft_series *s, size_t n)
{
    int status = 0;
    void (*old)(int) = signal(SIGPIPE, SIG_IGN); /* gnuplot may die first */
    program(g, title, axis, ratio, s, n);
    bool sent = fclose(g) == 0;
    signal(SIGPIPE, old);
    if (waitpid(pid, &status, 0) < 0 || status != 0 || !sent) {
        ft_complain(run, run->opt->plot, "gnuplot failed: the plot is not usable");
        run->broken = true;
    }
}

void ft_plot(ft_run *run, const char *title, const char *axis, bool ratio, const ft_series *s,
             size_t n)
{
    pid_t pid;
    int fd = open_plot(run);
    if (fd < 0) {
        run->broken = true;
        return;
    }
    FILE *g = start(fd, &pid);
    close(fd);
    if (g == NULL) {
        ft_complain(run, "gnuplot",
                    errno == ENOENT ? "not found: --plot needs it (package gnuplot-nox)"
                                    : strerror(errno));
        run->broken = true;
        return;
    }
    feed(run, g, pid, title, axis, ratio, s, n);
}
