/* walk.c - image -> tables -> points, with --module and --function applied. */
#include "frametable/ftdump/ftdump.h"

#include <fnmatch.h>
#include <string.h>

static bool matches(const char *glob, const char *name)
{
    return glob == NULL || (name != NULL && fnmatch(glob, name, 0) == 0);
}

bool ft_module_matches(ft_run *run, const fk_table_info *info)
{
    return matches(run->opt->module, info->module);
}

bool ft_function_matches(const ft_options *opt, const char *name)
{
    return matches(opt->function, name);
}

static bool covers(const fk_symbol *s, uint64_t addr)
{
    return s->name != NULL && addr - s->addr < s->size;
}

/* A call that never returns may be the last instruction of its function, so
 * the function is the one that holds retaddr - 1. */
void ft_point_locate(const fk_image *im, ft_point *p, fk_symbol *cache)
{
    uint64_t at = p->d.retaddr - 1;
    if (!covers(cache, at) && fk_image_symbol_at(im, at, cache) != FK_OK)
        cache->name = NULL;
    p->fn = *cache;
    p->section = "";
    if (p->fn.name != NULL) {
        p->offset = p->d.retaddr - p->fn.addr;
        return;
    }
    fk_section s;
    if (fk_image_section_at(im, at, &s) == FK_OK) {
        p->section = s.name;
        p->offset = p->d.retaddr - s.addr;
    } else {
        p->offset = p->d.retaddr;
    }
}

typedef struct {
    ft_run *run;
    const fk_image *im;
    const ft_visitor *v;
    void *arg;
    fk_symbol cache;
    bool announced;
} walker;

static void announce(walker *w, const fk_table *t, const fk_table_info *info)
{
    if (w->announced)
        return;
    w->announced = true;
    w->run->matched++;
    if (w->v->table != NULL)
        w->v->table(w->arg, t, info);
}

static void visit(walker *w, const fk_table *t, const fk_table_info *info, ft_point *p)
{
    bool need = !w->v->no_functions || w->run->opt->function != NULL;
    if (need)
        ft_point_locate(w->im, p, &w->cache);
    if (w->run->opt->function != NULL && !ft_function_matches(w->run->opt, p->fn.name))
        return;
    announce(w, t, info);
    if (w->v->point != NULL)
        w->v->point(w->arg, p);
}

static void walk_table(walker *w, const fk_table *t, const fk_table_info *info)
{
    fk_cursor c;
    ft_point p;
    fk_error err;
    fk_result r;
    w->announced = false;
    if (w->run->opt->function == NULL)
        announce(w, t, info);
    memset(&p, 0, sizeof p);
    fk_cursor_start(t, &c);
    while ((r = fk_cursor_next(&c, &p.d, &err)) == FK_OK)
        visit(w, t, info, &p);
    if (r == FK_ABSENT)
        r = fk_table_status(t, &err);
    if (r != FK_OK && r != FK_ABSENT)
        ft_fault(w->run, &err);
    if (w->announced && w->v->table_end != NULL)
        w->v->table_end(w->arg, t, r == FK_OK ? NULL : &err);
}

void ft_walk(ft_run *run, const fk_image *im, const ft_visitor *v, void *arg)
{
    walker w = {.run = run, .im = im, .v = v, .arg = arg};
    const fk_table *t;
    for (size_t i = 0; (t = fk_image_table(im, i)) != NULL; i++) {
        fk_table_info info;
        fk_table_info_get(t, &info);
        if (ft_module_matches(run, &info))
            walk_table(&w, t, &info);
    }
}
