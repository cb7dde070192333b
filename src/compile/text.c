/* SPDX-License-Identifier: MIT */
/* The statements and messages of a message text file. */
#include "compile/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/table.h"
#include "compile/read.h"
#include "compile/read_internal.h"
#include "compile/text_internal.h"

#define SEVERITY_MAX   3u
#define FACILITY_MAX   0xfffu
#define LANGUAGE_MAX   0xffffu
#define LANGUAGES_MAX  64 /* of a file */
#define ID_MAX         0xffffu
#define CUSTOMER_BIT   0x20000000u
#define SEVERITY_SHIFT 30
#define FACILITY_SHIFT 16

enum statement {
	STATEMENT_NONE,
	STATEMENT_TYPE,
	STATEMENT_SEVERITIES,
	STATEMENT_FACILITIES,
	STATEMENT_LANGUAGES,
	STATEMENT_ID,
	STATEMENT_SEVERITY,
	STATEMENT_FACILITY,
	STATEMENT_SYMBOL,
	STATEMENT_BASE,
	STATEMENT_LANGUAGE,
};

static const char *const keywords[] = {
	[STATEMENT_TYPE] = "MessageIdTypedef",
	[STATEMENT_SEVERITIES] = "SeverityNames",
	[STATEMENT_FACILITIES] = "FacilityNames",
	[STATEMENT_LANGUAGES] = "LanguageNames",
	[STATEMENT_ID] = "MessageId",
	[STATEMENT_SEVERITY] = "Severity",
	[STATEMENT_FACILITY] = "Facility",
	[STATEMENT_SYMBOL] = "SymbolicName",
	[STATEMENT_BASE] = "OutputBase",
	[STATEMENT_LANGUAGE] = "Language",
};

/* What statements have said so far; severity, facility and language hold for later messages too. */
struct message_state {
	const struct etw_compile_text_options *options;
	const char *type;
	unsigned base;
	const struct mc_text_name *severity, *facility, *language;
	struct mc_text_message *message;  /* that statements and texts belong to; NULL: none yet */
	uint32_t last[FACILITY_MAX + 1u]; /* id of each facility */
	uint16_t id;
	bool has_id;
	struct etw_table symbols, numbers; /* owned; of messages */
};

static uint64_t hash_symbol(const struct mc_text_message *message)
{
	return etw_hash_bytes(etw_hash_seed(), message->symbol, strlen(message->symbol));
}

static bool is_same_symbol(const void *item, const void *key)
{
	const struct mc_text_message *left = item, *right = key;

	return left != right && strcmp(left->symbol, right->symbol) == 0;
}

static uint64_t hash_number(const struct mc_text_message *message)
{
	return etw_hash_mix(etw_hash_seed(), message->id);
}

static bool is_same_number(const void *item, const void *key)
{
	const struct mc_text_message *left = item, *right = key;

	return left->id == right->id;
}

/* Which statement the line goes on with; the reader stands behind its "=" then, else where it stood. */
static enum statement find_statement(struct mc_text_reader *reader)
{
	const char *start = reader->at, *word = start;
	size_t bytes;

	while (word < reader->end && isalpha((unsigned char)*word))
		word++;
	bytes = (size_t)(word - start);
	while (word < reader->end && (*word == ' ' || *word == '\t'))
		word++;
	if (!bytes || word == reader->end || *word != '=')
		return STATEMENT_NONE;
	for (size_t i = 1; i < ARRAY_SIZE(keywords); i++) {
		if (strlen(keywords[i]) == bytes && strncasecmp(keywords[i], start, bytes) == 0) {
			reader->at = word + 1;
			return (enum statement)i;
		}
	}
	return STATEMENT_NONE;
}

static int read_type(struct mc_text_reader *reader, struct message_state *state)
{
	const char *type;

	etw_compile_text_skip(reader, false);
	type = etw_compile_text_word(reader);
	if (!type)
		return -ENOMEM;
	state->type = *type ? type : state->options->type;
	return 0;
}

