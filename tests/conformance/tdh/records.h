/* SPDX-License-Identifier: MIT */
/* Event records in memory, of each kind that TDH tells apart, and a trace file that describes its events. */
#ifndef ETW_TESTS_CONFORMANCE_TDH_RECORDS_H
#define ETW_TESTS_CONFORMANCE_TDH_RECORDS_H

#include <stddef.h>

#include <evntcons.h>

#define RECORD_BYTES_MAX 1024

/* One record with everything it points to; do not move it. */
struct made_record {
	EVENT_RECORD record;
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
	BYTE metadata[RECORD_BYTES_MAX]; /* of TraceLogging */
	BYTE traits[64];
	BYTE payload[RECORD_BYTES_MAX];
};

/* The provider, id and version of the event that record_file_make() describes, and of the same event. */
extern const GUID record_provider;

/* record_tracelogging() - an event without fields; record_field() and record_put() add to it. */
void record_tracelogging(struct made_record *made, const char *name);

/*
 * record_field() - one more field in the metadata.
 *
 * @in: TraceLogging's byte of the in-type, with the bits of arrays
 * @out: TraceLogging's out-type, a struct's number of members, or 0 for none
 * @count: of an array of fixed count (0x20)
 */
void record_field(struct made_record *made, const char *name, BYTE in, BYTE out, USHORT count);

/* record_put() - bytes at the end of the payload. */
void record_put(struct made_record *made, const void *bytes, size_t count);

/* record_classic() - an event of a class. */
void record_classic(struct made_record *made, const GUID *class_guid, UCHAR opcode, UCHAR version);

/* record_manifest() - an event of a manifest. */
void record_manifest(struct made_record *made, const GUID *provider, USHORT id, UCHAR version);

/*
 * record_file_make() - a trace with one event of record_provider, id 7 version 1, whose description and map
 * come behind it. Source of both: tests/unit/schema/info_blob.h.
 */
void record_file_make(const char *path);

/* record_file_event() - that event's payload into @made, as a record. */
void record_file_event(struct made_record *made);

#endif
