/* trace.c - every instruction of the stubs under the eye, without a debugger.
 *
 * Before a traced case a breakpoint is written over every instruction. At each
 * one the handler looks (unwinding row, call sites), scribbles over the memory
 * below the stack pointer, puts the instruction back and returns to it. So one
 * pass sees each instruction once, in a loop only its first turn, at the cost
 * of a signal each; single stepping through QEMU's gdbstub takes 50 times that.
 *
 * Table lines, written by stubcheck:  S name address, or  address length flags cfa ra
 * [number=rule]... flags: "-" or letters, P = call or jump that may pass a PLT entry or veneer.
 * Rules are postfix: rN register, +N add, cN constant, * load, C the CFA, a add,
 * u undefined; "?" no row.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

enum { MAX_INSNS = 4096, BELOW = 256 };

typedef struct {
    uint64_t address;
    uint8_t length;
    bool plt;
    const char *cfa, *ra, *rules;
} insn;

static uint8_t *plain, *patched; /* all code from the first to the last of them */
static size_t code_size;
static insn insns[MAX_INSNS];
static int num_insns;
static volatile sig_atomic_t armed;
static sc_frame truth[2];
static sc_state caller; /* registers of a C caller; of an OCaml caller, those that rows name */
static bool have_c_caller, have_ocaml_caller, have_truth, row_only;
static uint64_t cut;
int sc_tracing;

void sc_truth(sc_frame a, sc_frame b, const sc_state *c_caller)
{
    truth[0] = a;
    truth[1] = b;
    have_truth = true;
    row_only = false;
    cut = 0;
    have_ocaml_caller = false;
    if ((have_c_caller = c_caller != NULL))
        caller = *c_caller;
}

void sc_truth_ocaml(void)
{
    sc_frame f = {W.S + sc_this_port.cfa_bias, W.ra};
    sc_truth(f, f, NULL);
    have_ocaml_caller = true;
    caller = sc_at_call;
}

void sc_truth_row_only(void)
{
    have_truth = row_only = true;
    cut = 0;
}

void sc_truth_cut(uint64_t sp) { cut = sp; }

/* --- the table ----------------------------------------------------------------- */
static char *field(char **at)
{
    char *start = *at, *end = start + strcspn(start, " \n");
    *at = *end ? end + 1 : end;
    *end = 0;
    return start;
}

static void add_line(char *line)
{
    insn *i = &insns[num_insns];
    char *at = line;
    if (line[0] == 'S') { /* a symbol of the object: S name address */
        field(&at);
        char *name = field(&at);
        sc_add_symbol(name, strtoull(field(&at), NULL, 16));
        return;
    }
    i->address = strtoull(field(&at), NULL, 16);
    i->length = (uint8_t)atoi(field(&at));
    i->plt = strchr(field(&at), 'P') != NULL;
    i->cfa = strdup(field(&at));
    i->ra = strdup(field(&at));
    at[strcspn(at, "\n")] = 0;
    i->rules = strdup(at);
    if (i->address && i->length >= sc_this_port.trap_length)
        num_insns++;
}

bool sc_trace_load(const char *path)
{
    if (!path)
        return num_insns > 0;
    FILE *f = fopen(path, "r");
    static char line[8192];
    while (f && num_insns < MAX_INSNS && fgets(line, sizeof line, f))
        add_line(line);
    if (f)
        fclose(f);
    return num_insns > 0;
}

bool sc_trace_has_sites(void)
{
    for (int i = 0; i < num_insns; i++)
        if (insns[i].plt)
            return true;
    return false;
}

