/* SPDX-License-Identifier: MIT */
/* See enumerated.h. */
#include "control/enumerated.h"

#include <errno.h>
#include <string.h>

#include <evntrace.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "wire/message.h"

/* Takes one instance, with the sessions that have enabled it. */
static int take_instance(struct etw_bytes *bytes)
{
	const uint8_t *at = etw_bytes_take(bytes, sizeof(TRACE_PROVIDER_INSTANCE_INFO));
	TRACE_PROVIDER_INSTANCE_INFO info;
	uint64_t enables_bytes;

	if (!at)
		return -EPROTO;
	memcpy(&info, at, sizeof(info));
	enables_bytes = info.EnableCount * (uint64_t)sizeof(TRACE_ENABLE_INFO);
	if (info.NextOffset != sizeof(info) + enables_bytes)
		return -EPROTO;
	return etw_bytes_take(bytes, (size_t)enables_bytes) ? 0 : -EPROTO;
}

static int check_instances(struct etw_bytes bytes, uint32_t count)
{
	for (; bytes.left && count; count--)
		TRY(take_instance(&bytes));
	return bytes.left || count ? -EPROTO : 0;
}

static size_t record_bytes(uint32_t code)
{
	switch (code) {
	case WIRE_ENUMERATE_PROVIDERS:
		return sizeof(struct wire_provider_entry);
	case WIRE_ENUMERATE_GROUP_SESSIONS:
		return sizeof(TRACE_ENABLE_INFO);
	default:
		return sizeof(GUID);
	}
}

int etw_enumerated_check(uint32_t code, const struct etw_control_answer *part)
{
	const struct etw_bytes bytes = {part->bytes, part->byte_count};

	if (code == WIRE_ENUMERATE_INSTANCES)
		return check_instances(bytes, part->count);
	return bytes.left == (uint64_t)part->count * record_bytes(code) ? 0 : -EPROTO;
}
