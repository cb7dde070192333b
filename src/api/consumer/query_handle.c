/* SPDX-License-Identifier: MIT */
/* evntrace.h: QueryTraceProcessingHandle, what an opened trace says of itself. */
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/consumer/logfile.h"
#include "api/consumer/trace_handle.h"
#include "base/guid.h"
#include "base/utf.h"

/* Units of "{8-4-4-4-12}" with the NUL. */
#define GUID_UNITS ETW_GUID_BRACED_BYTES

struct query {
	ETW_PROCESS_HANDLE_INFO_TYPE information_class;
	uint8_t *to;
	ULONG room;
	ULONG bytes; /* needed, or written */
	ULONG error;
};

/* Copies the answer out when there is room for it; says how much there should be otherwise. */
static void answer(struct query *query, const void *at, size_t bytes)
{
	query->bytes = (ULONG)bytes;
	if (query->room < bytes) {
		query->error = ERROR_INSUFFICIENT_BUFFER;
		return;
	}
	memcpy(query->to, at, bytes);
	query->error = ERROR_SUCCESS;
}

/* The first 44 bytes of event 0050 are the structure up to its padding; absent means a plain host. */
static void read_partition(const struct etw_etl_header *header,
			   ETW_TRACE_PARTITION_INFORMATION *ret)
{
	const uint8_t *at = header->companions.partition;

	memset(ret, 0, sizeof(*ret));
	if (!header->companions.has_partition)
		return;
	ret->PartitionId = etw_guid_read(at);
	ret->ParentId = etw_guid_read(at + 16);
	ret->QpcOffsetFromRoot = (LONG64)etw_load64(at + 32);
	ret->PartitionType = etw_load32(at + 40);
}

static void write_guid_text(const GUID *guid, WCHAR *to)
{
	char text[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(guid, text);
	for (size_t i = 0; i < GUID_UNITS; i++)
		to[i] = (WCHAR)text[i];
}

/* The strings of the second version follow the structure in the caller's buffer. */
static void answer_partition_v2(struct query *query, const struct etw_etl_header *header)
{
	struct {
		ETW_TRACE_PARTITION_INFORMATION_V2 information;
		WCHAR partition[GUID_UNITS];
		WCHAR parent[GUID_UNITS];
	} block;
	ETW_TRACE_PARTITION_INFORMATION first;

	memset(&block, 0, sizeof(block));
	read_partition(header, &first);
	block.information.QpcOffsetFromRoot = first.QpcOffsetFromRoot;
	block.information.PartitionType = first.PartitionType;
	if (query->to) {
		block.information.PartitionId =
			(PWSTR)(query->to + offsetof(__typeof__(block), partition));
		block.information.ParentId =
			(PWSTR)(query->to + offsetof(__typeof__(block), parent));
	}
	write_guid_text(&first.PartitionId, block.partition);
	write_guid_text(&first.ParentId, block.parent);
	answer(query, &block, sizeof(block));
}

/* The number of processors, and a time for each. */
static void answer_dropped(struct query *query, const struct etw_trace *trace)
{
	uint32_t count = etw_trace_dropped_count(trace);
	LONGLONG *block = calloc((size_t)count + 1, sizeof(*block));

	if (!block) {
		query->error = ERROR_NOT_ENOUGH_MEMORY;
	} else if (!count) {
		query->error = ERROR_NOT_FOUND;
	} else {
		*(ULONG *)block = count;
		for (uint32_t i = 0; i < count; i++)
			block[i + 1] = etw_trace_dropped(trace, i);
		answer(query, block, ((size_t)count + 1) * sizeof(*block));
	}
	free(block);
}

static int run_query(struct etw_open_trace *open, void *context)
{
	const struct etw_etl_header *header = etw_trace_header(open->trace);
	struct query *query = context;
	ETW_TRACE_PARTITION_INFORMATION partition;
	TRACE_LOGFILE_HEADER logfile;

	switch (query->information_class) {
	case EtwQueryPartitionInformation:
		read_partition(header, &partition);
		answer(query, &partition, sizeof(partition));
		break;
	case EtwQueryPartitionInformationV2:
		answer_partition_v2(query, header);
		break;
	case EtwQueryLastDroppedTimes:
		answer_dropped(query, open->trace);
		break;
	case EtwQueryLogFileHeader:
		etw_logfile_header(header, &logfile);
		answer(query, &logfile, sizeof(logfile));
		break;
	default:
		query->error = ERROR_INVALID_PARAMETER;
	}
	return 0;
}

ULONG QueryTraceProcessingHandle(PROCESSTRACE_HANDLE ProcessingHandle,
				 ETW_PROCESS_HANDLE_INFO_TYPE InformationClass, PVOID InBuffer,
				 ULONG InBufferSize, PVOID OutBuffer, ULONG OutBufferSize,
				 PULONG ReturnLength)
{
	struct query query = {
		.information_class = InformationClass,
		.to = OutBuffer,
		.room = OutBuffer ? OutBufferSize : 0,
	};

	/* No class takes input. */
	if (!ReturnLength || (InBuffer && InBufferSize))
		return ERROR_INVALID_PARAMETER;
	if (etw_trace_handle_with(ProcessingHandle, run_query, &query))
		return ERROR_INVALID_HANDLE;
	*ReturnLength = query.bytes;
	return query.error;
}
