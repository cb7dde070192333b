/* SPDX-License-Identifier: MIT */
/* The check of events that come from other processes; see session/check.h. */
#include "session/check.h"

#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "base/time.h"
#include "session/session.h"
#include "wire/etl_event.h"

#define TIME_AT     0x10 /* of every header but a message's */
#define PID_AT      0x0C
#define PROVIDER_AT 0x18
#define NO_TIME     UINT32_MAX

/* Where an event has what is checked. */
struct shape {
	uint32_t time_at; /* NO_TIME: nowhere */
	uint32_t pid_at;  /* the same */
	bool has_provider;
};

static bool are_items_sound(const uint8_t *event, uint32_t bytes)
{
	uint32_t at = sizeof(struct wire_event_header);
	struct wire_extended_item item;
	uint32_t item_bytes;

	for (;;) {
		if (bytes - at < sizeof(item))
			return false;
		memcpy(&item, event + at, sizeof(item));
		item_bytes = le16_get(item.bytes);
		if (item_bytes < sizeof(item) || item_bytes % 8 != 0 || item_bytes > bytes - at ||
		    le16_get(item.data_bytes) > item_bytes - sizeof(item))
			return false;
		at += item_bytes;
		if (!(le16_get(item.linkage) & WIRE_EXTENDED_LINKAGE))
			return true;
	}
}

/* A message's parts stand in the order of its options; those in front decide where the others are. */
static bool read_message_shape(const uint8_t *event, uint32_t bytes, struct shape *ret)
{
	uint32_t options = etw_load16(event + 6);
	uint32_t at = sizeof(struct wire_message_header);

	*ret = (struct shape){.time_at = NO_TIME, .pid_at = NO_TIME};
	if (event[2] != 0)
		return false;
	if (options & WIRE_MESSAGE_SEQUENCE)
		at += 4;
	if (options & WIRE_MESSAGE_COMPONENT)
		at += 4;
	else if (options & WIRE_MESSAGE_GUID)
		at += 16;
	if (options & (WIRE_MESSAGE_TIMESTAMP | WIRE_MESSAGE_PERF_TIME)) {
		ret->time_at = at;
		at += 8;
	}
	if (options & WIRE_MESSAGE_SYSTEM_INFO) {
		ret->pid_at = at + 4;
		at += 8;
	}
	return at <= bytes;
}

static bool read_shape(const uint8_t *event, uint32_t bytes, struct shape *ret)
{
	uint32_t least;

	if (bytes < sizeof(struct wire_message_header) || etw_load16(event) != bytes)
		return false;
	if (event[3] == WIRE_EVENT_FLAG_MESSAGE)
		return read_message_shape(event, bytes, ret);
	if (event[3] != WIRE_EVENT_FLAG_TRACE)
		return false;
	switch (event[2]) {
	case WIRE_HEADER_EVENT32:
	case WIRE_HEADER_EVENT64:
		least = sizeof(struct wire_event_header);
		break;
	case WIRE_HEADER_FULL32:
	case WIRE_HEADER_FULL64:
		least = sizeof(struct wire_full_header);
		break;
	case WIRE_HEADER_INSTANCE32:
	case WIRE_HEADER_INSTANCE64:
		least = sizeof(struct wire_instance_header);
		break;
	default:
		return false;
	}
	*ret = (struct shape){.time_at = TIME_AT, .pid_at = PID_AT, .has_provider = true};
	if (bytes < least)
		return false;
	if (least == sizeof(struct wire_event_header) &&
	    etw_load16(event + 4) & WIRE_EVENT_EXTENDED_INFO)
		return are_items_sound(event, bytes);
	return true;
}

/* A refusal is asked for again after a while, because providers come and processes start. */
static bool is_fresh(uint64_t asked_ns, bool is_allowed, uint64_t now_ns)
{
	return asked_ns != 0 && (is_allowed || now_ns - asked_ns < ETW_CHECK_REFUSED_NS);
}

static bool is_provider_allowed(struct etw_check_cache *cache, const uint8_t *provider,
				uint64_t now_ns)
{
	uint64_t hash = etw_hash_mix(etw_hash_mix(0, etw_load64(provider)),
				     etw_load64(provider + 8));
	struct etw_check_provider *entry = &cache->providers[hash % ETW_CHECK_PROVIDERS];
	GUID guid;

	if (memcmp(entry->provider, provider, 16) == 0 &&
	    is_fresh(entry->asked_ns, entry->is_allowed, now_ns))
		return entry->is_allowed;
	guid = etw_guid_read(provider);
	memcpy(entry->provider, provider, 16);
	entry->asked_ns = now_ns;
	entry->is_allowed = cache->host->may_write(cache->host->context, cache->session_id,
						   cache->uid, &guid);
	return entry->is_allowed;
}

