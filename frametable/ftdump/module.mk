# ftdump: the tool over libframetable.
FTDUMP_DIR := frametable/ftdump
TOOLS += ftdump
ftdump_SRCS := $(sort $(wildcard $(FTDUMP_DIR)/*.c))
ftdump_LIBS := verify frametable abi
# Not position independent: Capstone's tables would cost 340 page faults of relocation at each start.
ftdump_LDLIBS = -no-pie $(CAPSTONE_LIBS) -ljansson -lelf -lpthread -lm

# Asked once, and again when Capstone arrives in the cache.
-include $(BUILD)/capstone.mk
$(BUILD)/capstone.mk: $(FTDUMP_DIR)/configure-capstone \
    $(wildcard $(or $(FRAMEKIT_CACHE),$(HOME)/.cache/framekit)/capstone-5/ok)
	@mkdir -p $(@D)
	$(Q)$< "$(CC)" >$@ || rm -f $@
CFLAGS_frametable_ftdump = $(CAPSTONE_CFLAGS)
$(BUILD)/obj/$(FTDUMP_DIR)/disasm.o: $(BUILD)/capstone.mk

CHECK_SUITES += ftdump
QUICK_SUITES += ftdump

demo: setup ## the main job on real input
	$(Q)qemu-ci/capstone --fetch || echo "demo: no Capstone: the disassembly will be missing"
	$(Q)$(MAKE) --no-print-directory $(BUILD)/bin/ftdump
	$(Q)BUILD="$$(realpath $(BUILD))" $(FTDUMP_DIR)/demo

# ratios against readelf -wF, taken in one run
.PHONY: bench-ftdump
bench: bench-ftdump ## measure: ratios in one run
bench-ftdump: all
	$(Q)$(FTDUMP_DIR)/bench $(BUILD)/bin/ftdump
