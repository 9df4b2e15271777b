# runtime: one archive per architecture and ABI version, which takes the place
# of libasmrun.a:
#
#   build/ARCH/libframekit.a        OCaml 5.3
#   build/ARCH/libframekit-5.4.a    OCaml 5.4
#   build/ARCH/asmrun-5.3/libasmrun_fk.a  the same file under the name that
#       `ocamlopt -runtime-variant _fk -I build/ARCH/asmrun-5.3` looks for
# A program with threads adds `-noautolink -cclib -lunixnat`: the archive has
# systhreads' C part too, and libthreadsnat must not come before it.
RUNTIME_SRCS := $(wildcard runtime/*.c)
# RUNTIME_PROFILER=none leaves the profiler out.
RUNTIME_PROFILER ?= memprof
RUNTIME_PROFILER_memprof := $(addprefix runtime/memprof/,unit_framekit.c ctf.c ctf_code.c export.c frames.c pprof.c record.c session.c)
RUNTIME_PROFILER_none := runtime/profiler_none.c
CFLAGS_runtime_memprof := -ffp-contract=off -fexcess-precision=fast
RUNTIME_CORE = $(filter-out runtime/profiler_none.c,$(RUNTIME_SRCS)) $(RUNTIME_PROFILER_$(RUNTIME_PROFILER)) $(filter-out abi/gen.c abi/test_abi.c,$(abi_SRCS)) $(frametable_core_SRCS) frametable/verify/rows.c
RUNTIME_CFLAGS ?= -O2 -g
RUNTIME_HOST_AR = $(patsubst %gcc,%ar,$(1))

# 1 = arch, 2 = version, 3 = stubs, 4 = archive, 5 = FK_ABI, 6 = list that it enters, 7 = flags
define runtime_rules
$(BUILD)/$(1)/rt-$(2)/%.o: %.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC_$(1)) -std=c11 -D_GNU_SOURCE -Wall -Wextra $$(WERROR) -Iinclude -I. \
	  $$(RUNTIME_CFLAGS) $(7) -DFK_ARCH='"$(1)"' -DFK_ABI=$(5) $$(CFLAGS_$$(subst /,_,$$(*D))) -MMD -MP -c $$< -o $$@
$(BUILD)/$(1)/$(4): $$$$(patsubst %.c,$(BUILD)/$(1)/rt-$(2)/%.o,$$$$(RUNTIME_CORE)) $(BUILD)/$(1)/$(3)
	@rm -f $$@; mkdir -p $$(@D)/asmrun-$(2)
	$$(call say,AR,$$@)$$(call RUNTIME_HOST_AR,$$(CC_$(1))) rcs $$@ $$^
	@ln -sf ../$(4) $$(@D)/asmrun-$(2)/libasmrun_fk.a
$(6) += $(BUILD)/$(1)/$(4)
-include $$(shell find $(BUILD)/$(1)/rt-$(2) -name '*.d' 2>/dev/null)
endef
$(foreach a,$(TARGETS),$(eval $(call runtime_rules,$(a),5.3,stubs.o,libframekit.a,503,EXTRA_ALL)))
$(foreach a,$(TARGETS),$(eval $(call runtime_rules,$(a),5.4,stubs-5.4.o,libframekit-5.4.a,504,EXTRA_ALL)))

# The archive under a sanitizer (docs/runtime.md says what that covers): link with
# `-I build/amd64/asmrun-5.3-tsan -ccopt -fsanitize=thread`, or asan and address.
# Entries and exits of functions are not recorded: an exception raised by C leaves
# functions without passing their ends. gcc cannot follow the one fence of
# caml_modify; the store after it is a release itself.
SANITIZE_tsan := -fsanitize=thread --param tsan-instrument-func-entry-exit=0 -Wno-tsan
SANITIZE_asan := -fsanitize=address -fno-omit-frame-pointer
$(foreach s,tsan asan,$(eval $(call runtime_rules,amd64,5.3-$(s),stubs.o,libframekit-$(s).a,503,SANITIZED,$(SANITIZE_$(s)))))
.PHONY: sanitized-runtime
sanitized-runtime: $(SANITIZED)

TOOLS += framekit-missing-prims
framekit-missing-prims_SRCS := runtime/tools/missing_prims.c abi/installed.c
framekit-missing-prims_LIBS := abi
framekit-missing-prims_LDLIBS := -lelf

TOOLS += framekit-seed
framekit-seed_SRCS := runtime/tools/seed.c
framekit-seed_LIBS := frametable abi
framekit-seed_LDLIBS := -lelf

INSTALL_PC += runtime/framekit-runtime.pc.in

CHECK_SUITES += runtime
QUICK_SUITES += runtime

# beside the real runtime: work, start-up, minor collections
.PHONY: bench-runtime
bench: bench-runtime
bench-runtime: all
	$(Q)BUILD="$$(realpath $(BUILD))" runtime/bench
