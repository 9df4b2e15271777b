/* params.c - OCAMLRUNPARAM, as the OCaml manual describes it (chapter
 * "The runtime system"). Letters that mean nothing here are accepted. */
#include "runtime/params.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/fail.h"
#include "runtime/fiber.h"

/* OCaml's own limit for nurseries; a stack that any address space could hold. */
#define MAX_MINOR_WORDS ((uintptr_t)1 << 28)
#define MAX_STACK_WORDS ((uintptr_t)1 << 40)

struct params fk_params = {
    .minor_words = 256 << 10, .space_overhead = 120, .stack_words = 128 << 20,
    .custom_major_ratio = 44, .custom_minor_ratio = 100, .custom_minor_max_size = 70000,
};

/* "4k" = 4 * 2^10; also 0x... */
static uintptr_t number(const char *s)
{
    char *end;
    uintptr_t n = strtoull(s, &end, 0);
    static const char suffix[] = "kMG";
    const char *k = *end ? strchr(suffix, *end) : NULL;
    return k ? n << (10 * (k - suffix + 1)) : n;
}

static void set(char letter, const char *arg)
{
    uintptr_t n = arg ? number(arg) : 1;
    switch (letter) {
    case 's': fk_params.minor_words = n; break;
    case 'o': fk_params.space_overhead = n; break;
    case 'l': fk_params.stack_words = n; break;
    case 'v': fk_params.verbose = n; break;
    case 'b': fk_params.backtrace = n != 0; break;
    case 'R': fk_params.randomize = n != 0; break;
    case 'M': fk_params.custom_major_ratio = n; break;
    case 'm': fk_params.custom_minor_ratio = n; break;
    case 'n': fk_params.custom_minor_max_size = n; break;
    }
}

static void parse(const char *p)
{
    while (*p) {
        const char *end = strchrnul(p, ',');
        set(*p, p[1] == '=' ? p + 2 : NULL);
        p = *end ? end + 1 : end;
    }
}

void fk_params_init(void)
{
    const char *p = getenv("OCAMLRUNPARAM");
    if (!p)
        p = getenv("CAMLRUNPARAM");
    if (p)
        parse(p);
    if (fk_params.minor_words > MAX_MINOR_WORDS)
        fk_fatal("OCAMLRUNPARAM: s=%zu is impossible: a nursery has at most %zu words",
                 (size_t)fk_params.minor_words, (size_t)MAX_MINOR_WORDS);
    if (fk_params.stack_words > MAX_STACK_WORDS)
        fk_fatal("OCAMLRUNPARAM: l=%zu is impossible: a stack has at most %zu words",
                 (size_t)fk_params.stack_words, (size_t)MAX_STACK_WORDS);
    if (fk_params.minor_words < 512)
        fk_params.minor_words = 512;
    if (fk_params.space_overhead == 0)
        fk_params.space_overhead = 1;
    fk_max_fiber_words = fk_params.stack_words;
}
