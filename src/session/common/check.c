/* SPDX-License-Identifier: MIT */
/* The check of events that come from other processes; see session/common/check.h. */
#include "session/common/check.h"

#include <string.h>

#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "base/time.h"
#include "session/common/host.h"
#include "session/common/vouch.h"
#include "wire/etl_buffer.h"
#include "wire/event_shape.h"
#include "wire/hook.h"
#include "wire/image_symbols.h"
#include "wire/kernel_account.h"
#include "wire/ring_message.h"
#include "wire/session_note.h"

/* The shape of an event that a ring may hold, and its parts in order; NULL: it is none. *@ret_items: types of its items. */
static const struct wire_event_shape *find_shape(const uint8_t *event, uint32_t bytes,
						 uint32_t *ret_items)
{
	const struct wire_event_shape *shape;
	uint32_t flags;

	if (bytes < sizeof(uint64_t) || etw_load16(event) != bytes)
		return NULL;
	shape = wire_event_ring_shape(event);
	if (!shape || bytes < shape->header_bytes)
		return NULL;
	if (UNLIKELY(shape->provider_at == WIRE_NOWHERE))
		return wire_ring_message_is_sound(event, bytes) ? shape : NULL;
	if (!shape->has_items)
		return shape;
	/* `flags` and `property`: the reader's own bits, and that of an XML that TDH would take it for. */
	flags = etw_load32(event + offsetof(struct wire_event_header, flags));
	if (LIKELY(flags == 0))
		return shape;
	if (flags & ~(uint32_t)WIRE_RING_EVENT_FLAGS)
		return NULL;
	if (flags & WIRE_EVENT_EXTENDED_INFO && !etw_items_are_sound(event, bytes, ret_items))
		return NULL;
	return shape;
}

/* What the host itself tells: whoever may write events of any provider may not write these. */
static bool is_of_host(const GUID *provider)
{
	static const GUID notes = WIRE_SESSION_NOTE_PROVIDER;
	static const GUID symbols = WIRE_IMAGE_SYMBOLS_PROVIDER;
	static const GUID account = WIRE_KERNEL_ACCOUNT_PROVIDER;

	return etw_guid_equal(provider, &notes) || etw_guid_equal(provider, &symbols) ||
	       etw_guid_equal(provider, &account);
}

/* A refusal is asked for again after a while, because providers come and processes start. */
static bool is_fresh(uint64_t asked_ns, bool is_allowed, uint64_t now_ns)
{
	return asked_ns != 0 && (is_allowed || now_ns - asked_ns < ETW_CHECK_REFUSED_NS);
}

/* What an event's header names, as it is remembered; a message names nobody. */
struct writer {
	uint64_t provider[2];
	uint32_t kind; /* enum etw_check_kind */
	uint32_t pid;
};

static bool ask_host(const struct etw_check_cache *cache, const struct writer *writer)
{
	const struct etw_session_host *host = cache->host;
	uint8_t bytes[16];
	GUID guid;

	etw_store64(bytes, writer->provider[0]);
	etw_store64(bytes + 8, writer->provider[1]);
	guid = etw_guid_read(bytes);
	if (writer->kind == ETW_CHECK_MODERN)
		return !is_of_host(&guid) &&
		       host->may_write(host->context, cache->session_id, cache->uid, &guid);
	return !is_of_host(&guid) && !etw_hook_is_kernels(&guid) && host->may_write_classic &&
	       host->may_write_classic(host->context, cache->session_id, cache->uid);
}

static bool is_provider_allowed(struct etw_check_cache *cache, const struct writer *writer,
				uint64_t now_ns)
{
	uint64_t hash = etw_hash_mix(etw_hash_mix(writer->kind, writer->provider[0]),
				     writer->provider[1]);
	struct etw_check_provider *entry = &cache->providers[hash % ETW_CHECK_PROVIDERS];

	if (memcmp(entry->provider, writer->provider, 16) == 0 && entry->kind == writer->kind &&
	    is_fresh(entry->asked_ns, entry->is_allowed, now_ns))
		return entry->is_allowed;
	memcpy(entry->provider, writer->provider, 16);
	entry->kind = (uint8_t)writer->kind;
	entry->asked_ns = now_ns;
	entry->is_allowed = ask_host(cache, writer);
	return entry->is_allowed;
}

