# make fuzz: each target for FUZZ_SECONDS (default 60) under AddressSanitizer and UBSan. The first
# inputs are made from text; what is found is kept in build/fuzz/TARGET.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
FUZZ_FLAGS = -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
frametable_fuzz_SRCS = $(frametable_SRCS) $(abi_SRCS) $(frametable_test_SRCS) \
  frametable/tests/consume.c $(verify_SRCS)
FRAMETABLE_FUZZ := image decode index

$(BUILD)/fuzz/frametable-%: frametable/fuzz/fuzz_%.c frametable/fuzz/fuzz_table.h \
    $$(frametable_fuzz_SRCS) $$(wildcard frametable/*.h)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)$(FUZZ_CC) $(ALL_CFLAGS) $(CFLAGS_frametable) $(FUZZ_FLAGS) \
	  $(filter %.c,$^) -o $@ -lelf

HOST_FUZZ_SEEDS := $(BUILD)/tests/frametable-seeds
TESTS += frametable-seeds
frametable-seeds_SRCS := frametable/fuzz/seeds.c $(frametable_test_SRCS)
frametable-seeds_LIBS := frametable abi
frametable-seeds_LDLIBS := -lelf

.PHONY: fuzz-frametable $(FRAMETABLE_FUZZ:%=fuzz-frametable-%)
fuzz: fuzz-frametable
fuzz-frametable: $(FRAMETABLE_FUZZ:%=fuzz-frametable-%)
$(FRAMETABLE_FUZZ:%=fuzz-frametable-%): fuzz-frametable-%: $(BUILD)/fuzz/frametable-% \
    $(BUILD)/tests/frametable-seeds
	@mkdir -p $(BUILD)/fuzz/corpus-$*
	$(Q)$(BUILD)/tests/frametable-seeds $* $(BUILD)/fuzz/corpus-$*
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=512 -max_len=65536 \
	  -artifact_prefix=$(BUILD)/fuzz/ -print_final_stats=1 $(BUILD)/fuzz/corpus-$*
