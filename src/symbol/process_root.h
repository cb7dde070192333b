/* SPDX-License-Identifier: MIT */
/*
 * The root folder of a process that lives, and whose files may tell of a process. Other users arrange what is in their
 * processes' roots, so not every root is looked into, and not every file there is believed.
 */
#ifndef ETW_SYMBOL_PROCESS_ROOT_H
#define ETW_SYMBOL_PROCESS_ROOT_H

#include <stdbool.h>
#include <stdint.h>

/* A process, and a moment at which it had this number. */
struct etw_symbol_process_at {
	uint32_t pid;
	int64_t time_ft; /* INT64_MAX: none is known */
};

/* What /proc says of a process that lives. */
struct etw_symbol_living {
	uint32_t uid; /* its effective user */
	uint32_t
		inner_pid; /* its number in its own namespace, which is in the names of its files */
};

/* etw_symbol_living_read() - returns whether a process with this number lives, and may be asked. */
bool etw_symbol_living_read(uint32_t pid, struct etw_symbol_living *ret);

/* etw_symbol_living_is() - whether the process that has the number now is the one that had it at that moment. */
bool etw_symbol_living_is(const struct etw_symbol_process_at *process);

/*
 * etw_symbol_process_root_open() - its root, as a place (O_PATH), below which paths may be looked up.
 *
 * Whoever has made a user namespace may mount there what never answers, such as an overlay over a FUSE file system. So the
 * process and its mounts have to be in the user namespace of who asks, or, where this is not root, in one of the same user.
 *
 * Returns an owned descriptor; -ESRCH when that process is gone; -EXDEV for a root that is not looked into; what opening
 * fails with.
 */
int etw_symbol_process_root_open(const struct etw_symbol_process_at *process);

/* etw_symbol_is_owner() - whether an open file belongs to this user, to root, or to who asks. */
bool etw_symbol_is_owner(int fd, uint32_t uid);

#endif
