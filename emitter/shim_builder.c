/* shim_builder.c - stands in for libframetable's builder until that is linked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framekit/frametable.h"

struct fk_builder { char *buf; size_t len; FILE *f; uint64_t n; };

fk_result fk_builder_new(fk_generation g, const struct fk_abi *a, fk_builder **o, fk_error *e)
{
    (void)g; (void)a; (void)e;
    *o = calloc(1, sizeof **o);
    (*o)->f = open_memstream(&(*o)->buf, &(*o)->len);
    return FK_OK;
}
fk_result fk_builder_add(fk_builder *b, const fk_descr_in *d, fk_error *e)
{
    (void)e;
    b->n++;
    fprintf(b->f, "\t.quad .L%lu\n\t.2byte %u, %u\n", (unsigned long)d->retaddr,
            d->frame_size | (d->flags & 2), d->num_live);
    for (uint32_t k = 0; k < d->num_live; k++)
        fprintf(b->f, "\t.2byte %d\n", d->live[k].reg >= 0 ? 2 * d->live[k].reg + 1 : d->live[k].offset);
    if (d->flags & 2) {
        fprintf(b->f, "\t.byte %u\n", d->num_allocs);
        for (uint32_t k = 0; k < d->num_allocs; k++)
            fprintf(b->f, "\t.byte %u\n", d->wosize[k] - 1);
    }
    fprintf(b->f, "\t.balign 8\n");
    return FK_OK;
}
fk_result fk_builder_assembly(fk_builder *b, const char *symbol, fk_label_fn l, fk_put_fn put, void *arg, fk_error *e)
{
    (void)l; (void)e;
    char head[4096];
    fflush(b->f);
    int n = snprintf(head, sizeof head, "\t.data\n\t.balign 8\n\t.globl %s\n%s:\n\t.quad %lu\n", symbol, symbol, (unsigned long)b->n);
    put(head, (size_t)n, arg);
    put(b->buf, b->len, arg);
    return FK_OK;
}
void fk_builder_free(fk_builder *b) { fclose(b->f); free(b->buf); free(b); }
