CHECK_SUITES += qemu-ci
QUICK_SUITES += qemu-ci

# The second decoder has no code in the build: it is lit-tests/second/Inputs.
CHECK_SUITES += second
QUICK_SUITES += second
