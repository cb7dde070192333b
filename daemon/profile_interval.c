/* SPDX-License-Identifier: MIT */
/* See profile_interval.h. */
#include "daemon/profile_interval.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"
#include "daemon/log.h"
#include "session/common/kernel_request.h"

#define FILE_BYTES_MAX 32
#define FOLDER_MODE    0755
#define FILE_MODE      0644
#define SOURCE_TIMER   0u
#define DEFAULT_FT     10000u /* 1 ms */
#define INTERVAL_BYTES sizeof(TRACE_PROFILE_INTERVAL)

static bool is_possible(uint64_t ft)
{
	return ft >= ETW_KERNEL_INTERVAL_MIN_FT && ft <= ETW_KERNEL_INTERVAL_MAX_FT;
}

void etwd_profile_interval_open(struct etwd_profile_interval *interval, const char *directory)
{
	CLEANUP(freep) char *text = NULL;
	char path[PATH_MAX];
	uint64_t ft = 0;
	size_t bytes;

	*interval = (struct etwd_profile_interval){.directory = directory};
	if (snprintf(path, sizeof(path), "%s/%s", directory, ETWD_PROFILE_INTERVAL_FILE) >=
		    (int)sizeof(path) ||
	    etw_file_read(path, FILE_BYTES_MAX, &text, &bytes))
		return;
	text[strcspn(text, "\n")] = '\0';
	if (etw_number_parse(text, UINT32_MAX, &ft) && is_possible(ft))
		interval->ft = (uint32_t)ft;
}

static int check(const struct etwd_peer *peer, const struct wire_inform *body, uint32_t *ret_ft)
{
	TRACE_PROFILE_INTERVAL wanted;

	if (!peer->is_trusted)
		return -EACCES;
	if (body->bytes.left != INTERVAL_BYTES)
		return -EMSGSIZE;
	memcpy(&wanted, body->bytes.at, sizeof(wanted));
	if (wanted.Source != SOURCE_TIMER)
		return -EOPNOTSUPP;
	*ret_ft = wanted.Interval;
	return is_possible(wanted.Interval) ? 0 : -EINVAL;
}

/* Those that go by it sample anew; one that cannot be told now is told with its next change. */
static void tell_sessions(const struct etwd_session_parts *parts)
{
	const struct etw_session_kernel_change nothing = {.wanted = {0}};

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = parts->sessions->table[i];

		if (session && session->state == ETWD_SESSION_RUNNING && session->is_system_logger)
			(void)etwd_session_ask_kernel(parts, session, NULL, 0, false, &nothing);
	}
}

static int set(struct etwd_profile_interval *interval, const struct etwd_session_parts *parts,
	       const struct etwd_peer *peer, const struct wire_inform *body)
{
	char text[FILE_BYTES_MAX];
	uint32_t ft;

	TRY(check(peer, body, &ft));
	(void)snprintf(text, sizeof(text), "%u\n", (unsigned)ft);
	TRY(etw_file_replace(interval->directory, FOLDER_MODE, ETWD_PROFILE_INTERVAL_FILE,
			     FILE_MODE, text, strlen(text)));
	store_relaxed(&interval->ft, ft);
	etwd_log("samples are %u.%04u ms apart where no session says otherwise",
		 (unsigned)(ft / 10000), (unsigned)(ft % 10000));
	tell_sessions(parts);
	return 0;
}

void etwd_profile_interval_handle(struct etwd_profile_interval *interval,
				  const struct etwd_session_parts *parts, struct etwd_peer *peer,
				  const struct wire_inform *body, uint32_t request)
{
	const struct wire_message head = {.type = WIRE_INFORMATION, .request = request};
	TRACE_PROFILE_INTERVAL now = {.Source = SOURCE_TIMER};
	struct wire_run run = {{(const uint8_t *)&now, 0}};
	int r = body->is_set ? set(interval, parts, peer, body) : 0;

	if (r < 0) {
		etwd_peer_answer(peer, WIRE_INFORMATION, request, r);
		return;
	}
	now.Interval = interval->ft ? interval->ft : DEFAULT_FT;
	run.bytes.left = body->is_set ? 0 : sizeof(now);
	etwd_peer_send(peer, wire_message_encode_run(&head, &run, peer->peers->outgoing), -1);
}
