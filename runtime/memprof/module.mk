# memprof: the engine, and the drop-in objects for the real OCaml runtimes.
#
# build/ARCH/framekit_memprof_ocaml53.o (54.o) define exactly the symbols of
# that runtime's own memprof object. They are compiled against its installed
# headers, which qemu-ci/ocaml fetches: `make memprof-ocaml`, not part of `all`.
MEMPROF_DIR := runtime/memprof
MEMPROF_ENGINE := control domain layers limit profile random run sample table

MEMPROF_CFLAGS := -std=c11 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -O2 -g -fPIC -fno-semantic-interposition -ffp-contract=off -fexcess-precision=fast

# What is not on the way of a sample is compiled apart and knows no host.
MEMPROF_RECORDER := ctf ctf_code export frames pprof record session

# The engine itself: -O3, since a sample in the middle of a program finds cold predictors, and
# code laid out by -O2 takes a fifth longer there (bench/).
MEMPROF_UNIT_CFLAGS := -O3 -DNATIVE_CODE

# As caml/stack.h calls it.
MEMPROF_TARGET_riscv64 := riscv

# 1 = arch, 2 = version (5.3), 3 = name (53)
define memprof_ocaml_rule
$(BUILD)/$(1)/memprof$(3)/%.o: $(MEMPROF_DIR)/%.c $$(wildcard $(MEMPROF_DIR)/*.[ch]) $(MEMPROF_DIR)/module.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC_$(1)) $$(MEMPROF_CFLAGS) $$(if $$(filter unit_ocaml,$$*),$$(MEMPROF_UNIT_CFLAGS) -DTARGET_$(or $(MEMPROF_TARGET_$(1)),$(1)) -I$$$$(qemu-ci/ocaml lib --version=$(2) $(1))) -c $$< -o $$@
$(BUILD)/$(1)/framekit_memprof_ocaml$(3).o: $$(MEMPROF_RECORDER:%=$(BUILD)/$(1)/memprof$(3)/%.o) \
  $(BUILD)/$(1)/memprof$(3)/unit_ocaml.o $(MEMPROF_DIR)/ocaml.syms
	$$(call say,LD,$$@)$$(CC_$(1)) -nostdlib -r $$(filter %.o,$$^) -o $$@.all
	$$(Q)$$(patsubst %gcc,%objcopy,$$(CC_$(1))) --keep-global-symbols=$(MEMPROF_DIR)/ocaml.syms $$@.all $$@
	@rm -f $$@.all
MEMPROF_OCAML += $(BUILD)/$(1)/framekit_memprof_ocaml$(3).o
endef
$(foreach a,$(TARGETS),$(eval $(call memprof_ocaml_rule,$(a),5.3,53)))
$(foreach a,$(TARGETS),$(eval $(call memprof_ocaml_rule,$(a),5.4,54)))

.PHONY: memprof-ocaml
memprof-ocaml: $(MEMPROF_OCAML) ## the profiler as drop-in for OCaml 5.3 and 5.4

CHECK_SUITES += memprof
QUICK_SUITES += memprof

# The engine's own tests, one static program per architecture.
define memprof_test_rule # 1 = arch, 2 = test
$(BUILD)/$(1)/tests/memprof-$(2): $$(wildcard $(MEMPROF_DIR)/*.[ch])
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC_$(1)) $$(MEMPROF_CFLAGS) -static -o $$@ $(MEMPROF_DIR)/test_$(2).c \
	  $$(MEMPROF_$(2)_SRCS:%=$(MEMPROF_DIR)/%.c) $$(MEMPROF_ENGINE:%=$(MEMPROF_DIR)/%.c) $$(MEMPROF_$(2)_LDFLAGS) -lm -lpthread
MEMPROF_TESTS += $(BUILD)/$(1)/tests/memprof-$(2)
endef
MEMPROF_model_SRCS := test_heap
MEMPROF_statistics_SRCS := record
MEMPROF_domains_LDFLAGS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
$(foreach a,$(TARGETS),$(foreach t,model statistics domains,$(eval $(call memprof_test_rule,$(a),$(t)))))

define memprof_random_rule # 1 = arch
$(BUILD)/$(1)/tests/memprof-random: $$(wildcard $(MEMPROF_DIR)/*.[ch])
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC_$(1)) $$(MEMPROF_CFLAGS) -static -o $$@ $(MEMPROF_DIR)/test_random.c $(MEMPROF_DIR)/random.c -lm
MEMPROF_TESTS += $(BUILD)/$(1)/tests/memprof-random
endef
$(foreach a,$(TARGETS),$(eval $(call memprof_random_rule,$(a))))
EXTRA_TESTS += $(MEMPROF_TESTS)

TOOLS += framekit-memprof
framekit-memprof_SRCS := $(addprefix runtime/memprof/tool/,main.c stacks.c pprof_in.c)

# Figures against the real engine, in one run (amd64).
TESTS += memprof-bench-random
memprof-bench-random_SRCS := $(addprefix runtime/memprof/,bench/bench_random.c random.c)
memprof-bench-random_LDLIBS := -lm
.PHONY: bench-memprof
bench: bench-memprof
bench-memprof: $(BUILD)/tests/memprof-bench-random $(BUILD)/amd64/framekit_memprof_ocaml53.o
	$(Q)$<
	$(Q)python3 $(MEMPROF_DIR)/bench/bench.py $(BUILD) . 5
