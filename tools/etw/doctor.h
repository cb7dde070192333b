/* SPDX-License-Identifier: MIT */
/*
 * What `etw doctor` looks at, and what it found: a row for each thing that recording needs, with what to do about it.
 * Looking changes nothing, and starts no host.
 */
#ifndef ETW_TOOLS_ETW_DOCTOR_H
#define ETW_TOOLS_ETW_DOCTOR_H

#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,    /* works, but not everything, or not as well as it could */
	DOCTOR_MISSING, /* recording does not work */
};

struct doctor_row {
	const char *what; /* static */
	enum doctor_state state;
	char *text; /* owned: what was found, without a full stop */
	char *fix;  /* owned: what to do; NULL: nothing */
};

struct doctor {
	struct doctor_row *rows; /* owned */
	size_t count;
	int error; /* 0 or -ENOMEM: a row is missing */
};

/* doctor_row_add() - @text is a format; @fix is copied and may be NULL. */
void doctor_row_add(struct doctor *doctor, const char *what, enum doctor_state state,
		    const char *fix, const char *text, ...) __attribute__((format(printf, 5, 6)));
void doctor_done(struct doctor *doctor);

/* doctor_look_at_hosts() - the program, the hosts that run, and whether this user may control the system's. */
void doctor_look_at_hosts(struct doctor *doctor);

/*
 * doctor_ask_program() - runs etwd with an option that has it print something and end.
 *
 * Returns the bytes that it printed, @bytes at most; -EAGAIN: no process could be made; errno of pipe.
 */
ssize_t doctor_ask_program(const char *program, const char *option, char *room, size_t bytes);

/* doctor_look_at_kernel() - what the host's program says that it may record, started by this user. */
void doctor_look_at_kernel(struct doctor *doctor);

/* doctor_look_at_machine() - clock, system calls and limits that decide how well recording works. */
void doctor_look_at_machine(struct doctor *doctor);

/*
 * doctor_look_at_settings() - what the machine's administrator lets be seen of the kernel: kptr_restrict and
 * perf_event_paranoid, and what follows from them.
 *
 * @folder: where Linux has both, /proc/sys/kernel
 */
void doctor_look_at_settings(struct doctor *doctor, const char *folder);

/* doctor_look_at_autologgers() - each file of configuration of this user's instance. */
void doctor_look_at_autologgers(struct doctor *doctor);

#endif