/* Whether the host may be asked once more now. */
static bool may_ask(struct etw_check_cache *cache, uint64_t now_ns)
{
	uint64_t gained_ns = now_ns - cache->asks_ns;
	uint64_t gained = gained_ns / (ETW_NS_PER_S / ETW_CHECK_ASKS_PER_S);

	if (cache->asks_ns == 0 || gained >= ETW_CHECK_ASKS_PER_S) {
		cache->asks = ETW_CHECK_ASKS_PER_S;
		cache->asks_ns = now_ns;
	} else if (gained > 0) {
		cache->asks += (uint32_t)gained;
		if (cache->asks > ETW_CHECK_ASKS_PER_S)
			cache->asks = ETW_CHECK_ASKS_PER_S;
		cache->asks_ns = now_ns;
	}
	if (cache->asks == 0)
		return false;
	cache->asks--;
	return true;
}

static bool is_pid_allowed(struct etw_check_cache *cache, uint32_t pid, uint64_t now_ns)
{
	struct etw_check_pid *entry = &cache->pids[etw_hash_mix(0, pid) % ETW_CHECK_PIDS];
	uint64_t age_ns = now_ns - entry->asked_ns;

	if (entry->pid == pid && entry->asked_ns != 0 &&
	    age_ns < (entry->is_allowed ? ETW_CHECK_ALLOWED_NS : ETW_CHECK_REFUSED_NS))
		return entry->is_allowed;
	if (!may_ask(cache, now_ns))
		return false;
	entry->pid = pid;
	entry->asked_ns = now_ns;
	entry->is_allowed = cache->host->may_be_pid(cache->host->context, cache->uid, pid);
	return entry->is_allowed;
}

static bool is_writer_allowed(struct etw_check_cache *cache, struct etw_check_memo *memo,
			      const struct shape *shape, const uint8_t *event, uint64_t now_ns)
{
	const uint8_t *provider = shape->has_provider ? event + PROVIDER_AT : NULL;
	uint32_t pid = shape->pid_at != NO_TIME ? etw_load32(event + shape->pid_at) : 0;

	if (LIKELY(memo->is_valid && provider && pid == memo->pid &&
		   now_ns - memo->asked_ns < ETW_CHECK_ALLOWED_NS &&
		   memcmp(provider, memo->provider, 16) == 0))
		return true;
	if (provider && !is_provider_allowed(cache, provider, now_ns))
		return false;
	if (shape->pid_at != NO_TIME && !is_pid_allowed(cache, pid, now_ns))
		return false;
	if (provider) {
		memcpy(memo->provider, provider, 16);
		memo->pid = pid;
		memo->is_valid = 1;
		memo->asked_ns = now_ns;
	}
	return true;
}

/* Holds a time against the limits, and puts it right where that is allowed. */
static enum etw_check_result check_time(const struct etw_check_limits *limits, uint8_t *at,
					int64_t *ret_raw)
{
	int64_t raw = (int64_t)etw_load64(at);
	int64_t moved = raw;
	int64_t least, most;

	if (LIKELY(raw >= limits->floor_raw && raw <= limits->latest_raw)) {
		*ret_raw = raw;
		return ETW_CHECK_GOOD;
	}
	if (__builtin_sub_overflow(limits->floor_raw, limits->slack_raw, &least) ||
	    __builtin_add_overflow(limits->latest_raw, limits->slack_raw, &most))
		return ETW_CHECK_REFUSED;
	if (!limits->is_steppable && (raw < least || raw > most))
		return ETW_CHECK_REFUSED;
	if (limits->is_steppable && moved > limits->latest_raw)
		moved = limits->latest_raw;
	if (moved < limits->floor_raw)
		moved = limits->floor_raw;
	if (moved != raw)
		etw_store64(at, (uint64_t)moved);
	*ret_raw = moved;
	return moved != raw ? ETW_CHECK_RAISED : ETW_CHECK_GOOD;
}

enum etw_check_result etw_check_event(struct etw_check_cache *cache, struct etw_check_memo *memo,
				      const struct etw_check_limits *limits, uint8_t *event,
				      uint32_t bytes, int64_t *ret_raw)
{
	struct shape shape;

	if (UNLIKELY(!read_shape(event, bytes, &shape)))
		return ETW_CHECK_REFUSED;
	if (UNLIKELY(!is_writer_allowed(cache, memo, &shape, event, limits->now_ns)))
		return ETW_CHECK_REFUSED;
	if (UNLIKELY(shape.time_at == NO_TIME)) {
		*ret_raw = limits->floor_raw;
		return ETW_CHECK_GOOD;
	}
	return check_time(limits, event + shape.time_at, ret_raw);
}
