/* print_linear.c - --emit=linear. One instruction a line:
 *
 *   v5:rax val = add v3:rbx, v4:[slot 1]
 */
#include <string.h>

#include "emitter/target.h"

static void print_place(const lin_function *f, lin_place p, FILE *out)
{
    if (lin_is_reg(p))
        fprintf(out, ":%s", machine_get(f->target, f->options->version)->name[p]);
    else if (lin_is_slot(p))
        fprintf(out, ":[slot %d]", (int)(p - LIN_SLOT_BASE));
}

static void print_operand(const lin_function *f, const lin_operand *o, FILE *out)
{
    fprintf(out, "v%u", (unsigned)o->v);
    print_place(f, o->place, out);
}

static const char *op_name(const lin_function *f, const lin_insn *i)
{
    if (i->op < LIN_TARGET)
        return lin_ops[i->op].name;
    return f->target->op_names ? f->target->op_names[i->op - LIN_TARGET] : "?";
}

static bool has_memory(const lin_insn *i)
{
    return i->base >= 0 || i->index >= 0 ||
           (i->sym && (i->op == LIN_LOAD || i->op == LIN_STORE || i->op == LIN_LEA));
}

static void print_memory(const lin_function *f, const lin_insn *i, FILE *out)
{
    fputs(" [", out);
    if (i->sym)
        fprintf(out, "%s", i->sym->text);
    if (i->base >= 0)
        print_operand(f, &i->ops[i->nres + i->base], out);
    if (i->index >= 0) {
        fputs(" + ", out);
        print_operand(f, &i->ops[i->nres + i->index], out);
        fprintf(out, "*%u", i->scale);
    }
    if (i->disp)
        fprintf(out, " %+lld", (long long)i->disp);
    fputc(']', out);
}

static void print_results(const lin_function *f, const lin_insn *i, FILE *out)
{
    static const char *const names[] = {"int", "val", "addr", "float"};
    for (unsigned k = 0; k < i->nres; k++) {
        if (k)
            fputs(", ", out);
        print_operand(f, &i->ops[k], out);
        fprintf(out, " %s", names[f->v[i->ops[k].v].component]);
    }
    if (i->nres)
        fputs(" = ", out);
}

static void print_extras(const lin_function *f, const lin_insn *i, FILE *out)
{
    if (i->op == LIN_ALLOC) {
        fprintf(out, " sizes (last first):");
        for (uint32_t k = i->u.allocs->count; k-- > 0;)
            fprintf(out, " %u", i->u.allocs->blocks[k].wosize);
    }
    if (i->nroots) {
        fprintf(out, " roots");
        for (uint32_t k = 0; k < i->nroots; k++) {
            fprintf(out, " v%u", (unsigned)i->roots[k].v);
            print_place(f, i->roots[k].place, out);
        }
    }
}

static void print_insn(const lin_function *f, const lin_insn *i, FILE *out)
{
    fputs("    ", out);
    print_results(f, i, out);
    fputs(op_name(f, i), out);
    if (i->op == LIN_BRANCH || i->op == LIN_BRANCHT || i->op == LIN_BRANCHF || i->op == LIN_SET ||
        i->op == LIN_SETF)
        fprintf(out, ".%s", lin_cc_names[i->cc]);
    if (i->op == LIN_LOAD || i->op == LIN_STORE)
        fprintf(out, " %s%s", cmm_chunks[i->chunk].name,
                i->flags & LIN_F_BARRIER ? " barrier" : "");
    bool comma = false;
    for (unsigned k = 0; k < i->nargs; k++) {
        if ((int)k == i->base || (int)k == i->index)
            continue;
        fputs(comma ? ", " : " ", out);
        comma = true;
        print_operand(f, &i->ops[i->nres + k], out);
    }
    if (i->flags & LIN_F_IMM || i->imm)
        fprintf(out, "%s#%lld", comma ? ", " : " ", (long long)i->imm);
    if (has_memory(i))
        print_memory(f, i, out);
    else {
        if (i->sym)
            fprintf(out, " \"%s\"", i->sym->text);
        if (i->disp)
            fprintf(out, " %+lld", (long long)i->disp);
    }
    print_extras(f, i, out);
    fputc('\n', out);
}

void lin_print(const lin_function *f, const char *after, FILE *out)
{
    fprintf(out, "function %s after %s\n", f->source->name->text, after);
    uint32_t n = f->nlayout ? f->nlayout : f->nrpo;
    for (uint32_t k = 0; k < n; k++) {
        const lin_block *b = f->nlayout ? f->layout[k] : f->rpo[k];
        fprintf(out, "  block %u%s%s depth %u", b->id, b->is_handler ? " handler" : "",
                b->is_loop ? " loop" : "", b->trap_depth);
        if (b->handler)
            fprintf(out, " raises to %u", b->handler->id);
        fputc('\n', out);
        for (const lin_insn *i = b->first; i; i = i->next)
            print_insn(f, i, out);
        if (b->nsucc) {
            fputs("    ->", out);
            for (uint32_t s = 0; s < b->nsucc; s++)
                fprintf(out, " %u", b->succ[s]->id);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
}
