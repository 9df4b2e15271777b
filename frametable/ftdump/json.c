/* json.c - one JSON document, streamed. */
#include "frametable/ftdump/ftdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void separate(ft_json *j, const char *key)
{
    if (j->depth > 0) {
        if (!j->first[j->depth])
            ft_putc(j->out, ',');
        j->first[j->depth] = false;
        ft_putc(j->out, '\n');
        ft_pad(j->out, (size_t)j->depth, ' ');
    }
    if (key != NULL) { /* our own words: no escapes needed */
        ft_putc(j->out, '"');
        ft_puts(j->out, key);
        ft_puts(j->out, "\":");
    }
}

void ft_json_open(ft_json *j, const char *key, char bracket)
{
    separate(j, key);
    ft_putc(j->out, bracket);
    j->depth++;
    j->first[j->depth] = true;
}

void ft_json_close(ft_json *j, char bracket)
{
    bool empty = j->first[j->depth];
    j->depth--;
    if (!empty) {
        ft_putc(j->out, '\n');
        ft_pad(j->out, (size_t)j->depth, ' ');
    }
    ft_putc(j->out, bracket);
    if (j->depth == 0)
        ft_putc(j->out, '\n');
}

static int put_chunk(const char *text, size_t n, void *out)
{
    ft_put(out, text, n);
    return 0;
}

void ft_json_value(ft_json *j, const char *key, json_t *value)
{
    separate(j, key);
    if (value == NULL) /* out of memory: keep the document well formed */
        ft_puts(j->out, "null");
    else
        json_dump_callback(value, put_chunk, j->out,
                           JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    json_decref(value);
}

/* Length of a valid UTF-8 sequence at s, 0: none. jansson judges, so the two
 * can never disagree. */
static size_t utf8_length(const char *s)
{
    for (size_t n = 1; n <= 4 && s[n - 1] != 0; n++) {
        json_t *t = json_stringn(s, n);
        json_decref(t);
        if (t != NULL)
            return n;
    }
    return 0;
}

json_t *ft_json_text(const char *s)
{
    json_t *t = json_string(s);
    if (t != NULL)
        return t;
    char *fixed = malloc(3 * strlen(s) + 1), *p = fixed;
    if (fixed == NULL)
        return NULL;
    while (*s != 0) {
        size_t n = utf8_length(s);
        memcpy(p, n > 0 ? s : "\xef\xbf\xbd", n > 0 ? n : 3);
        p += n > 0 ? n : 3;
        s += n > 0 ? n : 1;
    }
    *p = 0;
    t = json_string(fixed);
    free(fixed);
    return t;
}

json_t *ft_json_hex(uint64_t v)
{
    char buf[24];
    snprintf(buf, sizeof buf, "0x%llx", (unsigned long long)v);
    return json_string_nocheck(buf);
}

json_t *ft_json_error(const fk_error *e)
{
    json_t *o = json_object();
    json_object_set_new(o, "section", ft_json_text(e->section));
    json_object_set_new(o, "section_offset", ft_json_hex(e->offset));
    if (e->entry != FK_NO_ENTRY)
        json_object_set_new(o, "entry", json_integer((json_int_t)e->entry));
    json_object_set_new(o, "message", ft_json_text(e->message));
    return o;
}

void ft_csv_text(ft_out *o, const char *s)
{
    if (s[strcspn(s, ",\"\r\n")] == 0) {
        ft_puts(o, s);
        return;
    }
    ft_putc(o, '"');
    for (; *s != 0; s++) {
        if (*s == '"')
            ft_putc(o, '"');
        ft_putc(o, *s);
    }
    ft_putc(o, '"');
}
