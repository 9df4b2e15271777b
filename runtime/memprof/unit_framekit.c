/* unit_framekit.c - engine and host in one unit, so that the host is inlined. */
#include "host_framekit.c"
#include "api_framekit.c"

#include "control.c"
#include "domain.c"
#include "layers.c"
#include "limit.c"
#include "profile.c"
#include "random.c"
#include "run.c"
#include "sample.c"
#include "table.c"
