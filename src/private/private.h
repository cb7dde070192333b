/* SPDX-License-Identifier: MIT */
/*
 * Private sessions: the engine of src/session in the process of the providers, without any host. Its file is written by
 * this process and with this process's rights; its events never leave the process.
 * Source: docs/design/recording.md "Private sessions".
 */
#ifndef ETW_PRIVATE_PRIVATE_H
#define ETW_PRIVATE_PRIVATE_H

#include "base/fault.h"
#include "wire/message.h"

/* Sessions of a process with EVENT_TRACE_PRIVATE_IN_PROC, as Windows has it. */
#define ETW_PRIVATE_IN_PROC_MAX 3
/* Sessions of a process without it, which hosts start: as Windows has it since version 1703 of 10. */
#define ETW_PRIVATE_OTHERS_MAX 8

/*
 * etw_private_start() - StartTrace with EVENT_TRACE_PRIVATE_IN_PROC, in this process.
 *
 * Returns 0; -EEXIST: a private session of this process has the name; -EUSERS: there are as many as there may be;
 * -EAGAIN: no thread; those of etw_session_start(). Any thread.
 */
int etw_private_start(const struct wire_session_config *config, struct wire_session_info *ret);

/*
 * etw_private_control() - ControlTrace, of a session of this process.
 *
 * @control: by handle, else by name
 *
 * Of UPDATE the flush timer and the file's name alone count, as Windows has it. Returns 0; -ENOENT: there is no such
 * session here; -EAGAIN: no thread; those of etw_session_update() and its like. Any thread; a stop runs callbacks on it.
 */
int etw_private_control(const struct wire_control *control, struct wire_session_info *ret);

/*
 * etw_private_find() - the GUID that the private session of this name was started with, with PRIVATE_IN_PROC.
 *
 * Returns 0; -ENOENT: there is none; -EAGAIN: no thread; -ENOMEM. Any thread.
 */
int etw_private_find(const char *name, GUID *ret);

/*
 * etw_private_serve_hosts() - lets hosts start, control and end sessions in this process, for controllers in other ones.
 * May be called again and again.
 */
void etw_private_serve_hosts(void);

/*
 * etw_private_enable() - EnableTraceEx2, of a session of this process; as etw_own_session_enable().
 *
 * Returns also -ENOENT: this process has started no session; -EOPNOTSUPP: of a provider group. Any thread; runs callbacks
 * on it.
 */
int etw_private_enable(const struct wire_enable_provider *enable);

#endif
