/* export.c - text exports: folded stacks and speedscope. See record.h. */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

static bool flush(FILE *f)
{
    return fflush(f) == 0 && !ferror(f);
}

static double whole(double bytes)
{
    return bytes < 0.5 ? 0 : bytes; /* live sums may end a rounding error below 0 */
}

/* --- folded stacks ------------------------------------------------------------- */

static void folded_frame(void *arg, const fk_mp_frame *frame, bool first)
{
    char name[512];
    fk_mp_frame_name(frame, name, sizeof name);
    for (char *p = name; *p; p++)
        if (*p == ';' || *p == '\n')
            *p = ':'; /* the separators of the format */
    fprintf(arg, "%s%s", first ? "" : ";", name);
}

static bool folded(fk_mp_recorder *r, FILE *f, bool live)
{
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->num_sites; i++) {
        const fk_mp_site *s = &r->sites[i];
        double bytes = whole(live ? s->live_bytes : s->alloc_bytes);
        if (bytes == 0)
            continue;
        fk_mp_each_frame(s, folded_frame, f);
        fprintf(f, " %.0f\n", bytes);
    }
    pthread_mutex_unlock(&r->lock);
    return flush(f);
}

bool fk_mp_export_folded(fk_mp_recorder *r, FILE *f)
{
    return folded(r, f, false);
}

bool fk_mp_export_folded_live(fk_mp_recorder *r, FILE *f)
{
    return folded(r, f, true);
}

/* --- speedscope ------------------------------------------------------------------- */

typedef struct {
    FILE *f;
    fk_mp_frames frames;
} writer;

static void json_string(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
            fprintf(f, "\\u%04x", (unsigned char)*s); /* names are bytes: read as Latin-1 */
        else
            putc(*s, f);
    putc('"', f);
}

static void collect_frame(void *arg, const fk_mp_frame *frame, bool first)
{
    (void)first;
    fk_mp_frames_number(&((writer *)arg)->frames, frame);
}

static void frame_number(void *arg, const fk_mp_frame *frame, bool first)
{
    writer *w = arg;
    fprintf(w->f, "%s%zu", first ? "" : ",", fk_mp_frames_number(&w->frames, frame));
}

static void shared_frames(writer *w)
{
    for (size_t i = 0; i < w->frames.size; i++) {
        const fk_mp_frame *frame = &w->frames.frame[i];
        char name[512];
        fk_mp_frame_name(frame, name, sizeof name);
        fprintf(w->f, "%s{\"name\":", i ? ",\n" : "");
        json_string(w->f, name);
        if (frame->file) {
            fputs(",\"file\":", w->f);
            json_string(w->f, frame->file);
        }
        if (frame->line > 0)
            fprintf(w->f, ",\"line\":%d", frame->line);
        putc('}', w->f);
    }
}

static void speedscope_profile(writer *w, const fk_mp_recorder *r, bool live)
{
    double total = 0;
    fprintf(w->f, "{\"type\":\"sampled\",\"name\":\"%s bytes\",\"unit\":\"bytes\",\"startValue\":0,\"samples\":[",
            live ? "live" : "allocated");
    const char *comma = "";
    for (size_t i = 0; i < r->num_sites; i++)
        if (r->sites[i].samples) {
            fprintf(w->f, "%s[", comma);
            fk_mp_each_frame(&r->sites[i], frame_number, w);
            putc(']', w->f);
            comma = ",";
        }
    fputs("],\"weights\":[", w->f);
    comma = "";
    for (size_t i = 0; i < r->num_sites; i++)
        if (r->sites[i].samples) {
            double bytes = whole(live ? r->sites[i].live_bytes : r->sites[i].alloc_bytes);
            fprintf(w->f, "%s%.0f", comma, bytes);
            total += bytes;
            comma = ",";
        }
    fprintf(w->f, "],\"endValue\":%.0f}", total);
}

bool fk_mp_export_speedscope(fk_mp_recorder *r, FILE *f)
{
    writer w = {.f = f};
    if (!fk_mp_frames_init(&w.frames))
        return false;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->num_sites; i++)
        fk_mp_each_frame(&r->sites[i], collect_frame, &w);
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"framekit\",\n"
          "\"shared\":{\"frames\":[",
          f);
    shared_frames(&w);
    fputs("]},\n\"profiles\":[", f);
    speedscope_profile(&w, r, false);
    fputs(",\n", f);
    speedscope_profile(&w, r, true);
    fputs("]}\n", f);
    pthread_mutex_unlock(&r->lock);
    fk_mp_frames_free(&w.frames);
    return flush(f);
}

fk_mp_export_fn fk_mp_export_by_name(const char *name)
{
    static const struct {
        const char *name;
        fk_mp_export_fn fn;
    } formats[] = {{"pprof", fk_mp_export_pprof},
                   {"folded", fk_mp_export_folded},
                   {"folded-live", fk_mp_export_folded_live},
                   {"speedscope", fk_mp_export_speedscope}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].fn;
    return NULL;
}
