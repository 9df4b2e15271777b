/* doc.h - tables of docs/abi.md, on standard output. Part of abi-gen, no library. */
#ifndef FK_ABI_DOC_H
#define FK_ABI_DOC_H

#include "abi/abi.h"

void fk_doc_registers(const fk_abi *abi);
void fk_doc_frames(void);
void fk_doc_calls(void);
void fk_doc_relocations(void);
void fk_doc_domain(void);

#endif
