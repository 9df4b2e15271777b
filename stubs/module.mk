# stubs: the assembler files, each built for the 5.3 and the 5.4 domain state.
#   build/ARCH/stubs.o      5.3
#   build/ARCH/stubs-5.4.o  5.4
STUBS_amd64   := stubs/amd64.S
STUBS_arm64   := stubs/arm64.S
STUBS_power   := stubs/power.S
STUBS_s390x   := stubs/s390x.S
STUBS_riscv64 := stubs/riscv.S

define stub_rule # 1 = arch, 2 = version, 3 = object
$(BUILD)/$(1)/$(3): $(STUBS_$(1)) stubs/stubs.h $(BUILD)/$(1)/abi-$(2).h
	$$(call say,AS,$$@)$(CC_$(1)) -g -I. -include $(BUILD)/$(1)/abi-$(2).h \
	  -Wa,--fatal-warnings -c $$< -o $$@
EXTRA_ALL += $(BUILD)/$(1)/$(3)
endef
$(foreach a,$(TARGETS),$(if $(wildcard $(STUBS_$(a))),\
  $(eval $(call stub_rule,$(a),5.3,stubs.o))\
  $(eval $(call stub_rule,$(a),5.4,stubs-5.4.o))))

CHECK_SUITES += stubs
QUICK_SUITES += stubs
