/* installed.c - where a tool finds what was built for an architecture. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/installed.h"

/* Beside the tool in the build folder and in an installed copy (install.mk). */
static const char *const places[] = {"..", "../lib/framekit"};

bool fk_target_file(const char *arch, const char *name, char *path, size_t size)
{
    char self[512];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%.*s/%s/%s/%s", (int)(slash - self), self, places[i], arch, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}
