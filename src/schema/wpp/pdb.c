/* SPDX-License-Identifier: MIT */
/*
 * Walks the modules of the DBI stream and the symbols of each. Annotations stand within the scope of the
 * procedure whose code they annotate, which gives the function's name.
 */
#include "schema/wpp/pdb.h"

#include <errno.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "schema/wpp/controls.h"
#include "schema/wpp/pdb_internal.h"

#define STREAM_PDB          1
#define STREAM_DBI          3
#define NO_STREAM           0xFFFF
#define PDB_HEADER_BYTES    28
#define DBI_HEADER_BYTES    64
#define DBI_SIGNATURE       UINT32_MAX
#define MODULE_BYTES        64
#define SYMBOLS_C13         4
#define PROCEDURE_NAME_AT   39 /* from the start of the record */
#define ANNOTATION_COUNT_AT 10
#define ANNOTATION_TEXT_AT  12
#define NAMES_FACTOR        ((size_t)4) /* how much longer names of functions may be than the file */

enum symbol_kind {
	SYMBOL_ANNOTATION = 0x1019,
	SYMBOL_LOCAL_PROCEDURE = 0x110F,
	SYMBOL_GLOBAL_PROCEDURE = 0x1110,
	SYMBOL_LOCAL_PROCEDURE_ID = 0x1146,
	SYMBOL_GLOBAL_PROCEDURE_ID = 0x1147,
	SYMBOL_LOCAL_PROCEDURE_DPC = 0x1155,
	SYMBOL_LOCAL_PROCEDURE_DPC_ID = 0x1156,
};

struct walk {
	struct etw_arena *arena;
	struct etw_pdb *pdb;
	struct tmf_reader reader;
	struct etw_text line;
	struct etw_table numbers;             /* struct etw_wpp_message by GUID and number */
	struct etw_provider_schema *controls; /* owned until the end */
	size_t control_room;
	uint64_t annotation; /* counts them, as the line number of faults */
	/* The procedure whose scope the walk is in; borrowed from the stream. */
	const char *function;
	size_t function_bytes;
	size_t function_end;
	uint16_t global;           /* stream of the global symbols */
	const char *function_copy; /* of the arena, made when the first message wants it */
	size_t names_left;         /* bytes of functions' names that messages may still have */
};

static int fail(uint64_t offset, const char *structure, const char *sentence,
		struct etw_fault *reterr)
{
	return etw_fault_set(reterr, -EBADMSG, offset, structure, NULL, sentence);
}

void etw_pdb_note(struct etw_pdb *pdb, uint64_t offset, const char *structure, const char *sentence)
{
	if (!pdb->damage_count++)
		pdb->first_damage = (struct etw_fault){offset, structure, NULL, sentence};
}

bool etw_pdb_take_string(struct etw_bytes *bytes, struct tmf_span *ret)
{
	const uint8_t *nul = bytes->left ? memchr(bytes->at, 0, bytes->left) : NULL;

	if (!nul)
		return false;
	*ret = (struct tmf_span){(const char *)bytes->at, (size_t)(nul - bytes->at)};
	(void)etw_bytes_take(bytes, ret->bytes + 1);
	return true;
}

static bool is_text(struct tmf_span span, const char *text)
{
	return span.bytes == strlen(text) && !memcmp(span.at, text, span.bytes);
}

char *etw_pdb_copy_name(struct etw_arena *arena, struct etw_text *scratch, struct tmf_span span)
{
	etw_text_clear(scratch);
	etw_text_ansi(scratch, (const uint8_t *)span.at, span.bytes);
	if (etw_text_error(scratch))
		return NULL;
	for (size_t i = 0; i < scratch->bytes; i++) {
		if (scratch->at[i] == '\n' || scratch->at[i] == '\r')
			scratch->at[i] = ' ';
	}
	return etw_arena_strndup(arena, etw_text_string(scratch), scratch->bytes);
}

/* A line of an annotation is one string. */
static int feed_line(struct walk *walk, struct tmf_span span, struct etw_fault *reterr)
{
	etw_text_clear(&walk->line);
	etw_text_ansi(&walk->line, (const uint8_t *)span.at, span.bytes);
	TRY(etw_text_error(&walk->line));
	if (!walk->line.bytes)
		return 0;
	return etw_tmf_reader_line(&walk->reader, walk->line.at, walk->line.bytes, walk->annotation,
				   reterr);
}

static int feed_lines(struct walk *walk, struct etw_bytes strings, struct etw_fault *reterr)
{
	struct tmf_span span;

	/* Each annotation has a section of its own, usually the same as the last one. */
	walk->reader.has_section = false;
	while (etw_pdb_take_string(&strings, &span))
		TRY(feed_line(walk, span, reterr));
	if (walk->reader.state != TMF_OUTSIDE)
		return etw_fault_set(reterr, -EBADMSG, walk->annotation, "annotation", NULL,
				     "an annotation ends within its message");
	return 0;
}

