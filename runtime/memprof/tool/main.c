/* framekit-memprof - what a profile says, without a browser. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks.h"

static const char usage[] =
    "usage: framekit-memprof report [--live] [--top=N] [--svg=OUT] FILE\n"
    "  FILE        a profile that FRAMEKIT_MEMPROF made: format=pprof, folded or folded-live\n"
    "  --live      live bytes instead of allocated ones (pprof)\n"
    "  --top=N     lines of the table (20)\n"
    "  --svg=OUT   where the flame graph goes (FILE.svg)\n"
    "exit code: 0; 1 the file cannot be read or the flame graph not be drawn; 3 usage\n";

typedef struct {
    const char *name;
    size_t length;
    double self, total;
    size_t last; /* number of the stack that was added last: recursion counts once */
} row;

typedef struct {
    row *rows;
    size_t size, *index, mask;
} table;

/* --- the table -------------------------------------------------------------------- */

static size_t slot_of(const table *t, const char *name, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
    size_t i = (size_t)(h ^ h >> 32) & t->mask;
    while (t->index[i] && !(t->rows[t->index[i] - 1].length == n && memcmp(t->rows[t->index[i] - 1].name, name, n) == 0))
        i = (i + 1) & t->mask;
    return i;
}

static row *find_row(table *t, const char *name, size_t n)
{
    size_t i = slot_of(t, name, n);
    if (!t->index[i]) {
        t->rows[t->size++] = (row){.name = name, .length = n};
        t->index[i] = t->size;
    }
    return &t->rows[t->index[i] - 1];
}

static void add_stack(table *t, const fk_stack *s, size_t number)
{
    for (const char *p = s->stack;;) {
        size_t n = strcspn(p, ";");
        row *r = find_row(t, p, n);
        if (r->last != number)
            r->total += s->bytes;
        r->last = number;
        if (!p[n]) {
            r->self += s->bytes;
            return;
        }
        p += n + 1;
    }
}

static size_t count_frames(const fk_stacks *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->size; i++) {
        n++;
        for (const char *p = s->data[i].stack; *p; p++)
            n += *p == ';';
    }
    return n;
}

static bool fill(table *t, const fk_stacks *s)
{
    size_t frames = count_frames(s);
    t->mask = 1;
    while (t->mask < 2 * frames)
        t->mask = 2 * t->mask + 1;
    t->rows = malloc((frames + 1) * sizeof *t->rows);
    t->index = calloc(t->mask + 1, sizeof *t->index);
    if (!t->rows || !t->index)
        return false;
    for (size_t i = 0; i < s->size; i++)
        add_stack(t, &s->data[i], i + 1);
    return true;
}

static int by_self(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return x->total != y->total ? (x->total < y->total ? 1 : -1) : 0;
}

static bool print_table(const fk_stacks *s, size_t top, bool live)
{
    table t = {0};
    double all = 0;
    bool good = fill(&t, s);
    for (size_t i = 0; i < s->size; i++)
        all += s->data[i].bytes;
    if (good) {
        qsort(t.rows, t.size, sizeof *t.rows, by_self);
        printf("%.0f bytes %s, %zu call stacks\n\n%14s %6s %14s %6s  function\n", all, live ? "live" : "in total",
               s->size, "self", "", "with callees", "");
        double percent = all > 0 ? 100 / all : 0;
        for (size_t i = 0; i < t.size && i < top; i++) {
            const row *r = &t.rows[i];
            printf("%14.0f %5.1f%% %14.0f %5.1f%%  %.*s\n", r->self, r->self * percent, r->total, r->total * percent,
                   (int)r->length, r->name);
        }
    }
    free(t.rows);
    free(t.index);
    return good;
}

/* --- the flame graph ------------------------------------------------------------------ */

static const char *const renderers[] = {"inferno-flamegraph", "flamegraph.pl", "flamegraph"};

static const char *find_renderer(void)
{
    const char *path = getenv("PATH");
    for (size_t i = 0; path && i < sizeof renderers / sizeof *renderers; i++)
        for (const char *p = path; *p;) {
            char file[4096];
            size_t n = strcspn(p, ":");
            if (n && (size_t)snprintf(file, sizeof file, "%.*s/%s", (int)n, p, renderers[i]) < sizeof file &&
                access(file, X_OK) == 0)
                return renderers[i];
            p += n + (p[n] != 0);
        }
    return NULL;
}

