/* fuzz_parse.c - libFuzzer target: any bytes, in each form, must be parsed, checked, printed and
 * parsed again without a crash, a leak or a hang; what was accepted must print to the same tree.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitter/cmm.h"

typedef struct {
    const uint8_t *data;
    size_t size;
} input;

static void roundtrip(const cmm_unit *u) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return;
    }
    cmm_print_unit(u, out);
    fclose(out);
    cmm_unit *again = cmm_parse_text("printed", text, size, CMM_LOSSLESS, u->unit_symbol->text);
    if (!cmm_check(again) || !cmm_unit_equal(u, again)) {
        cmm_print_diags(again, stderr);
        fwrite(text, 1, size, stderr);
        abort();
    }
    cmm_unit_free(again);
    free(text);
}

static void one(void *arg) {
    const input *in = arg;
    cmm_mode mode = (cmm_mode)(in->size > 0 ? in->data[0] % 4 : 0);
    const char *text = (const char *)in->data + (in->size > 0);
    cmm_unit *u = cmm_parse_text("fuzz", text, in->size - (in->size > 0), mode, NULL);
    if (cmm_check(u)) {
        roundtrip(u);
    } else {
        FILE *null = fopen("/dev/null", "w");
        cmm_print_diags(u, null);
        fclose(null);
    }
    cmm_unit_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    cmm_with_stack(one, &in);
    return 0;
}