static int read_base(struct mc_text_reader *reader, struct message_state *state)
{
	const char *text;
	uint64_t base;

	etw_compile_text_skip(reader, false);
	text = etw_compile_text_word(reader);
	if (!text)
		return -ENOMEM;
	if (!etw_number_parse(text, 16, &base) || (base != 10 && base != 16))
		return etw_compile_text_complain(reader, "OutputBase is 10 or 16, not %s", text);
	state->base = (unsigned)base;
	return 0;
}

/* MessageId=7, MessageId=+2, or nothing, which is +1; it begins a message. */
static int read_id(struct mc_text_reader *reader, struct message_state *state)
{
	struct mc_text_file *file = reader->file;
	struct mc_text_item *item = etw_arena_alloc(&file->manifest->arena, sizeof(*item));
	const char *text = "";
	uint64_t number = 1;
	bool is_added = false;

	if (item)
		item->message = etw_arena_alloc(&file->manifest->arena, sizeof(*item->message));
	if (!item || !item->message)
		return -ENOMEM;
	item->message->texts = etw_arena_array(&file->manifest->arena, LANGUAGES_MAX,
					       sizeof(*item->message->texts));
	if (!item->message->texts)
		return -ENOMEM;
	item->message->line = reader->line;
	state->message = item->message;
	MC_APPEND(file->items, file->last_item, item);
	etw_compile_text_skip(reader, false);
	if (reader->at < reader->end && *reader->at == '+') {
		is_added = true;
		reader->at++;
	}
	if (reader->at < reader->end && isdigit((unsigned char)*reader->at))
		text = etw_compile_text_word(reader);
	else
		is_added = true;
	if (!text)
		return -ENOMEM;
	if (*text && !etw_number_parse(text, ID_MAX, &number))
		return etw_compile_text_complain(reader, "MessageId %s is none from 0 to 0xFFFF",
						 text);
	state->has_id = !is_added;
	state->id = (uint16_t)number;
	return 0;
}

static int read_choice(struct mc_text_reader *reader, struct mc_text_name *list,
		       const struct mc_text_name **chosen, const char *what)
{
	const struct mc_text_name *found;
	const char *name;

	etw_compile_text_skip(reader, false);
	name = etw_compile_text_word(reader);
	if (!name)
		return -ENOMEM;
	found = etw_compile_text_find(list, name);
	if (!found)
		return etw_compile_text_complain(reader, "there is no %s %s", what, name);
	*chosen = found;
	return 0;
}

static int read_symbol(struct mc_text_reader *reader, struct message_state *state)
{
	const char *symbol;

	etw_compile_text_skip(reader, false);
	symbol = etw_compile_text_word(reader);
	if (!symbol)
		return -ENOMEM;
	if (!state->message)
		return etw_compile_text_complain(reader, "SymbolicName has no MessageId before it");
	if (!*symbol || isdigit((unsigned char)*symbol))
		return etw_compile_text_complain(reader, "SymbolicName wants a name of C");
	state->message->symbol = symbol;
	if (etw_table_find(&state->symbols, hash_symbol(state->message), is_same_symbol,
			   state->message))
		return etw_compile_text_complain(reader, "the symbol %s is used twice", symbol);
	return etw_table_insert(&state->symbols, hash_symbol(state->message), state->message);
}

static int read_languages(struct mc_text_reader *reader)
{
	TRY(etw_compile_text_names(reader, &reader->file->languages, LANGUAGE_MAX, "language"));
	for (struct mc_text_name *at = reader->file->languages; at; at = at->next) {
		if (!at->symbol || !*at->symbol)
			TRY(etw_compile_text_complain(
				reader, "the language %s lacks its file: name=number:file",
				at->name));
	}
	return 0;
}

/* The header has the names where the file lists them. */
static int read_listed(struct mc_text_reader *reader, struct mc_text_name **list, uint32_t max,
		       const char *what)
{
	struct mc_text_file *file = reader->file;
	struct mc_text_item *item = etw_arena_alloc(&file->manifest->arena, sizeof(*item));

	if (!item)
		return -ENOMEM;
	MC_APPEND(file->items, file->last_item, item);
	return etw_compile_text_names(reader, list, max, what);
}

static int read_statement(struct mc_text_reader *reader, struct message_state *state,
			  enum statement statement)
{
	struct mc_text_file *file = reader->file;

