/* SPDX-License-Identifier: MIT */
/*
 * The decoder: finds an event's schema in the store, its program in the cache, and runs it. The cache
 * is a hash table keyed by the schema's address; an entry holds the programs for both pointer sizes.
 * Schemas live as long as the store, so an address is never used twice. Whoever takes a loan back from the
 * store makes a new decoder: loaned schemas' addresses may come again.
 */
#include "decode/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "decode/legible.h"
#include "decode/program.h"
#include "decode/program_internal.h"
#include "decode/widths.h"
#include "schema/manifest/embedded.h"
#include "schema/mend.h"
#include "schema/types.h"

#define FIRST_SLOTS 256 /* power of two */

struct entry {
	const struct etw_schema *schema; /* NULL: free */
	struct etw_program *programs[2]; /* owned; for pointers of 4 and 8 bytes */
	/* Owned; NULL: not asked for yet, or no error, or no further way to put it right, is known. */
	struct etw_schema *mended[ETW_SCHEMA_MENDS_MAX];
	bool is_judged; /* whether they were asked for */
};

struct etw_decoder {
	struct etw_schema_store *store; /* borrowed */
	struct entry *entries;          /* owned; `slots` of them, at most half in use */
	size_t slots;
	size_t used;
	struct etw_walk walk;
	bool mends; /* known errors of schemas, and it doubts what only seems to fit */
	const struct etw_program *program; /* borrowed of an entry: the last that was run */
	uint32_t file;                     /* that the events come from */
	struct etw_widths widths;
	bool *trusts_text;   /* owned; by file: etw_decoder_trust_text() */
	uint32_t file_count; /* of `trusts_text`; files behind it are doubted */
};

static size_t hash_schema(const struct etw_schema *schema)
{
	uint64_t hash = (uint64_t)(uintptr_t)schema * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32);
}

/* The entry of a schema, or the free one where it belongs. */
static struct entry *find_entry(struct entry *entries, size_t slots,
				const struct etw_schema *schema)
{
	size_t i = hash_schema(schema) & (slots - 1);

	while (entries[i].schema && entries[i].schema != schema)
		i = (i + 1) & (slots - 1);
	return &entries[i];
}

static int grow_cache(struct etw_decoder *decoder)
{
	size_t slots = 2 * decoder->slots;
	struct entry *entries = calloc(slots, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < decoder->slots; i++) {
		const struct entry *old = &decoder->entries[i];

		if (old->schema)
			*find_entry(entries, slots, old->schema) = *old;
	}
	free(decoder->entries);
	decoder->entries = entries;
	decoder->slots = slots;
	return 0;
}

static int add_program(struct etw_decoder *decoder, const struct etw_schema *schema, bool is_64,
		       const struct etw_program **ret)
{
	struct etw_program *program;

	if (2 * (decoder->used + 1) > decoder->slots)
		TRY(grow_cache(decoder));
	TRY(etw_program_compile(schema, is_64 ? 8 : 4, &program));
	struct entry *entry = find_entry(decoder->entries, decoder->slots, schema);

	if (!entry->schema) {
		entry->schema = schema;
		decoder->used++;
	}
	entry->programs[is_64] = program;
	*ret = program;
	return 0;
}

static int find_program(struct etw_decoder *decoder, const struct etw_schema *schema, bool is_64,
			const struct etw_program **ret)
{
	const struct entry *entry = find_entry(decoder->entries, decoder->slots, schema);

	if (LIKELY(entry->programs[is_64])) {
		*ret = entry->programs[is_64];
		return 0;
	}
	return add_program(decoder, schema, is_64, ret);
}

static const char *miss_reason(enum etw_schema_miss miss)
{
	switch (miss) {
	case ETW_SCHEMA_NO_PROVIDER:
		return "no schema of this provider is known";
	case ETW_SCHEMA_NO_EVENT:
		return "the provider's schema does not have this event id and version";
	case ETW_SCHEMA_NO_CLASS:
		return "no class is known for this classic event";
	case ETW_SCHEMA_WPP:
		return "a WPP message needs its TMF or PDB file";
	case ETW_SCHEMA_BAD_METADATA:
		return "the schema that comes with the event is damaged";
	case ETW_SCHEMA_TOO_MANY:
		return "the events bring more schemas of their own than are kept";
	case ETW_SCHEMA_NO_MEMORY:
		return "memory ran out while the schema was looked for";
	default:
		return "the event has no schema";
	}
}

int etw_decoder_create(struct etw_schema_store *store, struct etw_decoder **ret)
{
	CLEANUP(etw_decoder_freep) struct etw_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return -ENOMEM;
	decoder->store = store;
	decoder->entries = calloc(FIRST_SLOTS, sizeof(*decoder->entries));
	if (!decoder->entries)
		return -ENOMEM;
	decoder->slots = FIRST_SLOTS;
	*ret = TAKE(decoder);
	return 0;
}

