# libverify: the rules of ftdump --verify.
LIBS += verify
verify_SRCS := $(addprefix frametable/verify/,verify.c run.c structure.c calls.c cfi.c rows.c)

CHECK_SUITES += verify
QUICK_SUITES += verify
