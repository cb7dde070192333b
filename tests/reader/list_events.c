/* SPDX-License-Identifier: MIT */
/*
 * list_events walk FILE     every event buffer by buffer, one JSON object a line, in the form of the
 *                           reference files (tests/walker/events.py describes it)
 * list_events merge FILE..  every event as a pass over the files delivers it, one line each:
 *                           FILETIME, index of the file, buffer and offset
 *
 * list_events header FILE   the header event and counts, one JSON object in the form of facts.json
 *
 * What was skipped goes to standard error. Exit status 0, 1 with findings of loss, 2 when unreadable.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/sha1.h"
#include "base/text.h"
#include "consumer/trace.h"
#include "wire/etl_event.h"
#include "wire/hook.h"

#define HEX_LIMIT_BYTES 64
#define GROUP_PROCESS   0x03

static const char *const header_names[WIRE_HEADER_TYPES] = {
	[WIRE_HEADER_SYSTEM32] = "SYSTEM32",     [WIRE_HEADER_SYSTEM64] = "SYSTEM64",
	[WIRE_HEADER_COMPACT32] = "COMPACT32",   [WIRE_HEADER_COMPACT64] = "COMPACT64",
	[WIRE_HEADER_FULL32] = "FULL32",         [WIRE_HEADER_FULL64] = "FULL64",
	[WIRE_HEADER_INSTANCE32] = "INSTANCE32", [WIRE_HEADER_INSTANCE64] = "INSTANCE64",
	[WIRE_HEADER_MESSAGE] = "MESSAGE",       [WIRE_HEADER_PERFINFO32] = "PERF32",
	[WIRE_HEADER_PERFINFO64] = "PERF64",     [WIRE_HEADER_EVENT32] = "EVENT32",
	[WIRE_HEADER_EVENT64] = "EVENT64",
};

struct lister {
	struct etw_trace *trace;
	struct etw_text line;
};

static void put_guid(struct etw_text *line, const char *key, const GUID *guid)
{
	char text[ETW_GUID_BARE_BYTES];

	etw_guid_format(guid, text);
	etw_text_printf(line, ",\"%s\":\"%s\"", key, text);
}

static void put_digest(struct etw_text *line, const void *at, size_t bytes)
{
	uint8_t digest[ETW_SHA1_BYTES];

	etw_sha1(at, bytes, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		etw_text_printf(line, "%02x", digest[i]);
}

/* The group that a kernel event's GUID was made from. */
static unsigned group_of(const EVENT_HEADER *header)
{
	uint8_t opcode = header->EventDescriptor.Opcode;

	/* Image/Load is stored in the Process group, and only there. */
	if (etw_guid_equal(&header->ProviderId,
			   etw_hook_class(GROUP_PROCESS, WIRE_HOOK_IMAGE_LOAD & 0xFF)) &&
	    opcode == (WIRE_HOOK_IMAGE_LOAD & 0xFF))
		return GROUP_PROCESS;
	for (unsigned group = 0; group < WIRE_HOOK_GROUPS; group++) {
		if (etw_guid_equal(&header->ProviderId, etw_hook_class((uint8_t)group, 0)))
			return group;
	}
	return 0xFF;
}

static void put_times(struct etw_text *line, const EVENT_HEADER *header)
{
	etw_text_printf(line, ",\"kt\":%u,\"ut\":%u", header->KernelTime, header->UserTime);
}

static void put_ids(struct etw_text *line, const EVENT_HEADER *header)
{
	etw_text_printf(line, ",\"pid\":%u,\"tid\":%u", header->ProcessId, header->ThreadId);
}

static void put_event(struct etw_text *line, const EVENT_HEADER *header)
{
	const EVENT_DESCRIPTOR *d = &header->EventDescriptor;

	put_ids(line, header);
	put_guid(line, "guid", &header->ProviderId);
	etw_text_printf(line,
			",\"id\":%u,\"ver\":%u,\"chan\":%u,\"level\":%u,\"op\":%u,\"task\":%u,"
			"\"kw\":%" PRIu64 ",\"flags\":%u,\"prop\":%u",
			d->Id, d->Version, d->Channel, d->Level, d->Opcode, d->Task,
			(uint64_t)d->Keyword, header->Flags & EVENT_HEADER_FLAG_EXTENDED_INFO,
			header->EventProperty);
	put_guid(line, "activity", &header->ActivityId);
}

