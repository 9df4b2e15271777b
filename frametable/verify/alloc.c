/* alloc.c - block lengths against the code of the allocation.
 *
 *   young -= n; if (young < dom.young_limit) gc;          fast path: `gate` is its branch
 *   gc:  call caml_call_gc                                the descriptor: lengths of the blocks
 *   back: [young + 0] = header of block 0, [young + 8 ...] = fields, then block 1 ...
 *
 *   young ->  | header 0 | fields ... | header 1 | fields ... |   block 0 is the last one
 *             0                       8 * (wosize 0 + 1)
 *
 * The walk from the return address follows every path on its own, with the young pointer as the
 * value YOUNG 0, until each word of the blocks has been stored. Bound errors and raises end a
 * path. */
#include <stdlib.h>
#include <string.h>

#include "frametable/verify/graph.h"
#include "frametable/verify/rules.h"

enum { LOOK_BACK = 8, MAX_STEPS = 4000, MAX_WORDS = 320 };

/* What the fast path does. */
typedef struct {
    int64_t decrement; /* bytes */
    bool has_decrement, found; /* found: the gate */
    uint8_t cond;      /* under which the collector is called: young against the limit */
    bool compares;     /* the young pointer is compared with the limit */
} gate;

static const fk_node *node(const fk_code *c, int32_t n)
{
    return n == FK_NO_INSN ? NULL : &c->f.nodes[n];
}

/* --- the fast path --------------------------------------------------------------------- */

/* The number that register r holds before node n, from the instructions just before it. */
static bool constant_before(const fk_code *c, int32_t n, uint8_t r, int64_t *out)
{
    int64_t sum = 0;
    for (int k = 0; k < LOOK_BACK && (n = c->f.nodes[n].prev) != FK_NO_INSN; k++) {
        const fk_insn *i = &c->f.nodes[n].insn;
        if (!(i->writes & FK_REG_BIT(r)))
            continue;
        if (i->op == FK_OP_IMM) {
            *out = i->imm + sum;
            return true;
        }
        if (i->op != FK_OP_ADD || i->rs != r)
            return false;
        sum += i->imm;
    }
    return false;
}

/* Adds what node n does to the young pointer; false: something that cannot be followed. */
static bool count_decrement(const fk_code *c, int32_t n, gate *g)
{
    const fk_insn *i = &c->f.nodes[n].insn;
    uint8_t young = c->f.program->young;
    int64_t k;
    if (!(i->writes & FK_REG_BIT(young)))
        return true;
    if (i->op == FK_OP_ADD && i->rs == young)
        g->decrement -= i->imm;
    else if (i->op == FK_OP_ADDREG && i->rs == young && constant_before(c, n, i->rt, &k))
        g->decrement -= k;
    else if (i->op == FK_OP_ADDREG && i->rt == young && constant_before(c, n, i->rs, &k))
        g->decrement -= k;
    else if (i->op == FK_OP_SUBREG && i->rs == young && constant_before(c, n, i->rt, &k))
        g->decrement += k;
    else
        return false;
    g->has_decrement = true;
    return true;
}

/* Between the instructions of an allocation nothing else happens. */
static bool of_sequence(const fk_code *c, const fk_node *n)
{
    const fk_insn *i = &n->insn;
    const fk_program *p = c->f.program;
    if (fk_is_call(i) || i->op == FK_OP_BRANCH || i->op == FK_OP_JUMP)
        return false;
    if (i->op == FK_OP_LOAD && (i->writes & FK_REG_BIT(p->young))) /* back from C, up to 4.14 */
        return false;
    return (i->writes & FK_REG_BIT(p->young)) || i->op == FK_OP_IMM || i->op == FK_OP_CMP ||
           i->op == FK_OP_ADD ||
           (i->op == FK_OP_LOAD && i->base < 32 && (p->domains >> i->base & 1));
}

static bool is_limit_field(const fk_code *c, const fk_insn *i)
{
    const fk_program *p = c->f.program;
    return i->base < 32 && (p->domains >> i->base & 1) && i->index == FK_NO_REG &&
           (i->disp == 0 || (i->disp == p->abi->word && p->version < FK_OCAML_5_0));
}

