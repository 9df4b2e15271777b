/* C side of the tests: callbacks, and functions with arguments on the stack. */
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

value fk_call1(value f, value a)
{
    return caml_callback(f, a);
}

value fk_call2(value f, value a, value b)
{
    return caml_callback2(f, a, b);
}

value fk_call3(value f, value a, value b, value c)
{
    return caml_callback3(f, a, b, c);
}

value fk_call5(value f, value a, value b, value c, value d, value e)
{
    value args[5] = {a, b, c, d, e};
    return caml_callbackN(f, 5, args);
}

value fk_call5_byte(value *argv, int argn)
{
    (void)argn;
    return fk_call5(argv[0], argv[1], argv[2], argv[3], argv[4], argv[5]);
}

value fk_caught(value f, value a)
{
    return Val_bool(Is_exception_result(caml_callback_exn(f, a)));
}

value fk_rooted(value f, value n)
{
    CAMLparam2(f, n);
    CAMLlocal2(keep, list);
    keep = caml_copy_double(1.5);
    list = caml_callback(f, n);
    long count = 0;
    for (; list != Val_emptylist; list = Field(list, 1)) {
        if (Int_val(Field(list, 0)) != count)
            CAMLreturn(Val_int(-1));
        count++;
        caml_callback(f, Val_int(3));
    }
    CAMLreturn(Val_int(Double_val(keep) == 1.5 ? count : -2));
}

/* More values than C has callee-saved registers, live over a callback: whatever
 * the compiler keeps in registers must come back, integer and float. */
value fk_callee_saved(value f)
{
    CAMLparam1(f);
    long i0 = f ^ 1, i1 = f ^ 2, i2 = f ^ 3, i3 = f ^ 4, i4 = f ^ 5, i5 = f ^ 6;
    long i6 = f ^ 7, i7 = f ^ 8, i8 = f ^ 9, i9 = f ^ 10, i10 = f ^ 11, i11 = f ^ 12;
    double base = (double)(f & 0xffff);
    double d0 = base + 1, d1 = base + 2, d2 = base + 3, d3 = base + 4, d4 = base + 5;
    double d5 = base + 6, d6 = base + 7, d7 = base + 8, d8 = base + 9, d9 = base + 10;
    long f0 = f;
    __asm__ volatile("" : "+r"(i0), "+r"(i1), "+r"(i2), "+r"(i3), "+r"(i4));
    caml_callback_exn(f, Val_unit);
    int ok = i0 == (f0 ^ 1) && i1 == (f0 ^ 2) && i2 == (f0 ^ 3) && i3 == (f0 ^ 4) &&
             i4 == (f0 ^ 5) && i5 == (f0 ^ 6) && i6 == (f0 ^ 7) && i7 == (f0 ^ 8) &&
             i8 == (f0 ^ 9) && i9 == (f0 ^ 10) && i10 == (f0 ^ 11) && i11 == (f0 ^ 12) &&
             d0 == base + 1 && d1 == base + 2 && d2 == base + 3 && d3 == base + 4 &&
             d4 == base + 5 && d5 == base + 6 && d6 == base + 7 && d7 == base + 8 &&
             d8 == base + 9 && d9 == base + 10;
    CAMLreturn(Val_bool(ok));
}

#define ARGS20(T)                                                                              \
    T a0, T a1, T a2, T a3, T a4, T a5, T a6, T a7, T a8, T a9, T a10, T a11, T a12, T a13,    \
        T a14, T a15, T a16, T a17, T a18, T a19
#define WEIGHTED                                                                               \
    (a0 + 2 * a1 + 3 * a2 + 4 * a3 + 5 * a4 + 6 * a5 + 7 * a6 + 8 * a7 + 9 * a8 + 10 * a9 +    \
     11 * a10 + 12 * a11 + 13 * a12 + 14 * a13 + 15 * a14 + 16 * a15 + 17 * a16 + 18 * a17 +   \
     19 * a18 + 20 * a19)

/* 20 tagged integers: alloc and noalloc share it. */
value fk_ints20(ARGS20(value))
{
#define U(n) a##n = Long_val(a##n)
    U(0); U(1); U(2); U(3); U(4); U(5); U(6); U(7); U(8); U(9);
    U(10); U(11); U(12); U(13); U(14); U(15); U(16); U(17); U(18); U(19);
    return Val_long(WEIGHTED);
}

double fk_floats20(ARGS20(double))
{
    return WEIGHTED;
}

value fk_floats20_boxed(ARGS20(double))
{
    return caml_copy_double(WEIGHTED);
}

/* Odd number of words on the stack, mixed classes, and it allocates. */
value fk_mixed(value i0, double d0, value i1, double d1, value i2, double d2, value i3, double d3,
               value i4, double d4, value i5, double d5, value i6, double d6, value i7, double d7,
               value i8, double d8, value i9)
{
    double sum = d0 + 2 * d1 + 3 * d2 + 4 * d3 + 5 * d4 + 6 * d5 + 7 * d6 + 8 * d7 + 9 * d8;
    long ints = Long_val(i0) + 2 * Long_val(i1) + 3 * Long_val(i2) + 4 * Long_val(i3) +
                5 * Long_val(i4) + 6 * Long_val(i5) + 7 * Long_val(i6) + 8 * Long_val(i7) +
                9 * Long_val(i8) + 10 * Long_val(i9);
    CAMLparam0();
    CAMLlocal1(r);
    r = caml_alloc_tuple(2);
    Store_field(r, 0, Val_long(ints));
    Store_field(r, 1, caml_copy_double(sum));
    CAMLreturn(r);
}

/* Calls back with arguments on the C stack below it. */
value fk_callback_with_stack_args(value f, value a1, value a2, value a3, value a4, value a5,
                                  value a6, value a7, value a8, value a9)
{
    CAMLparam5(f, a1, a2, a3, a4);
    CAMLxparam5(a5, a6, a7, a8, a9);
    long sum = Long_val(caml_callback3(f, a7, a8, a9));
    sum = sum * 10 + Long_val(a1) + Long_val(a2) + Long_val(a3) + Long_val(a4) + Long_val(a5) +
          Long_val(a6) + Long_val(a7) + Long_val(a8) + Long_val(a9);
    CAMLreturn(Val_long(sum));
}

value fk_no_bytecode(value *argv, int argn)
{
    (void)argv;
    (void)argn;
    return Val_unit;
}