/* Words that a header carried and the record has as items. */
static void put_counters(struct etw_text *line, const EVENT_RECORD *record)
{
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		const uint8_t *data = (const uint8_t *)(uintptr_t)item->DataPtr;
		bool is_list = item->ExtType == EVENT_HEADER_EXT_TYPE_PMC_COUNTERS;

		etw_text_puts(line, is_list ? ",\"pmc\":[" : ",\"pebs\":");
		for (unsigned at = 0; at < item->DataSize; at += 8)
			etw_text_printf(line, "%s%" PRIu64, at ? "," : "", etw_load64(data + at));
		etw_text_puts(line, is_list ? "]" : "");
	}
}

static void put_instance(struct etw_text *line, const EVENT_RECORD *record)
{
	const uint8_t *data = (const uint8_t *)(uintptr_t)record->ExtendedData[0].DataPtr;
	GUID parent = etw_guid_read(data + 8);

	etw_text_printf(line, ",\"inst\":%u,\"pinst\":%u", etw_load32(data), etw_load32(data + 4));
	put_guid(line, "pguid", &parent);
}

/* The record does not have the options of a message; they stand before its payload. */
static void put_message(struct etw_text *line, const EVENT_RECORD *record)
{
	const EVENT_HEADER *header = &record->EventHeader;
	const uint8_t *message = (const uint8_t *)record->UserData + record->UserDataLength -
				 header->Size;
	uint16_t options = etw_load16(message + offsetof(struct wire_message_header, options));

	etw_text_printf(line, ",\"num\":%u,\"opt\":%u", header->EventDescriptor.Id, options);
	if (options & WIRE_MESSAGE_SEQUENCE)
		etw_text_printf(line, ",\"seq\":%u",
				etw_load32(message + sizeof(struct wire_message_header)));
	if (options & WIRE_MESSAGE_COMPONENT)
		etw_text_printf(line, ",\"comp\":%u", header->ProviderId.Data1);
	else if (options & WIRE_MESSAGE_GUID)
		put_guid(line, "guid", &header->ProviderId);
	if (options & WIRE_MESSAGE_SYSTEM_INFO)
		put_ids(line, header);
}

static void put_full(struct etw_text *line, const EVENT_RECORD *record)
{
	const EVENT_DESCRIPTOR *d = &record->EventHeader.EventDescriptor;

	put_ids(line, &record->EventHeader);
	put_guid(line, "guid", &record->EventHeader.ProviderId);
	etw_text_printf(line, ",\"ver\":%u,\"level\":%u,\"op\":%u", d->Version, d->Level,
			d->Opcode);
	put_times(line, &record->EventHeader);
}

static void put_kernel(struct etw_text *line, const EVENT_RECORD *record, bool has_ids)
{
	const EVENT_DESCRIPTOR *d = &record->EventHeader.EventDescriptor;

	if (has_ids)
		put_ids(line, &record->EventHeader);
	etw_text_printf(line, ",\"group\":%u,\"ver\":%u,\"op\":%u", group_of(&record->EventHeader),
			d->Version, d->Opcode);
}

static void put_classic(struct etw_text *line, const EVENT_RECORD *record, uint8_t header_type)
{
	switch (header_type) {
	case WIRE_HEADER_MESSAGE:
		put_message(line, record);
		break;
	case WIRE_HEADER_FULL32:
	case WIRE_HEADER_FULL64:
		put_full(line, record);
		break;
	case WIRE_HEADER_INSTANCE32:
	case WIRE_HEADER_INSTANCE64:
		put_full(line, record);
		put_instance(line, record);
		break;
	case WIRE_HEADER_PERFINFO32:
	case WIRE_HEADER_PERFINFO64:
		put_kernel(line, record, /* has_ids= */ false);
		put_counters(line, record);
		break;
	case WIRE_HEADER_SYSTEM32:
	case WIRE_HEADER_SYSTEM64:
		put_kernel(line, record, /* has_ids= */ true);
		put_times(line, &record->EventHeader);
		break;
	default:
		put_kernel(line, record, /* has_ids= */ true);
	}
}

