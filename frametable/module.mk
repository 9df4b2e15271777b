# libframetable. The core needs only the C library: runtimes build it for their targets
# (frametable_core_SRCS). The rest reads ELF files through libelf.
LIBS += frametable
frametable_core_SRCS := $(addprefix frametable/,error.c generation.c table.c decode.c decode_o3.c \
  debuginfo.c index.c index_native.c) \
  $(addprefix frametable/,builder.c intern.c sink.c encode.c encode_o3.c encode_debug.c output.c model.c roundtrip.c)
frametable_SRCS := $(frametable_core_SRCS) $(addprefix frametable/,image.c section.c dynamic.c \
  symbol.c reloc.c locate.c scan.c detect.c measure.c index_image.c)
CFLAGS_frametable := -DFK_VERSION='"0.1"'