void etw_decoder_free(struct etw_decoder *decoder)
{
	if (!decoder)
		return;
	for (size_t i = 0; i < decoder->slots; i++) {
		etw_program_free(decoder->entries[i].programs[0]);
		etw_program_free(decoder->entries[i].programs[1]);
		for (unsigned nth = 0; nth < ETW_SCHEMA_MENDS_MAX; nth++)
			free(decoder->entries[i].mended[nth]);
	}
	free(decoder->entries);
	etw_walk_done(&decoder->walk);
	etw_widths_done(&decoder->widths);
	free(decoder->trusts_text);
	free(decoder);
}

void etw_decoder_freep(struct etw_decoder **decoder)
{
	etw_decoder_free(*decoder);
}

void etw_decoder_mend(struct etw_decoder *decoder)
{
	decoder->mends = true;
}

int etw_decoder_trust_text(struct etw_decoder *decoder, uint32_t file)
{
	if (file >= decoder->file_count) {
		bool *grown = realloc(decoder->trusts_text, file + (size_t)1);

		if (!grown)
			return -ENOMEM;
		memset(grown + decoder->file_count, 0, file + (size_t)1 - decoder->file_count);
		decoder->trusts_text = grown;
		decoder->file_count = file + 1;
	}
	decoder->trusts_text[file] = true;
	return 0;
}

static bool trusts_text(const struct etw_decoder *decoder)
{
	return decoder->file < decoder->file_count && decoder->trusts_text[decoder->file];
}

static int run_program(struct etw_decoder *decoder, const EVENT_RECORD *record, bool is_64,
		       struct etw_decoding *ret)
{
	TRY(find_program(decoder, ret->schema, is_64, &decoder->program));
	return etw_program_run(decoder->program, &decoder->walk, record->UserData,
			       record->UserDataLength, ret);
}

/* Whether a reading with pointers of this size uses up the payload and gives text that reads like text. */
static bool makes_sense(const struct etw_decoder *decoder, const struct etw_decoding *decoding)
{
	uint16_t field;

	if (UNLIKELY(decoding->status != ETW_DECODE_COMPLETE))
		return false;
	return !decoder->program->has_text || etw_legible_decoding(decoding, &field);
}

/* What uses up the payload with text that is none was not read by the payload's own layout. */
static void doubt_text(const struct etw_decoder *decoder, struct etw_decoding *decoding)
{
	if (LIKELY(decoding->status != ETW_DECODE_COMPLETE || !decoder->program->has_text ||
		   trusts_text(decoder) || etw_legible_decoding(decoding, &decoding->failed_field)))
		return;
	decoding->status = ETW_DECODE_MALFORMED;
	decoding->reason = "what should be text has characters that no text has";
}

/*
 * Classic events are known whose header says 32 bits while the payload has the pointers of a 64-bit kernel
 * (a session that a 32-bit program started). The size that the file's events prove comes first, else the header's;
 * the other one counts when it, and only it, makes sense.
 */
static int run_classic(struct etw_decoder *decoder, const EVENT_RECORD *record, bool is_64,
		       struct etw_decoding *ret)
{
	bool first = is_64;

	if (UNLIKELY(decoder->widths.has_wide) && !is_64)
		first = etw_widths_is_wide(&decoder->widths, decoder->file,
					   &record->EventHeader.ProviderId);
	TRY(run_program(decoder, record, first, ret));
	if (LIKELY(makes_sense(decoder, ret)))
		return 0;
	TRY(run_program(decoder, record, !first, ret));
	if (makes_sense(decoder, ret))
		return 0;
	TRY(run_program(decoder, record, is_64, ret));
	if (decoder->mends)
		doubt_text(decoder, ret);
	return 0;
}

/* Whether the size of pointers makes a difference to how an event is read. */
static bool has_pointers(const struct etw_schema *schema)
{
	for (uint16_t i = 0; i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];
		uint8_t extent = etw_schema_type(field->in_type)->extent;

		if (!(field->flags & PropertyStruct) &&
		    (extent == ETW_EXTENT_POINTER || extent == ETW_EXTENT_WBEM_SID))
			return true;
	}
	return false;
}

void etw_decoder_set_file(struct etw_decoder *decoder, uint32_t file)
{
	decoder->file = file;
}

int etw_decoder_weigh(struct etw_decoder *decoder, const EVENT_RECORD *record)
{
	const USHORT wanted = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER;
	struct etw_decoding decoding = {.record = record};
	bool is_narrow, is_wide;

	if (LIKELY((record->EventHeader.Flags & wanted) != wanted) ||
	    !etw_widths_wants(&decoder->widths, decoder->file))
		return 0;
	decoding.schema = etw_schema_store_find(decoder->store, record, &decoding.miss);
	if (!decoding.schema || !has_pointers(decoding.schema))
		return 0;
	TRY(run_program(decoder, record, /* is_64= */ false, &decoding));
	is_narrow = makes_sense(decoder, &decoding);
	TRY(run_program(decoder, record, /* is_64= */ true, &decoding));
	is_wide = makes_sense(decoder, &decoding);
	return etw_widths_add(&decoder->widths, decoder->file, &record->EventHeader.ProviderId,
			      is_narrow, is_wide);
}

