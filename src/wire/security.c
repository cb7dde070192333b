/* SPDX-License-Identifier: MIT */
#include "wire/security.h"

#include <errno.h>
#include <string.h>

#include <wmistr.h>

#include "base/macros.h"

#define SID_REVISION      1
#define SID_HEAD_BYTES    8 /* revision, count, authority */
#define SID_SUBS_MAX      15
#define ACL_REVISION      2
#define ACL_REVISION_MAX  4
#define ACL_ALIGN         4
#define AUTHORITY_WORLD   1
#define AUTHORITY_NT      5
#define AUTHORITY_UNIX    22
#define UNIX_USERS        1
#define UNIX_GROUPS       2
#define BUILTIN           32
#define BUILTIN_ADMINS    544
#define BUILTIN_LOG_USERS 559
#define ALL_RIGHTS        ((uint32_t)WMIGUID_ALL_ACCESS)

/* What Performance Log Users may do by default: everything with sessions and providers, nothing with descriptors. */
#define LOG_USERS_RIGHTS                                                              \
	((uint32_t)(WMIGUID_QUERY | WMIGUID_NOTIFICATION | TRACELOG_CREATE_REALTIME | \
		    TRACELOG_CREATE_ONDISK | TRACELOG_GUID_ENABLE |                   \
		    TRACELOG_ACCESS_KERNEL_LOGGER | TRACELOG_LOG_EVENT |              \
		    TRACELOG_ACCESS_REALTIME | TRACELOG_REGISTER_GUIDS))
#define EVERYONES_RIGHTS ((uint32_t)(TRACELOG_REGISTER_GUIDS | TRACELOG_JOIN_GROUP))

/* A sound descriptor's parts. Lists without their heads. */
struct parts {
	struct etw_bytes owner, group;
	struct etw_bytes sacl, dacl;
	bool has_sacl, has_dacl;
};

static struct wire_sid make_sid(uint8_t authority, uint8_t count, uint32_t first, uint32_t second)
{
	struct wire_sid sid = {.byte_count = SID_HEAD_BYTES + count * 4U};

	sid.bytes[0] = SID_REVISION;
	sid.bytes[1] = count;
	sid.bytes[SID_HEAD_BYTES - 1] = authority; /* big-endian, 6 bytes */
	etw_store32(sid.bytes + SID_HEAD_BYTES, first);
	if (count > 1)
		etw_store32(sid.bytes + SID_HEAD_BYTES + 4, second);
	return sid;
}

struct wire_sid etw_sid_of_kind(enum wire_sid_kind kind)
{
	switch (kind) {
	case WIRE_SID_AUTHENTICATED:
		return make_sid(AUTHORITY_NT, 1, 11, 0);
	case WIRE_SID_SYSTEM:
		return make_sid(AUTHORITY_NT, 1, 18, 0);
	case WIRE_SID_ADMINISTRATORS:
		return make_sid(AUTHORITY_NT, 2, BUILTIN, BUILTIN_ADMINS);
	case WIRE_SID_LOG_USERS:
		return make_sid(AUTHORITY_NT, 2, BUILTIN, BUILTIN_LOG_USERS);
	case WIRE_SID_EVERYONE:
	default:
		return make_sid(AUTHORITY_WORLD, 1, 0, 0);
	}
}

struct wire_sid etw_sid_of_uid(uint32_t uid)
{
	return make_sid(AUTHORITY_UNIX, 2, UNIX_USERS, uid);
}

struct wire_sid etw_sid_of_gid(uint32_t gid)
{
	return make_sid(AUTHORITY_UNIX, 2, UNIX_GROUPS, gid);
}

size_t etw_sid_bytes(struct etw_bytes bytes)
{
	size_t needed;

	if (bytes.left < SID_HEAD_BYTES || bytes.at[0] != SID_REVISION ||
	    bytes.at[1] > SID_SUBS_MAX)
		return 0;
	needed = SID_HEAD_BYTES + bytes.at[1] * 4U;
	return needed <= bytes.left ? needed : 0;
}

