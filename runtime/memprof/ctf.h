/* ctf.h - a trace of every event, in the format of the memtrace tools
 * (docs/memprof.md, "Traces"), version 3.
 *
 * Unlike the recorder this keeps nothing but what the format needs to be
 * short: memory is bounded by the number of distinct return addresses. All
 * domains write one stream, in the order in which they report. */
#ifndef FK_MEMPROF_CTF_H
#define FK_MEMPROF_CTF_H

#include "profile.h"

typedef struct fk_mp_ctf fk_mp_ctf;

/* Writes the first packet to fd, which it owns from now on. NULL: errno tells. */
fk_mp_ctf *fk_mp_ctf_open(int fd, double rate);
const fk_mp_hooks *fk_mp_ctf_hooks(fk_mp_ctf *);
/* Writes what is buffered. 0, or the errno of the first write that failed:
 * nothing is written after that. */
int fk_mp_ctf_flush(fk_mp_ctf *);

/* --- backtraces (ctf_code.c) --------------------------------------------------- */
enum { FK_CTF_SLOTS = 1 << 14, FK_CTF_DEPTH = 4096, FK_CTF_CODE_BYTES = 4096 };

/* Both sides keep the same table: a slot holds a code and the slot that came
 * after it last time. */
typedef struct {
    uint64_t value[FK_CTF_SLOTS];
    uint16_t next[FK_CTF_SLOTS];
    uint32_t used[FK_CTF_SLOTS]; /* writer only: when, to evict the older of two */
    uint32_t clock;
    uint64_t last[FK_CTF_DEPTH]; /* the previous backtrace, outermost first */
    size_t last_depth;
} fk_ctf_cache;

/* Appends the code words of a backtrace (outermost first) to out, which has room
 * for FK_CTF_CODE_BYTES. Returns their bytes; *common frames are those of the
 * previous backtrace and are not in it. A backtrace that is too long loses its
 * innermost frames. */
size_t fk_ctf_encode(fk_ctf_cache *, const uint64_t *codes, size_t depth, uint8_t *out, size_t *common,
                     size_t *words);

#endif
