/* main.c - ftdump: the files, one after another, and the exit code. */
#include "frametable/ftdump/ftdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ft_complain(ft_run *run, const char *file, const char *message)
{
    ft_out_flush(&run->out);
    if (file != NULL)
        fprintf(stderr, "ftdump: %s: %s\n", file, message);
    else
        fprintf(stderr, "ftdump: %s\n", message);
}

void ft_fault(ft_run *run, const fk_error *err)
{
    char text[800];
    fk_error_format(err, text, sizeof text);
    ft_complain(run, NULL, text);
    run->broken = true;
}

/* --- the JSON document ----------------------------------------------------- */

/* One FILE that is one image gives its fields at the top; several files or the
 * members of an archive go into "files". */
static void document_begin(ft_run *run, bool flat)
{
    if (run->opt->style != FT_JSON || run->json.depth > 0)
        return;
    run->flat = flat;
    ft_json_open(&run->json, NULL, '{');
    ft_json_value(&run->json, "schema", json_integer(1));
    if (!flat)
        ft_json_open(&run->json, "files", '[');
}

static void document_end(ft_run *run)
{
    if (run->opt->style != FT_JSON)
        return;
    document_begin(run, false);
    if (!run->flat)
        ft_json_close(&run->json, ']');
    ft_json_close(&run->json, '}');
}

/* A file or member that could not be read has its place in the document too. */
static void document_fault(ft_run *run, const char *path, const fk_error *err, bool flat)
{
    if (run->opt->style != FT_JSON || run->opt->mode->takes_pair)
        return;
    document_begin(run, flat);
    if (!run->flat)
        ft_json_open(&run->json, NULL, '{');
    ft_json_value(&run->json, "file", ft_json_text(path));
    ft_json_value(&run->json, "error", ft_json_error(err));
    if (!run->flat)
        ft_json_close(&run->json, '}');
}

/* A member that could not be read, of a file that is one object. */
static void note_fault(ft_run *run, const char *path, const fk_error *err)
{
    if (run->opt->style != FT_JSON)
        return;
    json_t *e = ft_json_error(err);
    if (run->errors == NULL)
        run->errors = json_array();
    json_object_set_new(e, "file", ft_json_text(path));
    json_array_append_new(run->errors, e);
}

/* The file's object when no member could be read. */
static void document_errors(ft_run *run, const char *path)
{
    document_begin(run, run->opt->num_files == 1);
    if (!run->flat)
        ft_json_open(&run->json, NULL, '{');
    ft_json_value(&run->json, "file", ft_json_text(path));
    ft_errors_json(run);
    if (!run->flat)
        ft_json_close(&run->json, '}');
}

/* --- files ------------------------------------------------------------------ */

typedef struct {
    ft_run *run;
    const char *path;
    int shown;
} file_walk;

static int one_image(fk_image *im, const fk_error *err, void *arg)
{
    file_walk *w = arg;
    ft_run *run = w->run;
    const ft_mode *mode = run->opt->mode;
    bool whole = mode->file_end != NULL;
    if (im == NULL) {
        ft_fault(run, err);
        const char *path = err->file[0] != 0 ? err->file : w->path;
        if (whole)
            note_fault(run, path, err);
        else
            document_fault(run, path, err, false);
        return 0;
    }
    if (fk_image_num_tables(im) == 0 && !mode->takes_empty)
        return 0;
    document_begin(run,
                   mode->takes_pair || (run->opt->num_files == 1 &&
                                        (whole || fk_image_kind(im) != FK_KIND_ARCHIVE_MEMBER)));
    run->path = w->path;
    run->images++;
    w->shown++;
    mode->image(run, im);
    return run->out.error != 0;
}

static void one_file(ft_run *run, const char *path)
{
    file_walk w = {run, path, 0};
    fk_error err;
    memset(&err, 0, sizeof err);
    bool before = run->broken;
    fk_result r = fk_image_each(path, &run->opt->open, one_image, &w, &err);
    if (r == FK_BROKEN || r == FK_SYSTEM) {
        ft_fault(run, &err);
        if (run->opt->mode->file_end != NULL && (w.shown > 0 || run->errors != NULL))
            note_fault(run, path, &err);
        else if (w.shown == 0)
            document_fault(run, path, &err, run->opt->num_files == 1);
    } else if (w.shown == 0 && run->broken == before) {
        snprintf(err.message, sizeof err.message, "no frametable: not native OCaml code%s",
                 run->opt->open.scan ? "" : ", or stripped (--scan searches the data)");
        ft_complain(run, path, err.message);
        run->broken = true;
        err.entry = FK_NO_ENTRY;
        document_fault(run, path, &err, run->opt->num_files == 1);
    }
    if (w.shown > 0 && run->opt->mode->file_end != NULL)
        run->opt->mode->file_end(run, path);
    else if (run->errors != NULL)
        document_errors(run, path);
}

static int exit_code(const ft_run *run)
{
    if (run->out.error != 0 || run->images == 0)
        return FT_EXIT_USAGE;
    if (run->broken || run->findings)
        return FT_EXIT_FINDINGS;
    if (run->suspects)
        return FT_EXIT_SUSPECTS;
    return FT_EXIT_CLEAN;
}

static void check_filters(ft_run *run)
{
    const ft_options *o = run->opt;
    if (run->images == 0 || run->matched > 0 || (o->module == NULL && o->function == NULL))
        return;
    ft_complain(run, NULL,
                o->function != NULL ? "no descriptor matches --module and --function"
                                    : "no module matches --module");
    run->findings = true;
}

static int run_all(ft_run *run)
{
    const ft_mode *mode = run->opt->mode;
    if (mode->begin != NULL)
        mode->begin(run);
    for (int i = 0; i < run->opt->num_files && run->out.error == 0; i++)
        one_file(run, run->opt->files[i]);
    if (mode->end != NULL)
        mode->end(run);
    check_filters(run);
    document_end(run);
    ft_out_flush(&run->out);
    if (run->out.error != 0)
        fprintf(stderr, "ftdump: write error: %s\n", strerror(run->out.error));
    return exit_code(run);
}

/* With a standard descriptor closed, the first file opened would take its
 * number and be written to or read as if it were the terminal. A read-only
 * /dev/null keeps the place, and a write to it still fails. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        while (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
                _exit(FT_EXIT_USAGE);
}

int main(int argc, char **argv)
{
    static ft_run run;
    ft_options opt;
    int status;
    keep_standard_descriptors();
    if (!ft_options_parse(&opt, argc, argv, &status))
        return status;
    run.opt = &opt;
    ft_out_open(&run.out, 1, opt.colored);
    run.json.out = &run.out;
    return run_all(&run);
}
