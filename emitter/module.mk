# emitter: libemitter and the compiler cmmc.
#   emitter/*.c          front (unit lex parse* check print) and middle
#   emitter/interp/      reference interpreter
#   emitter/ARCH/        one folder per architecture
#   emitter/gen/         random programs, reducer; emitter/fuzz/: libFuzzer target
LIBS += emitter
emitter_SRCS := $(filter-out emitter/main.c,$(wildcard emitter/*.c)) $(wildcard emitter/interp/*.c) \
  $(foreach a,$(ARCHES),$(wildcard emitter/$(a)/*.c))

TOOLS += cmmc
cmmc_SRCS := emitter/main.c
cmmc_LIBS := emitter $(if $(wildcard frametable/module.mk),frametable) abi
cmmc_LDLIBS := -lelf -lpthread -lm

CHECK_SUITES += cmmc ocaml-programs
QUICK_SUITES += cmmc
CHECK_SUITES += cmmc-asm

TOOLS += cmm-gen
cmm-gen_SRCS := emitter/gen/gen.c

# libFuzzer, built by clang with its sanitizers: make build/fuzz/cmm-parse
FUZZ_CMM_SRCS := emitter/fuzz/fuzz_parse.c $(addprefix emitter/,unit.c pages.c lex.c parse.c parse_expr.c \
  parse_control.c parse_data.c parse_loc.c check.c print.c equal.c)
$(BUILD)/fuzz/cmm-parse: $(FUZZ_CMM_SRCS) $(wildcard emitter/*.h)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=c11 -D_GNU_SOURCE -Iinclude -I. -g -O1 \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $(FUZZ_CMM_SRCS) -o $@ -lpthread

# cmmc under sanitizers: make build/san/cmmc
SAN_CMMC_SRCS = $(emitter_SRCS) $(cmmc_SRCS) $(frametable_SRCS) $(abi_SRCS)
$(BUILD)/san/cmmc: $(emitter_SRCS) $(cmmc_SRCS) $(wildcard emitter/*.h emitter/*/*.h)
	@mkdir -p $(@D)
	$(call say,SAN,$@)$(CC) -std=c11 -D_GNU_SOURCE -Iinclude -I. -g -O1 $(CFLAGS_frametable) \
	  -fsanitize=address,undefined -fno-sanitize-recover=undefined $(SAN_CMMC_SRCS) -o $@ $(cmmc_LDLIBS)

# instructions executed and size of code against ocamlopt; speed and memory of the compiler
.PHONY: bench-cmmc bench-code
bench: bench-cmmc bench-code
bench-cmmc: all
	$(Q)BUILD="$$(realpath $(BUILD))" emitter/bench
bench-code: tests
	$(Q)BUILD="$$(realpath $(BUILD))" lit-tests/ocaml-programs/Inputs/quality.py
