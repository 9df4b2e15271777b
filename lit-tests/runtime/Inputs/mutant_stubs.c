/* Breaks one thing that a stub, a compiler or C code must leave whole, then enters the runtime the
 * way stubs do. Built with OCaml's own headers, whose layouts the runtime shares. */
#define CAML_INTERNALS
#define NATIVE_CODE
#if defined __s390x__ /* what OCaml's own build says: the C link lies above reserved words */
#define TARGET_s390x
#elif defined __powerpc64__
#define TARGET_power
#endif
#include <stdint.h>
#include <string.h>

#include <caml/mlvalues.h>
#include <caml/domain.h>
#include <caml/fiber.h>

extern void caml_garbage_collection(void);

static volatile value sink;

/* A C call has saved everything, and its stub allows the stack to move meanwhile. */
static value enter(void) { return Val_bool(caml_try_realloc_stack(100)); }

value mutant_none(value unit) { (void)unit; return enter(); }

value mutant_sp_outside(value unit)
{
    (void)unit;
    Caml_state->current_stack->sp = (char *)Stack_high(Caml_state->current_stack) + 64;
    return enter();
}

value mutant_sp_unaligned(value unit)
{
    (void)unit;
    Caml_state->current_stack->sp = (char *)Caml_state->current_stack->sp + 4;
    return enter();
}

value mutant_buckets(value unit)
{
    static value bucket[128];
    (void)unit;
    bucket[0] = (value)bucket;
    Caml_state->gc_regs_buckets = bucket;
    return enter();
}

value mutant_trap_elsewhere(value unit)
{
    static void *trap[2];
    (void)unit;
    Caml_state->exn_handler = (void *)trap;
    return enter();
}

value mutant_trap_downward(value unit)
{
    (void)unit;
    char **trap = (char **)Caml_state->exn_handler;
    *trap = (char *)trap - 64;
    return enter();
}

value mutant_link_fiber(value unit)
{
    (void)unit;
    Caml_state->c_stack->stack = NULL;
    return enter();
}

value mutant_link_sp(value unit)
{
    (void)unit;
    Caml_state->c_stack->sp = (char *)Caml_state->c_stack->sp - 16;
    return enter();
}

value mutant_gc_point(value unit)
{
    caml_garbage_collection();
    return unit;
}

value mutant_field(value block)
{
    Field(block, 0) = (value)&sink + 4;
    return Val_unit;
}

value mutant_header(value block)
{
    ((uintnat *)block)[-1] += (uintnat)1000 << 10;
    return Val_unit;
}

static value kept;
value mutant_keep(value v) { kept = v; return Val_unit; }
value mutant_use(value unit) { (void)unit; return Field(kept, 0); }

value mutant_overrun(value unit)
{
    (void)unit;
    memset((char *)Caml_state->young_end, 1, 8);
    return Val_unit;
}

value mutant_wild(value unit)
{
    (void)unit;
    return *(volatile value *)16;
}
