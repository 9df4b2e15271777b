"""faults.py ARCH TOP BUILD CC: faults that really happened in this field, put into the
stubs by name; stubcheck must name each by the right rule. Then one fault for each rule
that none of them breaks, so that every rule is known to be able to fail.

A row: issue or commit where it was reported ("rule": made for that rule), what happened, place (text after which
the change is made), text, new text, rules of which one must be violated, traced."""
import json, os, subprocess, sys, tempfile

arch, top, build, cc = sys.argv[1:5]
SOURCE = {"riscv64": "riscv"}.get(arch, arch)

FAULTS = {
    "amd64": [
        ("ocaml#6031", "C entered with a misaligned stack", ".macro fiber_to_c", "movq %r11, %rsp", "leaq -8(%r11), %rsp", "c-entry.alignment", 0),
        ("multicore#530", "gc_regs saved a word off", "function caml_start_program", "%r11, HEADER_SAVED_GC_REGS(%r10)", "%r11, HEADER_SAVED_GC_REGS - 8(%r10)", "domain.gc-regs", 0),
        ("oxcaml#4078", "the overflow path leaves a bucket taken", ".Lstack_overflow:", "release_bucket", "nop", "domain.buckets", 0),
        ("ocaml#10633", "young_ptr lost when an overflow is raised", ".Lstack_overflow:", "movq DOM_YOUNG_PTR(%r14), %r15", "nop", "pointers.young", 0),
        ("ocaml#9428", "backtrace position reset by a re-raise", "function caml_reraise_exn", "jmp .Lreraise_traced", "jmp .Lraise_traced", "backtrace.position", 0),
        ("30a0f93cbd", "signed comparison of pointers", ".macro alloc_function", "jb .Lcall_gc", "jl .Lcall_gc", "allocation.decision flow.next", 0),
        ("ocaml#11846", "rbx clobbered", "function caml_callback_asm", "movq %rsi, %rcx", "movq %rsi, %rbx; movq %rsi, %rcx", "c-abi.kept", 0),
        ("ocaml#12328", "caml_perform through the PLT on a fiber", "function caml_perform", "*caml_apply3@GOTPCREL(%rip)", "caml_apply3@PLT", "veneer.lazy", 1),
        ("PR#8805", "the allocation done again after the collection", "function caml_call_gc", "restore_registers", "restore_registers; subq $16, %r15", "pointers.young", 0),
        ("PR#3952", "scratch use of the size argument", "function caml_call_realloc_stack", "movq 8(%rsp), %rdi", "movq 16(%rsp), %rdi", "arguments.registers", 0),
        ("ocaml#7405", "address taken directly instead of from the GOT", "function caml_start_program", "movq caml_program@GOTPCREL(%rip), %r11", "movabsq $caml_program, %r11", "static.pic", 0),
        ("ocaml#13241", "wrong CFA offset", "pushq DOM_C_STACK(%r14)", ".cfi_adjust_cfa_offset 8", ".cfi_adjust_cfa_offset 16", "cfi.cfa", 1),
        ("rule", "young_ptr a word off after an allocation", ".macro alloc_function", "    ret\n", "    addq $8, %r15; ret\n", "allocation.size", 0),
        ("rule", "a stack argument taken a word off", "function caml_c_call_stack_args", "(%r13,%r12), %r10", "8(%r13,%r12), %r10", "arguments.stack", 0),
        ("rule", "backtraces when none are wanted", "function caml_raise_exn", "jne .Lraise_traced", "je .Lraise_traced", "backtrace.active", 0),
        ("rule", "the raise's stack pointer a word off", "function caml_raise_exn", "leaq 8(%rsp), %rdx", "leaq (%rsp), %rdx", "backtrace.arguments", 0),
        ("rule", "a hole on the C stack", ".macro fiber_to_c", "movq %r11, %rsp", "leaq -16(%r11), %rsp", "c-entry.stack", 0),
        ("rule", "a bit too many in a mask", "label caml_negf_mask", "0x8000000000000000", "0x8000000000000001", "data.masks", 0),
        ("rule", "another field written", "function caml_c_call", "movq %r15, DOM_YOUNG_PTR(%r14)", "movq %r15, DOM_YOUNG_PTR(%r14); movq %r15, DOM_BACKTRACE_POS(%r14)", "domain.other", 0),
        ("rule", "a pending action forgotten", "function caml_c_call", "jne 1f", "je 1f", "domain.pending", 0),
        ("rule", "young_ptr kept from C", "function caml_c_call", "movq %r15, DOM_YOUNG_PTR(%r14)", "nop", "domain.young-stored", 0),
        ("rule", "another value as the exception", "function caml_raise_exn", "movq %r12, %rax", "movq %r13, %rax", "exception.bucket", 0),
        ("rule", "no outer handler in the trap frame", "function caml_start_program", "movq %r11, HEADER_EXN_HANDLER(%r10)", "movq %r10, HEADER_EXN_HANDLER(%r10)", "exception.frame", 0),
        ("rule", "the handler left in force", ".macro cut_to_handler", "popq DOM_EXN_HANDLER(%r14)", "addq $8, %rsp", "exception.chain", 0),
        ("rule", "a loop without end", "function caml_resume", "jmp *(%rbx)", "1: jmp 1b", "flow.time", 0),
        ("rule", "the trap frame not popped whole", ".macro cut_to_handler", "popq %r11", "popq %r11; pushq %r11", "exception.handler", 0),
        ("rule", "the last fiber not recorded", "function caml_perform", "movq %rdi, 8(%rbx)", "nop", "fiber.links", 0),
        ("rule", "the fiber's stack pointer not saved", ".macro switch_fiber", "movq %rsp, STACK_SP(\\from)", "nop", "fiber.saved", 0),
        ("rule", "the current fiber not changed", ".macro switch_fiber", "movq \\to, DOM_CURRENT_STACK(%r14)", "nop", "fiber.switch", 0),
        ("rule", "a descriptor too few", "system_frametable", "system_frametable .Lstart_return, .Lrunstack_return", ".data; .balign 8; label caml_system.frametable; .8byte 1; descriptor_return_to_c .Lstart_return", "frametable.count", 0),
        ("rule", "no end of the code range", "label caml_system__code_end", "label caml_system__code_end", "", "frametable.code-range", 0),
        ("rule", "the descriptor of another place", "system_frametable", ".Lstart_return", ".Lstart_leave", "frametable.return-address", 0),
        ("rule", "the domain state lost", "function caml_perform", "movq HANDLER_EFFECT(%r11), %rsi", "movq HANDLER_EFFECT(%r11), %rsi; addq $8, %r14", "pointers.domain", 0),
        ("rule", "r10 lost without PLT calls", ".macro restore_registers", "movq BUCKET_R10(%r15), %r10", "nop", "registers.nodynlink", 0),
        ("rule", "a moved root ignored", ".macro restore_registers", "movq BUCKET_RBX(%r15), %rbx", "nop", "roots.moved", 0),
        ("rule", "an exception result with other bits", "function caml_start_program", "orq $2, %rax", "orq $1, %rax", "result.value", 0),
        ("rule", "the caller's frame written", "function caml_c_call", "fiber_to_c", "movq %rax, 16(%rsp); fiber_to_c", "stack.memory", 0),
        ("rule", "a word too many popped", "function caml_call_gc", "restore_registers\n    ret", "restore_registers\n    ret $8", "stack.pointer", 0),
        ("rule", "a word below the red zone read again", "function caml_reraise_exn", "cmpq $0", "movq %rax, -200(%rsp); movq -200(%rsp), %rax; cmpq $0", "stack.below", 1),
        ("rule", "r10 and r11 carried through a PLT entry", "function caml_start_program", ".Lstart: ", "jmp fk_start@PLT; .globl fk_start; fk_start: .Lstart: ", "veneer.carried", 1),
        ("rule", "a field's number of no version", "#define RA", "    .text\n", ".set domain_field_caml_young_limit, 0; .set domain_field_caml_young_ptr, 1; .set domain_field_caml_exn_handler, 9; .text\n", "static.layout", 0),
        ("rule", "a stub missing", "alloc_function caml_alloc3", "alloc_function caml_alloc3, 32", "", "static.missing", 0),
    ],
    "arm64": [
        ("ocaml#9888", "a register not saved", ".macro bucket_pairs", "\\op x19, x20,", "\\op x21, x20,", "roots.visible registers.kept", 0),
        ("ocaml#6507", "bottom of stack off by the stub's own pair", ".macro fiber_to_c", "mov x16, sp", "add x16, sp, 16", "walk.link", 0),
        ("ocaml#9890", "two float save slots overlap", ".macro bucket_pairs", "BUCKET_D18]", "BUCKET_D18 - 8]", "registers.kept", 0),
        ("12b62da50b", "the platform's register used", "function caml_start_program", "mov x16, x0", "mov x18, x0; mov x16, x18", "registers.reserved", 0),
        ("ocaml#9428", "backtrace position reset by a re-raise", "function caml_reraise_exn", "b .Lreraise_traced", "b .Lraise_traced", "backtrace.position", 0),
        ("30a0f93cbd", "signed comparison of pointers", ".macro alloc_function", "b.lo .Lcall_gc", "b.lt .Lcall_gc", "allocation.decision flow.next", 0),
        ("5208fbc99f", "an instruction of callback2 vanished", "function caml_callback2_asm", "b .Lstart", "mov x1, x0; b .Lstart", "arguments.registers", 0),
        ("ocaml#10481", "memory below the stack pointer read", ".macro cut_to_handler", "ldp x26, x16, [sp], TRAP_SIZE", "add sp, sp, TRAP_SIZE; ldp x26, x16, [sp, -TRAP_SIZE]", "stack.below", 1),
        ("oxcaml#4104", "the overflow path leaves a bucket taken", ".Lstack_overflow:", "release_bucket", "nop", "domain.buckets", 0),
    ],
    "power": [
        ("7dacc03db0", "r2 not restored after a collection", "stub caml_call_gc", "ld %r2, TOC_SAVE(%r1)", "nop", "registers.kept", 0),
        ("133bb63ee4", "r2 not restored after a C call", "stub caml_c_call", "ld %r2, TOC_SAVE(%r1)", "nop", "registers.kept", 0),
        ("ocaml#11436", "the return address saved in another word", ".macro push_link", "std %r0, LR_SAVE(%r1)", "std %r0, LR_SAVE + 8(%r1)", "walk.return-address", 0),
        ("ocaml#9888", "a register not saved", ".macro bucket_words", "%r17, BUCKET_R17", "%r18, BUCKET_R17", "roots.visible registers.kept", 0),
        ("ocaml#12546", "two float save slots overlap", ".macro bucket_words", "%f5, BUCKET_F5(", "%f5, BUCKET_F5 + 4(", "registers.kept", 0),
        ("ocaml#6031", "C entered with a misaligned stack", ".macro fiber_to_c", "mr %r1, %r12", "addi %r1, %r12, -8", "c-entry.alignment", 0),
        ("ocaml#9428", "backtrace position reset by a re-raise", "stub caml_reraise_exn", "b .Lreraise_traced", "b .Lraise_traced", "backtrace.position", 0),
        ("ELFv2", "a callee cannot find its TOC", "stub caml_c_call", "mr %r12, %r25\n    mtctr %r12", "mtctr %r25", "c-entry.toc", 0),
        ("rule", "no nop after a call of another object", ".macro call_c", "    nop /*", "    mr %r0, %r0 /*", "c-entry.toc-restore", 0),
        ("rule", "the trap pointer not stored", ".macro save_traps", "std %r29, DOM_EXN_HANDLER(%r30)", "nop", "domain.trap-stored", 0),
        ("rule", "an old trap pointer", ".macro reload_traps", "ld %r29, DOM_EXN_HANDLER(%r30)", "nop", "pointers.trap", 0),
    ],
    "s390x": [
        ("ocaml#12829", "a runtime symbol by plain distance", "stub caml_ml_array_bound_error", "lgrl %r7, caml_array_bound_error_asm@GOTENT", "larl %r7, caml_array_bound_error_asm", "static.pcrel", 0),
        ("ocaml#12486", "a jump into the middle of caml_c_call", "stub caml_ml_array_bound_error", "j .Lc_call", "j .Lc_call + 12", "walk.link walk.return-address walk.bottom", 0),
        ("dad58090c6", "the stack pointer recorded after the stub's decrement", ".macro fiber_to_c", "stg %r15, C_LINK_SP(%r1)", "lay %r15, -8(%r15); stg %r15, C_LINK_SP(%r1)", "walk.link", 0),
        ("30a0f93cbd", "signed comparison of pointers", ".macro alloc_function", "clg %r11,", "cg %r11,", "allocation.decision flow.next", 0),
        ("ocaml#12919", "caml_callback2_asm clobbers r12 before it is saved", "stub caml_callback2_asm", "lgr %r0, %r2", "lgr %r12, %r3; lgr %r0, %r2", "c-abi.kept", 0),
        ("4.13 stubs", "the save slots of f13 and f14 overlap", ".macro bucket_words", "BUCKET_F13(", "BUCKET_F13 + 4(", "registers.kept", 0),
        ("ocaml#9428", "backtrace position reset by a re-raise", "stub caml_reraise_exn", "j .Lreraise_traced", "j .Lraise_traced", "backtrace.position", 0),
        ("oxcaml#4078", "the overflow path leaves a bucket taken", ".Lstack_overflow:", "release_bucket", "nopr", "domain.buckets", 0),
        ("ocaml#13241", "the CFA leaves the save area out", ".macro fiber_to_c", "CFA + LINK)", "LINK)", "cfi.cfa", 1),
    ],
    "riscv64": [
        ("ocaml#9888", "an allocatable register not saved", ".macro bucket_words", "\\i s5, BUCKET_S5", "\\i s6, BUCKET_S5", "roots.visible registers.kept", 0),
        ("ocaml#9890", "two float save slots overlap", ".macro bucket_words", "BUCKET_FT1(", "BUCKET_FT1 + 4(", "registers.kept", 0),
        ("30a0f93cbd", "signed comparison of pointers", ".macro alloc_function", "bltu s10, t1", "blt s10, t1", "allocation.decision flow.next", 0),
        ("multicore#530", "gc_regs saved a word off", "function caml_start_program", "sd t3, HEADER_SAVED_GC_REGS(s1)", "sd t3, HEADER_SAVED_GC_REGS - 8(s1)", "domain.gc-regs walk.link", 0),
        ("ocaml#13595", "wrong register number for the CFA", ".macro c_to_fiber", ".cfi_def_cfa sp, LINK", ".cfi_def_cfa x21, LINK", "cfi.cfa", 1),
        ("ocaml#10481", "memory below the stack pointer read", ".macro cut_to_handler", "ld t1, TRAP_HANDLER(sp)", "addi sp, sp, TRAP_SIZE; ld t1, TRAP_HANDLER - TRAP_SIZE(sp); addi sp, sp, -TRAP_SIZE", "stack.below", 1),
        ("riscv-port#2", "gp written", "function caml_c_call", "save_traps", "addi gp, gp, 8; save_traps", "registers.reserved flow.crash", 0),
        ("ocaml#9428", "backtrace position reset by a re-raise", "function caml_reraise_exn", "j .Lreraise_traced", "j .Lraise_traced", "backtrace.position", 0),
        ("oxcaml#4078", "the overflow path leaves a bucket taken", ".Lstack_overflow:", "release_bucket", "nop", "domain.buckets", 0),
        ("ocaml#10633", "young_ptr lost over a collection", "function caml_call_gc", "reload_traps", "ld s1, DOM_EXN_HANDLER(s11)", "pointers.young", 0),
    ],
}