static insn *find(uint64_t address)
{
    int low = 0, high = num_insns;
    while (low < high) {
        int mid = (low + high) / 2;
        if (insns[mid].address < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < num_insns && insns[low].address == address ? &insns[low] : NULL;
}

static void put_code(uint64_t address, const uint8_t *bytes, size_t n)
{
    char *p = (char *)(uintptr_t)address;
    memcpy(p, bytes, n);
    __builtin___clear_cache(p, p + n);
}

static void make_images(void)
{
    uint64_t first = insns[0].address;
    insn *last = &insns[num_insns - 1];
    code_size = last->address + last->length - first;
    plain = malloc(2 * code_size);
    patched = plain + code_size;
    memcpy(plain, (void *)(uintptr_t)first, code_size);
    memcpy(patched, plain, code_size);
    for (int i = 0; i < num_insns; i++)
        memcpy(patched + (insns[i].address - first), sc_this_port.trap, sc_this_port.trap_length);
}

void sc_trace_arm(int destroys)
{
    if (!plain)
        make_images();
    put_code(insns[0].address, patched, code_size);
    have_truth = false;
    sc_tracing = destroys;
    armed = 1;
}

void sc_trace_disarm(void)
{
    if (armed)
        put_code(insns[0].address, plain, code_size);
    armed = 0;
    sc_tracing = 0;
}

/* --- unwinding rows ------------------------------------------------------------ */
static uint64_t by_dwarf(const sc_state *s, int number)
{
    for (size_t i = 0; i < sc_abi->num_regs; i++)
        if (sc_abi->regs[i].dwarf == number)
            return sc_value(s, &sc_abi->regs[i]);
    return 0;
}

static bool eval(const char *rule, const sc_state *s, uint64_t cfa, uint64_t *out)
{
    uint64_t stack[16];
    int n = 0;
    for (const char *p = rule; *p && n < 15; p++) {
        char *end = (char *)p + 1;
        switch (*p) {
        case 'r': stack[n++] = by_dwarf(s, (int)strtol(p + 1, &end, 10)); break;
        case 'c': stack[n++] = (uint64_t)strtoll(p + 1, &end, 10); break;
        case 'C': stack[n++] = cfa; break;
        case '+': if (n < 1) return false;
            stack[n - 1] += (uint64_t)strtoll(p + 1, &end, 10); break;
        case 'a': if (n < 2) return false;
            n--; stack[n - 1] += stack[n]; break;
        case '*': if (n < 1) return false;
            stack[n - 1] = rd(stack[n - 1]); break;
        default: return false;
        }
        p = end - 1;
    }
    *out = n ? stack[n - 1] : 0;
    return n == 1;
}

static const char *rule_of(const insn *i, int number)
{
    char key[16];
    int n = snprintf(key, sizeof key, "%d=", number);
    for (const char *p = i->rules; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strncmp(p, key, (size_t)n) == 0)
            return p + n;
    return NULL;
}

/* An OCaml caller keeps nothing in the registers that C keeps, but a row that says where
 * one of them is (arm64's frame pointer) must be right. */
static bool is_claimed(const fk_reg *r, const char *rule)
{
    const uint32_t own = FK_REG_ALLOCATABLE | FK_REG_DOMAIN | FK_REG_YOUNG | FK_REG_TRAP;
    char self[16];
    int n = snprintf(self, sizeof self, "r%d", r->dwarf);
    return rule && !(sc_role_bits(r) & own) &&
           !(strncmp(rule, self, (size_t)n) == 0 && (rule[n] == ' ' || !rule[n]));
}

static void check_saved(const insn *i, const sc_state *s, uint64_t cfa)
{
    for (size_t k = 0; k < sc_abi->num_regs; k++) {
        const fk_reg *r = &sc_abi->regs[k];
        if (!(r->roles & FK_REG_C_CALLEE_SAVED) || (r->roles & FK_REG_SP) || r->is_float)
            continue;
        const char *rule = rule_of(i, r->dwarf);
        char text[64];
        uint64_t v = sc_value(s, r), want = sc_value(&caller, r);
        if (have_ocaml_caller && !is_claimed(r, rule))
            continue;
        if (rule) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(rule, " "), rule);
            if (!eval(text, s, cfa, &v))
                v = 0;
        }
        sc_check(v == want, "cfi.saved-register", r->name,
                 "at 0x%llx in `%s` the unwinding row gives the caller's %s as 0x%llx, it is "
                 "0x%llx", (unsigned long long)i->address, sc_stubs[sc_current].name,
                 r->name, (unsigned long long)v, (unsigned long long)want);
    }
}

static void check_row(const insn *i, const sc_state *s)
{
    uint64_t cfa = 0, ra = 0, sp = sc_value(s, fk_abi_role(sc_abi, FK_REG_SP));
    if (!have_truth || (cut && sp >= cut && sp < cut + SC_STACK_SIZE / 2))
        return;
    if (!sc_check(strcmp(i->cfa, "?") != 0, "cfi.missing", "row",
                  "no valid unwinding row covers 0x%llx in `%s`", (unsigned long long)i->address,
                  sc_stubs[sc_current].name) || row_only)
        return;
    bool known = eval(i->cfa, s, 0, &cfa) && eval(i->ra, s, cfa, &ra);
    for (int k = 0; k < 2; k++)
        if (known && cfa == truth[k].cfa && ra == truth[k].ra) {
            sc_count("cfi.cfa");
            sc_count("cfi.return-address");
            if ((have_c_caller || have_ocaml_caller) && k == 0)
                check_saved(i, s, cfa);
            return;
        }
    bool cfa_right = cfa == truth[0].cfa || cfa == truth[1].cfa;
    char where[32];
    snprintf(where, sizeof where, "%llx", (unsigned long long)i->address);
    if (!cfa_right)
        sc_check(
            false, "cfi.cfa", where,
            "at 0x%llx in `%s` the unwinding row gives CFA 0x%llx, the caller's is 0x%llx (%+lld)",
            (unsigned long long)i->address, sc_stubs[sc_current].name, (unsigned long long)cfa,
            (unsigned long long)truth[0].cfa, (long long)(cfa - truth[0].cfa));
    else
        sc_check(false, "cfi.return-address", where,
                 "at 0x%llx in `%s` the unwinding row gives return address %s, it is %s",
                 (unsigned long long)i->address, sc_stubs[sc_current].name, sc_place(ra),
                 sc_place(truth[0].ra));
}

