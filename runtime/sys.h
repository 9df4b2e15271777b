/* sys.h - the program's own name and arguments. */
#ifndef FK_RT_SYS_H
#define FK_RT_SYS_H

#include "runtime/value.h"

void fk_sys_init(char **argv);
extern char **fk_argv;
extern char fk_exe_name[];

#endif
