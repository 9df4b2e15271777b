/* Starts the runtime, which runs list.cmm's unit, then counts what is left. */
#include <stdio.h>

#include "framekit/runtime.h"

fk_rt_value report(fk_rt_value length)
{
    printf("%ld cells\n", (long)(length >> 1));
    return 1;
}

static void add(const fk_rt_census_line *l, void *arg)
{
    if (l->tag == 0)
        *(uint64_t *)arg += l->blocks;
}

int main(int argc, char **argv)
{
    uint64_t pairs = 0;
    fk_rt_value exn = fk_rt_start(argv);
    fk_rt_census(add, &pairs);
    printf("%d %llu pairs left\n", argc, (unsigned long long)pairs);
    return exn != 0;
}
