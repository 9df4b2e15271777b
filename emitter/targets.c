/* targets.c - the ports that are linked in. */
#include "emitter/target.h"

extern const target target_amd64, target_arm64, target_power, target_s390x, target_riscv64;

const target *const targets[] = {
    &target_amd64, &target_arm64, &target_power, &target_s390x, &target_riscv64, NULL,
};
