# stubs/check: stubcheck, and for each architecture the harness it links with.
#   build/ARCH/stubcheck   a program; objects are linked against its symbols
TOOLS += stubcheck
stubcheck_SRCS := $(addprefix stubs/check/,main.c object.c link.c table.c cfi.c process.c run.c \
  verdict.c static.c baseline.c report.c json.c) abi/installed.c
stubcheck_LIBS := abi
stubcheck_LDLIBS := -ldw -lelf -ljansson

HARNESS_C := $(addprefix stubs/check/harness/,regs.c image.c report.c world.c run.c trace.c common.c \
  cases_gc.c cases_c_call.c cases_start.c cases_raise.c cases_fiber.c cases_chain.c \
  cases_buckets.c cases_table.c)

# The emulators and tool prefixes, from the one list of architectures.
$(BUILD)/gen/ports.inc: qemu-ci/arches
	@mkdir -p $(@D)
	$(Q)awk '!/^#/ && NF >= 4 { printf "{\"%s\", \"%s\", \"%s\"},\n", $$1, $$3, $$4 }' $< >$@
$(BUILD)/obj/stubs/check/link.o: $(BUILD)/gen/ports.inc
CFLAGS_stubs_check := -I$(BUILD)/gen

define harness_rule # 1 = arch
HARNESS_OBJ_$(1) := $$(patsubst %,$(BUILD)/$(1)/obj/%.o,$(HARNESS_C) stubs/check/harness/$(1).c \
  stubs/check/harness/$(1).S $(abi_SRCS))
$(BUILD)/$(1)/obj/%.c.o: %.c $(wildcard stubs/check/harness/*.h stubs/check/*.def abi/*.h)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$(CC_$(1)) -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra $(WERROR) \
	  -fno-stack-protector -fno-pie -I. -Istubs/check/harness -c $$< -o $$@
$(BUILD)/$(1)/obj/%.S.o: %.S stubs/check/harness/pads.h
	@mkdir -p $$(@D)
	$$(call say,AS,$$@)$(CC_$(1)) -Istubs/check/harness -c $$< -o $$@
$(BUILD)/$(1)/stubcheck: $$(HARNESS_OBJ_$(1))
	$$(call say,LD,$$@)$(CC_$(1)) -static -no-pie -o $$@ $$^
EXTRA_ALL += $(BUILD)/$(1)/stubcheck
endef
$(foreach a,$(TARGETS),$(eval $(call harness_rule,$(a))))

CHECK_SUITES += stubcheck
QUICK_SUITES += stubcheck