static bool is_same_message(const void *item, const void *key)
{
	const struct etw_wpp_message *left = item, *right = key;

	return left->number == right->number && etw_guid_equal(&left->guid, &right->guid);
}

/* One name serves all messages of its function, but whoever shows or stores them repeats it. */
static int name_function(struct walk *walk, struct etw_wpp_message *message)
{
	const struct tmf_span name = {walk->function, walk->function_bytes};

	if (name.bytes > walk->names_left) {
		etw_pdb_note(walk->pdb, walk->annotation, "annotation",
			     "the names of the functions are out of proportion to the file");
		return 0;
	}
	walk->names_left -= name.bytes;
	if (!walk->function_copy)
		walk->function_copy = etw_pdb_copy_name(walk->arena, &walk->line, name);
	message->function = walk->function_copy;
	return message->function ? 0 : -ENOMEM;
}

/* Inlined functions leave the same message in each function that holds them: the first one counts. */
static int keep_message(struct walk *walk)
{
	struct etw_wpp_message *message = walk->reader.messages[walk->reader.count - 1];
	uint64_t hash = etw_hash_mix(etw_guid_hash(&message->guid), message->number);

	if (etw_table_find(&walk->numbers, hash, is_same_message, message)) {
		walk->reader.count--;
		return 0;
	}
	if (!message->function && walk->function)
		TRY(name_function(walk, message));
	return etw_table_insert(&walk->numbers, hash, message);
}

static int read_message(struct walk *walk, struct etw_bytes strings)
{
	size_t count = walk->reader.count;
	struct etw_fault fault = {0};
	int r = feed_lines(walk, strings, &fault);

	if (r == -EBADMSG) {
		etw_pdb_note(walk->pdb, walk->annotation, "annotation", fault.sentence);
		etw_tmf_reader_drop(&walk->reader);
		walk->reader.count = count;
		return 0;
	}
	TRY(r);
	return walk->reader.count == count + 1 ? keep_message(walk) : 0;
}

static const struct etw_provider_schema *find_control(const struct walk *walk, const GUID *guid)
{
	for (size_t i = 0; i < walk->pdb->control_count; i++) {
		if (etw_guid_equal(&walk->controls[i].guid, guid))
			return &walk->controls[i];
	}
	return NULL;
}

static int add_control(struct walk *walk, const struct etw_provider_schema *control)
{
	size_t count = walk->pdb->control_count;

	if (count == walk->control_room) {
		size_t room = count ? 2 * count : 4;
		void *grown = reallocarray(walk->controls, room, sizeof(*walk->controls));

		if (!grown)
			return -ENOMEM;
		walk->controls = grown;
		walk->control_room = room;
	}
	walk->controls[walk->pdb->control_count++] = *control;
	return 0;
}

static int read_flags(struct walk *walk, struct etw_bytes strings,
		      struct etw_provider_schema *control)
{
	struct etw_named flags[ETW_PDB_CONTROL_FLAGS_MAX] = {0};
	struct tmf_span span;

	while (etw_pdb_take_string(&strings, &span)) {
		struct etw_named *flag = &flags[control->keyword_count];

		if (control->keyword_count == ETW_PDB_CONTROL_FLAGS_MAX) {
			etw_pdb_note(walk->pdb, walk->annotation, "annotation",
				     "a control GUID has more than 64 flags");
			break;
		}
		flag->value = UINT64_C(1) << control->keyword_count++;
		flag->name = etw_pdb_copy_name(walk->arena, &walk->line, span);
		if (!flag->name)
			return -ENOMEM;
	}
	control->keywords = etw_arena_copy(walk->arena, flags,
					   control->keyword_count * sizeof(*flags));
	return control->keywords ? 0 : -ENOMEM;
}

/* "TMC:", control GUID, name, flags from bit 0 up. */
static int read_control(struct walk *walk, struct etw_bytes strings)
{
	struct etw_provider_schema control = {.source = DecodingSourceWPP};
	char guid[ETW_GUID_BARE_BYTES] = "";
	struct tmf_span span;

	if (etw_pdb_take_string(&strings, &span) && span.bytes == ETW_GUID_BARE_BYTES - 1)
		memcpy(guid, span.at, span.bytes);
	if (etw_guid_parse(guid, &control.guid) || !etw_pdb_take_string(&strings, &span)) {
		etw_pdb_note(walk->pdb, walk->annotation, "annotation",
			     "a control annotation has no GUID and name");
		return 0;
	}
	if (find_control(walk, &control.guid))
		return 0;
	if (walk->pdb->control_count == ETW_PDB_CONTROLS_MAX) {
		etw_pdb_note(walk->pdb, walk->annotation, "annotation",
			     "there are more than 256 control GUIDs");
		return 0;
	}
	control.control_guid = control.guid;
	control.name = etw_pdb_copy_name(walk->arena, &walk->line, span);
	if (!control.name)
		return -ENOMEM;
	TRY(read_flags(walk, strings, &control));
	return add_control(walk, &control);
}

