/* prims_io.c - buffered channels.
 *
 *   output:  buf .. pos: not yet written            file offset = offset of buf
 *   input:   buf .. pos: consumed, pos .. end: read file offset = offset of end
 *
 * A channel has a lock that is taken around every operation; waiting for it,
 * and for the file, happens in a blocking section. */
#include "runtime/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/callback.h"
#include "runtime/fail.h"
#include "runtime/signals.h"
#include "runtime/sync.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct channel *all;

/* --- life ------------------------------------------------------------------------------ */

static void list_add(struct channel *c)
{
    pthread_mutex_lock(&list_lock);
    c->next = all;
    if (all)
        all->prev = c;
    all = c;
    pthread_mutex_unlock(&list_lock);
}

static void list_remove(struct channel *c)
{
    pthread_mutex_lock(&list_lock);
    *(c->prev ? &c->prev->next : &all) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    pthread_mutex_unlock(&list_lock);
}

static struct channel *open_channel(int fd, bool output)
{
    struct channel *c = malloc(sizeof *c);
    if (!c)
        fk_raise_out_of_memory();
    memset(c, 0, offsetof(struct channel, buf)); /* what is not used of buf need not be touched */
    c->fd = fd;
    c->output = output;
    c->buffered = true;
    c->pos = c->end = c->buf;
    off_t at = lseek(fd, 0, SEEK_CUR);
    c->offset = at < 0 ? 0 : at;
    pthread_mutex_init(&c->lock, NULL);
    list_add(c);
    return c;
}

/* Collected channels: an output channel with unwritten data lives on, for
 * flush_all; its value was lost, not its data. */
static void finalize(value v)
{
    struct channel *c = CHANNEL(v);
    if (--c->refs > 0)
        return;
    if (c->output && c->fd >= 0 && c->pos > c->buf)
        return;
    list_remove(c);
    pthread_mutex_destroy(&c->lock);
    free(c->name);
    free(c);
}

static int compare(value a, value b)
{
    return (CHANNEL(a) > CHANNEL(b)) - (CHANNEL(a) < CHANNEL(b));
}
static intptr_t hash(value v) { return (intptr_t)CHANNEL(v); }

static const struct custom_operations channel_ops = {
    .identifier = "_chan", .finalize = finalize, .compare = compare, .hash = hash};

static value channel_value(struct channel *c)
{
    value v = fk_alloc_custom(&channel_ops, sizeof c);
    CHANNEL(v) = c;
    c->refs++;
    return v;
}

value caml_ml_open_descriptor_in(value fd)
{
    return channel_value(open_channel((int)INT_VAL(fd), false));
}
value caml_ml_open_descriptor_out(value fd)
{
    return channel_value(open_channel((int)INT_VAL(fd), true));
}

/* Open output channels, each with a reference more; NULL: no memory. */
static struct channel **open_outputs(size_t *n)
{
    *n = 0;
    pthread_mutex_lock(&list_lock);
    size_t count = 0;
    for (struct channel *c = all; c; c = c->next)
        count++;
    struct channel **found = malloc((count + 1) * sizeof *found);
    for (struct channel *c = all; c && found; c = c->next)
        if (c->output && c->fd >= 0) {
            c->refs++; /* keeps it while values are made */
            found[(*n)++] = c;
        }
    pthread_mutex_unlock(&list_lock);
    return found;
}

value caml_ml_out_channels_list(value unit)
{
    value list = VAL_EMPTYLIST, v = VAL_UNIT;
    size_t n;
    (void)unit;
    struct channel **found = open_outputs(&n);
    if (!found)
        fk_raise_out_of_memory();
    ROOTS(2, &list, &v);
    while (n-- > 0) {
        v = channel_value(found[n]);
        found[n]->refs--;
        value cell = fk_alloc_small(2, 0);
        FIELD(cell, 0) = v;
        FIELD(cell, 1) = list;
        list = cell;
    }
    free(found);
    return UNROOT(list);
}

/* --- locks ---------------------------------------------------------------------------------- */

static _Thread_local struct channel *locked;