	switch (statement) {
	case STATEMENT_TYPE:
		return read_type(reader, state);
	case STATEMENT_SEVERITIES:
		return read_listed(reader, &file->severities, SEVERITY_MAX, "severity");
	case STATEMENT_FACILITIES:
		return read_listed(reader, &file->facilities, FACILITY_MAX, "facility");
	case STATEMENT_LANGUAGES:
		return read_languages(reader);
	case STATEMENT_ID:
		return read_id(reader, state);
	case STATEMENT_SEVERITY:
		return read_choice(reader, file->severities, &state->severity, "severity");
	case STATEMENT_FACILITY:
		return read_choice(reader, file->facilities, &state->facility, "facility");
	case STATEMENT_SYMBOL:
		return read_symbol(reader, state);
	case STATEMENT_BASE:
		return read_base(reader, state);
	default:
		return read_choice(reader, file->languages, &state->language, "language");
	}
}

/* Once all statements of a message were read: its number. */
static int number_message(struct mc_text_reader *reader, struct message_state *state)
{
	struct mc_text_message *message = state->message;
	uint32_t facility = state->facility->number;
	uint64_t id = state->has_id ? state->id : (uint64_t)state->last[facility] + state->id;

	message->is_numbered = true;
	if (id > ID_MAX)
		return etw_compile_text_complain(reader,
						 "the message's id is above 0xFFFF, as the one "
						 "before it was 0x%X",
						 state->last[facility]);
	state->last[facility] = (uint32_t)id;
	message->id = state->severity->number << SEVERITY_SHIFT | facility << FACILITY_SHIFT |
		      (uint32_t)id | (state->options->is_customer ? CUSTOMER_BIT : 0);
	message->type = state->type;
	message->base = state->base;
	if (etw_table_find(&state->numbers, hash_number(message), is_same_number, message))
		return etw_compile_text_complain(reader, "the number 0x%08X is used twice",
						 message->id);
	return etw_table_insert(&state->numbers, hash_number(message), message);
}

/* The line that the reader is in, without its end; goes to the next one. */
static size_t take_line(struct mc_text_reader *reader, const char **ret)
{
	const char *end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
	size_t bytes;

	*ret = reader->at;
	if (!end)
		end = reader->end;
	bytes = (size_t)(end - reader->at);
	reader->at = end < reader->end ? end + 1 : end;
	if (end < reader->end)
		reader->line++;
	reader->line_at = reader->at;
	while (bytes && (*ret)[bytes - 1] == '\r')
		bytes--;
	return bytes;
}

/* Up to a line with nothing but a period; ends of lines are those of Windows. */
static int read_message_text(struct mc_text_reader *reader, struct message_state *state)
{
	struct mc_text_message *message = state->message;
	size_t language = state->language->index;
	struct etw_text text = {0};
	const char *line;
	bool is_first = true;

	for (;;) {
		size_t bytes;

		if (reader->at == reader->end) {
			etw_text_done(&text);
			return etw_compile_text_complain(
				reader, "the text has no end: a line with a period only");
		}
		bytes = take_line(reader, &line);
		if (bytes == 1 && *line == '.')
			break;
		if (!is_first)
			etw_text_puts(&text, "\r\n");
		etw_text_append(&text, line, bytes);
		is_first = false;
	}
	if (language < LANGUAGES_MAX)
		message->texts[language] = etw_arena_strdup(&reader->file->manifest->arena,
							    etw_text_string(&text));
	if (etw_text_error(&text) < 0 || (language < LANGUAGES_MAX && !message->texts[language])) {
		etw_text_done(&text);
		return -ENOMEM;
	}
	etw_text_done(&text);
	return 0;
}

/* A line that begins with a semicolon is for the header. */
static int keep_line(struct mc_text_reader *reader)
{
	struct mc_text_file *file = reader->file;
	struct mc_text_item *item = etw_arena_alloc(&file->manifest->arena, sizeof(*item));
	const char *line;
	size_t bytes = take_line(reader, &line);

	if (!item)
		return -ENOMEM;
	item->line = etw_arena_strndup(&file->manifest->arena, line + 1, bytes - 1);
	MC_APPEND(file->items, file->last_item, item);
	return item->line ? 0 : -ENOMEM;
}

