# abi: the tables, and the generator that lets assembler files read them.
LIBS += abi
abi_SRCS := abi/abi.c abi/stub.c abi/domain_state.c abi/amd64.c abi/arm64.c abi/power.c abi/s390x.c \
  abi/riscv64.c abi/i386.c abi/armhf.c

HOST_TOOLS += abi-gen
abi-gen_SRCS := abi/gen.c abi/doc.c
abi-gen_LIBS := abi

TESTS += test-abi
test-abi_SRCS := abi/test_abi.c
test-abi_LIBS := abi
test-abi_LDLIBS := -lcmocka

CHECK_SUITES += abi
QUICK_SUITES += abi

# build/ARCH/abi-5.3.h and abi-5.4.h
define abi_header_rule # 1 = arch, 2 = version
$(BUILD)/$(1)/abi-$(2).h: $(BUILD)/host/abi-gen
	@mkdir -p $$(@D)
	$$(call say,GEN,$$@)$$< $(1) $(2) >$$@
EXTRA_ALL += $(BUILD)/$(1)/abi-$(2).h
endef
$(foreach a,$(ARCHES),$(foreach v,5.3 5.4,$(eval $(call abi_header_rule,$(a),$(v)))))