/* The next entry of a list, with what follows its head; false when there is none, or none that is sound. */
static bool next_ace(struct etw_bytes *list, struct wire_ace *ret, struct etw_bytes *ret_rest)
{
	struct etw_bytes all = *list;
	size_t bytes;

	if (all.left < sizeof(*ret))
		return false;
	memcpy(ret, all.at, sizeof(*ret));
	bytes = le16_get(ret->bytes);
	if (bytes < sizeof(*ret) || bytes % ACL_ALIGN || !etw_bytes_take(list, bytes))
		return false;
	*ret_rest = (struct etw_bytes){all.at + sizeof(*ret), bytes - sizeof(*ret)};
	return true;
}

/* Entries of other kinds are stepped over, whatever they hold. */
static bool is_plain(const struct wire_ace *ace)
{
	return ace->type <= WIRE_ACE_AUDIT;
}

static bool read_list(struct etw_bytes descriptor, uint32_t offset, struct etw_bytes *ret)
{
	struct etw_bytes rest, list;
	struct wire_acl head;
	struct wire_ace ace;

	if (offset < sizeof(struct wire_security_head) || offset > descriptor.left ||
	    descriptor.left - offset < sizeof(head))
		return false;
	memcpy(&head, descriptor.at + offset, sizeof(head));
	if (head.revision < ACL_REVISION || head.revision > ACL_REVISION_MAX ||
	    le16_get(head.bytes) < sizeof(head) || le16_get(head.bytes) > descriptor.left - offset)
		return false;
	list = (struct etw_bytes){descriptor.at + offset + sizeof(head),
				  le16_get(head.bytes) - sizeof(head)};
	*ret = list;
	for (unsigned i = 0; i < le16_get(head.count); i++) {
		if (!next_ace(&list, &ace, &rest) || (is_plain(&ace) && !etw_sid_bytes(rest)))
			return false;
	}
	ret->left -= list.left; /* what lies behind the entries is room */
	return true;
}

static bool read_sid(struct etw_bytes descriptor, uint32_t offset, struct etw_bytes *ret)
{
	struct etw_bytes rest;

	*ret = (struct etw_bytes){NULL, 0};
	if (offset == 0)
		return true;
	if (offset < sizeof(struct wire_security_head) || offset > descriptor.left)
		return false;
	rest = (struct etw_bytes){descriptor.at + offset, descriptor.left - offset};
	*ret = (struct etw_bytes){rest.at, etw_sid_bytes(rest)};
	return ret->left != 0;
}

static int read_parts(struct etw_bytes descriptor, struct parts *ret)
{
	struct wire_security_head head;
	struct parts parts = {0};
	uint16_t control;

	if (descriptor.left < sizeof(head) || descriptor.left > WIRE_SECURITY_BYTES_MAX)
		return -EBADMSG;
	memcpy(&head, descriptor.at, sizeof(head));
	control = le16_get(head.control);
	if (head.revision != 1 || !(control & WIRE_SECURITY_SELF_RELATIVE) ||
	    !read_sid(descriptor, le32_get(head.owner), &parts.owner) ||
	    !read_sid(descriptor, le32_get(head.group), &parts.group))
		return -EBADMSG;
	parts.has_sacl = control & WIRE_SECURITY_SACL_PRESENT && le32_get(head.sacl);
	parts.has_dacl = control & WIRE_SECURITY_DACL_PRESENT && le32_get(head.dacl);
	if ((parts.has_sacl && !read_list(descriptor, le32_get(head.sacl), &parts.sacl)) ||
	    (parts.has_dacl && !read_list(descriptor, le32_get(head.dacl), &parts.dacl)))
		return -EBADMSG;
	*ret = parts;
	return 0;
}

int etw_security_check(struct etw_bytes descriptor)
{
	struct parts parts;

	return read_parts(descriptor, &parts);
}

static uint32_t rights_of(const struct wire_ace *ace)
{
	uint32_t mask = le32_get(ace->mask);

	return mask & WIRE_GENERIC_ALL ? mask | ALL_RIGHTS : mask;
}

static bool is_among(struct etw_bytes sid, const struct wire_sid *sids, size_t sid_count)
{
	size_t bytes = etw_sid_bytes(sid);

	for (size_t i = 0; i < sid_count; i++) {
		if (sids[i].byte_count == bytes && memcmp(sids[i].bytes, sid.at, bytes) == 0)
			return true;
	}
	return false;
}

