/* SPDX-License-Identifier: MIT */
/*
 * Which processes an enable is for: those that its filters of PID, EXECUTABLE_NAME, PACKAGE_ID and PACKAGE_APP_ID
 * name, all of them together. Others are not told of it. No process here belongs to a package, so one that asks for
 * packages is for none.
 *
 * Context: owner thread (the host's loop); procfs is read.
 */
#ifndef ETW_DAEMON_SCOPE_H
#define ETW_DAEMON_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/filter_list.h"

#define ETWD_SCOPE_PATH_MAX 4096

/*
 * When the processes of a PID filter began, in the order of the filter: who gets the number later is not meant.
 * Source: Microsoft, "EVENT_FILTER_DESCRIPTOR structure".
 */
struct etwd_scope {
	uint64_t started
		[WIRE_FILTER_PIDS_MAX]; /* etw_process_start_boot_ns(); 0: it could not be seen */
	uint32_t gone;                  /* bit i: there was no such process */
};

/* What is known of a process that registers providers; zero: nothing yet. */
struct etwd_scope_process {
	pid_t pid;
	bool is_read;
	uint64_t started; /* 0: it could not be seen */
	char *executable; /* owned; the path, or the short name where the path cannot be seen; NULL: neither */
	bool is_short; /* it is the short name, cut off behind 15 bytes */
};

/* etwd_scope_begin() - looks at the processes that @filters name now. @filters: checked */
void etwd_scope_begin(struct etw_bytes filters, struct etwd_scope *ret);

/* etwd_scope_has() - whether an enable with these filters is for a process, which is read when it must be. */
bool etwd_scope_has(struct etw_bytes filters, const struct etwd_scope *scope,
		    struct etwd_scope_process *process);

/* etwd_scope_process_done() - frees what it owns. */
void etwd_scope_process_done(struct etwd_scope_process *process);

/*
 * etwd_scope_names() - whether a list of names, UTF-16 with ';' between them, names an executable.
 *
 * Letters compare without case, as on Windows. A name with a '/' is the whole path, another one the file's; ".exe" at its
 * end may be missing in the file's. @is_short: only the first 15 bytes of the file's name are known
 */
bool etwd_scope_names(struct etw_bytes list, const char *executable, bool is_short);

#endif
