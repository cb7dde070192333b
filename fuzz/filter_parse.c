/* SPDX-License-Identifier: MIT */
/*
 * An expression of any bytes is refused with a place within it, or can be asked about any event, says the same each
 * time, and its negation the opposite.
 * Input: the expression, a NUL, and the payload of an event with fields of many kinds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "decode/program.h"
#include "filter/filter.h"
#include "filter/parse.h"
#include "target.h"

static const struct etw_map_entry entries[] = {{1, "one"}, {2, "two"}, {4, "four"}};
static const struct etw_map values = {"V", EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, 3, entries};
static const struct etw_map bits = {"B", EVENTMAP_INFO_FLAG_MANIFEST_BITMAP, 3, entries};

#define FIELD(letter, in, out)                                                 \
	{                                                                      \
		.name = letter, .in_type = (in), .out_type = (out), .count = 1 \
	}

static const struct etw_field fields[] = {
	FIELD("i", TDH_INTYPE_INT32, TDH_OUTTYPE_INT),
	FIELD("h", TDH_INTYPE_UINT64, TDH_OUTTYPE_HEXINT64),
	FIELD("d", TDH_INTYPE_DOUBLE, TDH_OUTTYPE_DOUBLE),
	FIELD("b", TDH_INTYPE_BOOLEAN, TDH_OUTTYPE_BOOLEAN),
	FIELD("g", TDH_INTYPE_GUID, TDH_OUTTYPE_GUID),
	FIELD("t", TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME),
	FIELD("y", TDH_INTYPE_SYSTEMTIME, TDH_OUTTYPE_DATETIME),
	FIELD("a", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4),
	FIELD("p", TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT),
	{.name = "m",
	 .in_type = TDH_INTYPE_UINT32,
	 .out_type = TDH_OUTTYPE_UNSIGNEDINT,
	 .count = 1,
	 .map = &values},
	{.name = "f",
	 .in_type = TDH_INTYPE_UINT32,
	 .out_type = TDH_OUTTYPE_UNSIGNEDINT,
	 .count = 1,
	 .map = &bits},
	FIELD("s", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_STRING),
	FIELD("n", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING),
	{.name = "l",
	 .in_type = TDH_INTYPE_UINT8,
	 .out_type = TDH_OUTTYPE_UNSIGNEDBYTE,
	 .count = 0,
	 .flags = PropertyParamCount},
	{.name = "o",
	 .count = 2,
	 .flags = PropertyStruct | PropertyParamFixedCount,
	 .struct_first = 16,
	 .struct_count = 2},
	FIELD("u", TDH_INTYPE_SID, TDH_OUTTYPE_STRING),
	FIELD("k", TDH_INTYPE_INT8, TDH_OUTTYPE_BYTE),
	FIELD("v", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING),
};

static const struct etw_schema schema = {
	.source = DecodingSourceXMLFile,
	.provider_name = "Provider",
	.task_name = "Task",
	.opcode_name = "win:Start",
	.keywords = "One; Two",
	.message = "%1 and %2",
	.field_count = ARRAY_SIZE(fields),
	.top_count = 16,
	.fields = fields,
};

static const struct etw_decoding *decode(void *context)
{
	return context;
}

static const char *provider_name(void *context, const GUID *provider)
{
	(void)context;
	return provider->Data1 ? NULL : "Provider";
}

static const struct etw_filter_source source = {.decode = decode, .provider_name = provider_name};

static void make_record(const uint8_t *payload, size_t bytes, EVENT_RECORD *ret)
{
	*ret = (EVENT_RECORD){.UserData = (void *)(uintptr_t)payload,
			      .UserDataLength = (USHORT)bytes};
	if (bytes > 8) {
		ret->EventHeader.Flags = payload[0] & 1 ? EVENT_HEADER_FLAG_CLASSIC_HEADER : 0;
		ret->EventHeader.ProviderId.Data1 = payload[1] & 1;
		ret->EventHeader.EventDescriptor.Id = payload[2];
		ret->EventHeader.EventDescriptor.Keyword = payload[3];
		ret->EventHeader.ProcessId = payload[4];
	}
}

/* Takes the tree. */
static void ask(struct etw_filter *filter, const uint8_t *payload, size_t bytes, bool is_known)
{
	EVENT_RECORD record;
	struct etw_decoding decoding = {.record = &record, .status = ETW_DECODE_NO_SCHEMA};
	struct etw_filter_subject subject = {
		.record = &record, .source = &source, .context = &decoding};
	struct etw_program *program = NULL;
	struct etw_filter *reverse;
	struct etw_walk walk;
	bool is_meant;

	make_record(payload, bytes, &record);
	etw_walk_init(&walk);
	if (is_known) {
		decoding.schema = &schema;
		CHECK(etw_program_compile(&schema, 8, &program) == 0);
		CHECK(etw_program_run(program, &walk, payload, (uint32_t)bytes, &decoding) == 0);
	}
	is_meant = etw_filter_matches(filter, &subject);
	CHECK(etw_filter_matches(filter, &subject) == is_meant);
	if (etw_filter_not(filter, &reverse) == 0) {
		CHECK(etw_filter_matches(reverse, &subject) == !is_meant);
		etw_filter_free(reverse);
	}
	etw_walk_done(&walk);
	etw_program_free(program);
}

/* The tree of the expression, or that it is refused as it should be. */
static struct etw_filter *parse(const char *text, size_t bytes)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter;
	struct etw_text shown = {0};
	int result = etw_filter_parse(text, bytes, &filter, &fault);

	if (!result)
		return filter;
	CHECK(result == -EINVAL && *fault.sentence);
	CHECK(fault.at <= bytes && fault.bytes <= bytes - fault.at);
	etw_filter_fault_write(&fault, text, bytes, &shown);
	CHECK(!etw_text_error(&shown) && shown.bytes < 2000);
	etw_text_done(&shown);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	const size_t bytes = end ? (size_t)(end - data) : size;
	const size_t left = end ? size - bytes - 1 : 0;
	struct etw_filter *filter;
	char *text;
	uint8_t *payload;

	if (left > UINT16_MAX)
		return 0;
	/* Memory of exactly these sizes, so that a read beyond them is seen. */
	text = malloc(bytes ? bytes : 1);
	payload = malloc(left ? left : 1);
	CHECK(text && payload);
	if (bytes)
		memcpy(text, data, bytes);
	if (left)
		memcpy(payload, end + 1, left);
	for (int is_known = 0; is_known < 2; is_known++) {
		filter = parse(text, bytes);
		if (filter)
			ask(filter, payload, left, is_known);
	}
	free(text);
	free(payload);
	return 0;
}
