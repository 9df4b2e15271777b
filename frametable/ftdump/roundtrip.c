/* roundtrip.c - --roundtrip: decode each table, encode it again, compare. */
#include "frametable/ftdump/ftdump.h"

#include <string.h>

static struct {
    ft_heading heading;
    uint64_t tables, identical, bytes;
    json_t *different;
} now; /* the FILE at hand */

static void report(ft_run *run, const fk_table_info *info, uint64_t at)
{
    run->findings = true;
    if (run->opt->style == FT_TEXT)
        ft_printf(&run->out, "  %s: first difference at byte %llu of the table at 0x%llx\n",
                  ft_module_name(info), (unsigned long long)at, (unsigned long long)info->address);
    json_t *o = json_object();
    json_object_set_new(o, "name", ft_json_text(info->module));
    json_object_set_new(o, "first_difference", json_integer((json_int_t)at));
    json_array_append_new(now.different, o);
}

static void one_table(ft_run *run, const fk_table *t)
{
    fk_table_info info;
    fk_error err;
    bool same = false;
    uint64_t at = 0;
    fk_table_info_get(t, &info);
    if (!ft_module_matches(run, &info))
        return;
    run->matched++;
    now.tables++;
    now.bytes += info.descr_bytes + info.debuginfo_bytes + info.name_bytes + info.extra_bytes;
    if (fk_table_roundtrip(t, &same, &at, &err) != FK_OK)
        ft_fault(run, &err);
    else if (same)
        now.identical++;
    else
        report(run, &info, at);
}

static void image(ft_run *run, const fk_image *im)
{
    const fk_table *t;
    if (now.different == NULL)
        now.different = json_array();
    ft_heading_add(&now.heading, run->path, im);
    for (size_t i = 0; (t = fk_image_table(im, i)) != NULL; i++)
        one_table(run, t);
}

static void json(ft_run *run)
{
    ft_heading_json(run, &now.heading);
    ft_json_value(&run->json, "tables", json_integer((json_int_t)now.tables));
    ft_json_value(&run->json, "identical", json_integer((json_int_t)now.identical));
    ft_json_value(&run->json, "bytes", json_integer((json_int_t)now.bytes));
    ft_json_value(&run->json, "different", json_incref(now.different));
    ft_heading_json_end(run);
}

static void text(ft_run *run)
{
    ft_puts_name(&run->out, now.heading.path);
    ft_printf(&run->out, ": %llu of %llu tables identical, %llu bytes\n",
              (unsigned long long)now.identical, (unsigned long long)now.tables,
              (unsigned long long)now.bytes);
}

static void file_end(ft_run *run, const char *path)
{
    (void)path;
    if (run->opt->style == FT_JSON)
        json(run);
    else
        text(run);
    json_decref(now.different);
    memset(&now, 0, sizeof now);
}

const ft_mode ft_mode_roundtrip = {
    .option = "roundtrip", .image = image, .file_end = file_end, .no_csv = true};
