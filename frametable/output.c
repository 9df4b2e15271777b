/* output.c - a model as sizes, bytes or assembler text. */
#include <stdio.h>
#include <stdlib.h>

#include "frametable/encode.h"

static void write_table(fk_writer *w, fk_built_sizes *sizes)
{
    fk_builder *b = w->b;
    uint64_t start = w->at;
    fk_put_count(w, b->num_descr);
    for (w->entry = 0; w->entry < b->num_descr; w->entry++)
        b->gen->write(w, w->entry);
    uint64_t descr_end = w->at;
    fk_write_debug(w);
    uint64_t debug_end = w->at;
    fk_write_names(w);
    *sizes = (fk_built_sizes){.descr_bytes = descr_end - start,
                              .debuginfo_bytes = debug_end - descr_end,
                              .name_bytes = w->at - debug_end};
}

/* Sizes, and the address of every item for a table at `address`. */
fk_result fk_builder_measure(fk_builder *b, uint64_t address, fk_error *err)
{
    size_t items = b->num_record + b->num_name + b->num_file;
    if (b->measured && b->measured_at == address)
        return FK_OK;
    free(b->item);
    b->item = calloc(items + 1, sizeof *b->item);
    if (!b->item)
        return fk_fail_memory(err, NULL);
    fk_writer w = {.b = b, .mode = FK_SIZES, .address = address, .at = address};
    write_table(&w, &b->sizes);
    b->measured = true;
    b->measured_at = address;
    return FK_OK;
}

static fk_result does_not_fit(const fk_writer *w, fk_error *err)
{
    return fk_fail(err, FK_BROKEN, NULL, NULL, 0,
                   w->entry < w->b->num_descr ? w->entry : FK_NO_ENTRY, "generation %s: %s",
                   w->b->gen->name, w->problem);
}

static uint64_t total(const fk_built_sizes *s)
{
    return s->descr_bytes + s->debuginfo_bytes + s->name_bytes;
}

fk_result fk_builder_bytes(fk_builder *b, uint64_t address, uint8_t **data, size_t *size,
                           fk_error *err)
{
    *data = NULL;
    *size = 0;
    if (fk_pad(address, b->word))
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY,
                       "a table starts at a multiple of %u", b->word);
    fk_result r = fk_builder_measure(b, address, err);
    if (r)
        return r;
    fk_writer w = {.b = b, .mode = FK_BYTES, .address = address, .at = address};
    *size = (size_t)total(&b->sizes);
    w.out = malloc(*size);
    if (!w.out)
        return fk_fail_memory(err, NULL);
    fk_built_sizes again;
    write_table(&w, &again);
    if (w.problem) {
        free(w.out);
        *size = 0;
        return does_not_fit(&w, err);
    }
    *data = w.out;
    return FK_OK;
}

void fk_builder_sizes(fk_builder *b, fk_built_sizes *out)
{
    *out = (fk_built_sizes){0};
    if (b->measured || fk_builder_measure(b, 0, NULL) == FK_OK)
        *out = b->sizes;
}

/* --- assembler text -------------------------------------------------------------------------- */

static void line(fk_put_fn put, void *arg, const char *format, const char *a, const char *b)
{
    char buf[600];
    int n = snprintf(buf, sizeof buf, format, a, b);
    if (n > 0)
        put(buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1, arg);
}

fk_result fk_builder_assembly(fk_builder *b, const char *symbol, fk_label_fn label, fk_put_fn put,
                              void *arg, fk_error *err)
{
    if (strlen(symbol) > 250)
        return fk_fail(err, FK_BROKEN, NULL, NULL, 0, FK_NO_ENTRY, "the symbol is too long");
    fk_result r = fk_builder_measure(b, 0, err);
    if (r)
        return r;
    fk_writer w = {
        .b = b, .mode = FK_TEXT, .put = put, .label = label, .arg = arg, .symbol = symbol};
    fk_built_sizes sizes;
    line(put, arg, b->word == 8 ? "\t.balign\t8\n" : "\t.balign\t4\n", "", "");
    line(put, arg, "\t.globl\t%s\n\t.type\t%s, STT_OBJECT\n", symbol, symbol);
    line(put, arg, "%s:\n", symbol, "");
    write_table(&w, &sizes);
    line(put, arg, "\t.size\t%s, . - %s\n", symbol, symbol);
    return w.problem ? does_not_fit(&w, err) : FK_OK;
}
