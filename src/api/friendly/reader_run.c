/* SPDX-License-Identifier: MIT */
/* etw/reader.h: one run over files, then over sessions; and what becomes of each event. */
#include "api/friendly/reader.h"

#include <errno.h>
#include <etw/event.h>
#include <stdlib.h>
#include <string.h>

#include "api/friendly/error.h"
#include "api/friendly/event.h"
#include "api/friendly/predicate.h"
#include "api/friendly/schemas.h"
#include "api/friendly/times.h"
#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"

#define SYNTHESISED UINT32_MAX /* the offset of an RT_LostEvent */

/* Directories, and blocks that a search keeps for the pass that goes on. */
#define SEARCH_BYTES_MAX ((size_t)60 << 20)

/* That are counted by themselves: a live trace may name new ones without end. */
#define PROVIDERS_MAX 65536

static int learn_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	struct libetw_reader *reader = context;

	(void)buffer;
	(void)header_type;
	(void)address;
	if (!etw_schema_store_is_metadata(record))
		return 0;
	return etw_schemas_learn(reader->schemas, record);
}

/* What the other files leave of the memory for directories and for what a search keeps. */
static size_t room_for(const struct libetw_reader *reader, size_t index)
{
	size_t bytes = 0;

	for (size_t i = 0; i < reader->file_count; i++) {
		if (i != index)
			bytes += etw_trace_memory(reader->sources[i].trace);
	}
	return bytes < SEARCH_BYTES_MAX ? SEARCH_BYTES_MAX - bytes : 0;
}

bool etw_reader_search(void *context)
{
	struct libetw_reader *reader = context;
	struct etw_trace_visitor visitor = {.context = reader, .event = learn_event};

	if (reader->is_searched || !reader->file_count)
		return false;
	reader->is_searched = true;
	for (size_t i = 0; i < reader->file_count; i++) {
		struct etw_trace *trace = reader->sources[i].trace;

		etw_trace_keep(trace, room_for(reader, i));
		/* A file that cannot be read to its end has taught what it could. */
		(void)etw_trace_search(trace, &visitor);
	}
	return true;
}

static bool is_provider(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct provider_count *)item)->guid, key);
}

static int add_provider(struct libetw_reader *reader, uint64_t hash, const GUID *guid,
			struct provider_count **ret)
{
	struct provider_count *count = calloc(1, sizeof(*count));

	if (!count)
		return -ENOMEM;
	count->guid = *guid;
	if (etw_table_insert(&reader->providers, hash, count)) {
		free(count);
		return -ENOMEM;
	}
	if (reader->last_provider)
		reader->last_provider->next = count;
	else
		reader->first_provider = count;
	reader->last_provider = count;
	*ret = count;
	return 0;
}

static int count_provider(struct libetw_reader *reader, const EVENT_RECORD *record)
{
	const GUID *guid = &record->EventHeader.ProviderId;
	struct provider_count *count = reader->latest;
	uint64_t hash;

	if (UNLIKELY(!count || !etw_guid_equal(&count->guid, guid))) {
		hash = etw_guid_hash(guid);
		count = etw_table_find(&reader->providers, hash, is_provider, guid);
		if (!count && reader->providers.count >= PROVIDERS_MAX)
			return 0;
		if (!count && add_provider(reader, hash, guid, &count))
			return -ENOMEM;
		reader->latest = count;
	}
	count->events++;
	count->bytes += record->UserDataLength;
	return 0;
}

/* The callbacks that want the event. Returns 0, or -ECANCELED with a verdict, or -ENOMEM. */
static int call_handlers(struct libetw_reader *reader, struct libetw_event *event)
{
	bool is_unknown = false;

	if (reader->wants_unknown) {
		TRY(etw_event_decode(event));
		is_unknown = etw_event_is_unknown(event);
	}
	for (size_t i = 0; i < reader->handler_count; i++) {
		const struct handler *handler = &reader->handlers[i];
		bool is_meant = handler->predicate
					? etw_predicate_matches(handler->predicate, event)
					: is_unknown;

		if (!is_meant)
			continue;
		reader->verdict = handler->callback(handler->context, event);
		if (UNLIKELY(reader->verdict != 0))
			return -ECANCELED;
	}
	return 0;
}

/* Makes the reader's one event that of a record. */
static void set_event(struct libetw_event *event, const EVENT_RECORD *record,
		      struct etw_trace *trace)
{
	event->record = record;
	event->trace = trace;
	event->is_decoded = false;
	if (UNLIKELY(event->has_scratch)) {
		etw_arena_release(&event->scratch, event->empty);
		event->has_scratch = false;
	}
}

static int note_loss(struct libetw_reader *reader, struct source *source,
		     const struct libetw_event *event)
{
	reader->stats.loss_marks++;
	return etw_loss_mark(reader->losses, &source->loss, (uint16_t)libetw_event_cpu(event),
			     event->record->EventHeader.TimeStamp.QuadPart);
}

