/* SPDX-License-Identifier: MIT */
/*
 * Every event of the genuine traces, delivered by ProcessTrace and decoded by the published loop, against what
 * src/decode makes of it, which is what `etw dump` shows: the same properties, the same texts, the same bytes
 * used. TdhGetProperty and TdhGetPropertySize of every top-level property are compared too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>
#include <winerror.h>

#include "base/guid.h"
#include "consumer/trace.h"
#include "decode/decode.h"
#include "decode/format.h"
#include "decode/legible.h"
#include "decode/program.h"
#include "genuine.h"
#include "sample_loop.h"
#include "schema/known/known.h"
#include "schema/manifest/embedded.h"
#include "schema/store/store.h"

#define COMPLAINTS_MAX 40

struct account {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct sample_loop loop;
	struct etw_text ours, theirs;
	BYTE *value;
	const char *path;
	size_t files, events, compared, properties, without_schema, other_size, values;
	size_t failures;
};

static void complain(struct account *account, const EVENT_RECORD *record, const char *what,
		     const char *name)
{
	char guid[ETW_GUID_BARE_BYTES];

	if (account->failures++ >= COMPLAINTS_MAX)
		return;
	etw_guid_format(&record->EventHeader.ProviderId, guid);
	printf("FAILED: %s: %s id %u opcode %u version %u: %s: %s\n  ours   %s\n  theirs %s\n",
	       account->path, guid, record->EventHeader.EventDescriptor.Id,
	       record->EventHeader.EventDescriptor.Opcode,
	       record->EventHeader.EventDescriptor.Version, what, name ? name : "",
	       etw_text_string(&account->ours), etw_text_string(&account->theirs));
}

/* What TdhGetProperty is to hand out of an item, but for a terminator that the payload may lack. */
static uint32_t value_bytes(const struct etw_decoding *decoding, const struct etw_item *item)
{
	const struct etw_field *field = &decoding->schema->fields[item->field];

	if (item->kind != ETW_ITEM_VALUE)
		return item->taken;
	switch (field->in_type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_WBEMSID:
		return item->taken;
	default:
		return item->bytes;
	}
}

static void compare_value(struct account *account, EVENT_RECORD *record, ULONG index,
			  const struct etw_decoding *decoding, const struct etw_item *item)
{
	EVENT_PROPERTY_INFO *property = &account->loop.info->EventPropertyInfoArray[index];
	PROPERTY_DATA_DESCRIPTOR descriptor = {
		.PropertyName = (ULONGLONG)(uintptr_t)TEI_PROPERTY_NAME(account->loop.info,
									property),
		.ArrayIndex = 0xFFFFFFFF,
	};
	const struct etw_field *field = &decoding->schema->fields[item->field];
	uint32_t expected = value_bytes(decoding, item);
	uint32_t missing = 0;
	const BYTE *at = record->UserData;
	ULONG size = 0;

	/* Of two properties of one name the first is meant; classes have such. */
	if (etw_decoding_find(decoding, field->name) != item)
		return;
	if (item->kind == ETW_ITEM_VALUE && !field->length &&
	    !(field->flags & (PropertyParamLength | PropertyParamFixedLength))) {
		if (field->in_type == TDH_INTYPE_UNICODESTRING)
			missing = item->bytes + 2 - item->taken;
		else if (field->in_type == TDH_INTYPE_ANSISTRING)
			missing = item->bytes + 1 - item->taken;
	}
	if (TdhGetPropertySize(record, 0, NULL, 1, &descriptor, &size) ||
	    size != expected + missing ||
	    TdhGetProperty(record, 0, NULL, 1, &descriptor, size, account->value)) {
		complain(account, record, "TdhGetProperty", field->name);
		return;
	}
	if (item->kind == ETW_ITEM_VALUE && field->in_type == TDH_INTYPE_WBEMSID)
		at += item->offset + item->bytes - item->taken;
	else
		at += item->offset;
	if (expected && memcmp(at, account->value, expected))
		complain(account, record, "bytes of TdhGetProperty", field->name);
	account->values++;
}

static void compare_properties(struct account *account, EVENT_RECORD *record,
			       const struct etw_decoding *decoding)
{
	struct sample_loop *loop = &account->loop;
	ULONG index = 0;
	size_t i = 0;

	for (; index < loop->info->TopLevelPropertyCount; index++) {
		const struct etw_item *item = i < decoding->item_count ? &decoding->items[i] : NULL;
		bool is_whole;

		etw_text_clear(&account->ours);
		etw_text_clear(&account->theirs);
		is_whole = sample_loop_property(loop, index, &account->theirs);
		if (!is_whole || !item)
			break;
		etw_format_item(decoding, item, &account->ours);
		if (strcmp(etw_text_string(&account->ours), etw_text_string(&account->theirs)) != 0)
			complain(account, record, "text",
				 decoding->schema->fields[item->field].name);
		compare_value(account, record, index, decoding, item);
		account->properties++;
		i = item->end;
	}
	/* Both stop at the same place: the end, or the property that the payload cuts. */
	bool is_cut = decoding->status == ETW_DECODE_TRUNCATED ||
		      decoding->status == ETW_DECODE_MALFORMED;

	if (is_cut ? index == loop->info->TopLevelPropertyCount
		   : index != loop->info->TopLevelPropertyCount || i != decoding->item_count)
		complain(account, record, "number of properties", decoding->reason);
	else if (!is_cut && record->UserDataLength - loop->left != (int)decoding->consumed)
		complain(account, record, "bytes used", NULL);
}