void fk_channel_lock(struct channel *c)
{
    fk_sync_lock(&c->lock);
    locked = c;
}
void fk_channel_unlock(struct channel *c)
{
    locked = NULL;
    fk_sync_unlock(&c->lock);
}
/* An exception leaves a channel operation. */
static FK_NORETURN void fail(struct channel *c, int e)
{
    fk_channel_unlock(c);
    errno = e;
    if (e == EAGAIN || e == EWOULDBLOCK)
        fk_raise((value)caml_exn_Sys_blocked_io);
    fk_raise_sys_error(NULL);
}

/* A signal arrived: its handler runs without the lock, and may raise. */
static void interrupted(struct channel *c)
{
    fk_channel_unlock(c);
    value r = fk_pending_actions(fk_self);
    if (is_exn_result(r))
        fk_raise(exn_of_result(r));
    fk_channel_lock(c);
}

static void check_open(struct channel *c)
{
    if (c->fd < 0)
        fail(c, EBADF);
}

/* To move no byte a channel need not be open, unless it is flushed then. */
static void check_moves(struct channel *c, intptr_t n)
{
    if (n > 0 || !c->buffered)
        check_open(c);
}

/* --- output ------------------------------------------------------------------------------------ */

static void write_some(struct channel *c)
{
    for (;;) {
        fk_blocking_enter();
        ssize_t n = write(c->fd, c->buf, c->pos - c->buf);
        int e = errno;
        fk_blocking_leave();
        if (n >= 0) {
            c->offset += n;
            memmove(c->buf, c->buf + n, c->pos - c->buf - n);
            c->pos -= n;
            return;
        }
        if (e != EINTR)
            fail(c, e);
        interrupted(c);
    }
}

static void flush(struct channel *c)
{
    while (c->pos > c->buf)
        write_some(c);
}

static size_t room(const struct channel *c) { return c->buf + sizeof c->buf - c->pos; }

static void put_byte(struct channel *c, int b)
{
    if (room(c) == 0)
        write_some(c);
    *c->pos++ = (char)b;
}

/* `v` may move when a write blocks. */
static void put_bytes(struct channel *c, value v, intptr_t from, intptr_t n)
{
    ROOTS(1, &v);
    while (n > 0) {
        if (room(c) == 0)
            write_some(c);
        size_t k = (size_t)n < room(c) ? (size_t)n : room(c);
        memcpy(c->pos, (char *)v + from, k);
        c->pos += k;
        from += k;
        n -= k;
    }
    UNROOT_VOID();
}

void fk_channel_put(struct channel *c, const char *p, size_t n)
{
    check_moves(c, n);
    while (n > 0) {
        if (room(c) == 0)
            write_some(c);
        size_t k = n < room(c) ? n : room(c);
        memcpy(c->pos, p, k);
        c->pos += k;
        p += k;
        n -= k;
    }
}

void fk_channel_end_output(struct channel *c)
{
    if (!c->buffered)
        flush(c);
    fk_channel_unlock(c);
}

/* The channel stays alive through `v` while the operation may collect. */
#define WITH_CHANNEL(c, v) \
    ROOTS(1, &v); \
    struct channel *c = CHANNEL(v); \
    fk_channel_lock(c); \
    check_open(c)

value caml_ml_flush(value ch)
{
    ROOTS(1, &ch);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    if (c->fd >= 0)
        flush(c);
    fk_channel_unlock(c);
    return UNROOT(VAL_UNIT);
}
value caml_ml_output_char(value ch, value b)
{
    WITH_CHANNEL(c, ch);
    put_byte(c, (int)INT_VAL(b));
    fk_channel_end_output(c);
    return UNROOT(VAL_UNIT);
}
value caml_ml_output_int(value ch, value n)
{
    WITH_CHANNEL(c, ch);
    for (int k = 24; k >= 0; k -= 8)
        put_byte(c, (int)(INT_VAL(n) >> k));
    fk_channel_end_output(c);
    return UNROOT(VAL_UNIT);
}
value caml_ml_output_bytes(value ch, value s, value from, value n)
{
    ROOTS(2, &ch, &s);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    check_moves(c, INT_VAL(n));
    put_bytes(c, s, INT_VAL(from), INT_VAL(n));
    fk_channel_end_output(c);
    return UNROOT(VAL_UNIT);
}
value caml_ml_output(value ch, value s, value from, value n)
{
    return caml_ml_output_bytes(ch, s, from, n);
}

/* --- input --------------------------------------------------------------------------------------- */

