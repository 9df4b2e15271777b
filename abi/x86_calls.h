/* x86_calls.h - `call` encodings, for amd64 and i386.
 *
 * FF /2 takes every address form. ModRM = mod:2 reg=2:3 rm:3; rm 4 adds a SIB
 * byte; mod 1 adds 1 byte, mod 2 and (mod 0, rm 5) add 4; mod 0 with SIB base 5
 * adds 4. One mask cannot say "rm is neither 4 nor 5", so such forms take rows.
 *
 *   length  ModRM                                bytes after the opcode
 *     2     11 010 rrr                           ModRM
 *     2     00 010 {0-3,6,7}                     ModRM
 *     3     00 010 100, base not 5               ModRM SIB
 *     3     01 010 {0-3,5-7}                     ModRM disp8
 *     4     01 010 100                           ModRM SIB disp8
 *     6     00 010 101 / 10 010 {0-3,5-7}        ModRM disp32
 *     7     10 010 100 / 00 010 100 base 5       ModRM SIB disp32             */
#ifndef FK_ABI_X86_CALLS_H
#define FK_ABI_X86_CALLS_H

#define E8_FORM {5, 1, {0xff}, {0xe8}, "call rel32", FK_TARGET_REL32}

/* p = prefix bytes before FF: 0 of them, or one REX. */
#define FF2(len, mask, value, name) {len, 2, {0xff, mask}, {0xff, value}, name, FK_TARGET_NONE}
#define FF2_SIB(len, smask, svalue, name)                                                          \
    { len, 3, {0xff, 0xff, smask}, {0xff, 0x14, svalue}, name, FK_TARGET_NONE }
#define REX_FF2(len, mask, value, name) \
    {(len) + 1, 3, {0xf0, 0xff, mask}, {0x40, 0xff, value}, name, FK_TARGET_NONE}
#define REX_FF2_SIB(len, smask, svalue, name) \
    {(len) + 1, 4, {0xf0, 0xff, 0xff, smask}, {0x40, 0xff, 0x14, svalue}, name, FK_TARGET_NONE}

#define FF2_FORMS(M, S)                                                                       \
    M(2, 0xf8, 0xd0, "call reg"),                                                             \
    M(2, 0xfc, 0x10, "call [reg]"), M(2, 0xfe, 0x16, "call [reg]"),                           \
    M(6, 0xff, 0x15, "call [disp32]"),                                                        \
    S(3, 0x04, 0x00, "call [sib]"), S(3, 0x07, 0x04, "call [sib]"),                           \
    S(3, 0x06, 0x06, "call [sib]"), S(7, 0x07, 0x05, "call [index+disp32]"),                  \
    M(3, 0xfc, 0x50, "call [reg+disp8]"), M(3, 0xff, 0x55, "call [reg+disp8]"),               \
    M(3, 0xfe, 0x56, "call [reg+disp8]"), M(4, 0xff, 0x54, "call [sib+disp8]"),               \
    M(6, 0xfc, 0x90, "call [reg+disp32]"), M(6, 0xff, 0x95, "call [reg+disp32]"),             \
    M(6, 0xfe, 0x96, "call [reg+disp32]"), M(7, 0xff, 0x94, "call [sib+disp32]")

#endif