/* Whether the payload makes sense only with pointers of the size that the header does not say. */
static bool has_other_pointers(const EVENT_RECORD *record, const struct etw_decoding *decoding)
{
	bool is_32 = record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER;
	struct etw_decoding by_header = {.record = record, .schema = decoding->schema};
	bool makes_sense;
	uint16_t field;
	struct etw_program *program;
	struct etw_walk walk;

	if (!(record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) ||
	    decoding->status != ETW_DECODE_COMPLETE)
		return false;
	etw_walk_init(&walk);
	if (etw_program_compile(decoding->schema, is_32 ? 4 : 8, &program) ||
	    etw_program_run(program, &walk, record->UserData, record->UserDataLength, &by_header))
		abort();
	makes_sense = by_header.status == ETW_DECODE_COMPLETE &&
		      etw_legible_decoding(&by_header, &field);
	etw_walk_done(&walk);
	etw_program_free(program);
	return !makes_sense;
}

static void on_record(EVENT_RECORD *record)
{
	struct account *account = record->UserContext;
	struct etw_decoding decoding;
	TDHSTATUS status;

	account->events++;
	if (etw_decoder_run(account->decoder, record, &decoding))
		abort();
	status = sample_loop_begin(&account->loop, record);
	etw_text_clear(&account->ours);
	etw_text_clear(&account->theirs);
	/* Manifest data is the decoder's own: TDH has no schema for it. */
	if (decoding.status == ETW_DECODE_NO_SCHEMA || decoding.schema == etw_embedded_schema() ||
	    decoding.miss == ETW_SCHEMA_STRING_ONLY) {
		if (status != ERROR_NOT_FOUND)
			complain(account, record, "a schema where there is none", NULL);
		account->without_schema++;
		return;
	}
	if (status) {
		complain(account, record, "TdhGetEventInformation failed", NULL);
		return;
	}
	if (has_other_pointers(record, &decoding)) {
		account->other_size++;
		return;
	}
	account->compared++;
	compare_properties(account, record, &decoding);
}

static int learn(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		 const EVENT_RECORD *record, struct etw_event_address address)
{
	struct account *account = context;

	(void)buffer;
	(void)header_type;
	(void)address;
	return etw_schema_store_is_metadata(record) ? etw_schema_store_learn(account->store, record)
						    : 0;
}

static void read_with_api(struct account *account, const char *path)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LogFileName = (LPSTR)(uintptr_t)path,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = on_record,
		.Context = account,
	};
	PROCESSTRACE_HANDLE handle = OpenTraceA(&logfile);
	ULONG status = handle == INVALID_PROCESSTRACE_HANDLE ? 1
							     : ProcessTrace(&handle, 1, NULL, NULL);

	if (status) {
		printf("FAILED: %s: %u\n", path, status);
		account->failures++;
	}
	if (handle != INVALID_PROCESSTRACE_HANDLE)
		(void)CloseTrace(handle);
}

/* The store of the comparison knows the file's schemas beforehand, as `etw dump` does. */
static void visit(const char *path, void *context)
{
	const struct etw_trace_visitor visitor = {.context = context, .event = learn};
	struct account *account = context;
	struct etw_trace *trace;

	account->path = path;
	account->files++;
	if (etw_trace_open(path, &trace, NULL) || etw_trace_each_buffer(trace, &visitor)) {
		printf("FAILED: cannot read %s\n", path);
		account->failures++;
		return;
	}
	etw_schema_store_set_build(account->store, etw_trace_header(trace)->os_build);
	etw_trace_close(trace);
	read_with_api(account, path);
}

int main(void)
{
	struct account account = {.value = malloc(0x20000)};
	struct etw_known *known;

	if (!account.value || etw_schema_store_create(&account.store) ||
	    etw_decoder_create(account.store, &account.decoder) ||
	    etw_known_open(NULL, &known, NULL))
		return 1;
	/* As TDH knows it. */
	etw_schema_store_set_known(account.store, known);
	if (!genuine_each(visit, &account)) {
		printf("skipped: ETW_TEST_DATA names no folder of genuine traces\n");
		return GENUINE_SKIP;
	}
	printf("%zu files, %zu events: %zu compared (%zu properties, %zu of them by "
	       "TdhGetProperty), "
	       "%zu without a schema, %zu with pointers of the other size; %u maps looked up, %u "
	       "values without a name; %zu differ\n",
	       account.files, account.events, account.compared, account.properties, account.values,
	       account.without_schema, account.other_size, account.loop.maps, account.loop.unmapped,
	       account.failures);
	sample_loop_done(&account.loop);
	etw_text_done(&account.ours);
	etw_text_done(&account.theirs);
	etw_decoder_free(account.decoder);
	etw_schema_store_free(account.store);
	free(account.value);
	return account.failures || account.files < 30 || account.compared < 100000;
}