/* Register r holds the limit at node n. */
static bool holds_limit(const fk_code *c, int32_t n, uint8_t r)
{
    if (r >= 32)
        return false;
    for (int k = 0; k < LOOK_BACK && (n = c->f.nodes[n].prev) != FK_NO_INSN; k++) {
        const fk_insn *i = &c->f.nodes[n].insn;
        if (i->writes & FK_REG_BIT(r))
            return i->op == FK_OP_LOAD && is_limit_field(c, i);
    }
    return (c->f.program->limits >> r & 1) != 0;
}

static uint8_t swapped(uint8_t cond)
{
    return cond == FK_COND_LO ? FK_COND_HI : cond == FK_COND_HI ? FK_COND_LO
           : cond == FK_COND_LS ? FK_COND_HS : cond == FK_COND_HS ? FK_COND_LS : cond;
}

static uint8_t inverted(uint8_t cond)
{
    static const uint8_t to[] = {
        [FK_COND_OTHER] = FK_COND_OTHER, [FK_COND_EQ] = FK_COND_NE, [FK_COND_NE] = FK_COND_EQ,
        [FK_COND_LT] = FK_COND_GE,       [FK_COND_GE] = FK_COND_LT, [FK_COND_GT] = FK_COND_LE,
        [FK_COND_LE] = FK_COND_GT,       [FK_COND_LO] = FK_COND_HS, [FK_COND_HS] = FK_COND_LO,
        [FK_COND_HI] = FK_COND_LS,       [FK_COND_LS] = FK_COND_HI};
    return to[cond];
}

static uint8_t as_unsigned(uint8_t cond)
{
    return cond == FK_COND_LT ? FK_COND_LO : cond == FK_COND_GE ? FK_COND_HS
           : cond == FK_COND_GT ? FK_COND_HI : cond == FK_COND_LE ? FK_COND_LS : cond;
}

static void compare(const fk_code *c, int32_t n, gate *g)
{
    const fk_insn *i = &c->f.nodes[n].insn;
    uint8_t young = c->f.program->young;
    if (i->op == FK_OP_CMP && (i->flags & FK_I_LOGICAL))
        g->cond = as_unsigned(g->cond);
    if (i->rs == young)
        g->compares = i->flags & FK_I_MEM ? is_limit_field(c, i) : holds_limit(c, n, i->rt);
    else if (i->rt == young && holds_limit(c, n, i->rs)) {
        g->compares = true;
        g->cond = swapped(g->cond);
    }
}

/* Reads the sequence that ends with the conditional branch `n`. */
static bool read_gate(const fk_code *c, int32_t n, bool inverse, gate *g)
{
    const fk_node *b = &c->f.nodes[n];
    g->found = true;
    g->cond = inverse ? inverted(b->insn.cond) : b->insn.cond;
    if (b->insn.rs != FK_NO_REG)
        compare(c, n, g);
    bool compared = b->insn.rs != FK_NO_REG;
    for (int k = 0;
         k < LOOK_BACK && (n = c->f.nodes[n].prev) != FK_NO_INSN && of_sequence(c, &c->f.nodes[n]);
         k++) {
        if (c->f.nodes[n].insn.op == FK_OP_CMP && !compared) {
            compare(c, n, g);
            compared = true;
        } else if (!count_decrement(c, n, g))
            return false;
        if (c->f.nodes[n].leader)
            break;
    }
    return true;
}

/* The block that calls the collector is entered by one conditional branch, or by a jump behind
 * the opposite branch. */
static bool gate_of_call(const fk_code *c, int32_t n, gate *g)
{
    const fk_node *call = &c->f.nodes[n];
    if (call->insn.op == FK_OP_BRANCH)
        return read_gate(c, n, false, g);
    if (call->insn.op == FK_OP_CALLREG && call->from == FK_NO_INSN && call->prev != FK_NO_INSN)
        call = node(c, call->prev); /* auipc */
    const fk_node *from = node(c, call->from), *over = node(c, call->prev);
    if (from == NULL && over != NULL && over->insn.op == FK_OP_BRANCH)
        return read_gate(c, call->prev, true, g); /* branch over the call */
    if (from == NULL)
        return true;
    if (from->insn.op == FK_OP_BRANCH)
        return read_gate(c, call->from, false, g);
    const fk_node *before = node(c, from->prev);
    return before == NULL || before->insn.op != FK_OP_BRANCH || read_gate(c, from->prev, true, g);
}

