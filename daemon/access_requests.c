/* SPDX-License-Identifier: MIT */
/* See access_requests.h. */
#include "daemon/access_requests.h"

#include <errno.h>
#include <string.h>

#include <wmistr.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/access.h"
#include "daemon/log.h"

#define READ_CONTROL 0x00020000 /* winnt.h */
/* Rights that can be meant: of sessions and providers, the standard ones, and all of them by one bit. */
#define RIGHTS_KNOWN (UINT32_C(0x001F1FFF) | WIRE_GENERIC_ALL)

static int read_entry(const struct wire_access *body, struct wire_security_entry *ret)
{
	if (etw_sid_bytes(body->sid) != body->sid.left || !body->sid.left)
		return -EBADMSG;
	if (body->operation > WIRE_SECURITY_ADD_SACL || body->rights & ~RIGHTS_KNOWN)
		return -EINVAL;
	*ret = (struct wire_security_entry){.rights = body->rights,
					    .is_allowed = body->is_allowed,
					    .sid.byte_count = (uint32_t)body->sid.left};
	memcpy(ret->sid.bytes, body->sid.at, body->sid.left);
	return 0;
}

static void tell(const struct etwd_peer *peer, const struct wire_access *body)
{
	char text[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(&body->guid, text);
	etwd_log("process %d of uid %u has %s the descriptor of %s", (int)peer->who.pid,
		 (unsigned)peer->who.uid, body->code == WIRE_ACCESS_REMOVE ? "removed" : "changed",
		 text);
}

static int change(struct etwd_descriptors *security, const struct etwd_peer *peer,
		  const struct wire_access *body)
{
	struct wire_security_entry entry;

	if (!peer->is_trusted)
		return -EACCES;
	if (body->code == WIRE_ACCESS_REMOVE) {
		TRY(etwd_descriptors_remove(security, &body->guid));
	} else {
		TRY(read_entry(body, &entry));
		TRY(etwd_descriptors_change(security, &body->guid,
					    (enum wire_security_operation)body->operation, &entry));
	}
	tell(peer, body);
	return 0;
}

static int check_query(const struct etwd_descriptors *security, const struct etwd_peer *peer,
		       const GUID *guid)
{
	if (peer->is_privileged)
		return 0;
	return etwd_access_rights(security, peer, guid) & (WMIGUID_READ_DESCRIPTION | READ_CONTROL)
		       ? 0
		       : -EACCES;
}

int etwd_access_request_handle(struct etwd_descriptors *security, struct etwd_peer *peer,
			       const struct etw_ipc_message *message)
{
	const struct wire_message head = {.type = WIRE_DESCRIPTOR,
					  .request = message->head.request};
	struct wire_run answer = {0};
	struct wire_access body;
	int r;

	TRY(wire_message_decode_access(message->datagram, &body));
	if (body.code == WIRE_ACCESS_QUERY) {
		r = check_query(security, peer, &body.guid);
		if (r == 0)
			answer.bytes = etwd_descriptors_find(security, &body.guid);
	} else {
		r = change(security, peer, &body);
	}
	if (r < 0)
		etwd_peer_answer(peer, WIRE_DESCRIPTOR, message->head.request, r);
	else
		etwd_peer_send(peer, wire_message_encode_run(&head, &answer, peer->peers->outgoing),
			       -1);
	return 0;
}
