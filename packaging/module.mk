# packaging: what is installed besides the programs and target files, which
# install.mk takes from the lists of all modules.
SHARED += frametable
frametable_SHARED_LIBS := frametable abi
frametable_SHARED_LDLIBS := -lelf

# One static library for users: the ABI tables are inside.
INSTALL_LIB += $(BUILD)/install/libframetable.a
$(BUILD)/install/libframetable.a: $$(call obj,$$(frametable_SRCS) $$(abi_SRCS))
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^

INSTALL_HEADERS += $(wildcard include/framekit/*.h)
INSTALL_DOC += $(wildcard README.md LICENSE CHANGELOG.md docs/*.md)

# Completions come from --help, qemu-ci's from those of its commands too.
COMMANDS_qemu-ci := run probe count ocaml setup
COMMANDS_framekit-memprof := report
define completion_rule # 1 = shell, 2 = the file's name with % for the tool's
$(BUILD)/completions/$(1)/$(2): $(BUILD)/bin/% packaging/completions $(COMMANDS_qemu-ci:%=qemu-ci/%)
	@mkdir -p $$(@D)
	$(Q){ $$< --help; $$(if $$(filter qemu-ci,$$*),for c in $(COMMANDS_qemu-ci); do qemu-ci/$$$$c --help; done;) } | \
	  packaging/completions $$* $(1) $$(COMMANDS_$$*) >$$@
endef
$(eval $(call completion_rule,bash,%))
$(eval $(call completion_rule,zsh,_%))
$(eval $(call completion_rule,fish,%.fish))
COMMANDS = $(TOOLS) qemu-ci
INSTALL_BASH = $(COMMANDS:%=$(BUILD)/completions/bash/%)
INSTALL_ZSH = $(COMMANDS:%=$(BUILD)/completions/zsh/_%)
INSTALL_FISH = $(COMMANDS:%=$(BUILD)/completions/fish/%.fish)

# qemu-ci: the scripts beside the target files, one command in front of them.
QEMU_CI_SCRIPTS := $(addprefix qemu-ci/,run probe count ocaml setup fetch capstone)
QEMU_CI_DATA := $(addprefix qemu-ci/,lib.sh matrix.py objects.py session.py closing.py arches packages) \
  $(wildcard qemu-ci/probes/*)
INSTALL_OTHER += $(foreach f,$(QEMU_CI_SCRIPTS),755:$(f):$(pkglibdir)/$(f)) \
  $(foreach f,$(QEMU_CI_DATA),644:$(f):$(pkglibdir)/$(f)) 755:$(BUILD)/insn.so:$(pkglibdir)/insn.so
INSTALL_BIN += $(BUILD)/bin/qemu-ci
EXTRA_ALL += $(BUILD)/bin/qemu-ci
$(BUILD)/bin/qemu-ci: packaging/qemu-ci.in FORCE
	@mkdir -p $(@D)
	@sed 's|@pkglibdir@|$(pkglibdir)|' $< >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else chmod 755 $@.new; mv $@.new $@; fi
CHECK_SUITES += install
CHECK_SUITES += docs