/* The statements of a line. A text begins behind a Language, or where no statement is. */
static int read_line(struct mc_text_reader *reader, struct message_state *state)
{
	enum statement statement, last = STATEMENT_NONE;

	etw_compile_text_skip(reader, true);
	if (reader->at == reader->end)
		return 0;
	if (*reader->at == ';')
		return keep_line(reader);
	while ((statement = find_statement(reader))) {
		last = statement;
		TRY(read_statement(reader, state, statement));
		etw_compile_text_skip(reader, false);
	}
	if (last != STATEMENT_NONE && reader->at < reader->end && *reader->at != '\n') {
		const char *rest;

		TRY(etw_compile_text_complain(reader, "there is no statement here"));
		(void)take_line(reader, &rest);
		return 0;
	}
	if (last != STATEMENT_LANGUAGE && last != STATEMENT_NONE)
		return 0;
	if (!state->message) {
		const char *rest;

		TRY(etw_compile_text_complain(reader, "a text has no MessageId before it"));
		(void)take_line(reader, &rest);
		return 0;
	}
	if (last == STATEMENT_LANGUAGE && reader->at < reader->end) {
		const char *rest;

		(void)take_line(reader, &rest);
	}
	if (!state->message->is_numbered)
		TRY(number_message(reader, state));
	return read_message_text(reader, state);
}

static int add_defaults(struct mc_text_reader *reader, struct message_state *state)
{
	struct mc_text_file *file = reader->file;

	TRY(etw_compile_text_default(reader, &file->severities, "Success", 0, NULL));
	TRY(etw_compile_text_default(reader, &file->severities, "Informational", 1, NULL));
	TRY(etw_compile_text_default(reader, &file->severities, "Warning", 2, NULL));
	TRY(etw_compile_text_default(reader, &file->severities, "Error", 3, NULL));
	TRY(etw_compile_text_default(reader, &file->facilities, "Application", 0xfff, NULL));
	TRY(etw_compile_text_default(reader, &file->facilities, "System", 0xff, NULL));
	TRY(etw_compile_text_default(reader, &file->languages, "English", 0x409, "MSG00001"));
	state->severity = file->severities;
	state->facility = file->facilities;
	state->language = file->languages;
	state->base = 16;
	return 0;
}

static int read_file(struct mc_text_reader *reader, struct message_state *state)
{
	TRY(add_defaults(reader, state));
	while (reader->at < reader->end)
		TRY(read_line(reader, state));
	for (struct mc_text_name *at = reader->file->languages; at; at = at->next)
		reader->file->language_count++;
	if (reader->file->language_count > LANGUAGES_MAX)
		TRY(etw_compile_text_complain(reader, "a file has at most %d languages",
					      LANGUAGES_MAX));
	for (struct mc_text_item *at = reader->file->items; at; at = at->next) {
		if (at->message && !at->message->is_numbered)
			TRY(etw_compile_complain_at(reader->file->manifest, at->message->line, 1,
						    false, "the message has no text"));
	}
	return etw_compile_sort_complaints(reader->file->manifest);
}

int etw_compile_read_text(const char *text, size_t bytes,
			  const struct etw_compile_text_options *options, struct mc_text_file **ret)
{
	CLEANUP(etw_compile_free_textp) struct mc_text_file *file = calloc(1, sizeof(*file));
	struct mc_text_reader reader = {
		.file = file, .at = text, .end = text + bytes, .line = 1, .line_at = text};
	struct message_state *state = calloc(1, sizeof(*state));
	int r = -ENOMEM;

	if (file)
		file->manifest = calloc(1, sizeof(*file->manifest));
	if (state && file && file->manifest) {
		etw_arena_init(&file->manifest->arena);
		state->options = options;
		state->type = options->type;
		etw_table_init(&state->symbols);
		etw_table_init(&state->numbers);
		r = read_file(&reader, state);
		etw_table_done(&state->symbols);
		etw_table_done(&state->numbers);
	}
	free(state);
	if (r == 0)
		*ret = TAKE(file);
	return r;
}

void etw_compile_free_text(struct mc_text_file *file)
{
	if (!file)
		return;
	etw_compile_free(file->manifest);
	free(file);
}

void etw_compile_free_textp(struct mc_text_file **file)
{
	etw_compile_free_text(*file);
}
