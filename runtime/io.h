/* io.h - channels, for Marshal and Digest. */
#ifndef FK_RT_IO_H
#define FK_RT_IO_H

#include <pthread.h>

#include "runtime/gc.h"

struct channel {
    int fd; /* -1: closed */
    bool output, buffered;
    int refs; /* values that refer to it */
    int64_t offset;
    char *pos, *end;
    struct channel *next, *prev;
    char *name;
    pthread_mutex_t lock;
    char buf[65536];
};
#define CHANNEL(v) (*(struct channel **)CUSTOM_DATA(v))

void fk_channel_lock(struct channel *);
void fk_channel_unlock(struct channel *);
/* Locked. Short only at the end of the file. */
size_t fk_channel_get(struct channel *, char *to, size_t n);
void fk_channel_put(struct channel *, const char *, size_t n);
void fk_channel_end_output(struct channel *); /* unlocks; flushes what is not buffered */

#endif
