CHECK_SUITES += qemu-ci
QUICK_SUITES += qemu-ci
