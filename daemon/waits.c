/* SPDX-License-Identifier: MIT */
/* See waits.h. */
#include "daemon/waits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/param.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "daemon/patient_clock.h"

/* A process that never answers is remembered for so many ENABLEs. */
#define ANSWERS_MAX 65536

void etwd_waits_add(struct etwd_waits *waits, struct etwd_wait *wait, uint64_t deadline_ms,
		    void (*end)(struct etwd_wait *wait, int status))
{
	wait->deadline_ms = deadline_ms;
	wait->end = end;
	wait->outstanding = 1; /* held until etwd_waits_begin() */
	wait->next = waits->first;
	waits->first = wait;
}

static void free_answer(struct etwd_answers *answers, size_t at)
{
	answers->list[at].wait = NULL;
	if (at < answers->free)
		answers->free = at;
}

static int make_room(struct etwd_answers *answers)
{
	size_t room = answers->room ? answers->room * 2 : 16;
	struct etwd_answer *list;

	if (answers->count < answers->room)
		return 0;
	if (answers->count >= ANSWERS_MAX)
		return -ENOSPC;
	list = reallocarray(answers->list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	answers->list = list;
	answers->room = room;
	return 0;
}

static struct etwd_answer *find_free_answer(struct etwd_answers *answers)
{
	while (answers->free < answers->count && answers->list[answers->free].wait)
		answers->free++;
	if (answers->free == answers->count) {
		if (make_room(answers) < 0)
			return NULL;
		answers->count++;
	}
	return &answers->list[answers->free++];
}

static void link_answers(struct etwd_waits *waits, struct etwd_answers *answers)
{
	if (answers->at)
		return;
	answers->next = waits->answers;
	answers->at = &waits->answers;
	if (answers->next)
		answers->next->at = &answers->next;
	waits->answers = answers;
}

uint32_t etwd_waits_expect(struct etwd_waits *waits, struct etwd_wait *wait,
			   struct etwd_answers *answers)
{
	struct etwd_answer *answer;

	if (!wait)
		return 0;
	answer = find_free_answer(answers);
	if (!answer)
		return 0;
	link_answers(waits, answers);
	if (++waits->last_request == 0)
		waits->last_request = 1;
	*answer = (struct etwd_answer){waits->last_request, wait};
	wait->outstanding++;
	return answer->request;
}

/* Takes the wait out of everything before its end is called, which may start another one. */
static void end_wait(struct etwd_waits *waits, struct etwd_wait *wait, int status)
{
	struct etwd_wait **at = &waits->first;
	struct etwd_answers *answers = waits->answers;

	while (*at != wait)
		at = &(*at)->next;
	*at = wait->next;
	for (; wait->outstanding && answers; answers = answers->next) {
		for (size_t i = 0; i < answers->count; i++) {
			if (answers->list[i].wait == wait)
				free_answer(answers, i);
		}
	}
	wait->end(wait, status);
}

static void count_down(struct etwd_waits *waits, struct etwd_wait *wait)
{
	if (--wait->outstanding == 0)
		end_wait(waits, wait, 0);
}

void etwd_waits_begin(struct etwd_waits *waits, struct etwd_wait *wait)
{
	if (wait->settle_ms <= etwd_patient_now_ms())
		wait->settle_ms = 0;
	if (!wait->settle_ms)
		count_down(waits, wait);
}

struct etwd_wait *etwd_waits_settling(const struct etwd_waits *waits, const GUID *provider)
{
	struct etwd_wait *wait = waits->first;

	while (wait && !(wait->settle_ms && etw_guid_equal(&wait->provider, provider)))
		wait = wait->next;
	return wait;
}

struct etwd_wait *etwd_waits_of(const struct etwd_answers *answers, uint32_t request)
{
	for (size_t i = 0; i < answers->count; i++) {
		if (answers->list[i].wait && answers->list[i].request == request)
			return answers->list[i].wait;
	}
	return NULL;
}

void etwd_waits_answered(struct etwd_waits *waits, struct etwd_answers *answers, uint32_t request)
{
	for (size_t i = 0; i < answers->count; i++) {
		struct etwd_wait *wait = answers->list[i].wait;

		if (!wait || answers->list[i].request != request)
			continue;
		free_answer(answers, i);
		count_down(waits, wait);
		return;
	}
}

void etwd_waits_gone(struct etwd_waits *waits, struct etwd_answers *answers)
{
	for (size_t i = 0; i < answers->count; i++) {
		struct etwd_wait *wait = answers->list[i].wait;

		free_answer(answers, i);
		if (wait)
			count_down(waits, wait);
	}
	if (answers->at) {
		*answers->at = answers->next;
		if (answers->next)
			answers->next->at = answers->at;
	}
	free(answers->list);
	*answers = (struct etwd_answers){0};
}

uint64_t etwd_waits_check(struct etwd_waits *waits, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;
	struct etwd_wait *wait = waits->first;

	while (wait) {
		bool is_settled = wait->settle_ms && wait->settle_ms <= now_ms;

		if (wait->deadline_ms <= now_ms || is_settled) {
			if (is_settled)
				wait->settle_ms = 0;
			if (wait->deadline_ms <= now_ms)
				end_wait(waits, wait, -ETIMEDOUT);
			else
				count_down(waits, wait);
			wait = waits->first; /* the list may be another one now */
			next = UINT64_MAX;
			continue;
		}
		next = etw_earlier_zero_is_none(next, wait->settle_ms);
		next = MIN(next, wait->deadline_ms);
		wait = wait->next;
	}
	return next;
}
