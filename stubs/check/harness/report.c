/* report.c - the line protocol to stubcheck.
 *
 *   V <tab> stub <tab> rule <tab> subject <tab> address <tab> case <tab> sentence
 *   C <tab> stub <tab> rule <tab> checks <tab> failures
 *   B <tab> case index      a case begins (the host resumes after a crash)
 *   E                       all cases have ended
 *
 * Written with write(2) from one buffer: a crash loses nothing that was flushed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static const char *const rules[] = {
#define RULE(contract, id, holds, why) id,
#include "stubs/check/rules.def"
#undef RULE
};
enum { NUM_RULES = sizeof rules / sizeof rules[0], NUM_SEEN = 4096 };

uint64_t sc_where;
bool sc_first_only;
jmp_buf sc_case_end;
extern const char *sc_case_name;
static uint32_t checks[32][NUM_RULES], failures[32][NUM_RULES];
static uint32_t seen[NUM_SEEN];
static char buffer[1 << 16];
static size_t used;

void sc_flush(void)
{
    for (size_t done = 0; done < used;) {
        ssize_t n = write(1, buffer + done, used - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    used = 0;
}

static void put(const char *format, va_list args)
{
    if (sizeof buffer - used < 1024)
        sc_flush();
    int n = vsnprintf(buffer + used, sizeof buffer - used, format, args);
    if (n > 0 && (size_t)n < sizeof buffer - used)
        used += (size_t)n;
}

void sc_put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(format, args);
    va_end(args);
}

static int rule_index(const char *rule)
{
    for (int i = 0; i < NUM_RULES; i++)
        if (strcmp(rules[i], rule) == 0)
            return i;
    return 0;
}

/* The place of stub, rule and subject in `seen`: its own, an empty one, or NULL. */
static uint32_t *seen_at(int stub, int rule, const char *subject, uint32_t *hash)
{
    uint32_t h = 2166136261u ^ (uint32_t)stub * 977u ^ (uint32_t)rule * 131071u;
    for (const char *p = subject; *p; p++)
        h = (h ^ (uint8_t)*p) * 16777619u;
    *hash = h = h ? h : 1;
    for (uint32_t i = h % NUM_SEEN, n = 0; n < NUM_SEEN; i = (i + 1) % NUM_SEEN, n++)
        if (seen[i] == h || !seen[i])
            return &seen[i];
    return NULL;
}

static bool was_seen(int rule, const char *subject)
{
    uint32_t h, *at = seen_at(sc_current, rule, subject, &h);
    return !at || *at;
}

static bool first_time(int rule, const char *subject)
{
    uint32_t h, *at = seen_at(sc_current, rule, subject, &h);
    if (!at || *at)
        return false;
    *at = h;
    return true;
}

/* What goes wrong only while something is destroyed at each instruction relies on it.
 * (Rows and calls through the PLT are looked at only then.) */
static const struct {
    const char *rule, *when;
} destroyed[] = {
    [SC_BELOW] = {"stack.below", "when the memory below the stack pointer is overwritten, "},
    [SC_VENEER] = {"veneer.carried", "when a veneer destroys the registers it may, "},
};

static const char *when_destroyed(int *rule, const char *subject)
{
    if (!sc_tracing || was_seen(*rule, subject) || strncmp(rules[*rule], "cfi.", 4) == 0 ||
        strcmp(rules[*rule], "veneer.lazy") == 0)
        return "";
    *rule = rule_index(destroyed[sc_tracing].rule);
    return destroyed[sc_tracing].when;
}

static void violation(const char *rule, const char *subject, const char *format, va_list args)
{
    int r = rule_index(rule);
    const char *when = when_destroyed(&r, subject);
    failures[sc_current][r]++;
    if (!first_time(r, subject))
        return;
    sc_put("V\t%s\t%s\t%s\t%llx\t%s\t%s", sc_stubs[sc_current].name, rules[r], subject,
           (unsigned long long)sc_where, sc_case_name, when);
    put(format, args);
    sc_put("\n");
    if (sc_first_only)
        sc_end(1);
}

void sc_count(const char *rule)
{
    checks[sc_current][rule_index(rule)]++;
}

bool sc_check(bool holds, const char *rule, const char *subject, const char *format, ...)
{
    checks[sc_current][rule_index(rule)]++;
    if (holds)
        return true;
    va_list args;
    va_start(args, format);
    violation(rule, subject, format, args);
    va_end(args);
    return false;
}

void sc_abandon(const char *rule, const char *format, ...)
{
    checks[sc_current][rule_index(rule)]++;
    va_list args;
    va_start(args, format);
    violation(rule, "", format, args);
    va_end(args);
    longjmp(sc_case_end, 1);
}

void sc_report_counts(void)
{
    for (int s = 0; s < sc_num_stubs; s++)
        for (int r = 0; r < NUM_RULES; r++)
            if (checks[s][r])
                sc_put("C\t%s\t%s\t%u\t%u\n", sc_stubs[s].name, rules[r], checks[s][r],
                       failures[s][r]);
    memset(checks, 0, sizeof checks);
    memset(failures, 0, sizeof failures);
    sc_flush();
}
