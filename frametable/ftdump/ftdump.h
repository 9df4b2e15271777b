/* ftdump.h - what the parts of ftdump share.
 *
 *   main.c      options, the files, the exit code
 *   walk.c      image -> modules -> points, with the filters applied
 *   show.c      one descriptor or place as text or JSON, the same everywhere
 *   MODE.c      one file per mode; a mode is a struct ft_mode
 *   sheet.c     a table of figures as text, CSV or JSON
 *   out.c       buffered output        json.c  JSON framing over jansson
 *
 * A point is a descriptor with the function that holds its call.
 */
#ifndef FT_FTDUMP_H
#define FT_FTDUMP_H

#include <jansson.h>

#include "abi/abi.h"
#include "framekit/frametable.h"
#include "frametable/ftdump/out.h"

typedef enum { FT_TEXT, FT_JSON, FT_CSV } ft_style;

/* Exit codes are an interface (docs/ftdump.md). */
enum { FT_EXIT_CLEAN = 0, FT_EXIT_FINDINGS = 1, FT_EXIT_SUSPECTS = 2, FT_EXIT_USAGE = 3 };

struct ft_run;

/* A mode. `image` is called for each ELF image; the others may be NULL. */
typedef struct ft_mode {
    const char *option; /* without the dashes */
    void (*begin)(struct ft_run *);
    void (*image)(struct ft_run *, const fk_image *);
    void (*file_end)(struct ft_run *, const char *path); /* after each FILE argument */
    void (*end)(struct ft_run *);
    bool takes_pair;  /* OLD NEW in place of FILE... */
    bool takes_empty; /* a file without a frametable is a row, not an error */
    bool no_csv;      /* the mode has no flat form */
    bool can_plot;
} ft_mode;

extern const ft_mode ft_mode_descriptors, ft_mode_summary, ft_mode_totals, ft_mode_debuginfo,
    ft_mode_histogram, ft_mode_sizes, ft_mode_lookup, ft_mode_disassemble, ft_mode_diff,
    ft_mode_recode, ft_mode_roundtrip, ft_mode_verify;

typedef enum { FT_DETAILS, FT_SUMMARY_ONLY, FT_QUIET } ft_detail;

typedef struct {
    const ft_mode *mode;
    ft_style style;
    bool colored, addresses;
    fk_open_options open;
    fk_generation recode;
    const char *module, *function; /* globs, NULL: all */
    const char *lookup, *plot;
    unsigned groups;      /* --verify: rules to run */
    ft_detail detail;     /* --verify: how much of each finding is shown */
    bool strict;          /* --verify: a suspect counts as a finding */
    const char *baseline; /* --verify: findings that are known */
    unsigned top; /* rows of a size table, 0: all */
    char **files;
    int num_files;
} ft_options;

/* false: the command line is wrong and said so, or --help was served; exit
 * with *status. */
bool ft_options_parse(ft_options *, int argc, char **argv, int *status);

typedef struct {
    ft_out *out;
    int depth;
    bool first[24]; /* nothing written yet at this depth */
} ft_json;

typedef struct ft_run {
    const ft_options *opt;
    ft_out out;
    ft_json json;
    void *state;         /* the mode's own */
    int shown;           /* headings written so far */
    const char *path;    /* the FILE at hand */
    int images;          /* images opened so far */
    int matched;         /* modules that passed the filters */
    bool flat;           /* JSON: one image, no "files" array */
    bool broken;         /* something could not be read */
    json_t *errors;      /* of members whose file is one object; NULL: none */
    bool findings;       /* differences, addresses not found, faults */
    bool suspects;       /* --verify found something unusual, nothing wrong */
} ft_run;

/* Writes the fault to standard error and remembers that there was one. */
void ft_fault(ft_run *, const fk_error *);
void ft_complain(ft_run *, const char *file, const char *message);

/* --- verify.c -------------------------------------------------------------- */

/* Prints the text of a rule; false: there is none. */
bool ft_explain(const char *rule);
/* "structure,calls" -> groups; 0: an unknown name. NULL: all. */
unsigned ft_verify_groups(const char *names);
/* "structure, calls, ..." for a message. */
const char *ft_verify_group_names(void);

