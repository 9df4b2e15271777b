/* baseline.c - violations that are known: one "violated STUB: RULE" a line, as a report
 * has them; # starts a comment. Other lines (of ftdump --verify, say) are left alone. */
#include <stdlib.h>
#include <string.h>

#include "stubs/check/stubcheck.h"

typedef struct {
    char stub[64], rule[64];
} known;

struct sc_baseline {
    known *at;
    size_t count;
};

sc_baseline *sc_baseline_read(const char *path)
{
    FILE *f = fopen(path, "r");
    sc_baseline *b = f ? calloc(1, sizeof *b) : NULL;
    char line[512];
    known k;
    while (b && fgets(line, sizeof line, f))
        if (sscanf(line, " violated %63[^: \t#]: %63[^ \t#\n]", k.stub, k.rule) == 2) {
            b->at = realloc(b->at, (b->count + 1) * sizeof *b->at);
            b->at[b->count++] = k;
        }
    if (f)
        fclose(f);
    return b;
}

bool sc_baseline_has(const sc_baseline *b, const char *stub, const sc_rule *rule)
{
    for (size_t i = 0; b && i < b->count; i++)
        if (strcmp(b->at[i].stub, stub) == 0 && strcmp(b->at[i].rule, rule->id) == 0)
            return true;
    return false;
}

void sc_baseline_free(sc_baseline *b)
{
    if (b)
        free(b->at);
    free(b);
}
