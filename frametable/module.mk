# libframetable. The core needs only the C library: runtimes build it for their targets
# (frametable_core_SRCS). The rest reads ELF files through libelf.
LIBS += frametable
frametable_core_SRCS := $(addprefix frametable/,error.c generation.c table.c decode.c decode_o3.c \
  debuginfo.c index.c index_part.c index_native.c) \
  $(addprefix frametable/,builder.c intern.c sink.c encode.c encode_o3.c encode_debug.c output.c \
  model.c roundtrip.c)
frametable_SRCS := $(frametable_core_SRCS) $(addprefix frametable/,image.c section.c dynamic.c \
  symbol.c reloc.c target.c locate.c scan.c detect.c measure.c index_image.c)
CFLAGS_frametable := -DFK_VERSION='"$(shell cat VERSION)"'
INSTALL_PC += frametable/libframetable.pc.in

TESTS += ft-cat
ft-cat_SRCS := frametable/tests/ft_cat.c
ft-cat_LIBS := frametable abi
ft-cat_LDLIBS := -lelf

frametable_test_SRCS := $(addprefix frametable/tests/,elf_make.c random_table.c)
TESTS += test-frametable
test-frametable_SRCS := frametable/tests/test_frametable.c $(frametable_test_SRCS)
test-frametable_LIBS := frametable abi
test-frametable_LDLIBS := -lelf -lcmocka
TESTS += test-index
test-index_SRCS := frametable/tests/test_index.c $(frametable_test_SRCS)
test-index_LIBS := frametable abi
test-index_LDLIBS := -lelf -lcmocka
TESTS += test-damage
test-damage_SRCS := $(addprefix frametable/tests/,test_damage.c consume.c) $(frametable_test_SRCS)
test-damage_LIBS := frametable abi
test-damage_LDLIBS := -lelf -lcmocka \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
include frametable/fuzz/fuzz.mk
CHECK_SUITES += frametable
QUICK_SUITES += frametable

TESTS += frametable-bench
frametable-bench_SRCS := frametable/tests/bench.c $(frametable_test_SRCS)
frametable-bench_LIBS := frametable abi
frametable-bench_LDLIBS := -lelf

.PHONY: bench-frametable
bench: bench-frametable
bench-frametable: $(BUILD)/tests/frametable-bench
	$(Q)$< $$(find "$$(qemu-ci/ocaml fetch forky amd64)" -path '*/bin/ocamlopt.opt' -type f) --synthetic