/* --- walk.c ---------------------------------------------------------------- */

typedef struct {
    fk_descr d;
    fk_symbol fn;    /* name NULL: no symbol there */
    uint64_t offset; /* retaddr - fn.addr, or from the section's start */
    const char *section;
} ft_point;

/* Any member may be NULL. With --function a table is announced only when a
 * point of it matches. `fault` is NULL for a whole table. */
typedef struct {
    void (*table)(void *arg, const fk_table *, const fk_table_info *);
    void (*point)(void *arg, const ft_point *);
    void (*table_end)(void *arg, const fk_table *, const fk_error *fault);
    bool no_functions; /* points come without fn: faster */
} ft_visitor;

void ft_walk(ft_run *, const fk_image *, const ft_visitor *, void *arg);
bool ft_module_matches(ft_run *, const fk_table_info *);
/* Finds the function of a return address; `cache` keeps the last one. */
void ft_point_locate(const fk_image *, ft_point *, fk_symbol *cache);
bool ft_function_matches(const ft_options *, const char *name);

/* --- heading.c -------------------------------------------------------------- */

/* What is said of an image, or of a FILE whose members (an archive's) are
 * counted together, before its figures. */
typedef struct {
    const char *path;
    char arch[16], kind[32], format[8], reason[160], located_by[32];
    const char *endian, *span; /* of versions: "OCaml 5.2-5.4" */
    uint64_t size;   /* of the file */
    unsigned images; /* members of an archive, else 1 */
    uint64_t modules;
} ft_heading;

void ft_heading_add(ft_heading *, const char *path, const fk_image *);
void ft_heading_show(ft_run *, const ft_heading *);
/* Opens the object of one file in the JSON document and writes the fields. */
void ft_heading_json(ft_run *, const ft_heading *);
void ft_heading_json_end(ft_run *);
/* "errors": the members that could not be read, when there are some. */
void ft_errors_json(ft_run *);

/* --- show.c ---------------------------------------------------------------- */

/* "call" "alloc" "poll" "raise" "return to C" */
const char *ft_kind(const fk_descr *);
const char *ft_reg_name(const fk_table *, int reg, char buf[16]);
/* " rbx [8]": one space in front of each entry. */
void ft_show_live(ft_out *, const fk_descr *);
/* "list.ml:93:12-22 Stdlib__List.map" */
void ft_show_place(ft_out *, const fk_frame *);
/* The chain of slot i, one frame a line: the first after `first`, the others
 * after `rest`. Nothing when there is none. */
void ft_show_chain(ft_run *, const fk_descr *, uint32_t slot, const char *first, const char *rest);
/* "camlStdlib__List.map_517+0x61" */
void ft_show_function(ft_run *, const ft_point *);
/* The lines under a point: live set, blocks, places; `indent` in front. */
void ft_show_details(ft_run *, const ft_point *, const char *indent);
const char *ft_module_name(const fk_table_info *); /* "(unnamed)" for "" */
/* The place without the name of the definition. */
void ft_place_text(const fk_frame *, char *buf, size_t size);

json_t *ft_json_point(ft_run *, const ft_point *);
json_t *ft_json_frame(const fk_frame *);
json_t *ft_json_chain(ft_run *, const fk_descr *, uint32_t slot);
json_t *ft_json_live(const fk_descr *);

/* --- json.c ----------------------------------------------------------------- */

/* Framing by hand so that nothing grows with the file; values by jansson. */
void ft_json_open(ft_json *, const char *key, char bracket);
void ft_json_close(ft_json *, char bracket);
/* Takes the reference of `value`; one value a line at depth > 1. */
void ft_json_value(ft_json *, const char *key, json_t *value);
json_t *ft_json_text(const char *); /* any bytes: bad UTF-8 becomes U+FFFD */
json_t *ft_json_hex(uint64_t);
json_t *ft_json_error(const fk_error *);

/* --- csv ---------------------------------------------------------------------- */
void ft_csv_text(ft_out *, const char *); /* quoted when it must be */

#endif
