/* disasm.h - machine code to text. Capstone is known in disasm.c only. */
#ifndef FT_DISASM_H
#define FT_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

typedef struct ft_disasm ft_disasm;

typedef struct {
    uint64_t address;
    uint8_t length; /* bytes */
    bool known;     /* false: `length` bytes that are no instruction */
    const char *mnemonic, *operands;
    uint64_t target; /* of a direct branch or call, 0: none */
} ft_insn;

bool ft_disasm_available(void);
/* "Capstone 5.0.7", or what is missing. */
const char *ft_disasm_version(void);

/* NULL: not available, or not for this machine. */
ft_disasm *ft_disasm_open(const fk_abi *);
/* The instruction at `code`; false when size is 0. `out` is valid until the
 * next call. Never reads past code + size. */
bool ft_disasm_next(ft_disasm *, const uint8_t *code, size_t size, uint64_t address, ft_insn *out);
void ft_disasm_close(ft_disasm *);

#endif