/* Of a schema that was just run, in the order in which they are tried; NULL behind the last. */
static int find_mended(struct etw_decoder *decoder, const struct etw_schema *schema, unsigned nth,
		       const struct etw_schema **ret)
{
	struct entry *entry = find_entry(decoder->entries, decoder->slots, schema);

	for (unsigned i = 0; i < ETW_SCHEMA_MENDS_MAX && !entry->is_judged; i++) {
		if (!entry->mended[i])
			TRY(etw_schema_mend(schema, i, &entry->mended[i]));
	}
	entry->is_judged = true;
	*ret = nth < ETW_SCHEMA_MENDS_MAX ? entry->mended[nth] : NULL;
	return 0;
}

/* Bytes are left over: a mended schema counts when it fits to the last byte. */
static int run_mended(struct etw_decoder *decoder, const EVENT_RECORD *record, bool is_64,
		      struct etw_decoding *ret)
{
	const struct etw_schema *given = ret->schema;
	const struct etw_schema *mended;

	for (unsigned nth = 0;; nth++) {
		TRY(find_mended(decoder, given, nth, &mended));
		if (!mended)
			break;
		ret->schema = mended;
		TRY(run_program(decoder, record, is_64, ret));
		if (ret->status == ETW_DECODE_COMPLETE)
			return 0;
	}
	if (ret->schema == given)
		return 0;
	ret->schema = given;
	return run_program(decoder, record, is_64, ret);
}

/* A piece of an EventSource's manifest, which never describes it itself. */
static bool is_manifest_data(const EVENT_RECORD *record)
{
	return etw_embedded_is_chunk(&record->EventHeader.EventDescriptor) &&
	       !(record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER);
}

static int run_schema(struct etw_decoder *decoder, const EVENT_RECORD *record,
		      struct etw_decoding *ret)
{
	bool is_64 = !(record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER);

	if (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		return run_classic(decoder, record, is_64, ret);
	TRY(run_program(decoder, record, is_64, ret));
	if (!decoder->mends)
		return 0;
	if (UNLIKELY(ret->status == ETW_DECODE_EXTRA))
		TRY(run_mended(decoder, record, is_64, ret));
	doubt_text(decoder, ret);
	return 0;
}

/* The first layout does not use up the payload: another one counts that does; where none does, the first. */
static int run_others(struct etw_decoder *decoder, const EVENT_RECORD *record,
		      struct etw_decoding *ret, const struct etw_schema *first)
{
	const struct etw_schema *other = etw_schema_store_next(decoder->store, record, first);

	if (!other)
		return 0;
	for (; other; other = etw_schema_store_next(decoder->store, record, other)) {
		ret->schema = other;
		TRY(run_schema(decoder, record, ret));
		if (ret->status == ETW_DECODE_COMPLETE)
			return 0;
	}
	ret->schema = first;
	return run_schema(decoder, record, ret);
}

int etw_decoder_run(struct etw_decoder *decoder, const EVENT_RECORD *record,
		    struct etw_decoding *ret)
{
	const struct etw_schema *first;

	ret->record = record;
	ret->schema = first = etw_schema_store_find(decoder->store, record, &ret->miss);
	if (UNLIKELY(!first) && is_manifest_data(record)) {
		ret->schema = etw_embedded_schema();
		ret->miss = ETW_SCHEMA_FOUND;
		return run_schema(decoder, record, ret);
	}
	if (!first) {
		ret->wpp_form = NULL;
		ret->items = NULL;
		ret->item_count = 0;
		ret->consumed = 0;
		ret->status = ETW_DECODE_NO_SCHEMA;
		ret->failed_field = 0;
		ret->reason = miss_reason(ret->miss);
		return 0;
	}
	TRY(run_schema(decoder, record, ret));
	if (LIKELY(ret->status == ETW_DECODE_COMPLETE))
		return 0;
	return run_others(decoder, record, ret, first);
}

int etw_decoder_choose(struct etw_decoder *decoder, const EVENT_RECORD *record,
		       const struct etw_schema **ret, enum etw_schema_miss *ret_why)
{
	struct etw_decoding decoding = {.record = record};
	bool is_alone;

	*ret = etw_schema_store_find_choice(decoder->store, record, ret_why, &is_alone);
	if (LIKELY(is_alone || !*ret))
		return 0;
	TRY(etw_decoder_run(decoder, record, &decoding));
	*ret = decoding.schema;
	return 0;
}
