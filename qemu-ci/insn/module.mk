EXTRA_TESTS += $(BUILD)/insn.so

$(BUILD)/insn.so: qemu-ci/insn/insn.c
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -shared -fPIC -fvisibility=hidden $< -o $@