/* The register that was set last of those that some version hands the size over in. */
static uint8_t size_register(const fk_code *c, int32_t n)
{
    for (int look = 0; look < 3 && (n = c->f.nodes[n].prev) != FK_NO_INSN; look++) {
        uint32_t writes = c->f.nodes[n].insn.writes & c->f.program->size_regs;
        if (writes != 0)
            return (uint8_t)__builtin_ctz(writes);
    }
    return FK_NO_REG;
}

/* caml_alloc1, 2, 3 know the size; caml_allocN gets it from the caller in one of two ways. */
static bool stub_request(const fk_code *c, int32_t n, gate *g)
{
    static const uint8_t bytes[FK_CALLEES] = {
        [FK_CALLEE_ALLOC1] = 16, [FK_CALLEE_ALLOC2] = 24, [FK_CALLEE_ALLOC3] = 32};
    uint8_t callee = c->f.nodes[n].callee;
    g->decrement = bytes[callee];
    g->has_decrement = bytes[callee] != 0;
    int64_t k;
    if (g->has_decrement)
        return true;
    int32_t at = n;
    for (int look = 0;
         look < 3 && (at = c->f.nodes[at].prev) != FK_NO_INSN && of_sequence(c, &c->f.nodes[at]);
         look++)
        if (!count_decrement(c, at, g))
            return false;
    if (g->has_decrement)
        return true;
    uint8_t r = size_register(c, n);
    g->has_decrement = r != FK_NO_REG && constant_before(c, n, r, &k);
    g->decrement = g->has_decrement ? k : 0;
    return g->has_decrement;
}

/* --- verdicts about the fast path --------------------------------------------------------- */

static uint64_t request(const fk_code *c, const fk_descr *d)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < d->num_allocs; i++)
        words += fk_descr_wosize(d, i) + 1;
    return words * c->f.program->abi->word;
}

static void check_decrement(fk_code *c, const fk_descr *d, const gate *g)
{
    uint64_t bytes = request(c, d);
    if (g->decrement >= 0 && (uint64_t)g->decrement == bytes)
        fk_check_ok(c->check, FK_RULE_ALLOC_DECREMENT);
    else
        fk_check_say(c->check, FK_RULE_ALLOC_DECREMENT, FK_VERDICT_WRONG, d,
                     "the %u blocks take %llu bytes with their headers, the fast path takes %lld "
                     "from the young pointer",
                     d->num_allocs, (unsigned long long)bytes, (long long)g->decrement);
}

static void check_branch(fk_code *c, const fk_descr *d, const gate *g)
{
    static const char *const names[] = {
        "some other condition", "=", "<>", "< (signed)", ">= (signed)", "> (signed)",
        "<= (signed)",          "<", ">=", ">",          "<="};
    bool poll = d->num_allocs == 0;
    if (g->compares && (g->cond == FK_COND_LO || (poll && g->cond == FK_COND_LS)))
        fk_check_ok(c->check, FK_RULE_ALLOC_BRANCH);
    else if (!g->compares)
        fk_check_say(
            c->check, FK_RULE_ALLOC_BRANCH, FK_VERDICT_WRONG, d,
            "the branch to the collector does not compare the young pointer with the limit");
    else
        fk_check_say(c->check, FK_RULE_ALLOC_BRANCH, FK_VERDICT_WRONG, d,
                     "the collector is called when young %s limit, %s needs young <%s limit",
                     names[g->cond], poll ? "a poll" : "an allocation", poll ? " (or <=)" : "");
}

/* --- the stores behind it ------------------------------------------------------------------- */

typedef struct {
    fk_code *code;
    const fk_descr *d;
    uint32_t block[MAX_WORDS]; /* of the header at this word: block + 1 */
    unsigned words, steps;
    const char *unknown; /* why it cannot be decided */
    bool wrong_header, wrong_init;
} walk;

typedef struct {
    uint64_t stored[MAX_WORDS / 64];
    unsigned left; /* words not stored yet */
    unsigned headers; /* headers not stored yet */
} progress;