/* Whether the host may be asked once more now. */
static bool may_ask(struct etw_check_asks *asks, uint64_t now_ns)
{
	uint64_t gained_ns = now_ns - asks->since_ns;
	uint64_t gained = gained_ns / (ETW_NS_PER_S / ETW_CHECK_ASKS_PER_S);

	if (asks->since_ns == 0 || gained >= ETW_CHECK_ASKS_PER_S) {
		asks->left = ETW_CHECK_ASKS_PER_S;
		asks->since_ns = now_ns;
	} else if (gained > 0) {
		asks->left += (uint32_t)gained;
		if (asks->left > ETW_CHECK_ASKS_PER_S)
			asks->left = ETW_CHECK_ASKS_PER_S;
		asks->since_ns = now_ns;
	}
	if (asks->left == 0)
		return false;
	asks->left--;
	return true;
}

/* When the event was written, as CLOCK_MONOTONIC. */
static uint64_t written_ns(const struct etw_check_cache *cache,
			   const struct etw_check_limits *limits, int64_t raw)
{
	uint64_t age_raw = raw < limits->latest_raw ? (uint64_t)limits->latest_raw - (uint64_t)raw
						    : 0;
	double age_ns = (double)age_raw * (double)ETW_NS_PER_S / cache->raw_per_second;

	return age_ns < (double)limits->now_ns ? limits->now_ns - (uint64_t)age_ns : 0;
}

static bool is_always(const struct etw_check_pid *entry)
{
	return entry->since_ns == 0 && entry->until_ns == UINT64_MAX;
}

/* Whether an event was written while the process was the uid's. What no clock dates has the benefit of the doubt. */
static bool is_in_span(const struct etw_check_cache *cache, const struct etw_check_limits *limits,
		       const struct etw_check_pid *entry, int64_t raw)
{
	uint64_t ns;

	if (LIKELY(is_always(entry)))
		return true;
	if (cache->raw_per_second <= 0)
		return limits->now_ns >= entry->since_ns;
	ns = written_ns(cache, limits, raw);
	return ns >= entry->since_ns && ns <= entry->until_ns;
}

/* Whether the process was this uid's at the time. *@ret_is_always: and at any other. */
static bool is_pid_allowed(struct etw_check_cache *cache, const struct etw_check_limits *limits,
			   uint32_t pid, int64_t raw, bool *ret_is_always)
{
	struct etw_check_pid *entry = &cache->pids[etw_hash_mix(0, pid) % ETW_CHECK_PIDS];
	struct etw_session_pid_span span = {0, UINT64_MAX};
	uint64_t age_ns = limits->now_ns - entry->asked_ns;

	if (pid == 0 || pid > INT32_MAX)
		return false;
	if (entry->pid != pid || entry->asked_ns == 0 ||
	    age_ns >= (entry->is_allowed ? ETW_CHECK_ALLOWED_NS : ETW_CHECK_REFUSED_NS)) {
		if (!may_ask(&cache->whose, limits->now_ns))
			return false;
		entry->pid = pid;
		entry->asked_ns = limits->now_ns;
		entry->is_allowed = cache->host->may_be_pid(cache->host->context, cache->uid, pid,
							    &span);
		entry->since_ns = span.since_ns;
		entry->until_ns = span.until_ns;
	}
	*ret_is_always = is_always(entry);
	return entry->is_allowed && is_in_span(cache, limits, entry, raw);
}

/* Where the decision about a writer is kept. */
static inline uint32_t memo_index(uint64_t first, uint64_t second, uint32_t pid)
{
	uint64_t hash = (first ^ (second << 32 | second >> 32)) + pid;

	return hash * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (ETW_CHECK_MEMOS - 1);
}

/* The decision for the first time, or anew. */
static bool ask_for_writer(struct etw_check_cache *cache, const struct etw_check_limits *limits,
			   const struct writer *writer, int64_t raw)
{
	const uint64_t first = writer->provider[0], second = writer->provider[1];
	bool is_always_its;

	if (!is_provider_allowed(cache, writer, limits->now_ns) ||
	    !is_pid_allowed(cache, limits, writer->pid, raw, &is_always_its))
		return false;
	/* Of a process that came late or is gone each event is held against the time when it was there. */
	if (is_always_its)
		cache->memos[memo_index(first, second, writer->pid)] =
			(struct etw_check_memo){.provider = {first, second},
						.until_ns = limits->now_ns + ETW_CHECK_ALLOWED_NS,
						.pid = writer->pid,
						.kind = writer->kind};
	return true;
}

