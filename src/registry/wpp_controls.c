/* SPDX-License-Identifier: MIT */
#include "registry/wpp_controls.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"

#define CONTROL_MARK "// TMC: "
#define FLAG_MARK    "// TMC_FLAG: "

/* A name ends with its line. */
static void put_line(struct etw_text *text, const char *name)
{
	for (; name && *name; name++)
		etw_text_putc(text, (unsigned char)*name < ' ' ? ' ' : *name);
	etw_text_putc(text, '\n');
}

static void put_control(const struct etw_provider_schema *control, struct etw_text *text)
{
	char guid[ETW_GUID_BARE_BYTES];

	etw_guid_format(&control->guid, guid);
	etw_text_puts(text, CONTROL_MARK);
	etw_text_puts(text, guid);
	etw_text_putc(text, ' ');
	put_line(text, control->name);
	for (size_t i = 0; i < control->keyword_count && i < ETW_PDB_CONTROL_FLAGS_MAX; i++) {
		etw_text_puts(text, FLAG_MARK);
		put_line(text, control->keywords[i].name);
	}
}

void etw_registry_controls_write(const struct etw_provider_schema *controls, size_t count,
				 struct etw_text *text)
{
	for (size_t i = 0; i < count && i < ETW_PDB_CONTROLS_MAX; i++)
		put_control(&controls[i], text);
}

/* Whether the line has a mark; what follows it is left in @line then. */
static bool take_mark(struct etw_bytes *line, const char *mark)
{
	size_t bytes = strlen(mark);

	if (line->left < bytes || memcmp(line->at, mark, bytes) != 0)
		return false;
	(void)etw_bytes_take(line, bytes);
	return true;
}

static struct etw_bytes take_line(struct etw_bytes *text)
{
	const uint8_t *end = text->left ? memchr(text->at, '\n', text->left) : NULL;
	size_t bytes = end ? (size_t)(end - text->at) : text->left;
	struct etw_bytes line = {text->at, bytes};

	(void)etw_bytes_take(text, end ? bytes + 1 : bytes);
	return line;
}

/* What was made of a PDB is UTF-8; a TMF file that somebody else wrote is stored as it came. */
static char *copy_line(struct etw_arena *arena, struct etw_bytes line)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	if (line.left && line.at[line.left - 1] == '\r')
		line.left--;
	etw_text_ansi(&text, line.at, line.left);
	if (etw_text_error(&text))
		return NULL;
	return etw_arena_strndup(arena, etw_text_string(&text), text.bytes);
}

/* "GUID name"; false for what is none. */
static bool take_guid(struct etw_bytes *line, GUID *ret)
{
	char guid[ETW_GUID_BARE_BYTES] = "";
	const uint8_t *at = etw_bytes_take(line, sizeof(guid)); /* with the blank behind it */

	if (!at)
		return false;
	memcpy(guid, at, sizeof(guid) - 1);
	return etw_guid_parse(guid, ret) == 0;
}

static int add_control(struct etw_arena *arena, struct etw_definition *definition,
		       struct etw_bytes line)
{
	struct etw_provider_schema *control = &definition->providers[definition->provider_count];
	GUID guid;

	if (definition->provider_count == ETW_PDB_CONTROLS_MAX || !take_guid(&line, &guid))
		return 0;
	control->guid = control->control_guid = guid;
	control->source = DecodingSourceWPP;
	control->name = copy_line(arena, line);
	if (!control->name)
		return -ENOMEM;
	definition->provider_count++;
	return 0;
}

static int add_flag(struct etw_arena *arena, struct etw_definition *definition,
		    struct etw_bytes line)
{
	struct etw_provider_schema *control;
	struct etw_named *flags;

	if (!definition->provider_count)
		return 0;
	control = &definition->providers[definition->provider_count - 1];
	if (control->keyword_count == ETW_PDB_CONTROL_FLAGS_MAX)
		return 0;
	if (!control->keywords)
		control->keywords = etw_arena_array(arena, ETW_PDB_CONTROL_FLAGS_MAX,
						    sizeof(*flags));
	/* Its own array until it is handed out. */
	flags = (struct etw_named *)control->keywords;
	if (!flags)
		return -ENOMEM;
	flags += control->keyword_count;
	flags->value = UINT64_C(1) << control->keyword_count;
	flags->name = copy_line(arena, line);
	if (!flags->name)
		return -ENOMEM;
	control->keyword_count++;
	return 0;
}

static size_t count_controls(struct etw_bytes text)
{
	size_t count = 0;

	while (text.left) {
		struct etw_bytes line = take_line(&text);

		count += take_mark(&line, CONTROL_MARK);
	}
	return count < ETW_PDB_CONTROLS_MAX ? count : ETW_PDB_CONTROLS_MAX;
}

int etw_registry_controls_read(struct etw_arena *arena, struct etw_bytes text,
			       struct etw_definition **ret)
{
	size_t room = count_controls(text);
	struct etw_definition *definition;

	*ret = NULL;
	if (!room)
		return 0;
	definition = etw_arena_alloc(arena, sizeof(*definition));
	if (!definition)
		return -ENOMEM;
	/* One more than is used: the next one is prepared before it is known to be one. */
	definition->providers = etw_arena_array(arena, room + 1, sizeof(*definition->providers));
	if (!definition->providers)
		return -ENOMEM;
	while (text.left) {
		struct etw_bytes line = take_line(&text);

		if (take_mark(&line, CONTROL_MARK))
			TRY(add_control(arena, definition, line));
		else if (take_mark(&line, FLAG_MARK))
			TRY(add_flag(arena, definition, line));
	}
	*ret = definition->provider_count ? definition : NULL;
	return 0;
}

bool etw_registry_has_messages(struct etw_bytes text)
{
	static const char begin[] = "#typev";

	return text.left && memmem(text.at, text.left, begin, sizeof(begin) - 1);
}
