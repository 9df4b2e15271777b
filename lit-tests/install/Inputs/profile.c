/* Profiles what profile.cmm allocates, through framekit/memprof.h, from within it. */
#include <stdio.h>

#include "framekit/memprof.h"
#include "framekit/runtime.h"

static struct {
    size_t blocks, samples, wrong, deepest;
} seen;

static bool on_alloc(void *arg, const fk_memprof_block *b, uint64_t *datum)
{
    (void)arg;
    (void)datum;
    seen.blocks++;
    seen.samples += b->samples;
    seen.wrong += b->words != 2 || b->source != 0 || b->depth == 0;
    seen.deepest = b->depth > seen.deepest ? b->depth : seen.deepest;
    return false;
}

static const fk_memprof_callbacks callbacks = {.alloc = on_alloc};
static fk_memprof *profile;

/* Called by the unit before and after it allocates. */
fk_rt_value start_profile(fk_rt_value seed)
{
    fk_memprof_options o = {.rate = 0.01, .depth = 16, .seed = (uint64_t)seed >> 1};
    return fk_memprof_start(&o, &callbacks, &profile) == FK_MEMPROF_OK ? 3 : 1;
}

fk_rt_value report(fk_rt_value length)
{
    fk_memprof_error e = fk_memprof_stop(profile);
    fk_memprof_discard(profile);
    printf("%ld cells, stopped: %d\n", (long)(length >> 1), e == FK_MEMPROF_OK);
    return 1;
}

int main(int argc, char **argv)
{
    (void)argc;
    fk_rt_value exn = fk_rt_start(argv);
    /* 3 million words, each with probability 1/100: mean 30000, deviation 172. */
    printf("samples in range: %d\n", seen.samples > 29000 && seen.samples < 31000);
    printf("sampled blocks: %d, other than pairs: %zu\n",
           seen.blocks > 20000 && seen.blocks <= seen.samples, seen.wrong);
    printf("deepest callstack: %zu\n", seen.deepest);
    return exn != 0;
}