static inline bool is_remembered(const struct etw_check_cache *cache,
				 const struct etw_check_limits *limits, const struct writer *writer)
{
	const uint64_t first = writer->provider[0], second = writer->provider[1];
	const struct etw_check_memo *memo = &cache->memos[memo_index(first, second, writer->pid)];

	return memo->provider[0] == first && memo->provider[1] == second &&
	       memo->pid == writer->pid && memo->kind == writer->kind &&
	       limits->now_ns < memo->until_ns;
}

/* Whether the writer was allowed lately, whenever it wrote. No thread has the number 0; any other is its claim. */
static inline bool is_writer_known(const struct etw_check_cache *cache,
				   const struct etw_check_limits *limits, const uint8_t *thread,
				   const uint8_t *provider)
{
	const uint64_t ids = etw_load64(thread);
	const struct writer writer = {
		.provider = {etw_load64(provider), etw_load64(provider + 8)},
		.kind = ETW_CHECK_MODERN,
		.pid = (uint32_t)(ids >> 32),
	};

	return is_remembered(cache, limits, &writer) && (uint32_t)ids != 0;
}

static bool is_writer_allowed(struct etw_check_cache *cache, const struct etw_check_limits *limits,
			      const struct wire_event_shape *shape, const uint8_t *event)
{
	const uint64_t ids = etw_load64(event + shape->thread_at);
	struct writer writer = {
		.kind = shape->has_items ? ETW_CHECK_MODERN : ETW_CHECK_CLASSIC,
		.pid = (uint32_t)(ids >> 32),
	};

	if ((uint32_t)ids == 0)
		return false;
	if (shape->provider_at == WIRE_NOWHERE) {
		writer.kind = ETW_CHECK_MESSAGE;
	} else {
		writer.provider[0] = etw_load64(event + shape->provider_at);
		writer.provider[1] = etw_load64(event + shape->provider_at + 8);
	}
	return LIKELY(is_remembered(cache, limits, &writer)) ||
	       ask_for_writer(cache, limits, &writer, (int64_t)etw_load64(event + shape->time_at));
}

/* Holds a time against the limits, and puts it right where that is allowed. */
static enum etw_check_result check_time(const struct etw_check_limits *limits, uint8_t *at,
					int64_t *ret_raw)
{
	int64_t raw = (int64_t)etw_load64(at);
	int64_t moved = raw;
	int64_t least;

	if (LIKELY(raw >= limits->floor_raw && raw <= limits->bound_raw)) {
		*ret_raw = raw;
		return ETW_CHECK_GOOD;
	}
	if (__builtin_sub_overflow(limits->floor_raw, limits->slack_raw, &least))
		return ETW_CHECK_REFUSED;
	if (!limits->is_steppable && (raw < least || raw > limits->bound_raw))
		return ETW_CHECK_REFUSED;
	if (moved > limits->bound_raw)
		moved = limits->bound_raw;
	if (moved < limits->floor_raw)
		moved = limits->floor_raw;
	if (moved != raw)
		etw_store64(at, (uint64_t)moved);
	*ret_raw = moved;
	return moved != raw ? ETW_CHECK_RAISED : ETW_CHECK_GOOD;
}

/* The number that a message gets; 0 in a session that counts none. */
static uint32_t next_sequence(const struct etw_check_cache *cache, const uint8_t *event)
{
	if (!cache->sequence || !wire_ring_message_has_sequence(event))
		return 0;
	return add_relaxed(cache->sequence, 1u) + 1;
}

/* Where what is known of a process is, or is to be: in place of what was asked for before all else. */
static struct etw_check_facts *facts_place(struct etw_check_cache *cache, uint32_t pid)
{
	const size_t first = etw_hash_mix(0, pid) % (ETW_CHECK_FACTS / ETW_CHECK_FACTS_WAYS) *
			     ETW_CHECK_FACTS_WAYS;
	struct etw_check_facts *oldest = &cache->facts[first];

	for (size_t i = first; i < first + ETW_CHECK_FACTS_WAYS; i++) {
		struct etw_check_facts *entry = &cache->facts[i];

		if (entry->pid == pid && entry->asked_ns != 0)
			return entry;
		if (entry->asked_ns < oldest->asked_ns)
			oldest = entry;
	}
	return oldest;
}

