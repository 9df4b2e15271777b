/* Bytes that malloc has handed out, and the free save areas of this domain. */
#define CAML_INTERNALS
#include <malloc.h>
#include <caml/mlvalues.h>
#include <caml/domain_state.h>
#include <caml/domain.h>

value fk_used(value unit)
{
    (void)unit;
    return Val_long(mallinfo2().uordblks);
}

value fk_buckets(value unit)
{
    (void)unit;
    long n = 0;
    for (value *b = Caml_state->gc_regs_buckets; b; b = (value *)b[0])
        n++;
    return Val_long(n);
}