uint32_t etw_security_rights(struct etw_bytes descriptor, const struct wire_sid *sids,
			     size_t sid_count)
{
	uint32_t allowed = 0, denied = 0;
	struct etw_bytes sid;
	struct parts parts;
	struct wire_ace ace;

	if (read_parts(descriptor, &parts) < 0)
		return 0;
	if (!parts.has_dacl)
		return ALL_RIGHTS;
	while (next_ace(&parts.dacl, &ace, &sid)) {
		if (ace.type > WIRE_ACE_DENY || ace.flags & WIRE_ACE_INHERIT_ONLY ||
		    !is_among(sid, sids, sid_count))
			continue;
		if (ace.type == WIRE_ACE_ALLOW)
			allowed |= rights_of(&ace) & ~denied;
		else
			denied |= rights_of(&ace) & ~allowed;
	}
	return allowed;
}

bool etw_security_audits(struct etw_bytes descriptor, const struct wire_sid *sids, size_t sid_count,
			 uint32_t rights, bool is_granted)
{
	const uint8_t wanted = is_granted ? WIRE_ACE_AUDIT_SUCCESS : WIRE_ACE_AUDIT_FAILURE;
	struct etw_bytes sid;
	struct parts parts;
	struct wire_ace ace;

	if (read_parts(descriptor, &parts) < 0 || !parts.has_sacl)
		return false;
	while (next_ace(&parts.sacl, &ace, &sid)) {
		if (ace.type == WIRE_ACE_AUDIT && ace.flags & wanted && rights_of(&ace) & rights &&
		    is_among(sid, sids, sid_count))
			return true;
	}
	return false;
}

/* A descriptor that is being made, in WIRE_SECURITY_BYTES_MAX. */
struct output {
	uint8_t *room;
	size_t bytes;
	bool is_full;
};

static void put(struct output *output, const void *at, size_t bytes)
{
	if (output->is_full || bytes > WIRE_SECURITY_BYTES_MAX - output->bytes) {
		output->is_full = true;
		return;
	}
	if (bytes)
		memcpy(output->room + output->bytes, at, bytes);
	output->bytes += bytes;
}

static void put_ace(struct output *output, uint8_t type, uint8_t flags,
		    const struct wire_security_entry *entry)
{
	const struct wire_ace ace = {
		.type = type,
		.flags = flags,
		.bytes = le16_of((uint16_t)(sizeof(ace) + entry->sid.byte_count)),
		.mask = le32_of(entry->rights),
	};

	put(output, &ace, sizeof(ace));
	put(output, entry->sid.bytes, entry->sid.byte_count);
}

/* A list of these entries. Returns where it begins. */
static uint32_t put_list(struct output *output, struct etw_bytes entries)
{
	const size_t start = output->bytes;
	struct wire_acl head = {.revision = ACL_REVISION};
	struct etw_bytes left = entries, rest;
	struct wire_ace ace;
	uint16_t count = 0;

	while (next_ace(&left, &ace, &rest)) {
		count++;
		if (!is_plain(&ace))
			head.revision = ACL_REVISION_MAX;
	}
	head.bytes = le16_of((uint16_t)(sizeof(head) + entries.left));
	head.count = le16_of(count);
	put(output, &head, sizeof(head));
	put(output, entries.at, entries.left);
	return (uint32_t)start;
}

static uint32_t put_sid(struct output *output, struct etw_bytes sid)
{
	const size_t start = output->bytes;

	put(output, sid.at, sid.left);
	return sid.left ? (uint32_t)start : 0;
}

static int compose(const struct parts *parts, uint8_t *room, size_t *ret_bytes)
{
	struct output output = {room, 0, false};
	struct wire_security_head head = {.revision = 1};
	uint16_t control = WIRE_SECURITY_SELF_RELATIVE;

	put(&output, &head, sizeof(head));
	if (parts->has_sacl) {
		control |= WIRE_SECURITY_SACL_PRESENT;
		head.sacl = le32_of(put_list(&output, parts->sacl));
	}
	if (parts->has_dacl) {
		control |= WIRE_SECURITY_DACL_PRESENT;
		head.dacl = le32_of(put_list(&output, parts->dacl));
	}
	head.owner = le32_of(put_sid(&output, parts->owner));
	head.group = le32_of(put_sid(&output, parts->group));
	head.control = le16_of(control);
	if (output.is_full)
		return -ENOSPC;
	memcpy(room, &head, sizeof(head));
	*ret_bytes = output.bytes;
	return 0;
}