/* The strings of an annotation, as many as it says; padding follows them. */
static struct etw_bytes annotation_strings(struct etw_bytes record)
{
	struct etw_bytes strings = {record.at + ANNOTATION_TEXT_AT,
				    record.left - ANNOTATION_TEXT_AT};
	struct etw_bytes left = strings;
	uint16_t count = etw_load16(record.at + ANNOTATION_COUNT_AT);
	struct tmf_span unused;

	while (count && etw_pdb_take_string(&left, &unused))
		count--;
	strings.left -= left.left;
	return strings;
}

static int read_annotation(struct walk *walk, struct etw_bytes record)
{
	struct etw_bytes strings = annotation_strings(record);
	struct tmf_span kind;

	walk->annotation++;
	if (!etw_pdb_take_string(&strings, &kind))
		return 0;
	if (is_text(kind, "TMF:"))
		return read_message(walk, strings);
	if (is_text(kind, "TMC:"))
		return read_control(walk, strings);
	return 0;
}

/* @at: of the record in the stream. */
static void enter_procedure(struct walk *walk, struct etw_bytes record, size_t at)
{
	struct etw_bytes name = {record.at + PROCEDURE_NAME_AT, record.left - PROCEDURE_NAME_AT};
	struct tmf_span span;

	walk->function_copy = NULL;
	walk->function = NULL;
	walk->function_end = etw_load32(record.at + 8);
	if (walk->function_end <= at || !etw_pdb_take_string(&name, &span) || !span.bytes)
		return;
	walk->function = span.at;
	walk->function_bytes = span.bytes;
}

static bool is_procedure(uint16_t kind)
{
	return kind == SYMBOL_LOCAL_PROCEDURE || kind == SYMBOL_GLOBAL_PROCEDURE ||
	       kind == SYMBOL_LOCAL_PROCEDURE_ID || kind == SYMBOL_GLOBAL_PROCEDURE_ID ||
	       kind == SYMBOL_LOCAL_PROCEDURE_DPC || kind == SYMBOL_LOCAL_PROCEDURE_DPC_ID;
}

/* The symbols of one module, from behind the signature; offsets count from the stream's start. */
static int walk_symbols(struct walk *walk, struct etw_bytes stream)
{
	struct etw_bytes left = stream;

	(void)etw_bytes_take(&left, 4);
	walk->function = NULL;
	walk->function_copy = NULL;
	while (left.left >= 4) {
		size_t at = stream.left - left.left;
		size_t bytes = etw_load16(left.at) + 2u;
		uint16_t kind = etw_load16(left.at + 2);
		struct etw_bytes record = {left.at, bytes};

		if (bytes < 4 || !etw_bytes_take(&left, bytes)) {
			etw_pdb_note(
				walk->pdb, at, "module symbols",
				"a symbol is shorter than its head or reaches beyond its module");
			return 0;
		}
		if (at >= walk->function_end)
			walk->function = NULL;
		if (is_procedure(kind) && bytes > PROCEDURE_NAME_AT)
			enter_procedure(walk, record, at);
		else if (kind == SYMBOL_ANNOTATION && bytes > ANNOTATION_TEXT_AT)
			TRY(read_annotation(walk, record));
	}
	return 0;
}

static int read_module(struct walk *walk, const struct etw_msf *msf, uint16_t index,
		       uint32_t symbol_bytes)
{
	CLEANUP(etw_msf_stream_done) struct etw_msf_stream stream = {0};
	int r;

	if (index == NO_STREAM || symbol_bytes <= 4)
		return 0;
	r = etw_msf_stream(msf, index, &stream);
	if (r == -ENOENT) {
		etw_pdb_note(walk->pdb, index, "module",
			     "a module names a stream that does not exist");
		return 0;
	}
	TRY(r);
	if (stream.bytes.left < symbol_bytes) {
		etw_pdb_note(walk->pdb, index, "module",
			     "a module's symbols reach beyond its stream");
		return 0;
	}
	stream.bytes.left = symbol_bytes;
	if (etw_load32(stream.bytes.at) != SYMBOLS_C13) {
		etw_pdb_note(walk->pdb, index, "module",
			     "a module's symbols are of an unknown format");
		return 0;
	}
	return walk_symbols(walk, stream.bytes);
}

/* The streams of a module hold it alone: one that two modules name is read once. */
static int walk_modules(struct walk *walk, const struct etw_msf *msf, struct etw_bytes modules,
			struct etw_fault *reterr)
{
	CLEANUP(freep) uint8_t *seen = calloc(1, ETW_MSF_STREAMS_MAX / 8);
	size_t bytes = modules.left;

