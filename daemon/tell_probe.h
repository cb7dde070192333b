/* SPDX-License-Identifier: MIT */
/* `etwd --probe`: what this machine lets a host of this user record, for `etw doctor`. */
#ifndef ETW_DAEMON_TELL_PROBE_H
#define ETW_DAEMON_TELL_PROBE_H

#include <stdio.h>

/*
 * etwd_tell_probe() - a line each: "ok", "missing", or "less" where a class of events comes with something left out;
 * a name; and what is missing with its remedy; tabs between. Classes are told where nothing is missing that all need.
 *
 * Returns 1 when anything is missing, else 0.
 */
int etwd_tell_probe(FILE *file);

#endif
