/* run.c - resuming, what an unwinder must find meanwhile, and the main loop.
 *
 * Cases run in a forked child, so that a crash or a loop ends only the child:
 * its handler reports, and the parent goes on with the next case. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fnmatch.h>

#include "harness.h"

fk_ocaml_version sc_version = FK_OCAML_5_3;
bool sc_five;
const fk_abi *sc_abi;
const char *sc_case_name = "";
int sc_current;

sc_stub sc_stubs[] = {
#define STUB(name, in4, in5, contracts) {#name, NULL},
#include "stubs/check/stubs.def"
#undef STUB
};
const int sc_num_stubs = sizeof sc_stubs / sizeof sc_stubs[0];

static const char *const event_names[] = {
#define PAD(name) #name,
#include "pads.h"
#undef PAD
};
static char *const pad_addresses[] = {
#define PAD(name) name,
#include "pads.h"
#undef PAD
};

char caml_exn_Stack_overflow[64];
static uint64_t random_state;
uint64_t sc_seed = 1;
static int case_seconds = 4;

uint64_t sc_random(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

/* Rounds 0, 1, 2, 3 take all four ways through the first two choices of a case. */
static int round_now, choices;

bool sc_choose(void)
{
    int nth = choices++;
    return nth < 2 ? round_now >> nth & 1 : sc_random() & 1;
}

int sc_stub_index(const char *name)
{
    for (int i = 0; i < sc_num_stubs; i++)
        if (strcmp(sc_stubs[i].name, name) == 0)
            return i;
    return 0;
}

/* What the child says of itself, for the case that it ends without a word. */
static struct {
    volatile int at, stub;
    volatile bool done;
} *progress;

_Noreturn void sc_end(int status)
{
    sc_report_counts();
    progress->done = true;
    _exit(status);
}

char *sc_stub_begin(const char *name)
{
    sc_current = sc_stub_index(name);
    if (progress)
        progress->stub = sc_current;
    sc_where = (uint64_t)(uintptr_t)sc_stubs[sc_current].address;
    return sc_stubs[sc_current].address;
}

const char *sc_event_name(int event)
{
    return event >= 0 && event < EV_COUNT ? event_names[event] : "nowhere";
}

const char *sc_place(uint64_t address)
{
    static char text[4][64];
    static unsigned next;
    for (int i = 0; i < EV_COUNT; i++)
        if ((uint64_t)(uintptr_t)pad_addresses[i] == address)
            return event_names[i];
    char *t = text[next++ % 4];
    snprintf(t, 64, "0x%llx", (unsigned long long)address);
    return t;
}

/* --- resuming ----------------------------------------------------------------- */
static uint64_t reserved_before[8];

static size_t reserved(uint64_t *values)
{
    size_t n = 0;
    for (size_t i = 0; i < sc_abi->num_regs; i++)
        if (sc_role_bits(&sc_abi->regs[i]) & FK_REG_RESERVED)
            values[n++] = *sc_reg(&sc_abi->regs[i]);
    return n;
}

static void check_reserved(void)
{
    uint64_t now[8];
    size_t n = 0;
    reserved(now);
    for (size_t i = 0; i < sc_abi->num_regs; i++) {
        const fk_reg *r = &sc_abi->regs[i];
        if (!(sc_role_bits(r) & FK_REG_RESERVED))
            continue;
        sc_check(now[n] == reserved_before[n], "registers.reserved", r->name,
                 "`%s` writes %s, which belongs to the platform: 0x%llx before, 0x%llx after",
                 sc_stubs[sc_current].name, r->name, (unsigned long long)reserved_before[n],
                 (unsigned long long)now[n]);
        n++;
    }
}

int sc_go_any(void)
{
    reserved(reserved_before);
    int event = sc_resume();
    check_reserved();
    if (event == EV_sc_ocaml_return || event == EV_sc_c_return)
        sc_where = (uint64_t)(uintptr_t)sc_stubs[sc_current].address;
    else
        sc_where = sc_return_address();
    return event;
}

void sc_go(int expected)
{
    int event = sc_go_any();
    if (event != expected)
        sc_abandon("flow.next", "`%s` leaves to %s where it must go to %s",
                   sc_stubs[sc_current].name, sc_event_name(event), sc_event_name(expected));
    sc_count("flow.next");
}

/* --- the cases ------------------------------------------------------------------ */
static const sc_case *const groups[] = {sc_cases_gc,      sc_cases_c_call, sc_cases_start,
                                        sc_cases_raise,   sc_cases_fiber,  sc_cases_chain,
                                        sc_cases_buckets, sc_cases_table,  sc_cases_sizes};