size_t etw_security_default(uint8_t *room)
{
	const struct wire_sid owner = etw_sid_of_kind(WIRE_SID_ADMINISTRATORS);
	const struct wire_security_entry entries[] = {
		{etw_sid_of_kind(WIRE_SID_EVERYONE), EVERYONES_RIGHTS, true},
		{etw_sid_of_kind(WIRE_SID_SYSTEM), ALL_RIGHTS, true},
		{owner, ALL_RIGHTS, true},
		{etw_sid_of_kind(WIRE_SID_LOG_USERS), LOG_USERS_RIGHTS, true},
	};
	uint8_t list[ARRAY_SIZE(entries) * (sizeof(struct wire_ace) + WIRE_SID_BYTES_MAX)];
	struct output output = {list, 0, false};
	struct parts parts = {
		.owner = {owner.bytes, owner.byte_count},
		.group = {owner.bytes, owner.byte_count},
		.has_dacl = true,
	};
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		put_ace(&output, WIRE_ACE_ALLOW, 0, &entries[i]);
	parts.dacl = (struct etw_bytes){list, output.bytes};
	(void)compose(&parts, room, &bytes);
	return bytes;
}

/* Whether a list has exactly these bytes as one of its entries. */
static bool has_entry(struct etw_bytes list, struct etw_bytes entry)
{
	struct etw_bytes rest;
	struct wire_ace ace;
	const uint8_t *at = list.at;

	while (next_ace(&list, &ace, &rest)) {
		if (le16_get(ace.bytes) == entry.left && memcmp(at, entry.at, entry.left) == 0)
			return true;
		at = list.at;
	}
	return false;
}

/* The list with the entry in front or behind, into @room. */
static int extend(struct etw_bytes list, struct etw_bytes entry, bool is_in_front, uint8_t *room,
		  struct etw_bytes *ret)
{
	struct output output = {room, 0, false};

	if (has_entry(list, entry)) {
		*ret = list;
		return 0;
	}
	if (is_in_front)
		put(&output, entry.at, entry.left);
	put(&output, list.at, list.left);
	if (!is_in_front)
		put(&output, entry.at, entry.left);
	*ret = (struct etw_bytes){room, output.bytes};
	return output.is_full ? -ENOSPC : 0;
}

int etw_security_change(struct etw_bytes descriptor, enum wire_security_operation operation,
			const struct wire_security_entry *entry, uint8_t *room, size_t *ret_bytes)
{
	static const struct etw_bytes nothing;
	const struct wire_security_entry all = {etw_sid_of_kind(WIRE_SID_EVERYONE), ALL_RIGHTS,
						true};
	const bool is_sacl = operation == WIRE_SECURITY_SET_SACL ||
			     operation == WIRE_SECURITY_ADD_SACL;
	const bool is_set = operation == WIRE_SECURITY_SET_DACL ||
			    operation == WIRE_SECURITY_SET_SACL;
	uint8_t made[2 * (sizeof(struct wire_ace) + WIRE_SID_BYTES_MAX)];
	uint8_t list[WIRE_SECURITY_BYTES_MAX];
	struct output output = {made, 0, false};
	struct etw_bytes ace, before;
	struct parts parts;

	if (operation > WIRE_SECURITY_ADD_SACL)
		return -EINVAL;
	TRY(read_parts(descriptor, &parts));
	if (is_sacl)
		put_ace(&output, WIRE_ACE_AUDIT, WIRE_ACE_AUDIT_SUCCESS | WIRE_ACE_AUDIT_FAILURE,
			entry);
	else
		put_ace(&output, entry->is_allowed ? WIRE_ACE_ALLOW : WIRE_ACE_DENY, 0, entry);
	ace = (struct etw_bytes){made, output.bytes};
	before = is_sacl ? parts.sacl : parts.dacl;
	if (is_set) {
		before = nothing;
	} else if (!is_sacl && !parts.has_dacl) { /* everybody might do everything, and still may */
		put_ace(&output, WIRE_ACE_ALLOW, 0, &all);
		before = (struct etw_bytes){made + ace.left, output.bytes - ace.left};
	}
	TRY(extend(before, ace, !is_sacl && !entry->is_allowed, list,
		   is_sacl ? &parts.sacl : &parts.dacl));
	parts.has_sacl |= is_sacl;
	parts.has_dacl |= !is_sacl;
	return compose(&parts, room, ret_bytes);
}
