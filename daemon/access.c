/* SPDX-License-Identifier: MIT */
/* See access.h. */
#include "daemon/access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <evntrace.h>
#include <wmistr.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"
#include "wire/system_logger.h"
#include "wire/well_known.h"

#define FIXED_SIDS 7 /* at most, beside the supplementary groups */
#define ALL_RIGHTS UINT32_MAX

static const GUID kernel_guid = WIRE_KERNEL_LOGGER_GUID;
static const GUID default_guid = WIRE_DEFAULT_SECURITY_GUID;

void etwd_token_done(struct etwd_token *token)
{
	free(token->sids);
}

static void add(struct etwd_token *token, struct wire_sid sid)
{
	token->sids[token->count++] = sid;
}

/*
 * The groups that the process had when it connected, which never change: one call says how many bytes they have, the
 * second gets them. Without them an entry that denies one of them would not count, so that is an error.
 */
static int read_groups(const struct etwd_peer *peer, gid_t **ret, size_t *ret_count)
{
	CLEANUP(freep) gid_t *groups = NULL;
	socklen_t bytes = 0;

	if (getsockopt(peer->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) < 0 && errno != ERANGE)
		return -EACCES;
	groups = malloc(bytes ? bytes : 1);
	if (!groups)
		return -ENOMEM;
	if (bytes && getsockopt(peer->fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
		return -EACCES;
	*ret_count = bytes / sizeof(*groups);
	*ret = TAKE(groups);
	return 0;
}

int etwd_token_init(struct etwd_token *ret, const struct etwd_peer *peer)
{
	CLEANUP(freep) gid_t *groups = NULL;
	size_t group_count;

	*ret = (struct etwd_token){.is_trusted = peer->is_trusted};
	TRY(read_groups(peer, &groups, &group_count));
	ret->sids = calloc(FIXED_SIDS + group_count, sizeof(*ret->sids));
	if (!ret->sids)
		return -ENOMEM;
	add(ret, etw_sid_of_kind(WIRE_SID_EVERYONE));
	add(ret, etw_sid_of_kind(WIRE_SID_AUTHENTICATED));
	add(ret, etw_sid_of_uid(peer->who.uid));
	if (peer->is_privileged)
		add(ret, etw_sid_of_kind(WIRE_SID_LOG_USERS));
	if (peer->is_trusted) {
		add(ret, etw_sid_of_kind(WIRE_SID_SYSTEM));
		add(ret, etw_sid_of_kind(WIRE_SID_ADMINISTRATORS));
	}
	add(ret, etw_sid_of_gid(peer->who.gid));
	for (size_t i = 0; i < group_count; i++)
		add(ret, etw_sid_of_gid(groups[i]));
	return 0;
}

uint32_t etwd_token_rights(const struct etwd_token *token, const struct etwd_descriptors *security,
			   const GUID *guid)
{
	if (token->is_trusted)
		return ALL_RIGHTS;
	return etw_security_rights(etwd_descriptors_find(security, guid), token->sids,
				   token->count);
}

uint32_t etwd_access_rights(const struct etwd_descriptors *security, const struct etwd_peer *peer,
			    const GUID *guid)
{
	CLEANUP(etwd_token_done) struct etwd_token token = {0};

	if (peer->is_trusted)
		return ALL_RIGHTS;
	if (etwd_token_init(&token, peer) < 0)
		return 0;
	return etwd_token_rights(&token, security, guid);
}

/*
 * Where there is no descriptor at all, root and the host's own uid may do everything, and everybody may register. These
 * two need no token.
 */
static bool is_default_right(const struct etwd_descriptors *security, const struct etwd_peer *peer,
			     uint32_t rights)
{
	return security->count == 0 && (peer->is_trusted || rights == TRACELOG_REGISTER_GUIDS);
}

static void audit(const struct etwd_peer *peer, const GUID *guid, const char *what, bool is_granted)
{
	char text[ETW_GUID_BRACED_BYTES];

	if (!etwd_budget_may_tell(peer->peers->budget, peer->who.uid, etw_monotonic_ms()))
		return;
	etw_guid_format_braced(guid, text);
	etwd_log("audit: process %d of uid %u %s to %s %s", (int)peer->who.pid,
		 (unsigned)peer->who.uid, is_granted ? "was allowed" : "was not allowed", what,
		 text);
}

int etwd_token_check(const struct etwd_token *token, const struct etwd_descriptors *security,
		     const struct etwd_peer *peer, const GUID *guid, uint32_t rights,
		     const char *what)
{
	const struct etw_bytes descriptor = etwd_descriptors_find(security, guid);
	const bool is_granted = (etwd_token_rights(token, security, guid) & rights) == rights;

	if (etw_security_audits(descriptor, token->sids, token->count, rights, is_granted))
		audit(peer, guid, what, is_granted);
	return is_granted ? 0 : -EACCES;
}

int etwd_access_check(const struct etwd_descriptors *security, const struct etwd_peer *peer,
		      const GUID *guid, uint32_t rights, const char *what)
{
	CLEANUP(etwd_token_done) struct etwd_token token = {0};

	if (is_default_right(security, peer, rights))
		return 0;
	TRY(etwd_token_init(&token, peer));
	return etwd_token_check(&token, security, peer, guid, rights, what);
}

uint32_t etwd_access_mode_rights(const struct wire_session_config *config)
{
	uint32_t rights = 0;

	if (config->log_file_mode & EVENT_TRACE_REAL_TIME_MODE)
		rights |= TRACELOG_CREATE_REALTIME;
	if (*config->log_file || config->log_file_mode & EVENT_TRACE_BUFFERING_MODE || !rights)
		rights |= TRACELOG_CREATE_ONDISK;
	return rights;
}

int etwd_access_may_start(const struct etwd_descriptors *security, const struct etwd_peer *peer,
			  const struct wire_session_config *config)
{
	GUID guid = config->guid;

	(void)etw_fixed_session_bind(config->name, &guid);
	/* The host makes one, of which nobody can have said anything. */
	if (etw_guid_is_null(&guid))
		guid = default_guid;
	if (etw_system_logger_is(config))
		TRY(etwd_access_check(security, peer, &kernel_guid, TRACELOG_ACCESS_KERNEL_LOGGER,
				      "record the kernel by"));
	return etwd_access_check(security, peer, &guid, etwd_access_mode_rights(config), "start");
}
