/* SPDX-License-Identifier: MIT */
/* See unable.h. */
#include "daemon/unable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define EVENTS_MAX  (UINT64_C(1) << 40) /* more than any process refuses in a session's life */
#define OTHERS      "processes of other users cannot write to this session either"
#define LATE_MS_MAX (UINT64_C(1) << 40)

static struct etwd_unable_uid *find(struct etwd_unable *unable, uid_t uid)
{
	for (unsigned i = 0; i < unable->count; i++) {
		if (unable->uids[i].uid == uid)
			return &unable->uids[i];
	}
	return NULL;
}

/* NULL: no place, and that is noted. Places of trusted users are in front. */
static struct etwd_unable_uid *add(struct etwd_unable *unable, const struct etwd_unable_word *word)
{
	struct etwd_unable_uid *uids = unable->uids;

	if (unable->count == ETWD_UNABLE_UIDS) {
		unable->has_others = true;
		if (!word->is_trusted)
			return NULL;
		unable->count--;
	}
	if (word->is_trusted) {
		memmove(&uids[1], &uids[0], unable->count * sizeof(uids[0]));
		unable->count++;
		uids[0] = (struct etwd_unable_uid){.uid = word->uid, .pid = word->pid};
		return &uids[0];
	}
	uids[unable->count] = (struct etwd_unable_uid){.uid = word->uid, .pid = word->pid};
	return &uids[unable->count++];
}

bool etwd_unable_note(struct etwd_unable *unable, const struct etwd_unable_word *word)
{
	struct etwd_unable_uid *uid = find(unable, word->uid);
	bool is_new = !uid;

	if (is_new)
		uid = add(unable, word);
	if (!uid)
		return false;
	if (word->status < 0)
		uid->status = word->status;
	uid->is_told &= word->events == 0 && word->late_ms <= uid->late_ms &&
			(uid->is_several || uid->pid == word->pid);
	uid->is_several |= uid->pid != word->pid;
	uid->events = MIN(uid->events + MIN(word->events, EVENTS_MAX), EVENTS_MAX);
	if (word->late_ms > uid->late_ms)
		uid->late_ms = MIN(word->late_ms, LATE_MS_MAX);
	return is_new;
}

static void describe_uid(const struct etwd_unable_uid *uid, char *text, size_t room)
{
	const char *others = uid->is_several ? " and others" : "";
	int used;

	if (uid->late_ms && !uid->events)
		used = snprintf(text, room,
				"process %u%s of uid %u could not connect for %" PRIu64 ".%" PRIu64
				" s, in which its events are missing",
				(unsigned)uid->pid, others, (unsigned)uid->uid, uid->late_ms / 1000,
				uid->late_ms % 1000 / 100);
	else
		used = snprintf(text, room, "process %u%s of uid %u cannot write to this session",
				(unsigned)uid->pid, others, (unsigned)uid->uid);
	if (used > 0 && (size_t)used < room && uid->status < 0)
		used += snprintf(text + used, room - (size_t)used, ": %s", strerror(-uid->status));
	if (used > 0 && (size_t)used < room && uid->events)
		(void)snprintf(text + used, room - (size_t)used,
			       " (it says that %" PRIu64 " events were refused)", uid->events);
}

bool etwd_unable_take_note(struct etwd_unable *unable, struct wire_session_note *ret)
{
	struct wire_session_note note = {.kind = WIRE_NOTE_CANNOT_WRITE};

	for (unsigned i = 0; i < unable->count; i++) {
		struct etwd_unable_uid *uid = &unable->uids[i];

		if (uid->is_told)
			continue;
		uid->is_told = true;
		note.numbers[0] = uid->uid;
		note.numbers[1] = uid->pid;
		note.numbers[2] = uid->events;
		describe_uid(uid, note.message, sizeof(note.message));
		*ret = note;
		return true;
	}
	if (!unable->has_others || unable->has_told_others)
		return false;
	unable->has_told_others = true;
	note.numbers[0] = UINT32_MAX;
	(void)snprintf(note.message, sizeof(note.message), "%s", OTHERS);
	*ret = note;
	return true;
}

void etwd_unable_tell(struct etwd_unable *unable, struct etw_session *engine)
{
	struct wire_session_note note;

	while (etwd_unable_take_note(unable, &note))
		etw_session_tell(engine, &note);
}

void etwd_unable_describe(const struct etwd_unable *unable, char *text, size_t room)
{
	for (unsigned i = 0; i <= unable->count; i++) {
		char sentence[256] = OTHERS;
		size_t used = strlen(text);

		if (i == unable->count && !unable->has_others)
			return;
		if (i < unable->count)
			describe_uid(&unable->uids[i], sentence, sizeof(sentence));
		if (used + strlen(sentence) + 3 > room)
			return;
		(void)snprintf(text + used, room - used, "%s%s", used ? "; " : "", sentence);
	}
}
