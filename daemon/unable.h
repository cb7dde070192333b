/* SPDX-License-Identifier: MIT */
/*
 * Processes that cannot write to a session, as they say: they got no memory or no descriptor for its rings, or could
 * not connect for a while. It is told in the session's complaint, and by notes in the trace: one at a user's first
 * word, one at the session's end if there is more to tell. What a user's processes say is bounded, told as
 * that user's word, and never added to what the host knows.
 */
#ifndef ETW_DAEMON_UNABLE_H
#define ETW_DAEMON_UNABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

#define ETWD_UNABLE_UIDS 4

/* Of one user. */
struct etwd_unable_uid {
	uid_t uid;
	uint32_t pid; /* of the first process */
	int status;   /* why */
	bool is_several;
	bool is_told;     /* a note in the trace says all of this */
	uint64_t events;  /* that they say were refused */
	uint64_t late_ms; /* the longest time for which one could not connect; 0: none said so */
};

struct etwd_unable {
	struct etwd_unable_uid uids[ETWD_UNABLE_UIDS];
	unsigned count;
	bool has_others; /* users that found no place */
	bool has_told_others;
};

/* What a process says. */
struct etwd_unable_word {
	uid_t uid;
	uint32_t pid;
	int status;
	uint64_t events, late_ms;
	bool is_trusted; /* root or the session's owner: has a place before others */
};

/* etwd_unable_note() - returns whether the user had said nothing before. */
bool etwd_unable_note(struct etwd_unable *unable, const struct etwd_unable_word *word);

/* etwd_unable_describe() - puts a sentence for each user behind what is in @text, as far as it has room. */
void etwd_unable_describe(const struct etwd_unable *unable, char *text, size_t room);

/* etwd_unable_take_note() - the next note that the trace lacks, which it then has. Returns false: there is none. */
bool etwd_unable_take_note(struct etwd_unable *unable, struct wire_session_note *ret);

/* etwd_unable_tell() - puts them into the trace. */
void etwd_unable_tell(struct etwd_unable *unable, struct etw_session *engine);

#endif
