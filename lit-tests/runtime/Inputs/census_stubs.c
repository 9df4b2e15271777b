/* Called from census.ml: domains from C that call OCaml, then a heap census. */
#include <stdio.h>

#include "framekit/runtime.h"

extern fk_rt_value caml_callback(fk_rt_value closure, fk_rt_value arg);
extern const fk_rt_value *caml_named_value(const char *name);

static void work(void *arg)
{
    fk_rt_value *result = arg;
    *result = caml_callback(*caml_named_value("work"), *result);
}

static void line(const fk_rt_census_line *l, void *arg)
{
    uint64_t *words = arg;
    *words += l->words;
    if (l->tag == 252)
        printf("strings: %s\n", l->blocks >= 100 ? "at least 100" : "few");
}

static int frame(const fk_rt_frame *f, void *arg)
{
    int *n = arg;
    if (f->name)
        printf("frame %s:%d %s\n", f->file, (int)f->line, f->name);
    return ++*n == 2;
}

fk_rt_value example_census(fk_rt_value unit)
{
    fk_rt_value results[3] = {21, 41, 61}; /* 10, 20, 30: immediate, no roots */
    fk_rt_domain *d[3];
    uint64_t words = 0;
    int n = 0;
    for (int i = 0; i < 3; i++)
        d[i] = fk_rt_spawn(work, &results[i]);
    for (int i = 0; i < 3; i++) {
        fk_rt_join(d[i]);
        printf("domain %d: %d\n", i, (int)(results[i] >> 1));
    }
    fk_rt_frames(frame, &n);
    fk_rt_census(line, &words);
    printf("census: %s\n", words > 0 ? "some words" : "nothing");
    fflush(stdout);
    return unit;
}
