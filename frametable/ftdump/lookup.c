/* lookup.c - --lookup: what the collector finds at a return address.
 *
 *   0x47fa5c  camlStdlib__List.map_517+0x8c
 *     in    module Stdlib__List
 *     is    alloc, frame 24, caller's return address at [16]
 *     live  rax [8]
 *     block   2 fields  list.ml:93:12-22 Stdlib__List.map
 */
#include "frametable/ftdump/ftdump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    ft_run *run;
    const fk_image *im;
    fk_index *index;
} finder;

/* --- nearest neighbours of an address that has no descriptor ---------------------- */

typedef struct {
    uint64_t addr, before, after;
} neighbours;

static void compare(void *arg, const ft_point *p)
{
    neighbours *n = arg;
    uint64_t r = p->d.retaddr;
    if (r < n->addr && r > n->before)
        n->before = r;
    if (r > n->addr && r < n->after)
        n->after = r;
}

static neighbours find_neighbours(finder *f, uint64_t addr)
{
    static const ft_visitor v = {.point = compare, .no_functions = true};
    neighbours n = {addr, 0, FK_NO_ENTRY};
    ft_walk(f->run, f->im, &v, &n);
    return n;
}

static void show_absent(finder *f, uint64_t addr)
{
    ft_out *o = &f->run->out;
    neighbours n = find_neighbours(f, addr);
    ft_putx(o, addr, 6);
    ft_puts_color(o, FT_WARN, "  no descriptor");
    if (n.before != 0)
        ft_printf(o, ", nearest before 0x%llx", (unsigned long long)n.before);
    if (n.after != FK_NO_ENTRY)
        ft_printf(o, ", nearest after 0x%llx", (unsigned long long)n.after);
    ft_putc(o, '\n');
}

/* --- found ---------------------------------------------------------------------------- */

static void show_frame(finder *f, const fk_descr *d)
{
    ft_out *o = &f->run->out;
    const fk_abi *abi = fk_image_abi(f->im);
    ft_puts(o, "  is    ");
    ft_puts_color(o, FT_KIND, ft_kind(d));
    if (d->flags & FK_DESCR_RETURN_TO_C) {
        ft_puts(o, ": the OCaml stack (or this part of it) ends here\n");
        return;
    }
    ft_printf(o, ", frame %u", d->frame_size);
    if (abi != NULL)
        ft_printf(o, ", caller's return address at [%lld]",
                  (long long)d->frame_size + abi->ra_offset);
    ft_putc(o, '\n');
}

static void show_found(finder *f, const ft_point *p, const fk_table_info *info)
{
    ft_out *o = &f->run->out;
    ft_putx(o, p->d.retaddr, 6);
    ft_puts(o, "  ");
    ft_show_function(f->run, p);
    ft_puts(o, "\n  in    module ");
    ft_puts_name(o, ft_module_name(info));
    ft_putc(o, '\n');
    show_frame(f, &p->d);
    ft_show_details(f->run, p, "  ");
}

static void json_answer(finder *f, uint64_t addr, const ft_point *p, const fk_table_info *info)
{
    json_t *o;
    if (p == NULL) {
        o = json_object();
        json_object_set_new(o, "retaddr", ft_json_hex(addr));
        json_object_set_new(o, "found", json_false());
    } else {
        o = ft_json_point(f->run, p);
        json_object_set_new(o, "module", ft_json_text(info->module));
        json_object_set_new(o, "found", json_true());
    }
    ft_json_value(&f->run->json, NULL, o);
}

static void answer(finder *f, uint64_t addr)
{
    ft_point p = {0};
    fk_symbol cache = {0};
    fk_table_info info;
    bool json = f->run->opt->style == FT_JSON;
    if (fk_index_lookup(f->index, addr, &p.d) != FK_OK) {
        f->run->findings = true;
        if (json)
            json_answer(f, addr, NULL, NULL);
        else
            show_absent(f, addr);
        return;
    }
    ft_point_locate(f->im, &p, &cache);
    fk_table_info_get(p.d.table, &info);
    if (json)
        json_answer(f, addr, &p, &info);
    else
        show_found(f, &p, &info);
}

/* --- addresses --------------------------------------------------------------------------- */

/* 0x47fa5c, 47fa5c with a letter or not (hexadecimal either way, as debuggers
 * and objdump print it), or FUNCTION+0x8c. */
static bool parse_address(const fk_image *im, char *text, uint64_t *out)
{
    char *end;
    fk_symbol s;
    errno = 0;
    *out = strtoull(text, &end, 16);
    if (end != text && *end == 0 && errno == 0 && strchr(text, '-') == NULL)
        return true;
    char *plus = strrchr(text, '+');
    if (plus == NULL || plus == text)
        return false;
    *plus = 0;
    bool known = fk_image_symbol(im, text, &s) == FK_OK;
    *plus = '+';
    uint64_t offset = strtoull(plus + 1, &end, 0);
    *out = s.addr + offset;
    return known && end != plus + 1 && *end == 0 && errno == 0;
}

static void one_word(finder *f, char *word)
{
    uint64_t addr;
    char message[200];
    word += strspn(word, " \t\r\n");
    word[strcspn(word, " \t\r\n")] = 0;
    if (*word == 0)
        return;
    if (parse_address(f->im, word, &addr)) {
        answer(f, addr);
        return;
    }
    snprintf(message, sizeof message, "'%.100s' is neither an address nor FUNCTION+OFFSET", word);
    ft_complain(f->run, NULL, message);
    f->run->findings = true;
}

static void from_stdin(finder *f)
{
    char *line = NULL;
    size_t room = 0;
    while (f->run->out.error == 0 && getline(&line, &room, stdin) > 0) {
        one_word(f, line);
        ft_out_flush(&f->run->out); /* the other side may wait for the answer */
    }
    free(line);
}

static void from_option(finder *f)
{
    char *list = strdup(f->run->opt->lookup), *save = NULL;
    for (char *w = list != NULL ? strtok_r(list, ",", &save) : NULL; w != NULL;
         w = strtok_r(NULL, ",", &save))
        one_word(f, w);
    free(list);
}

static void image(ft_run *run, const fk_image *im)
{
    finder f = {.run = run, .im = im};
    fk_error err;
    ft_heading h = {0};
    ft_heading_add(&h, fk_image_name(im), im);
    if (fk_index_build(im, &f.index, NULL, &err) != FK_OK) {
        ft_fault(run, &err);
        return;
    }
    if (run->opt->style == FT_JSON) {
        ft_heading_json(run, &h);
        ft_json_open(&run->json, "lookups", '[');
    } else if (run->opt->num_files > 1 || fk_image_kind(im) == FK_KIND_ARCHIVE_MEMBER) {
        ft_heading_show(run, &h);
    }
    if (strcmp(run->opt->lookup, "-") == 0)
        from_stdin(&f);
    else
        from_option(&f);
    run->matched++;
    if (run->opt->style == FT_JSON) {
        ft_json_close(&run->json, ']');
        ft_heading_json_end(run);
    }
    fk_index_free(f.index);
}

const ft_mode ft_mode_lookup = {.option = "lookup", .image = image, .no_csv = true};