/* What the host knows of a process that may write; it is asked anew now and then, as numbers are used again. */
static struct etw_process_facts find_facts(struct etw_check_cache *cache,
					   const struct etw_check_limits *limits, uint32_t pid)
{
	struct etw_check_facts *entry = facts_place(cache, pid);

	if (entry->pid == pid && entry->asked_ns != 0 &&
	    limits->now_ns - entry->asked_ns < ETW_CHECK_ALLOWED_NS)
		return entry->facts;
	if (!cache->host->describe_pid || !may_ask(&cache->about, limits->now_ns))
		return etw_process_facts_unknown();
	entry->pid = pid;
	entry->asked_ns = limits->now_ns;
	entry->facts = etw_process_facts_unknown();
	cache->host->describe_pid(cache->host->context, cache->uid, pid, &entry->facts);
	return entry->facts;
}

static void vouch(struct etw_check_cache *cache, const struct etw_check_limits *limits,
		  uint8_t *event)
{
	const uint32_t pid = etw_load32(event + offsetof(struct wire_event_header, process_id));
	const struct etw_process_facts facts = find_facts(cache, limits, pid);

	etw_items_vouch(event, cache->uid, &facts);
}

enum etw_check_result etw_check_event(struct etw_check_cache *cache,
				      const struct etw_check_limits *limits, uint8_t *event,
				      uint32_t bytes, int64_t *ret_raw)
{
	uint32_t items = 0;
	const struct wire_event_shape *shape = find_shape(event, bytes, &items);
	enum etw_check_result result;

	if (UNLIKELY(!shape || !is_writer_allowed(cache, limits, shape, event)))
		return ETW_CHECK_REFUSED;
	result = check_time(limits, event + shape->time_at, ret_raw);
	if (UNLIKELY(shape->provider_at == WIRE_NOWHERE) && result != ETW_CHECK_REFUSED)
		wire_ring_message_unpack(event, next_sequence(cache, event));
	if (UNLIKELY(items & WIRE_RING_ITEMS_VOUCHED) && result != ETW_CHECK_REFUSED)
		vouch(cache, limits, event);
	return result;
}

/*
 * Whether it is what EventWrite makes without items, of a writer that was allowed lately, at a time that may stay.
 * That is what almost all events are, and it must cost little: nothing here but loads and comparisons.
 */
static inline bool is_plain_and_good(const struct etw_check_cache *cache,
				     const struct etw_check_limits *limits, int64_t floor_raw,
				     const uint8_t *event)
{
	/* The first 8 bytes, but for the size, have one value then. */
	const uint64_t plain = WIRE_HEADER_EVENT64 | WIRE_EVENT_FLAG_TRACE << 8;
	int64_t raw = (int64_t)etw_load64(event + offsetof(struct wire_event_header, time_raw));

	return etw_load64(event) >> 16 == plain && raw >= floor_raw && raw <= limits->bound_raw &&
	       is_writer_known(cache, limits, event + offsetof(struct wire_event_header, thread_id),
			       event + offsetof(struct wire_event_header, provider));
}

/* What a writer left behind an event that is no multiple of 8 bytes long is nobody's business. */
static inline void zero_padding(uint8_t *event, uint32_t bytes)
{
	uint8_t *last = event + (bytes & ~UINT32_C(7));
	uint32_t bits = bytes % 8 * 8;

	if (bits != 0)
		etw_store64(last, etw_load64(last) & ((UINT64_C(1) << bits) - 1));
}

struct etw_check_run etw_check_run(struct etw_check_cache *cache, struct etw_check_limits *limits,
				   uint8_t *run, uint32_t bytes)
{
	int64_t floor_raw = limits->floor_raw;
	uint32_t at = 0, count = 0, raised = 0;

	while (at < bytes) {
		uint8_t *event = run + at;
		uint32_t event_bytes = etw_load16(event);

		if (UNLIKELY(event_bytes > bytes - at))
			break;
		if (LIKELY(event_bytes >= sizeof(struct wire_event_header) &&
			   is_plain_and_good(cache, limits, floor_raw, event))) {
			floor_raw = (int64_t)etw_load64(
				event + offsetof(struct wire_event_header, time_raw));
		} else {
			enum etw_check_result verdict;

			limits->floor_raw = floor_raw;
			verdict = etw_check_event(cache, limits, event, event_bytes, &floor_raw);
			if (verdict == ETW_CHECK_REFUSED)
				break;
			raised += verdict == ETW_CHECK_RAISED;
		}
		zero_padding(event, event_bytes);
		count++;
		at += ALIGN_UP(event_bytes, WIRE_EVENT_ALIGNMENT);
	}
	limits->floor_raw = floor_raw;
	return (struct etw_check_run){.bytes = at, .count = count, .raised = raised};
}
