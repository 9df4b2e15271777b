# ftdump: the tool over libframetable.
FTDUMP_DIR := frametable/ftdump
TOOLS += ftdump
ftdump_SRCS := $(sort $(wildcard $(FTDUMP_DIR)/*.c))
ftdump_LIBS := frametable abi
ftdump_LDLIBS = $(CAPSTONE_LIBS) -ljansson -lelf

# Asked once, and again when Capstone arrives in the cache.
-include $(BUILD)/capstone.mk
$(BUILD)/capstone.mk: $(FTDUMP_DIR)/configure-capstone \
    $(wildcard $(or $(FRAMEKIT_CACHE),$(HOME)/.cache/framekit)/capstone-5/ok)
	@mkdir -p $(@D)
	$(Q)$< "$(CC)" >$@
CFLAGS_frametable_ftdump = $(CAPSTONE_CFLAGS)
$(BUILD)/obj/$(FTDUMP_DIR)/disasm.o: $(BUILD)/capstone.mk

CHECK_SUITES += ftdump
QUICK_SUITES += ftdump
