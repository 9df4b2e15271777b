/* session.h - a profile by environment variable, in any program of any host.
 *
 *   FRAMEKIT_MEMPROF=rate=1e-4,out=FILE,format=pprof
 *
 *   rate=R      samples per word, 0 < R <= 1                    (1e-4)
 *   out=FILE    where the profile goes; %p is the process number (memprof.%p.FORMAT)
 *   format=F    pprof folded folded-live speedscope ctf         (pprof)
 *   depth=N     callstack limit, slots: the innermost are kept  (256)
 *   every=S     a snapshot every S seconds: FILE.1, FILE.2, ...
 *   signal=N    a snapshot at signal number N (next callback)
 *   sites=N     distinct callstacks kept                        (65536)
 *   limit=N     about so many samples a second at most          (none)
 *   seed=N      of the generator: other samples than without
 *   quiet       do not say at start that the profiler runs
 *
 * Whatever is wrong with the options or the file is said on standard error
 * and the program runs on without a profile.
 */
#ifndef FK_MEMPROF_SESSION_H
#define FK_MEMPROF_SESSION_H

#include "engine.h"

/* Called by the host for its first domain. `engine` names host and version in
 * the line that is printed at start. */
void fk_mp_session_begin(fk_mp_domain *, const char *engine);

#endif