static bool lay_out(walk *w)
{
    for (uint32_t i = 0; i < w->d->num_allocs; i++) {
        if (w->words + fk_descr_wosize(w->d, i) + 1 > MAX_WORDS)
            return false;
        w->block[w->words] = i + 1;
        w->words += fk_descr_wosize(w->d, i) + 1;
    }
    return true;
}

static void check_header(walk *w, unsigned word, fk_value v)
{
    uint32_t block = w->block[word] - 1;
    uint32_t wosize = fk_descr_wosize(w->d, block);
    if (v.kind != FK_V_CONST && !w->wrong_header) {
        w->wrong_header = true;
        fk_check_say(w->code->check, FK_RULE_ALLOC_HEADER, FK_VERDICT_SUSPECT, w->d,
                     "block %u begins at young + %u by the descriptor, what the code stores there "
                     "first is no constant, "
                     "so no header",
                     block, 8 * word);
    } else if ((uint64_t)v.k >> 10 != wosize && !w->wrong_header) {
        w->wrong_header = true;
        fk_check_say(w->code->check, FK_RULE_ALLOC_HEADER, FK_VERDICT_WRONG, w->d,
                     "block %u has %u fields by the descriptor, the code stores a header of %llu "
                     "at young + %u",
                     block, wosize, (unsigned long long)((uint64_t)v.k >> 10), 8 * word);
    }
}

static void stored(walk *w, progress *g, int64_t offset, fk_value v)
{
    if (offset < 0 || offset % 8 != 0 || (uint64_t)offset / 8 >= w->words)
        return;
    unsigned word = (unsigned)(offset / 8);
    if (g->stored[word / 64] >> (word % 64) & 1)
        return;
    g->stored[word / 64] |= 1ull << (word % 64);
    g->left--;
    if (w->block[word] != 0) {
        g->headers--;
        check_header(w, word, v);
    }
}

static void see_store(walk *w, const fk_state *s, const fk_insn *i, progress *g)
{
    fk_value a = fk_memory_address(&w->code->f, s, i);
    fk_value v = {i->imm, 0, i->flags & (FK_I_IMM | FK_I_ZERO) ? FK_V_CONST : FK_V_ANY, 0};
    if (a.kind != FK_V_YOUNG)
        return;
    if (i->rs < FK_STATE_REGS)
        v = s->place[i->rs];
    stored(w, g, a.k, v);
    if (i->rd2 != FK_NO_REG || i->size == 16)
        stored(w, g, a.k + 8, i->rd2 < 32 ? s->place[i->rd2] : (fk_value){0, 0, FK_V_ANY, 0});
}

/* A path ends before every word has been stored. */
static void unfinished(walk *w, const progress *g, const char *at)
{
    if (g->headers == 0 && g->left == 0)
        return;
    if (w->wrong_init)
        return;
    w->wrong_init = true;
    fk_check_say(w->code->check, FK_RULE_ALLOC_INIT, FK_VERDICT_WRONG, w->d,
                 "%s is reached with %u headers and %u fields of the new blocks not stored", at,
                 g->headers, g->left - g->headers);
}

static void follow(walk *w, fk_state s, progress g, int32_t n, unsigned depth);

static void fork(walk *w, const fk_state *s, const progress *g, int32_t n, unsigned depth)
{
    fk_code *c = w->code;
    size_t size = c->f.stride * sizeof(fk_value);
    if (depth == FK_ALLOC_PATHS) {
        w->unknown = "more paths lead to the stores than are followed";
        return;
    }
    memcpy(c->paths + depth * c->f.stride, s->place, size);
    follow(w, (fk_state){c->paths + depth * c->f.stride}, *g, n, depth + 1);
}

/* What ends a path, or NULL: it goes on. */
static const char *end_of_path(const fk_node *node)
{
    const fk_insn *i = &node->insn;
    if (i->op == FK_OP_RET)
        return "the return";
    if (i->op == FK_OP_JUMPREG || (i->op == FK_OP_JUMP && node->to == FK_NO_INSN))
        return "a tail call";
    if (fk_is_call(i) && node->descr != UINT32_MAX && node->callee != FK_CALLEE_NORETURN)
        return "the next safepoint";
    return NULL;
}