text = open(os.path.join(top, "stubs", SOURCE + ".S")).read()
dir = tempfile.mkdtemp()
bad = 0
for where, what, place, old, new, rules, traced in FAULTS[arch]:
    at = text.find(old, text.index(place))
    assert at >= 0, (where, old)
    source, target = os.path.join(dir, "f.S"), os.path.join(dir, "f.o")
    open(source, "w").write(text[:at] + new + text[at + len(old):])
    subprocess.check_call([cc, "-I" + top, "-I" + top + "/stubs", "-include",
                           "%s/%s/abi-5.3.h" % (build, arch), "-c", source, "-o", target])
    out = subprocess.run(["stubcheck", "--seconds=2", "--output-style=json"] + ["--no-trace"] * (not traced) +
                         [target], capture_output=True)
    found = {v["rule"] for v in json.loads(out.stdout)["objects"][0]["violations"] if not v["note"]}
    caught = bool(found & set(rules.split()))
    bad += not caught
    print("%s %s: %s%s" % ("caught" if caught else "MISSED", where, what,
                           "" if caught else " (found: %s)" % " ".join(sorted(found))))
subprocess.call(["rm", "-rf", dir])
print("%s: %d faults, %d missed" % (arch, len(FAULTS[arch]), bad))
sys.exit(bad != 0)