static ssize_t read_fd(struct channel *c, char *to, size_t n)
{
    for (;;) {
        fk_blocking_enter();
        ssize_t k = read(c->fd, to, n);
        int e = errno;
        fk_blocking_leave();
        if (k >= 0) {
            c->offset += k;
            return k;
        }
        if (e != EINTR)
            fail(c, e);
        interrupted(c);
    }
}

/* Reads more into an empty buffer; false at the end of the file. */
static bool fill(struct channel *c)
{
    ssize_t n = read_fd(c, c->buf, sizeof c->buf);
    c->pos = c->buf;
    c->end = c->buf + n;
    return n > 0;
}

static FK_NORETURN void end_of_file(struct channel *c)
{
    fk_channel_unlock(c);
    fk_raise((value)caml_exn_End_of_file);
}

static int get_byte(struct channel *c)
{
    if (c->pos == c->end && !fill(c))
        end_of_file(c);
    return (unsigned char)*c->pos++;
}

value caml_ml_input_char(value ch)
{
    WITH_CHANNEL(c, ch);
    int b = get_byte(c);
    fk_channel_unlock(c);
    return UNROOT(VAL_INT(b));
}
value caml_ml_input_int(value ch)
{
    WITH_CHANNEL(c, ch);
    uint32_t n = 0;
    for (int i = 0; i < 4; i++)
        n = n << 8 | (uint32_t)get_byte(c);
    fk_channel_unlock(c);
    return UNROOT(VAL_INT((int32_t)n));
}

size_t fk_channel_get(struct channel *c, char *to, size_t n)
{
    size_t got = 0;
    while (got < n) {
        if (c->pos == c->end && !fill(c))
            break;
        size_t k = (size_t)(c->end - c->pos) < n - got ? (size_t)(c->end - c->pos) : n - got;
        memcpy(to + got, c->pos, k);
        c->pos += k;
        got += k;
    }
    return got;
}

value caml_ml_input(value ch, value s, value from, value len)
{
    ROOTS(2, &ch, &s);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    check_moves(c, INT_VAL(len));
    size_t n = INT_VAL(len);
    if (n > 0 && c->pos == c->end)
        fill(c);
    if (n > (size_t)(c->end - c->pos))
        n = c->end - c->pos;
    memcpy((char *)s + INT_VAL(from), c->pos, n);
    c->pos += n;
    fk_channel_unlock(c);
    return UNROOT(VAL_INT(n));
}

/* Length of the next line with its newline; minus the bytes available when
 * there is no newline in a full buffer or before the end of the file; 0 at the end. */
static intptr_t scan_line(struct channel *c)
{
    char *p = c->pos;
    for (;;) {
        char *nl = memchr(p, '\n', c->end - p);
        if (nl)
            return nl + 1 - c->pos;
        p = c->end;
        if (c->pos > c->buf) {
            size_t n = c->end - c->pos;
            memmove(c->buf, c->pos, n);
            c->pos = c->buf;
            p = c->end = c->buf + n;
        }
        if (c->end == c->buf + sizeof c->buf)
            return -(c->end - c->pos);
        ssize_t n = read_fd(c, c->end, c->buf + sizeof c->buf - c->end);
        if (n == 0)
            return -(c->end - c->pos);
        c->end += n;
    }
}
value caml_ml_input_scan_line(value ch)
{
    WITH_CHANNEL(c, ch);
    intptr_t n = scan_line(c);
    fk_channel_unlock(c);
    return UNROOT(VAL_INT(n));
}

/* --- positions --------------------------------------------------------------------------------------- */

static int64_t position(struct channel *c)
{
    if (c->output && c->fd < 0) /* closed: one past the end, as OCaml has it */
        return c->offset + 1;
    return c->output ? c->offset + (c->pos - c->buf) : c->offset - (c->end - c->pos);
}

static void seek(struct channel *c, int64_t to)
{
    if (c->output)
        flush(c);
    else if (to <= c->offset && to >= c->offset - (c->end - c->buf)) {
        c->pos = c->end - (c->offset - to);
        return;
    }
    if (lseek(c->fd, to, SEEK_SET) < 0)
        fail(c, errno);
    c->offset = to;
    c->pos = c->end = c->buf;
}

static int64_t file_size(struct channel *c)
{
    off_t end = lseek(c->fd, 0, SEEK_END);
    if (end < 0 || lseek(c->fd, c->offset, SEEK_SET) < 0)
        fail(c, errno);
    return end;
}

