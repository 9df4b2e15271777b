/* installed.h - where a tool finds what was built for an architecture. */
#ifndef FK_ABI_INSTALLED_H
#define FK_ABI_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/* The path of `name` among what was built for `arch`, whether the running tool
 * is in the build folder or installed. False: it is not there. */
bool fk_target_file(const char *arch, const char *name, char *path, size_t size);

#endif
