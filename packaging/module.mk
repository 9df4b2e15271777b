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

# Completions come from --help; a hand-written NAME.bash-completion wins.
HAND_BASH = $(wildcard */*.bash-completion */*/*.bash-completion)
$(BUILD)/completions/bash/%: $(BUILD)/bin/% packaging/completions
	@mkdir -p $(@D)
	$(Q)$(if $(filter %/$*.bash-completion,$(HAND_BASH)),cp $(filter %/$*.bash-completion,$(HAND_BASH)) $@,\
	  $< --help 2>&1 | packaging/completions $* bash >$@)
$(BUILD)/completions/zsh/_%: $(BUILD)/bin/% packaging/completions
	@mkdir -p $(@D)
	$(Q)$< --help 2>&1 | packaging/completions $* zsh >$@
$(BUILD)/completions/fish/%.fish: $(BUILD)/bin/% packaging/completions
	@mkdir -p $(@D)
	$(Q)$< --help 2>&1 | packaging/completions $* fish >$@
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