/* A closed channel still knows its position; only the system knows a file's size. */
static int64_t query(value ch, int64_t (*f)(struct channel *))
{
    ROOTS(1, &ch);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    int64_t n = f(c);
    fk_channel_unlock(c);
    UNROOT_VOID();
    return n;
}
static value seek_channel(value ch, int64_t to)
{
    WITH_CHANNEL(c, ch);
    seek(c, to);
    fk_channel_unlock(c);
    return UNROOT(VAL_UNIT);
}
#define INT64_OF(v) (*(int64_t *)CUSTOM_DATA(v))
value caml_ml_pos_in(value ch) { return VAL_INT(query(ch, position)); }
value caml_ml_pos_out(value ch) { return VAL_INT(query(ch, position)); }
value caml_ml_pos_in_64(value ch) { return fk_copy_int64(query(ch, position)); }
value caml_ml_pos_out_64(value ch) { return fk_copy_int64(query(ch, position)); }
value caml_ml_channel_size(value ch) { return VAL_INT(query(ch, file_size)); }
value caml_ml_channel_size_64(value ch) { return fk_copy_int64(query(ch, file_size)); }
value caml_ml_seek_in(value ch, value to) { return seek_channel(ch, INT_VAL(to)); }
value caml_ml_seek_out(value ch, value to) { return seek_channel(ch, INT_VAL(to)); }
value caml_ml_seek_in_64(value ch, value to) { return seek_channel(ch, INT64_OF(to)); }
value caml_ml_seek_out_64(value ch, value to) { return seek_channel(ch, INT64_OF(to)); }

/* --- the rest --------------------------------------------------------------------------------------------- */

value caml_ml_close_channel(value ch)
{
    ROOTS(1, &ch);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    if (c->fd < 0) {
        fk_channel_unlock(c);
        return UNROOT(VAL_UNIT);
    }
    int fd = c->fd;
    c->fd = -1;
    c->pos = c->end = c->buf; /* Stdlib has flushed before */
    fk_channel_unlock(c);
    fk_blocking_enter();
    int r = close(fd), e = errno;
    fk_blocking_leave();
    errno = e;
    if (r != 0)
        fk_raise_sys_error(NULL);
    return UNROOT(VAL_UNIT);
}

value caml_ml_set_channel_name(value ch, value name)
{
    struct channel *c = CHANNEL(ch);
    free(c->name);
    c->name = string_length(name) ? strdup((char *)name) : NULL;
    return VAL_UNIT;
}
value caml_ml_set_binary_mode(value ch, value on) { (void)ch, (void)on; return VAL_UNIT; }
value caml_ml_is_binary_mode(value ch) { (void)ch; return VAL_TRUE; }
value caml_ml_set_buffered(value ch, value on)
{
    ROOTS(1, &ch);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    c->buffered = INT_VAL(on);
    fk_channel_end_output(c);
    return UNROOT(VAL_UNIT);
}
value caml_ml_is_buffered(value ch) { return VAL_BOOL(CHANNEL(ch)->buffered); }
value caml_channel_descriptor(value ch)
{
    if (CHANNEL(ch)->fd < 0) {
        errno = EBADF;
        fk_raise_sys_error(NULL);
    }
    return VAL_INT(CHANNEL(ch)->fd);
}

/* Bigarray elements are bytes here (Stdlib.In_channel, Out_channel). */
value caml_ml_output_bigarray(value ch, value ba, value from, value len)
{
    ROOTS(2, &ch, &ba);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    fk_channel_put(c, *(char **)CUSTOM_DATA(ba) + INT_VAL(from), INT_VAL(len));
    fk_channel_end_output(c);
    return UNROOT(VAL_UNIT);
}
value caml_ml_input_bigarray(value ch, value ba, value from, value len)
{
    ROOTS(2, &ch, &ba);
    struct channel *c = CHANNEL(ch);
    fk_channel_lock(c);
    check_moves(c, INT_VAL(len));
    size_t n = INT_VAL(len);
    if (n > 0 && c->pos == c->end)
        fill(c);
    if (n > (size_t)(c->end - c->pos))
        n = c->end - c->pos;
    memcpy(*(char **)CUSTOM_DATA(ba) + INT_VAL(from), c->pos, n);
    c->pos += n;
    fk_channel_unlock(c);
    return UNROOT(VAL_INT(n));
}