static void exec_renderer(const char *renderer, int input, FILE *svg)
{
    dup2(input, 0);
    dup2(fileno(svg), 1);
    close(input);
    execlp(renderer, renderer, "--countname", "bytes", "--title", "Allocated memory", (char *)NULL);
    _exit(127);
}

static bool feed(int fd, const fk_stacks *s)
{
    FILE *f = fdopen(fd, "w");
    if (!f)
        return false;
    for (size_t i = 0; i < s->size; i++)
        fprintf(f, "%s %.0f\n", s->data[i].stack, s->data[i].bytes);
    return fclose(f) == 0;
}

static bool render(const char *renderer, const char *path, const fk_stacks *s)
{
    int ends[2], status = 0;
    FILE *svg = fopen(path, "wb");
    if (!svg || pipe(ends) != 0) {
        fprintf(stderr, "framekit-memprof: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        exec_renderer(renderer, ends[0], svg);
    }
    close(ends[0]);
    bool good = child > 0 && feed(ends[1], s);
    good = child > 0 && waitpid(child, &status, 0) == child && status == 0 && good;
    good = fclose(svg) == 0 && good;
    if (good)
        printf("\nflame graph: %s\n", path);
    else
        fprintf(stderr, "framekit-memprof: %s could not draw %s\n", renderer, path);
    return good;
}

static bool flame_graph(const char *file, const char *out, const fk_stacks *s)
{
    const char *renderer = find_renderer();
    char path[4096];
    if (!renderer) {
        puts("\nflame graph: no renderer is installed (inferno-flamegraph, flamegraph.pl); speedscope\n"
             "(https://www.speedscope.app) opens format=speedscope, `go tool pprof -http=:` format=pprof");
        return true;
    }
    snprintf(path, sizeof path, out ? "%s" : "%s.svg", out ? out : file);
    return render(renderer, path, s);
}

/* --- the file ----------------------------------------------------------------------------- */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t capacity = 0;
    *size = 0;
    while (f && !feof(f) && !ferror(f)) {
        if (*size == capacity) {
            uint8_t *p = capacity < FK_STACKS_MAX ? realloc(data, capacity = 2 * capacity + 65536) : NULL;
            if (!p) {
                errno = EFBIG;
                break;
            }
            data = p;
        }
        *size += fread(data + *size, 1, capacity - *size, f);
    }
    bool good = f && feof(f);
    if (f)
        fclose(f);
    if (good)
        return data;
    free(data);
    return NULL;
}

static int report(const char *file, bool live, size_t top, const char *svg)
{
    size_t size;
    fk_stacks s = {0};
    fk_stacks_error error;
    uint8_t *data = read_file(file, &size);
    if (!data) {
        fprintf(stderr, "framekit-memprof: %s: %s\n", file, strerror(errno));
        return 1;
    }
    bool good = fk_stacks_read(&s, data, size, live, &error);
    if (!good)
        fprintf(stderr, "framekit-memprof: %s: offset %zu: %s\n", file, error.offset, error.text);
    good = good && print_table(&s, top, live) && flame_graph(file, svg, &s);
    free(data);
    fk_stacks_free(&s);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "framekit-memprof: the report cannot be written: %s\n", strerror(errno));
        return 1;
    }
    return !good;
}

static int bad_usage(void)
{
    fputs(usage, stderr);
    return 3;
}

int main(int argc, char **argv)
{
    bool live = false;
    size_t top = 20;
    const char *svg = NULL, *file = NULL;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc < 3 || strcmp(argv[1], "report") != 0)
        return bad_usage();
    for (int i = 2; i < argc; i++) {
        char *end = "";
        if (strcmp(argv[i], "--live") == 0)
            live = true;
        else if (strncmp(argv[i], "--top=", 6) == 0)
            top = strtoul(argv[i] + 6, &end, 10);
        else if (strncmp(argv[i], "--svg=", 6) == 0)
            svg = argv[i] + 6;
        else if (argv[i][0] != '-' && !file)
            file = argv[i];
        else
            return bad_usage();
        if (*end)
            return bad_usage();
    }
    return file ? report(file, live, top, svg) : bad_usage();
}