	if (!seen)
		return -ENOMEM;
	while (modules.left) {
		size_t at = bytes - modules.left;
		const uint8_t *module = etw_bytes_take(&modules, MODULE_BYTES);
		struct tmf_span name;
		uint16_t index;

		if (!module || !etw_pdb_take_string(&modules, &name) ||
		    !etw_pdb_take_string(&modules, &name))
			return fail(at, "module list", "a module ends outside the list", reterr);
		at = (bytes - modules.left) & 3;
		if (at && !etw_bytes_take(&modules, 4 - at))
			modules.left = 0;
		index = etw_load16(module + 34);
		if (seen[index / 8] & (1u << (index & 7)))
			continue;
		if (index != NO_STREAM)
			seen[index / 8] |= (uint8_t)(1u << (index & 7));
		TRY(read_module(walk, msf, index, etw_load32(module + 36)));
	}
	return 0;
}

static int read_identity(const struct etw_msf *msf, struct etw_pdb *pdb, struct etw_fault *reterr)
{
	CLEANUP(etw_msf_stream_done) struct etw_msf_stream stream = {0};
	int r = etw_msf_stream(msf, STREAM_PDB, &stream);

	if (r == -ENOENT || (!r && stream.bytes.left < PDB_HEADER_BYTES))
		return fail(0, "PDB stream", "the file has no PDB stream of 28 bytes", reterr);
	TRY(r);
	pdb->age = etw_load32(stream.bytes.at + 8);
	pdb->guid = etw_guid_read(stream.bytes.at + 12);
	return 0;
}

static int read_modules(struct walk *walk, const struct etw_msf *msf, struct etw_fault *reterr)
{
	CLEANUP(etw_msf_stream_done) struct etw_msf_stream stream = {0};
	uint32_t bytes;
	int r = etw_msf_stream(msf, STREAM_DBI, &stream);

	/* Type libraries and the like have none. */
	if (r == -ENOENT || (!r && !stream.bytes.left))
		return 0;
	TRY(r);
	if (stream.bytes.left < DBI_HEADER_BYTES)
		return fail(stream.bytes.left, "DBI stream", "the stream ends within its header",
			    reterr);
	if (etw_load32(stream.bytes.at) != DBI_SIGNATURE)
		return fail(0, "DBI stream", "the stream is of an unknown format", reterr);
	/* This age, not that of the PDB stream, is the one that images carry. */
	walk->pdb->age = etw_load32(stream.bytes.at + 8);
	walk->global = etw_load16(stream.bytes.at + 20);
	bytes = etw_load32(stream.bytes.at + 24);
	if (bytes > stream.bytes.left - DBI_HEADER_BYTES)
		return fail(24, "DBI stream", "the list of modules reaches beyond its stream",
			    reterr);
	return walk_modules(walk, msf,
			    (struct etw_bytes){stream.bytes.at + DBI_HEADER_BYTES, bytes}, reterr);
}

static int read_file(struct walk *walk, const struct etw_msf *msf, struct etw_fault *reterr)
{
	struct etw_pdb *pdb = walk->pdb;

	TRY(read_identity(msf, pdb, reterr));
	TRY(etw_tmf_reader_init(&walk->reader, walk->arena));
	TRY(read_modules(walk, msf, reterr));
	TRY(etw_tmf_reader_end(&walk->reader, walk->annotation, &pdb->messages, reterr));
	TRY(etw_pdb_name_enums(msf, walk->global, walk->arena, pdb));
	pdb->controls = etw_arena_copy(walk->arena, walk->controls,
				       pdb->control_count * sizeof(*walk->controls));
	if (!pdb->controls)
		return -ENOMEM;
	return etw_wpp_attach_controls(&pdb->messages, pdb->controls, pdb->control_count);
}

int etw_pdb_read(struct etw_arena *arena, struct etw_bytes file, struct etw_pdb *ret,
		 struct etw_fault *reterr)
{
	CLEANUP(etw_msf_close) struct etw_msf msf = {0};
	struct etw_arena_mark mark = etw_arena_mark(arena);
	struct etw_pdb pdb = {0};
	struct walk walk = {.arena = arena,
			    .pdb = &pdb,
			    .global = NO_STREAM,
			    .names_left = NAMES_FACTOR * file.left};
	int r;

	TRY(etw_msf_open(file, &msf, reterr));
	r = read_file(&walk, &msf, reterr);
	etw_tmf_reader_done(&walk.reader);
	etw_text_done(&walk.line);
	etw_table_done(&walk.numbers);
	free(walk.controls);
	if (r < 0)
		etw_arena_release(arena, mark);
	else
		*ret = pdb;
	return r;
}
