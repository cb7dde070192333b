/* SPDX-License-Identifier: MIT */
/*
 * The pieces of a WPP message. "%10" and up are its arguments by number, "%1" to "%9" what the header and the
 * TMF say of the event, "%0" the prefix, "%!NAME!" the same by name; the rest is text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "decode/format_wpp_internal.h"

static void set_text(struct wpp_piece *piece, const char *at, size_t bytes)
{
	piece->kind = WPP_TEXT;
	piece->at = at;
	piece->bytes = bytes;
}

/* Where the argument stands in the schema; the count of arguments when there is none of this number. */
static unsigned find_argument(const struct etw_wpp_message *message, unsigned number)
{
	for (unsigned i = 0; i < message->argument_count; i++) {
		if (message->arguments[i].number == number)
			return i;
	}
	return message->argument_count;
}

/* "%10!d!" from its digits on; returns where to go on. */
static const char *read_numbered(const struct etw_wpp_message *message, const char *at,
				 struct wpp_piece *ret)
{
	const char *start = at - 1;
	unsigned number = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		number = number < UINT16_MAX ? number * 10 + (unsigned)(*at - '0') : number;
	(void)etw_wpp_conversion(&at, &ret->conversion);
	ret->number = number;
	if (!number) {
		ret->kind = WPP_PREFIX;
	} else if (number < ETW_WPP_FIRST_ARGUMENT) {
		ret->kind = WPP_VARIABLE;
	} else {
		ret->kind = WPP_ARGUMENT;
		ret->index = find_argument(message, number);
		if (ret->index == message->argument_count)
			set_text(ret, start, (size_t)(at - start));
		else
			ret->integer = etw_wpp_integer(&message->arguments[ret->index],
						       &ret->conversion);
	}
	return at;
}

/* Names that stand for a variable with its usual conversion. */
struct named_variable {
	const char *name;
	unsigned number;
	char type;
};

static const struct named_variable variables[] = {
	{"MOD", 1, 's'}, {"TYP", 2, 's'}, {"TID", 3, 'x'}, {"NOW", 4, 's'},
	{"SEQ", 7, 'x'}, {"PID", 8, 'x'}, {"CPU", 9, 'x'},
};

/* Names that stand for what the TMF says of the message. */
struct named_text {
	const char *name;
	size_t member; /* a const char * of struct etw_wpp_message */
};

static const struct named_text texts[] = {
	{"FUNC", offsetof(struct etw_wpp_message, function)},
	{"LEVEL", offsetof(struct etw_wpp_message, level)},
	{"FLAGS", offsetof(struct etw_wpp_message, flags)},
	{"FILE", offsetof(struct etw_wpp_message, source_file)},
	{"COMPNAME", offsetof(struct etw_wpp_message, component)},
	{"SUBCOMP", offsetof(struct etw_wpp_message, subcomponent)},
};

static bool is_name(const char *at, size_t bytes, const char *name)
{
	return strlen(name) == bytes && !strncasecmp(at, name, bytes);
}

static bool read_named_text(const struct etw_wpp_message *message, const char *at, size_t bytes,
			    struct wpp_piece *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text;

		if (!is_name(at, bytes, texts[i].name))
			continue;
		memcpy(&text, (const char *)message + texts[i].member, sizeof(const char *));
		set_text(ret, text ? text : "", text ? strlen(text) : 0);
		return true;
	}
	return false;
}

static bool read_named_variable(const char *at, size_t bytes, struct wpp_piece *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		if (!is_name(at, bytes, variables[i].name))
			continue;
		ret->kind = WPP_VARIABLE;
		ret->number = variables[i].number;
		ret->conversion.type = variables[i].type;
		return true;
	}
	return false;
}

/* "%!FUNC!" from the exclamation mark on; unknown names stay as they are. */
static const char *read_named(const struct etw_wpp_message *message, const char *at,
			      struct wpp_piece *ret)
{
	const char *name = at + 1, *end = strchr(name, '!');
	size_t bytes = end ? (size_t)(end - name) : 0;

	if (!bytes) {
		set_text(ret, at, 1);
		return at + 1;
	}
	if (is_name(name, bytes, "STDPREFIX"))
		ret->kind = WPP_PREFIX;
	else if (is_name(name, bytes, "LINE"))
		ret->kind = WPP_LINE;
	else if (!read_named_text(message, name, bytes, ret) &&
		 !read_named_variable(name, bytes, ret))
		set_text(ret, at - 1, bytes + 3);
	return end + 1;
}

/* One escape, from behind its percent sign. */
static const char *read_escape(const struct etw_wpp_message *message, const char *at,
			       struct wpp_piece *ret)
{
	static const char letters[] = "nrtb";
	static const char meanings[] = "\n\r\t ";
	const char *letter;

	if (*at >= '0' && *at <= '9')
		return read_numbered(message, at, ret);
	if (*at == '!')
		return read_named(message, at, ret);
	if (!*at) {
		set_text(ret, at - 1, 1);
		return at;
	}
	letter = strchr(letters, *at);
	/* "%%", "%." and what has no meaning: the character itself. */
	set_text(ret, letter ? &meanings[letter - letters] : at, 1);
	return at + 1;
}

const char *etw_wpp_piece(const struct etw_wpp_message *message, const char *at,
			  struct wpp_piece *ret)
{
	size_t plain = strcspn(at, "%");

	*ret = (struct wpp_piece){.conversion = {.precision = -1, .type = 's'}};
	if (!plain)
		return read_escape(message, at + 1, ret);
	set_text(ret, at, plain);
	return at + plain;
}

int etw_wpp_form_compile(const struct etw_wpp_message *message, struct etw_wpp_form **ret)
{
	struct etw_wpp_form *form;
	struct wpp_piece piece;
	size_t count = 0;

	for (const char *at = message->text; *at; count++)
		at = etw_wpp_piece(message, at, &piece);
	form = malloc(sizeof(*form) + count * sizeof(form->pieces[0]));
	if (!form)
		return -ENOMEM;
	form->count = 0;
	for (const char *at = message->text; *at; form->count++)
		at = etw_wpp_piece(message, at, &form->pieces[form->count]);
	*ret = form;
	return 0;
}

void etw_wpp_form_free(struct etw_wpp_form *form)
{
	free(form);
}
