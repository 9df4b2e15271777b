# framekit: one door. `make help` lists what it opens.
#
# Each component has a module.mk that only adds to the lists below; the rules
# that build them are here, once:
#
#   LIBS  += x    x_SRCS                      -> build/lib/libx.a
#   TOOLS += t    t_SRCS t_LIBS t_LDLIBS      -> build/bin/t
#   TESTS += u    u_SRCS u_LIBS u_LDLIBS      -> build/tests/u   (run by lit)
#   HOST_TOOLS += h   as TOOLS                -> build/host/h    (used by the build only)
#   SHARED += s   s_SHARED_LIBS               -> build/lib/libs.so.N, of those libraries
#   INSTALL_* += files                        see install.mk
#   CHECK_SUITES += d                         lit folder run by `make check`
#   QUICK_SUITES += d                         ... and by `make check-quick`
#
# t_LIBS names our own libraries, callers before callees (frametable abi).
# $(ARCHES) are all architectures, $(TARGETS) those with a compiler here.

BUILD  ?= build
CC     ?= gcc
prefix ?= /usr/local
CFLAGS ?= -O2 -g
WERROR ?=
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -Iinclude -I. $(CFLAGS)
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

ARCHES := amd64 arm64 power s390x riscv64
CC_amd64   := gcc
CC_arm64   := aarch64-linux-gnu-gcc
CC_power   := powerpc64le-linux-gnu-gcc
CC_s390x   := s390x-linux-gnu-gcc
CC_riscv64 := riscv64-linux-gnu-gcc

# The architectures that can be built for here; what misses its compiler is said
# once and left out, and its tests are skipped.
TARGETS := $(foreach a,$(ARCHES),$(if $(shell command -v $(CC_$(a))),$(a)))
$(foreach a,$(filter-out $(TARGETS),$(ARCHES)),$(info framekit: no $(CC_$(a)): nothing is built for $(a)))

LIBS :=
TOOLS :=
TESTS :=
HOST_TOOLS :=
EXTRA_ALL :=
EXTRA_TESTS :=
SHARED :=
CHECK_SUITES :=
QUICK_SUITES :=
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDEXPANSION:

include $(sort $(wildcard */module.mk */*/module.mk))

# --- rules ------------------------------------------------------------------
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(CFLAGS_$(subst /,_,$(*D))) -MMD -MP -c $< -o $@

define lib_rules
$(BUILD)/lib/lib$(1).a: $$(call obj,$$($(1)_SRCS))
	@mkdir -p $$(@D); rm -f $$@
	$$(call say,AR,$$@)$(AR) rcs $$@ $$^
endef
define prog_rules # 1 = name, 2 = folder; what runs meanwhile goes on with the old file
$(BUILD)/$(2)/$(1): $$(call obj,$$($(1)_SRCS)) $$($(1)_LIBS:%=$(BUILD)/lib/lib%.a)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)$(CC) $(ALL_CFLAGS) $$(call obj,$$($(1)_SRCS)) -o $$@.new \
	  $$($(1)_LIBS:%=$(BUILD)/lib/lib%.a) $$($(1)_LDLIBS) $(LDFLAGS) && mv $$@.new $$@
endef
$(foreach l,$(LIBS),$(eval $(call lib_rules,$(l))))
$(foreach t,$(TOOLS),$(eval $(call prog_rules,$(t),bin)))
$(foreach t,$(TESTS),$(eval $(call prog_rules,$(t),tests)))
$(foreach t,$(HOST_TOOLS),$(eval $(call prog_rules,$(t),host)))
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

LIB_FILES  := $(LIBS:%=$(BUILD)/lib/lib%.a)
TOOL_FILES := $(TOOLS:%=$(BUILD)/bin/%)
TEST_FILES := $(TESTS:%=$(BUILD)/tests/%)

SHARED_FILES = $(foreach s,$(SHARED),$(BUILD)/lib/lib$(s).so)

.PHONY: all tests setup demo check check-quick check-long bench fuzz install uninstall help clean
all: $(LIB_FILES) $(SHARED_FILES) $(TOOL_FILES) $(EXTRA_ALL) ## build the libraries and tools
tests: all $(TEST_FILES) $(EXTRA_TESTS)

setup: ## install what is missing (packages by name)
	$(Q)qemu-ci/setup

check: setup ## every suite on five architectures
	$(Q)$(MAKE) --no-print-directory WERROR=-Werror tests
	$(Q)qemu-ci/check full $(CHECK_SUITES)

check-quick: ## what an edit needs, under a minute
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)qemu-ci/check quick $(QUICK_SUITES)

check-long: setup ## sweeps, mutation, fuzzing: hours
	$(Q)$(MAKE) --no-print-directory WERROR=-Werror tests
	$(Q)qemu-ci/check long $(CHECK_SUITES)

include install.mk

clean: ## remove the build folder
	rm -rf $(BUILD)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'