static void put_items(struct etw_text *line, const EVENT_RECORD *record)
{
	etw_text_puts(line, ",\"ext\":[");
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		etw_text_printf(line, "%s[%u,%u,\"", i ? "," : "", item->ExtType, item->DataSize);
		put_digest(line, (const void *)(uintptr_t)item->DataPtr, item->DataSize);
		etw_text_puts(line, "\"]");
	}
	etw_text_puts(line, "]");
}

static void put_payload(struct etw_text *line, const EVENT_RECORD *record)
{
	const uint8_t *payload = record->UserData;

	etw_text_printf(line, ",\"ulen\":%u,\"sha1\":\"", record->UserDataLength);
	put_digest(line, payload, record->UserDataLength);
	etw_text_putc(line, '"');
	if (record->UserDataLength <= HEX_LIMIT_BYTES) {
		etw_text_puts(line, ",\"hex\":\"");
		for (unsigned i = 0; i < record->UserDataLength; i++)
			etw_text_printf(line, "%02x", payload[i]);
		etw_text_putc(line, '"');
	}
}

static int list_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	struct lister *lister = context;
	struct etw_text *line = &lister->line;
	int64_t raw = record->EventHeader.TimeStamp.QuadPart;
	bool is_event = header_type == WIRE_HEADER_EVENT32 || header_type == WIRE_HEADER_EVENT64;

	etw_text_clear(line);
	etw_text_printf(
		line,
		"{\"buf\":%u,\"off\":%u,\"ht\":\"%s\",\"size\":%u,\"cpu\":%u,\"ts\":%" PRId64
		",\"filetime\":%" PRId64,
		address.buffer, address.offset, header_names[header_type], record->EventHeader.Size,
		buffer->processor, raw,
		etw_clock_to_filetime(&etw_trace_header(lister->trace)->clock, raw));
	if (is_event)
		put_event(line, &record->EventHeader);
	else
		put_classic(line, record, header_type);
	if (is_event && record->ExtendedDataCount)
		put_items(line, record);
	put_payload(line, record);
	etw_text_putc(line, '}');
	return puts(etw_text_string(line)) < 0;
}

static int list_merged(void *context, size_t trace, EVENT_RECORD *record,
		       struct etw_event_address address)
{
	(void)context;
	return printf("%" PRId64 " %zu %u %u\n", (int64_t)record->EventHeader.TimeStamp.QuadPart,
		      trace, address.buffer, address.offset) < 0;
}

/* Prints the findings; returns whether anything was lost. */
static int report(const struct etw_trace *trace)
{
	const struct etw_findings *findings = etw_trace_findings(trace);

	for (uint32_t i = 0; i < findings->kept_count; i++) {
		const struct etw_finding *finding = &findings->kept[i];

		fprintf(stderr, "%s: buffer %u at %" PRIu64 ", %" PRIu64 " bytes: %s\n",
			etw_finding_kind_name(finding->kind), finding->buffer, finding->offset,
			finding->bytes, finding->sentence);
	}
	return etw_findings_total(findings) > 0;
}

static int walk(const char *path)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	struct etw_fault fault = {0};
	int result = etw_trace_open(path, &trace, &fault);
	struct lister lister = {.trace = trace};
	struct etw_trace_visitor visitor = {.context = &lister, .event = list_event};

	if (!result)
		result = etw_trace_each_buffer(trace, &visitor);
	etw_text_done(&lister.line);
	if (result) {
		fprintf(stderr, "%s: %s\n", path,
			fault.sentence ? fault.sentence : strerror(-result));
		return 2;
	}
	return report(trace);
}

static int merge(char **paths, size_t count)
{
	CLEANUP(freep) struct etw_trace **traces = calloc(count, sizeof(struct etw_trace *));
	struct etw_trace_sink sink = {
		.event = list_merged, .from_ft = INT64_MIN, .to_ft = INT64_MAX};
	struct etw_fault fault = {0};
	int result = traces ? 0 : -1;
	int lost = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = etw_trace_open(paths[i], &traces[i], &fault);
	if (!result)
		result = etw_trace_process(traces, count, &sink);
	for (size_t i = 0; i < count && traces; i++) {
		if (!result)
			lost |= report(traces[i]);
		etw_trace_close(traces[i]);
	}
	if (result)
		fprintf(stderr, "%s\n", fault.sentence ? fault.sentence : strerror(-result));
	return result ? 2 : lost;
}