static int account(struct libetw_reader *reader, const EVENT_RECORD *record)
{
	reader->stats.events++;
	reader->stats.payload_bytes += record->UserDataLength;
	return count_provider(reader, record);
}

static bool is_stopped(struct libetw_reader *reader)
{
	return load_relaxed(&reader->stop);
}

/* What an event tells of processes counts for itself, too. */
static int learn_processes(struct libetw_reader *reader, struct libetw_event *event)
{
	if (LIKELY(!reader->processes || !etw_processes_is_lifecycle(event->record)))
		return 0;
	TRY(etw_event_decode(event));
	return etw_processes_add(reader->processes, &event->decoding,
				 event->record->EventHeader.TimeStamp.QuadPart);
}

static int deliver(struct libetw_reader *reader, struct source *source, const EVENT_RECORD *record,
		   struct etw_event_address address)
{
	struct libetw_event *event = &reader->event;
	int64_t time_ft = record->EventHeader.TimeStamp.QuadPart;
	int result;

	set_event(event, record, source->trace);
	etw_schema_store_set_build(reader->schemas->store,
				   etw_trace_header(source->trace)->os_build);
	if (time_ft > source->loss.now_ft)
		source->loss.now_ft = time_ft;
	if (UNLIKELY(address.offset == SYNTHESISED))
		TRY(note_loss(reader, source, event));
	if (UNLIKELY(etw_schema_store_is_metadata(record)))
		TRY(etw_schemas_learn(reader->schemas, record));
	TRY(learn_processes(reader, event));
	if (UNLIKELY(time_ft < reader->from_ft))
		return 0;
	TRY(account(reader, record));
	result = call_handlers(reader, event);
	if (event->is_decoded && etw_event_is_unknown(event))
		reader->stats.unknown++;
	return result;
}

static int on_event(void *context, size_t trace, EVENT_RECORD *record,
		    struct etw_event_address address)
{
	struct libetw_reader *reader = context;
	int result = deliver(reader, &reader->sources[reader->first_source + trace], record,
			     address);

	if (UNLIKELY(result && !reader->verdict))
		reader->failure = result;
	if (UNLIKELY(!result && is_stopped(reader)))
		result = -ECANCELED;
	return result;
}

static int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct libetw_reader *reader = context;
	struct source *source = &reader->sources[reader->first_source + trace];

	reader->stats.buffers++;
	reader->failure = etw_loss_buffer(reader->losses, &source->loss, buffer->processor);
	return reader->failure;
}

static int on_idle(void *context)
{
	return is_stopped(context) ? -ECANCELED : 0;
}

/* Events that the session or the file's header counts as lost, beyond those before the reader came. */
static uint64_t lost_of(const struct source *source)
{
	uint64_t lost = etw_trace_header(source->trace)->events_lost;

	return lost > source->lost_before ? lost - source->lost_before : 0;
}

/* Whether loss is there that no stretch of time stands for. */
static bool has_unplaced_loss(const struct source *source)
{
	const struct etw_etl_header *header = etw_trace_header(source->trace);

	return !etw_findings_is_sound(etw_trace_findings(source->trace)) ||
	       ((lost_of(source) || header->buffers_lost) && !source->loss.marks);
}

/* A pass that did not get to the end of what is lossy leaves something in doubt. */
static int note_cut(struct libetw_reader *reader, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		const struct source *source = &reader->sources[i];
		int64_t end_ft = reader->to_ft == INT64_MAX ? source->loss.now_ft : reader->to_ft;

		if (lost_of(source) || etw_trace_header(source->trace)->buffers_lost ||
		    source->loss.marks)
			TRY(etw_loss_cut(reader->losses, &source->loss, end_ft));
	}
	return 0;
}

/* Each pass goes through time anew. */
static int begin_processes(struct libetw_reader *reader)
{
	etw_processes_free(reader->processes);
	reader->processes = NULL;
	if (reader->wants_processes)
		TRY(etw_processes_create(&reader->processes));
	reader->event.processes = reader->processes;
	return 0;
}

static int pass(struct libetw_reader *reader, size_t first, size_t count)
{
	CLEANUP(freep) struct etw_trace **traces = calloc(count, sizeof(struct etw_trace *));
	struct etw_trace_sink sink = {
		.context = reader,
		.event = on_event,
		.buffer = on_buffer,
		.idle = on_idle,
		.from_ft = INT64_MIN, /* what is before teaches schemas and tells of loss */
		.to_ft = reader->to_ft,
	};
	int result;

	if (!traces)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct source *source = &reader->sources[first + i];

		traces[i] = source->trace;
		etw_loss_begin(&source->loss, etw_trace_header(source->trace)->start_ft);
	}
	reader->first_source = first;
	TRY(begin_processes(reader));
	result = etw_trace_process(traces, count, &sink);
	if (result || reader->to_ft != INT64_MAX)
		TRY(note_cut(reader, first, count));
	return result;
}

