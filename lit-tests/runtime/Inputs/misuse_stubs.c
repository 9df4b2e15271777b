/* Called from misuse.ml: what framekit/runtime.h does not allow. */
#include <pthread.h>
#include <stdio.h>

#include "framekit/runtime.h"

static void nothing(void *arg) { (void)arg; }

static void *foreign(void *arg)
{
    (void)arg;
    fk_rt_collect(FK_RT_MAJOR);
    return NULL;
}
static void from_a_foreign_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, foreign, NULL);
    pthread_join(t, NULL);
}

static void check_too_late(void)
{
    const char *error = "";
    bool ok = fk_rt_check("move", &error);
    printf("%d: %s\n", ok, error);
}

static void two_hundred_domains(void)
{
    fk_rt_domain *d[200];
    int n = 0;
    for (int i = 0; i < 200; i++)
        n += (d[i] = fk_rt_spawn(nothing, NULL)) != NULL;
    for (int i = 0; i < 200; i++)
        fk_rt_join(d[i]); /* NULL: nothing */
    printf("%d domains\n", n);
}

static void no_such_kind(void) { fk_rt_collect((fk_rt_kind)77); }

fk_rt_value example_misuse(fk_rt_value n)
{
    static void (*const cases[])(void) = {
        from_a_foreign_thread, check_too_late, two_hundred_domains, no_such_kind};
    cases[n >> 1]();
    fflush(stdout);
    return 1;
}