/* --- signals ------------------------------------------------------------------- */
static void check_site(const insn *i, sc_state *s)
{
    sc_zone *z = sc_zone_of(sc_value(s, fk_abi_role(sc_abi, FK_REG_SP)));
    bool on_ocaml = sc_five && z && z >= &sc_zones[Z_STACK] && z <= &sc_zones[Z_THIRD];
    char where[32];
    snprintf(where, sizeof where, "%llx", (unsigned long long)i->address);
    sc_check(!on_ocaml, "veneer.lazy", where,
             "`%s` goes through the PLT at 0x%llx while on an OCaml stack: the first time the "
             "dynamic linker's resolver runs there", sc_stubs[sc_current].name,
             (unsigned long long)i->address);
    for (size_t k = 0; k < sc_abi->num_regs; k++) {
        const fk_reg *r = &sc_abi->regs[k];
        if (sc_tracing == SC_VENEER && (sc_role_bits(r) & FK_REG_VENEER)) {
            uint64_t v = sc_random();
            memcpy((char *)s + ((char *)sc_reg(r) - (char *)&sc_block), &v, 8);
        }
    }
}

static void scribble_below(uint64_t sp)
{
    sc_zone *z = sc_zone_of(sp -= sc_this_port.red_zone);
    if (sc_tracing != SC_BELOW)
        return;
    sc_count("stack.below");
    if (z >= &sc_zones[Z_STACK] && z <= &sc_zones[Z_C])
        sc_scribble(sp - BELOW, sp);
}

static void stepped(insn *i, ucontext_t *context)
{
    sc_state s;
    memset(&s, 0, sizeof s);
    sc_this_port.from_context(context, &s);
    sc_where = i->address;
    put_code(i->address, plain + (i->address - insns[0].address), sc_this_port.trap_length);
    check_row(i, &s);
    scribble_below(sc_value(&s, fk_abi_role(sc_abi, FK_REG_SP)));
    if (i->plt)
        check_site(i, &s);
    s.pc = i->address;
    sc_this_port.to_context(&s, context);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    sc_state s;
    sc_this_port.from_context(context, &s);
    insn *i = armed ? find(s.pc - sc_this_port.trap_advance) : NULL;
    if (i && (number == SIGTRAP || number == SIGILL) &&
        memcmp((void *)(uintptr_t)i->address, sc_this_port.trap, sc_this_port.trap_length) == 0) {
        stepped(i, context);
        return;
    }
    sc_where = s.pc;
    if (number == SIGALRM || number == SIGPROF)
        sc_check(false, "flow.time", "", "`%s` does not end (last seen at 0x%llx)",
                 sc_stubs[sc_current].name, (unsigned long long)s.pc);
    else
        sc_check(false, "flow.crash", "", "`%s` crashes with signal %d at 0x%llx, address 0x%llx",
                 sc_stubs[sc_current].name, number, (unsigned long long)s.pc,
                 (unsigned long long)(uintptr_t)info->si_addr);
    sc_end(1);
}

void sc_install_handlers(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM, SIGPROF};
    static char stack[1 << 18];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

/* --- is the emulator fit? --------------------------------------------------------- */
static bool registers_come_back(void)
{
    for (int turn = 0; turn < 8; turn++) {
        sc_new_world();
        sc_ocaml_state();
        sc_block.pc = (uint64_t)(uintptr_t)sc_ocaml_return;
        sc_state before = sc_block;
        if (sc_resume() != EV_sc_ocaml_return)
            return false;
        for (size_t i = 0; i < sc_abi->num_regs; i++)
            if (!sc_is_lost(&sc_abi->regs[i]) &&
                sc_value(&before, &sc_abi->regs[i]) != *sc_reg(&sc_abi->regs[i])) {
                printf("probe\tregister %s does not come back\n", sc_abi->regs[i].name);
                return false;
            }
    }
    return true;
}

/* A breakpoint on the fiber's stack, reported where it is, on the other stack. */
static bool breakpoints_work(void)
{
    insns[0] = (insn){.address = (uint64_t)(uintptr_t)sc_ocaml_return, .length = 4,
                      .cfa = "?", .ra = "?", .rules = ""};
    num_insns = 1;
    uint64_t page = insns[0].address & ~65535ul;
    mprotect((void *)(uintptr_t)page, 65536, PROT_READ | PROT_WRITE | PROT_EXEC);
    sc_install_handlers();
    sc_new_world();
    sc_ocaml_state();
    sc_block.pc = (uint64_t)(uintptr_t)sc_ocaml_return;
    sc_trace_arm(SC_BELOW);
    bool there = sc_resume() == EV_sc_ocaml_return;
    sc_trace_disarm();
    return there && memcmp((void *)sc_ocaml_return, sc_this_port.trap, sc_this_port.trap_length);
}

int sc_probe(void)
{
    if (!registers_come_back())
        return puts("probe\tregisters: no"), 1;
    fflush(stdout);
    if (!breakpoints_work())
        return puts("probe\tbreakpoints: no"), 1;
    puts("probe\tok");
    return 0;
}
