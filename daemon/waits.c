/* SPDX-License-Identifier: MIT */
/* See waits.h. */
#include "daemon/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "daemon/patient_clock.h"

/* A peer that never answers is remembered for so many ENABLEs. */
#define ANSWERS_MAX 65536

struct etwd_wait *etwd_waits_new(struct etwd_host *host, uint64_t deadline_ms,
				 void (*end)(struct etwd_host *host, struct etwd_wait *wait,
					     int status))
{
	struct etwd_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->deadline_ms = deadline_ms;
	wait->end = end;
	wait->outstanding = 1; /* held until etwd_waits_begin() */
	wait->next = host->waits;
	host->waits = wait;
	return wait;
}

static void free_answer(struct etwd_peer *peer, size_t at)
{
	peer->answers[at].wait = NULL;
	if (at < peer->free_answer)
		peer->free_answer = at;
}

static int make_room(struct etwd_peer *peer)
{
	size_t room = peer->answer_room ? peer->answer_room * 2 : 16;
	struct etwd_peer_answer *answers;

	if (peer->answer_count < peer->answer_room)
		return 0;
	if (peer->answer_count >= ANSWERS_MAX)
		return -ENOSPC;
	answers = reallocarray(peer->answers, room, sizeof(*answers));
	if (!answers)
		return -ENOMEM;
	peer->answers = answers;
	peer->answer_room = room;
	return 0;
}

static struct etwd_peer_answer *find_free_answer(struct etwd_peer *peer)
{
	while (peer->free_answer < peer->answer_count && peer->answers[peer->free_answer].wait)
		peer->free_answer++;
	if (peer->free_answer == peer->answer_count) {
		if (make_room(peer) < 0)
			return NULL;
		peer->answer_count++;
	}
	return &peer->answers[peer->free_answer++];
}

uint32_t etwd_waits_expect(struct etwd_wait *wait, struct etwd_peer *peer)
{
	struct etwd_host *host = peer->host;
	struct etwd_peer_answer *answer;

	if (!wait || peer->is_doomed)
		return 0;
	answer = find_free_answer(peer);
	if (!answer)
		return 0;
	if (++host->next_request == 0)
		host->next_request = 1;
	*answer = (struct etwd_peer_answer){host->next_request, wait};
	wait->outstanding++;
	return answer->request;
}

/* Takes the wait out of everything before its end is called, which may start another one. */
static void end_wait(struct etwd_host *host, struct etwd_wait *wait, int status)
{
	struct etwd_wait **at = &host->waits;

	while (*at != wait)
		at = &(*at)->next;
	*at = wait->next;
	for (struct etwd_peer *peer = host->peers; wait->outstanding && peer; peer = peer->next) {
		for (size_t i = 0; i < peer->answer_count; i++) {
			if (peer->answers[i].wait == wait)
				free_answer(peer, i);
		}
	}
	wait->end(host, wait, status);
	free(wait);
}

static void count_down(struct etwd_host *host, struct etwd_wait *wait)
{
	if (--wait->outstanding == 0)
		end_wait(host, wait, 0);
}

void etwd_waits_begin(struct etwd_host *host, struct etwd_wait *wait)
{
	if (wait->settle_ms <= etwd_now_ms())
		wait->settle_ms = 0;
	if (!wait->settle_ms)
		count_down(host, wait);
}

struct etwd_wait *etwd_waits_settling(const struct etwd_host *host, const GUID *provider)
{
	struct etwd_wait *wait = host->waits;

	while (wait && !(wait->settle_ms && etw_guid_equal(&wait->provider, provider)))
		wait = wait->next;
	return wait;
}

void etwd_waits_answered(struct etwd_peer *peer, uint32_t request)
{
	for (size_t i = 0; i < peer->answer_count; i++) {
		struct etwd_wait *wait = peer->answers[i].wait;

		if (!wait || peer->answers[i].request != request)
			continue;
		free_answer(peer, i);
		count_down(peer->host, wait);
		return;
	}
}

void etwd_waits_peer_gone(struct etwd_peer *peer)
{
	for (size_t i = 0; i < peer->answer_count; i++) {
		struct etwd_wait *wait = peer->answers[i].wait;

		free_answer(peer, i);
		if (wait)
			count_down(peer->host, wait);
	}
}

uint64_t etwd_waits_check(struct etwd_host *host, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;
	struct etwd_wait *wait = host->waits;

	while (wait) {
		bool is_settled = wait->settle_ms && wait->settle_ms <= now_ms;

		if (wait->deadline_ms <= now_ms || is_settled) {
			if (is_settled)
				wait->settle_ms = 0;
			if (wait->deadline_ms <= now_ms)
				end_wait(host, wait, -ETIMEDOUT);
			else
				count_down(host, wait);
			wait = host->waits; /* the list may be another one now */
			next = UINT64_MAX;
			continue;
		}
		next = etw_earlier_zero_is_none(next, wait->settle_ms);
		next = MIN(next, wait->deadline_ms);
		wait = wait->next;
	}
	return next;
}