/* One instruction; false: the path ends here. */
static bool step(walk *w, fk_state *s, progress *g, int32_t n)
{
    const fk_function *f = &w->code->f;
    const fk_node *node = &f->nodes[n];
    const char *end = end_of_path(node);
    if (end != NULL)
        unfinished(w, g, end);
    if (end != NULL || node->callee == FK_CALLEE_NORETURN || node->insn.op == FK_OP_STOP)
        return false;
    if (node->insn.op == FK_OP_UNKNOWN || ++w->steps > MAX_STEPS) {
        w->unknown = node->insn.op == FK_OP_UNKNOWN
                         ? "an instruction on the way to the stores is not known"
                         : "the stores are too far away";
        return false;
    }
    if (node->insn.op == FK_OP_STORE)
        see_store(w, s, &node->insn, g);
    if (fk_is_call(&node->insn))
        fk_call(f, s, node);
    else
        fk_step(f, s, &node->insn);
    return g->left > 0;
}

static void follow(walk *w, fk_state s, progress g, int32_t n, unsigned depth)
{
    const fk_function *f = &w->code->f;
    while (n != FK_NO_INSN && w->unknown == NULL && !w->wrong_init) {
        if (!step(w, &s, &g, n))
            return;
        const fk_node *node = &f->nodes[n];
        if (node->insn.op == FK_OP_BRANCH && node->to != FK_NO_INSN)
            fork(w, &s, &g, node->to, depth);
        n = node->insn.op == FK_OP_JUMP ? node->to : node->next;
    }
}

static void check_stores(fk_code *c, const fk_state *s, int32_t n, const fk_descr *d)
{
    walk w = {.code = c, .d = d};
    progress g = {{0}, 0, d->num_allocs};
    size_t size = c->f.stride * sizeof(fk_value);
    if (!lay_out(&w))
        w.unknown = "the blocks are larger than a request";
    g.left = w.words;
    memcpy(c->paths, s->place, size);
    fk_state start = {c->paths};
    fk_call(&c->f, &start, &c->f.nodes[n]);
    start.place[c->f.program->young] = (fk_value){0, 0, FK_V_YOUNG, 0};
    if (w.unknown == NULL)
        follow(&w, start, g, c->f.nodes[n].next, 1);
    if (!w.wrong_header && w.unknown == NULL)
        fk_check_ok(c->check, FK_RULE_ALLOC_HEADER);
    else if (!w.wrong_header)
        fk_check_pass(c->check, FK_RULE_ALLOC_HEADER, w.unknown);
    if (!w.wrong_init && w.unknown == NULL)
        fk_check_ok(c->check, FK_RULE_ALLOC_INIT);
    else if (!w.wrong_init)
        fk_check_pass(c->check, FK_RULE_ALLOC_INIT, w.unknown);
}

/* --- one descriptor --------------------------------------------------------------------------- */

void fk_alloc_skip(fk_code *c, const fk_descr *d, const char *reason)
{
    if (!(d->flags & FK_DESCR_ALLOC))
        return;
    fk_check_pass(c->check, FK_RULE_ALLOC_DECREMENT, reason);
    fk_check_pass(c->check, FK_RULE_ALLOC_HEADER, reason);
}

void fk_alloc_call(fk_code *c, const fk_state *s, int32_t n, const fk_descr *d)
{
    gate g = {0};
    uint8_t callee = c->f.nodes[n].callee;
    bool inline_gate = callee < FK_CALLEE_ALLOC1 || callee > FK_CALLEE_ALLOCN;
    if (!(d->flags & FK_DESCR_ALLOC) || fk_table_generation(d->table) == FK_GEN_A)
        return;
    bool known = inline_gate ? gate_of_call(c, n, &g) : stub_request(c, n, &g);
    if (!known || (inline_gate && !g.found))
        fk_check_pass(c->check, FK_RULE_ALLOC_DECREMENT,
                      known ? "no branch leads to the call"
                            : "the young pointer changes in a way that is not followed");
    else {
        check_decrement(c, d, &g);
        if (inline_gate)
            check_branch(c, d, &g);
    }
    if (d->num_allocs > 0)
        check_stores(c, s, n, d);
}