enum { TRACED_ROUNDS = 4 };
enum { NUM_GROUPS = sizeof groups / sizeof groups[0] };

static const sc_case *nth_case(int n)
{
    for (int g = 0; g < NUM_GROUPS; g++)
        for (const sc_case *c = groups[g]; c->name; c++)
            if (n-- == 0)
                return c;
    return NULL;
}

static void run_once(const sc_case *c, int index, int round)
{
    random_state =
        sc_seed * 0x9e3779b97f4a7c15u ^ ((uint64_t)index << 32) ^ (uint64_t)round * 0x2545f491u;
    if (!random_state)
        random_state = 1;
    for (int i = 0; i < 4; i++)
        sc_random();
    round_now = round - (round >= c->repeat ? c->repeat : 0);
    choices = 0;
    sc_new_world();
    if (setjmp(sc_case_end) == 0)
        c->run();
}

/* A stub has `seconds` of processor time: on a busy machine a case may take many times
 * that. One that sleeps is stopped by the clock. */
static void limit_time(int seconds)
{
    struct itimerval cpu = {.it_value = {.tv_sec = seconds}};
    struct itimerval clock = {.it_value = {.tv_sec = 12 * seconds}};
    setitimer(ITIMER_PROF, &cpu, NULL);
    setitimer(ITIMER_REAL, &clock, NULL);
}

static void run_case(const sc_case *c, int index)
{
    sc_case_name = c->name;
    sc_put("B\t%d\n", index);
    limit_time(case_seconds);
    for (int i = 0; i < c->repeat; i++)
        run_once(c, index, i);
    int last = sc_trace_has_sites() ? SC_VENEER : SC_BELOW;
    for (int destroys = SC_BELOW; c->traced && destroys <= last && sc_trace_load(NULL); destroys++)
        for (int i = 0; i < TRACED_ROUNDS; i++) {
            sc_trace_arm(destroys);
            run_once(c, index, c->repeat + i);
            sc_trace_disarm();
        }
}

static bool wanted(const sc_case *c, const char *glob)
{
    if (c->generation && (c->generation == 5) != sc_five)
        return false;
    return !glob || fnmatch(glob, c->name, 0) == 0;
}

static _Noreturn void run_from(int first, const char *glob)
{
    const sc_case *c;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sc_install_handlers();
    for (int i = first; (c = nth_case(i)); i++) {
        progress->at = i;
        if (wanted(c, glob))
            run_case(c, i);
    }
    limit_time(0);
    sc_end(0);
}

/* The child is gone, and neither its handler nor its last line has run. */
static void report_end(int status)
{
    sc_put("V\t%s\tflow.crash\t\t0\t%s\tthe stub ended the process (%s %d)\n",
           sc_stubs[progress->stub].name, nth_case(progress->at)->name,
           WIFEXITED(status) ? "exit status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* Give each child the cases after the one that ended the last child. */
static void run_all(const char *glob)
{
    int total = 0, status;
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        exit(2);
    while (nth_case(total))
        total++;
    for (int first = 0; first < total; first = progress->at + 1) {
        progress->at = first;
        progress->done = false;
        sc_flush();
        pid_t child = fork();
        if (child == 0)
            run_from(first, glob);
        if (child < 0 || waitpid(child, &status, 0) < 0)
            exit(2);
        if (!progress->done)
            report_end(status);
        else if (WEXITSTATUS(status) == 0)
            break;
        if (sc_first_only)
            break;
    }
    sc_put("E\n");
    sc_flush();
}

int main(int argc, char **argv)
{
    const char *glob = NULL, *image = NULL;
    bool probe = false;
    sc_abi = sc_this_port.abi;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--probe") == 0) {
            probe = true;
            continue;
        }
        if (strcmp(argv[i], "--first") == 0) {
            sc_first_only = true;
            continue;
        }
        if (strcmp(argv[i], "--version") == 0)
            fk_ocaml_version_parse(value, &sc_version);
        else if (strcmp(argv[i], "--seed") == 0)
            sc_seed = strtoull(value, NULL, 0);
        else if (strcmp(argv[i], "--case") == 0)
            glob = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            case_seconds = atoi(value);
        else if (strcmp(argv[i], "--image") == 0)
            image = value;
        else if (strcmp(argv[i], "--table") == 0)
            sc_trace_load(value);
        i++;
    }
    sc_five = sc_version >= FK_OCAML_5_0;
    sc_find_roles();
    random_state = sc_seed | 1;
    if (probe)
        return sc_probe();
    if (!image || !sc_load(image))
        return 2;
    run_all(glob);
    return 0;
}