/* What facts.json knows beside the header event. */
struct tally {
	uint32_t buffers;
	uint64_t events;
	uint64_t types[WIRE_HEADER_TYPES];
	bool processors[WIRE_BUFFER_PROCESSOR_MASK + 1];
};

static int tally_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct tally *tally = context;

	tally->buffers++;
	tally->events += event_count;
	tally->processors[buffer->processor] = true;
	return 0;
}

static int tally_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	struct tally *tally = context;

	(void)buffer;
	(void)record;
	(void)address;
	tally->types[header_type]++;
	return 0;
}

static void put_name(const char *key, const char *name)
{
	struct etw_text text = {0};

	etw_text_json_string(&text, name, strlen(name));
	printf(",\"%s\":%s", key, etw_text_string(&text));
	etw_text_done(&text);
}

static void put_header_event(const struct etw_etl_header *h)
{
	printf("\"BufferSize\":%u,\"Build\":%u,\"NumProc\":%u,\"EndTime\":%" PRId64
	       ",\"TimerRes\":%u,"
	       "\"MaxFileMB\":%u,\"LogFileMode\":%u,\"BuffersWritten\":%u,\"StartBuffers\":%u,"
	       "\"PointerSize\":%u,\"EventsLost\":%u,\"CpuMHz\":%u,\"OSVersion\":\"%u.%u.%u.%u\"",
	       h->buffer_bytes, h->os_build, h->processors, h->end_ft, h->timer_resolution,
	       h->maximum_file_size, h->log_file_mode, h->buffers_written, h->start_buffers,
	       h->pointer_bytes, h->events_lost, h->cpu_mhz, h->os_major, h->os_minor,
	       h->layout_major, h->layout_minor);
	printf(",\"TZ_bias\":%d,\"BootTime\":%" PRId64 ",\"PerfFreq\":%" PRIu64
	       ",\"StartTime\":%" PRId64
	       ",\"ClockType\":%u,\"BuffersLost\":%u,\"HeaderTimeStamp\":%" PRId64
	       ",\"hdr_pid\":%u,\"hdr_tid\":%u,\"header_ptr\":%u",
	       (int32_t)etw_load32(h->time_zone), h->boot_ft, h->perf_frequency, h->start_ft,
	       h->clock_type, h->buffers_lost, h->time_raw, h->process_id, h->thread_id,
	       h->header_pointer_bytes);
	put_name("LoggerName", h->logger_name);
	put_name("LogFileName", h->log_file_name);
}

static int header(const char *path)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	struct etw_fault fault = {0};
	struct tally tally = {0};
	struct etw_trace_visitor visitor = {
		.context = &tally, .buffer = tally_buffer, .event = tally_event};
	unsigned processors = 0;
	const char *comma = "";

	if (etw_trace_open(path, &trace, &fault) || etw_trace_each_buffer(trace, &visitor)) {
		fprintf(stderr, "%s: %s\n", path, fault.sentence ? fault.sentence : "unreadable");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tally.processors); i++)
		processors += tally.processors[i];
	printf("{\"size\":%" PRIu64 ",\"buffers\":%u,\"events\":%" PRIu64
	       ",\"cpus\":%u,\"header_types\":{",
	       etw_trace_bytes(trace), tally.buffers, tally.events, processors);
	for (unsigned type = 0; type < WIRE_HEADER_TYPES; type++) {
		if (!tally.types[type])
			continue;
		printf("%s\"%s\":%" PRIu64, comma, header_names[type], tally.types[type]);
		comma = ",";
	}
	printf("},\"hdr\":{");
	put_header_event(etw_trace_header(trace));
	printf("}}\n");
	return report(trace);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "header"))
		return header(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "walk"))
		return walk(argv[2]);
	if (argc >= 3 && !strcmp(argv[1], "merge"))
		return merge(argv + 2, (size_t)argc - 2);
	fprintf(stderr, "usage: list_events walk FILE | header FILE | merge FILE...\n");
	return 2;
}
