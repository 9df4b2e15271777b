/* frame.c - frame size against the descent of the stack pointer.
 *
 *            amd64                          the others
 *   entry    SP -> | return address |       SP -> | caller's frame |
 *            -F+8  |                |       -F    |                |
 *   call     SP -> | frame          |       SP -> | frame          |      */
#include "frametable/verify/rules.h"

void fk_frame_skip(fk_code *c, const char *reason)
{
    fk_check_pass(c->check, FK_RULE_FRAME_SIZE, reason);
}

void fk_frame_call(fk_code *c, const fk_state *s, int32_t n, const fk_descr *d)
{
    const fk_program *p = c->f.program;
    fk_value sp = s->place[p->sp];
    (void)n;
    if (d->flags & FK_DESCR_RETURN_TO_C)
        return;
    if (sp.kind != FK_V_SP) {
        fk_frame_skip(c, "the stack pointer cannot be followed to the call");
        return;
    }
    int64_t descent = -sp.k + (p->link == FK_NO_REG ? p->abi->word : 0);
    if (descent == d->frame_size)
        fk_check_ok(c->check, FK_RULE_FRAME_SIZE);
    else
        fk_check_say(c->check, FK_RULE_FRAME_SIZE, FK_VERDICT_WRONG, d,
                     "the frame size is %u, the code has brought the stack pointer down by %lld bytes%s at this call",
                     d->frame_size, (long long)descent,
                     p->link == FK_NO_REG ? " with the return address" : "");
}