/* While files are read they go before what is installed; see etw_installed_open(). */
static int pass_files(struct libetw_reader *reader)
{
	const struct etw_more_schemas *outer = reader->schemas->files;
	int result;

	if (reader->schemas->has_loaded)
		(void)etw_reader_search(reader);
	reader->schemas->files = &reader->more;
	result = pass(reader, 0, reader->file_count);
	reader->schemas->files = outer;
	for (size_t i = 0; i < reader->file_count; i++)
		etw_trace_forget(reader->sources[i].trace);
	return result;
}

static int run(struct libetw_reader *reader)
{
	size_t files = reader->file_count, sessions = reader->source_count - files;
	int result = is_stopped(reader) ? -ECANCELED : 0;

	if (!result && files)
		result = pass_files(reader);
	if (!result && sessions)
		result = pass(reader, files, sessions);
	return result;
}

/* The one way in which sources that were there when the run began are not there. */
static int fail_run(int result)
{
	if (result == -ENOENT)
		return etw_friendly_fail(result, "a session was over before its host was replaced");
	return etw_friendly_fail(result, "reading failed: %s", strerror(-result));
}

int libetw_reader_run(struct libetw_reader *reader)
{
	int result;

	if (reader->is_running)
		return etw_friendly_fail(-EBUSY, "the reader is running");
	reader->is_running = true;
	reader->verdict = 0;
	reader->failure = 0;
	result = run(reader);
	set_event(&reader->event, NULL, NULL);
	reader->is_running = false;
	if (reader->verdict) {
		result = reader->verdict;
	} else if (reader->failure) {
		result = reader->failure;
	} else if (result == -ECANCELED) {
		result = LIBETW_STOPPED;
	}
	store_relaxed(&reader->stop, 0);
	return result < 0 && !reader->verdict ? fail_run(result) : result;
}

int libetw_reader_deliver(struct libetw_reader *reader, struct libetw_event *event)
{
	int result;

	reader->verdict = 0;
	result = call_handlers(reader, event);
	return reader->verdict ? reader->verdict : result;
}

void libetw_reader_stats(const struct libetw_reader *reader, struct libetw_stats *ret)
{
	*ret = reader->stats;
	for (size_t i = 0; i < reader->source_count; i++) {
		const struct source *source = &reader->sources[i];

		ret->events_lost = etw_sum_saturated(ret->events_lost, lost_of(source));
		ret->buffers_lost += etw_trace_header(source->trace)->buffers_lost;
		ret->skipped_places +=
			etw_findings_total(etw_trace_findings(source->trace)) +
			etw_trace_findings(source->trace)->counts[ETW_FINDING_DOUBTED];
		ret->late_events += etw_trace_findings(source->trace)->counts[ETW_FINDING_LATE];
	}
	ret->pinned_bytes = etw_pin_account_bytes(reader->pins);
}

int libetw_reader_each_provider(const struct libetw_reader *reader,
				int (*provider)(void *context, const GUID *guid, const char *name,
						uint64_t events, uint64_t payload_bytes),
				void *context)
{
	const struct provider_count *count = reader->first_provider;
	int result = 0;

	for (; count && !result; count = count->next)
		result = provider(
			context, &count->guid,
			etw_schema_store_provider_name(reader->schemas->store, &count->guid),
			count->events, count->bytes);
	return result;
}

/* ns since 1970, at the ends of 64 bits where it would be beyond. */
static int64_t ns_of(int64_t filetime)
{
	int64_t ns;

	return etw_time_ns_of_filetime(filetime, &ns) ? (filetime < 0 ? INT64_MIN : INT64_MAX) : ns;
}

int libetw_reader_each_loss(const struct libetw_reader *reader,
			    int (*loss)(void *context, int64_t from_ns, int64_t to_ns),
			    void *context)
{
	int result = etw_loss_settle(reader->losses);

	if (result)
		return etw_friendly_fail(result, "no memory for the stretches of loss");
	for (size_t i = 0; i < reader->losses->count && !result; i++)
		result = loss(context, ns_of(reader->losses->ranges[i].from_ft),
			      ns_of(reader->losses->ranges[i].to_ft));
	return result;
}

int libetw_reader_is_complete(const struct libetw_reader *reader, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < reader->source_count; i++) {
		if (has_unplaced_loss(&reader->sources[i]))
			return 0;
	}
	for (size_t i = 0; i < reader->losses->count; i++) {
		const struct etw_loss_range *range = &reader->losses->ranges[i];

		if (ns_of(range->from_ft) <= to_ns && ns_of(range->to_ft) >= from_ns)
			return 0;
	}
	return 1;
}
