/* SPDX-License-Identifier: MIT */
/* Starting the host, from inside any process that wants to control a session. */
#ifndef ETW_CONTROL_HOST_START_H
#define ETW_CONTROL_HOST_START_H

#include <stdbool.h>

/*
 * etw_host_find() - the program etwd: $ETW_ETWD, else beside the executable, else beside libetw, else in the
 * compiled-in libexec folder, else in PATH.
 *
 * @ret: room for PATH_MAX bytes
 *
 * Beside means: in its folder, in bin beside that, or where an installed tree has etwd as seen from there, so
 * that the tree may be moved. What lies beside must belong to root or to the owner of what it lies beside. Where ETW_ETWD is set nothing else is tried. Returns 0, or -ENOEXEC.
 */
int etw_host_find(char *ret);

/*
 * Is told of a place where etwd was looked for in vain.
 *
 * @problem: what is wrong with what is there, as the rest of a sentence; NULL: there is no program. Static
 */
typedef void etw_host_place_fn(void *context, const char *path, const char *problem);

/* etw_host_look() - as etw_host_find(); @tell hears of every place in vain before it, and may be NULL. */
int etw_host_look(etw_host_place_fn *tell, void *context, char *ret);

/*
 * etw_host_spawn() - runs a program as a daemon of its own session, with no descriptor of this process.
 *
 * @program: a path
 * @may_leave: its folder becomes "/"; not for programs that get relative paths to work on
 *
 * Standard input, output and error are /dev/null; with $ETWD_LOG the latter two append to that file. The
 * program is no child of this process. Handlers of pthread_atfork() do not run.
 *
 * @ret_report: owned: what becomes of it, as ipc/start_report.h says; NULL: nobody wants to know
 *
 * Returns 0 when the program runs; -ENOEXEC when it cannot; -ENOMEM; errno of pipe, fork.
 */
int etw_host_spawn(const char *program, bool may_leave, int *ret_report);

#endif
