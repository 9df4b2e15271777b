# libverify: the rules of ftdump --verify.
LIBS += verify
verify_SRCS := $(addprefix frametable/verify/,verify.c structure.c calls.c)

CHECK_SUITES += verify
QUICK_SUITES += verify
