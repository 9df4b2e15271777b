/* Code with calls, for every architecture: .Lr0 to .Lr4 are return addresses, .Lr4 at the very end
   of its function (a call that never returns). */
#if defined(__x86_64__) || defined(__i386__)
#define CALL call external
#define LEN 5
#elif defined(__s390x__)
#define CALL brasl %r14, external
#define LEN 6
#elif defined(__riscv)
#define CALL call external
#define LEN 8
#else
#define CALL bl external
#define LEN 4
#endif
#define FUNCTION_END(name) .size name, . - name
        .text
        .balign 16
        .globl  camlT.code_begin
camlT.code_begin:
        .globl  camlT.f
        .type   camlT.f, STT_FUNC
camlT.f:
        CALL
.Lr0:   CALL
.Lr1:   CALL
.Lr2:   .8byte 0
        FUNCTION_END(camlT.f)
        .globl  camlT.g
        .type   camlT.g, STT_FUNC
camlT.g:
        CALL
.Lr3:   CALL
.Lr4:
        FUNCTION_END(camlT.g)
        .globl  camlT.h
        .type   camlT.h, STT_FUNC
camlT.h:
        .8byte 0
        FUNCTION_END(camlT.h)
        .globl  camlT.code_end
camlT.code_end:
