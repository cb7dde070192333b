/* SPDX-License-Identifier: MIT */
/*
 * Self-relative security descriptors, as EventAccessControl makes them and EventAccessQuery hands them out: read,
 * made, changed by one entry, and asked what somebody may do. Who somebody is on Linux, and which descriptor holds for
 * what, is daemon/access.h's.
 * Source: docs/format/security.md.
 */
#ifndef ETW_WIRE_SECURITY_H
#define ETW_WIRE_SECURITY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define WIRE_SID_BYTES_MAX      68          /* SECURITY_MAX_SID_SIZE: 15 sub-authorities */
#define WIRE_SECURITY_BYTES_MAX (16 * 1024) /* of a descriptor here */

struct wire_security_head {
	uint8_t revision;      /* 0x00 1 [SDK] */
	uint8_t reserved_sbz1; /* 0x01 0 [SDK] */
	le16 control;          /* 0x02 WIRE_SECURITY_* [SDK] */
	le32 owner, group;     /* 0x04 offsets of SIDs; 0: none [SDK] */
	le32 sacl, dacl;       /* 0x0C offsets of lists; 0: none [SDK] */
};

#define WIRE_SECURITY_DACL_PRESENT  0x0004
#define WIRE_SECURITY_SACL_PRESENT  0x0010
#define WIRE_SECURITY_SELF_RELATIVE 0x8000

struct wire_acl {
	uint8_t revision;      /* 0x00 2, or 4 with object entries [SDK] */
	uint8_t reserved_sbz1; /* 0x01 0 [SDK] */
	le16 bytes;            /* 0x02 of the list, this head included [SDK] */
	le16 count;            /* 0x04 entries [SDK] */
	le16 reserved_sbz2;    /* 0x06 0 [SDK] */
};

/* The SID follows. */
struct wire_ace {
	uint8_t type;  /* 0x00 WIRE_ACE_* [SDK] */
	uint8_t flags; /* 0x01 [SDK] */
	le16 bytes;    /* 0x02 of the entry, this head included [SDK] */
	le32 mask;     /* 0x04 rights [SDK] */
};

enum {
	WIRE_ACE_ALLOW = 0,
	WIRE_ACE_DENY = 1,
	WIRE_ACE_AUDIT = 2,
};

#define WIRE_ACE_INHERIT_ONLY  0x08 /* says nothing about the object itself */
#define WIRE_ACE_AUDIT_SUCCESS 0x40
#define WIRE_ACE_AUDIT_FAILURE 0x80

static_assert(sizeof(struct wire_security_head) == 20, "layout");
static_assert(sizeof(struct wire_acl) == 8, "layout");
static_assert(sizeof(struct wire_ace) == 8, "layout");

#define WIRE_GENERIC_ALL 0x10000000 /* stands for WMIGUID_ALL_ACCESS */

/* A SID's bytes. */
struct wire_sid {
	uint8_t bytes[WIRE_SID_BYTES_MAX];
	uint32_t byte_count;
};

/* Those that Linux has somebody for. */
enum wire_sid_kind {
	WIRE_SID_EVERYONE,       /* S-1-1-0 */
	WIRE_SID_AUTHENTICATED,  /* S-1-5-11 */
	WIRE_SID_SYSTEM,         /* S-1-5-18 */
	WIRE_SID_ADMINISTRATORS, /* S-1-5-32-544 */
	WIRE_SID_LOG_USERS,      /* S-1-5-32-559, Performance Log Users */
};

/* etw_sid_of_kind() - a well-known one. */
struct wire_sid etw_sid_of_kind(enum wire_sid_kind kind);

/* etw_sid_of_uid(), etw_sid_of_gid() - S-1-22-1-<uid> and S-1-22-2-<gid>, as Samba names them. */
struct wire_sid etw_sid_of_uid(uint32_t uid);
struct wire_sid etw_sid_of_gid(uint32_t gid);

/* etw_sid_bytes() - how long the SID at the beginning of a run is. 0: there is none. */
size_t etw_sid_bytes(struct etw_bytes bytes);

/*
 * etw_security_check() - whether a run is one sound self-relative descriptor, of WIRE_SECURITY_BYTES_MAX at most.
 *
 * Returns 0 or -EBADMSG.
 */
int etw_security_check(struct etw_bytes descriptor);

/*
 * etw_security_default() - what holds where nobody has said anything: docs/format/security.md "Defaults".
 *
 * @room: WIRE_SECURITY_BYTES_MAX
 *
 * Returns its size.
 */
size_t etw_security_default(uint8_t *room);

/* What EventAccessControl does; numbers of EVENTSECURITYOPERATION. */
enum wire_security_operation {
	WIRE_SECURITY_SET_DACL = 0,
	WIRE_SECURITY_SET_SACL = 1,
	WIRE_SECURITY_ADD_DACL = 2,
	WIRE_SECURITY_ADD_SACL = 3,
};

/* One entry, for a list. */
struct wire_security_entry {
	struct wire_sid sid;
	uint32_t rights;
	bool is_allowed; /* else it denies; of a SACL: without meaning */
};

/*
 * etw_security_change() - a descriptor with one entry more, or with this one alone in its list.
 *
 * An entry that denies goes in front of all, so that it holds; one that is there already is not put there again.
 *
 * @descriptor: sound
 * @room: WIRE_SECURITY_BYTES_MAX, not of @descriptor
 *
 * Returns 0; -EINVAL: no such operation; -ENOSPC: it would be too large.
 */
int etw_security_change(struct etw_bytes descriptor, enum wire_security_operation operation,
			const struct wire_security_entry *entry, uint8_t *room, size_t *ret_bytes);

/*
 * etw_security_rights() - all that somebody with these SIDs may do, as AccessCheck finds it: the first entry that
 * speaks of a right and of somebody decides. Without a DACL everything.
 *
 * @descriptor: sound
 */
uint32_t etw_security_rights(struct etw_bytes descriptor, const struct wire_sid *sids,
			     size_t sid_count);

/* etw_security_audits() - whether the SACL asks for a record of such an attempt. @descriptor: sound */
bool etw_security_audits(struct etw_bytes descriptor, const struct wire_sid *sids, size_t sid_count,
			 uint32_t rights, bool is_granted);

#endif
