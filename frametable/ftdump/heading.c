/* heading.c - what is said of a file before its figures. */
#include "frametable/ftdump/ftdump.h"

#include <stdio.h>
#include <sys/stat.h>

static void first(ft_heading *h, const char *path, const fk_image *im)
{
    struct stat st;
    const fk_abi *abi = fk_image_abi(im);
    h->path = path;
    h->size = stat(path, &st) == 0 ? (uint64_t)st.st_size : fk_image_file_size(im);
    h->endian = fk_image_big_endian(im) ? "big" : "little";
    snprintf(h->arch, sizeof h->arch, "%s", abi != NULL ? abi->name : "unknown");
    snprintf(h->kind, sizeof h->kind, "%s", fk_kind_name(fk_image_kind(im)));
    snprintf(h->located_by, sizeof h->located_by, "%s", fk_image_located_by(im));
}

void ft_heading_add(ft_heading *h, const char *path, const fk_image *im)
{
    size_t n = fk_image_num_tables(im);
    if (h->images++ == 0)
        first(h, path, im);
    /* The first member with tables speaks for the format of an archive. */
    if (n > 0 && h->modules == 0) {
        snprintf(h->format, sizeof h->format, "%s", fk_generation_name(fk_image_generation(im)));
        h->span = fk_generation_span(fk_image_generation(im));
        snprintf(h->reason, sizeof h->reason, "%s", fk_image_generation_reason(im));
        snprintf(h->located_by, sizeof h->located_by, "%s", fk_image_located_by(im));
    }
    h->modules += n;
}

void ft_heading_show(ft_run *run, const ft_heading *h)
{
    ft_out *o = &run->out;
    if (run->shown++ > 0)
        ft_putc(o, '\n');
    ft_color_set(o, FT_BOLD);
    ft_puts_name(o, h->path);
    ft_color_set(o, FT_PLAIN);
    ft_printf(o, ": %s, %s, %s-endian", h->kind, h->arch, h->endian);
    if (h->images > 1)
        ft_printf(o, ", %u members", h->images);
    if (h->span)
        ft_printf(o, "\n  format %s (%s): %s", h->format, h->span, h->reason);
    ft_printf(o, "\n  %llu module%s found by %s\n", (unsigned long long)h->modules,
              h->modules == 1 ? "" : "s", h->located_by);
}

void ft_heading_json(ft_run *run, const ft_heading *h)
{
    ft_json *j = &run->json;
    run->shown++;
    if (!run->flat)
        ft_json_open(j, NULL, '{');
    ft_json_value(j, "file", ft_json_text(h->path));
    ft_json_value(j, "arch", ft_json_text(h->arch));
    ft_json_value(j, "endian", ft_json_text(h->endian));
    ft_json_value(j, "kind", ft_json_text(h->kind));
    ft_json_value(j, "format", ft_json_text(h->format));
    ft_json_value(j, "format_reason", ft_json_text(h->reason));
    ft_json_value(j, "located_by", ft_json_text(h->located_by));
}

void ft_errors_json(ft_run *run)
{
    if (run->errors != NULL)
        ft_json_value(&run->json, "errors", run->errors);
    run->errors = NULL;
}

void ft_heading_json_end(ft_run *run)
{
    ft_errors_json(run);
    if (!run->flat)
        ft_json_close(&run->json, '}');
}
