# libverify: the rules of ftdump --verify.
LIBS += verify
verify_SRCS := $(addprefix frametable/verify/,verify.c run.c structure.c calls.c cfi.c rows.c rows_image.c \
  debug.c lines.c code.c calls_code.c frame.c alloc.c live.c webs.c facts.c agree.c abi.c abi_code.c \
  program.c nameless.c tables.c cfg.c flow.c step.c amd64.c arm64.c power.c s390x.c riscv64.c)

CHECK_SUITES += verify
QUICK_SUITES += verify

TESTS += test-damage-dwarf
test-damage-dwarf_SRCS := frametable/verify/tests/test_damage_dwarf.c
test-damage-dwarf_LIBS := verify frametable abi
test-damage-dwarf_LDLIBS := -lelf -lpthread

.PHONY: bench-verify
bench: bench-verify
bench-verify: all
	$(Q)BUILD="$$(realpath $(BUILD))" frametable/verify/bench
