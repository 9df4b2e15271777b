/* assemble.c - runs the assembler on temporary files that do not survive.
 *
 * `as` itself, never gcc: gcc's driver turns RISC-V's compressed instructions on.
 */
#include "emitter/assemble.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* Names of GNU triplets, the machine name first. */
static const struct {
    const char *arch, *cpu;
} cpus[] = {{"amd64", "x86_64"},
            {"arm64", "aarch64"},
            {"power", "powerpc64le"},
            {"s390x", "s390x"},
            {"riscv64", "riscv64"}};

static void program_name(const char *arch, char *buf, size_t size) {
    struct utsname uts;
    const char *cpu = "unknown";
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        cpu = strcmp(cpus[i].arch, arch) == 0 ? cpus[i].cpu : cpu;
    }
    bool native = uname(&uts) == 0 && (strcmp(uts.machine, cpu) == 0 ||
                                       (strcmp(uts.machine, "ppc64le") == 0 && arch[0] == 'p'));
    snprintf(buf, size, native ? "as" : "%s-linux-gnu-as", cpu);
}

static bool write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n <= 0) {
            return false;
        }
        text += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_object(const char *path, char **object, size_t *size) {
    FILE *f = fopen(path, "rb");
    long n = -1;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) {
        n = ftell(f);
        rewind(f);
    }
    char *buf = n >= 0 ? malloc((size_t)n + 1) : NULL;
    bool ok = buf != NULL && fread(buf, 1, (size_t)n, f) == (size_t)n;
    if (f != NULL) {
        fclose(f);
    }
    if (!ok) {
        free(buf);
        return false;
    }
    *object = buf;
    *size = (size_t)n;
    return true;
}

static bool run_as(const char *program, const char *source, const char *object) {
    pid_t pid = fork();
    if (pid == 0) {
        execlp(program, program, "-o", object, source, (char *)NULL);
        fprintf(stderr, "cmmc: %s: %s\n", program, strerror(errno));
        _exit(127);
    }
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

bool fk_assemble(const char *arch, const char *text, size_t size, char **object, size_t *osize,
                 char *error, size_t error_size) {
    char program[64], source[4096], result[4096 + 2];
    const char *dir = getenv("TMPDIR");
    program_name(arch, program, sizeof program);
    snprintf(source, sizeof source, "%s/cmmcXXXXXX", dir != NULL && *dir != 0 ? dir : "/tmp");
    int fd = mkstemp(source);
    if (fd < 0) {
        snprintf(error, error_size, "%.300s: %s", source, strerror(errno));
        return false;
    }
    snprintf(result, sizeof result, "%s.o", source);
    bool ok = write_all(fd, text, size);
    ok = close(fd) == 0 && ok;
    ok = ok && run_as(program, source, result) && read_object(result, object, osize);
    if (!ok) {
        snprintf(error, error_size, "%s failed", program);
    }
    unlink(source);
    unlink(result);
    return ok;
}
