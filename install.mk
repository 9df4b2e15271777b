# install.mk: shared libraries, make install, make uninstall.
#
# Modules say what is installed:
#   INSTALL_BIN       programs                          -> $(bindir)
#   INSTALL_LIB       static libraries                  -> $(libdir)
#   INSTALL_HEADERS   headers                           -> $(includedir)/framekit
#   INSTALL_TARGET    files of build/ARCH, by their path -> $(pkglibdir)/ARCH
#   INSTALL_MAN       pages x.1 x.5 x.7                 -> $(mandir)/manN
#   INSTALL_BASH INSTALL_ZSH INSTALL_FISH   completions
#   INSTALL_PC        pkg-config templates x.pc.in      -> $(libdir)/pkgconfig
#   INSTALL_DOC       documents                         -> $(docdir)
#
# Soname rule: libX.so.N, N = the major version of VERSION; while that is 0 the
# minor version joins it (libX.so.0.1), because a 0.x release may change the
# interface. A release that keeps N may only add functions.
#
# Added here: every tool, what is built for an architecture, every page and
# completion in the tree.
INSTALL_BIN    += $(TOOL_FILES)
INSTALL_TARGET += $(filter $(foreach a,$(ARCHES),$(BUILD)/$(a)/%),$(EXTRA_ALL))
INSTALL_MAN    += $(filter-out build/% $(BUILD)/%,$(wildcard */*.[157] */*/*.[157]))

exec_prefix ?= $(prefix)
bindir     ?= $(exec_prefix)/bin
libdir     ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datadir    ?= $(prefix)/share
mandir     ?= $(datadir)/man
docdir     ?= $(datadir)/doc/framekit
pkglibdir  ?= $(exec_prefix)/lib/framekit
bashdir    ?= $(datadir)/bash-completion/completions
zshdir     ?= $(datadir)/zsh/site-functions
fishdir    ?= $(datadir)/fish/vendor_completions.d

# The lists below are lists of words. DESTDIR may have spaces.
ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
$(foreach v,prefix exec_prefix bindir libdir includedir datadir mandir docdir pkglibdir bashdir zshdir fishdir,\
  $(if $(word 2,$($(v))),$(error $(v) has a space: $($(v)))))
endif

VERSION := $(shell cat VERSION)
version_words := $(subst ., ,$(VERSION))
SONUM := $(if $(filter 0,$(word 1,$(version_words))),0.$(word 2,$(version_words)),$(word 1,$(version_words)))

# --- shared libraries -------------------------------------------------------
$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(CFLAGS_$(subst /,_,$(*D))) -fPIC -MMD -MP -c $< -o $@

$(BUILD)/lib/exports.map:
	@mkdir -p $(@D)
	@echo '{ global: fk_*; local: *; };' >$@

define shared_rules # 1 = name; the libraries in it, callers first: $(1)_SHARED_LIBS
$(1)_PIC := $$(foreach l,$$($(1)_SHARED_LIBS),$$(patsubst %.c,$$(BUILD)/pic/%.o,$$($$(l)_SRCS)))
$$(BUILD)/lib/lib$(1).so.$$(SONUM): $$($(1)_PIC) $$(BUILD)/lib/exports.map
	$$(call say,LD,$$@)$$(CC) $$(ALL_CFLAGS) -shared -Wl,-soname,lib$(1).so.$$(SONUM) \
	  -Wl,--version-script=$$(BUILD)/lib/exports.map -Wl,-z,defs $$($(1)_PIC) -o $$@ \
	  $$($(1)_SHARED_LDLIBS) $$(LDFLAGS)
$$(BUILD)/lib/lib$(1).so: $$(BUILD)/lib/lib$(1).so.$$(SONUM)
	@ln -sf lib$(1).so.$$(SONUM) $$@
endef
$(foreach s,$(SHARED),$(eval $(call shared_rules,$(s))))
-include $(shell find $(BUILD)/pic -name '*.d' 2>/dev/null)

# --- pkg-config ---------------------------------------------------------------
define pc_rule # 1 = template
$(BUILD)/pc/$(basename $(notdir $(1))): $(1) VERSION FORCE
	@mkdir -p $$(@D)
	@sed -e 's|@prefix@|$$(prefix)|; s|@libdir@|$$(libdir)|; s|@includedir@|$$(includedir)|' \
	  -e 's|@pkglibdir@|$$(pkglibdir)|; s|@version@|$$(VERSION)|' $$< >$$@
endef
$(foreach t,$(INSTALL_PC),$(eval $(call pc_rule,$(t))))
FORCE:
PC_FILES = $(foreach t,$(INSTALL_PC),$(BUILD)/pc/$(basename $(notdir $(t))))

# --- what goes where: one word per file, MODE:FROM:TO ---------------------------
to = $(foreach f,$(2),$(1):$(f):$(3)/$(notdir $(f)))
MANIFEST = \
  $(call to,755,$(INSTALL_BIN),$(bindir)) \
  $(call to,644,$(INSTALL_LIB),$(libdir)) \
  $(foreach s,$(SHARED),755:$(BUILD)/lib/lib$(s).so.$(SONUM):$(libdir)/lib$(s).so.$(SONUM)) \
  $(foreach s,$(SHARED),link:lib$(s).so.$(SONUM):$(libdir)/lib$(s).so) \
  $(call to,644,$(INSTALL_HEADERS),$(includedir)/framekit) \
  $(foreach f,$(INSTALL_TARGET),as-is:$(f):$(pkglibdir)/$(patsubst $(BUILD)/%,%,$(f))) \
  $(foreach n,1 5 7,$(call to,644,$(filter %.$(n),$(INSTALL_MAN)),$(mandir)/man$(n))) \
  $(call to,644,$(INSTALL_BASH),$(bashdir)) \
  $(call to,644,$(INSTALL_ZSH),$(zshdir)) \
  $(call to,644,$(INSTALL_FISH),$(fishdir)) \
  $(call to,644,$(PC_FILES),$(libdir)/pkgconfig) \
  $(call to,644,$(INSTALL_DOC),$(docdir)) \
  $(INSTALL_OTHER)

FROM_FILES = $(foreach w,$(filter-out link:%,$(MANIFEST)),$(word 2,$(subst :, ,$(w))))

install: all $$(FROM_FILES) ## install into DESTDIR and prefix
	@set -e; for w in $(MANIFEST); do \
	  mode=$${w%%:*}; rest=$${w#*:}; from=$${rest%%:*}; to="$(DESTDIR)$${rest#*:}"; \
	  mkdir -p "$${to%/*}"; \
	  if [ $$mode = as-is ]; then mode=644; [ ! -x $$from ] || mode=755; fi; \
	  if [ $$mode = link ]; then ln -sf $$from "$$to"; else install -m $$mode $$from "$$to"; fi; \
	done; echo "installed in $(DESTDIR)$(prefix)"

# A folder that is empty afterwards was ours, or nobody misses it; the prefix stays.
uninstall: ## remove what install put there
	@set -e; for w in $(MANIFEST); do to="$(DESTDIR)$${w##*:}"; rm -f "$$to"; \
	  d=$${to%/*}; while [ "$$d" != "$(DESTDIR)$(prefix)" ] && rmdir "$$d" 2>/dev/null; do d=$${d%/*}; done; \
	done; echo "removed from $(DESTDIR)$(prefix)"
