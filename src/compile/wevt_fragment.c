/* SPDX-License-Identifier: MIT */
/*
 * The XML of a template's events, as binary XML with inline names and as text. Layout of binary XML:
 * [MS-EVEN6] 2.2.12; that names are inline here is seen in the message compiler's output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "compile/wevt_internal.h"

enum binary_token {
	TOKEN_END = 0x00,
	TOKEN_OPEN = 0x01,
	TOKEN_CLOSE_START = 0x02,
	TOKEN_CLOSE_EMPTY = 0x03,
	TOKEN_END_ELEMENT = 0x04,
	TOKEN_TEXT = 0x05,
	TOKEN_ATTRIBUTE = 0x06,
	TOKEN_SUBSTITUTION = 0x0d,
	TOKEN_FRAGMENT = 0x0f,
	TOKEN_MORE = 0x40, /* an element has attributes, an attribute is not the last */
};

#define NO_DEPENDENCY  UINT16_MAX
#define HASH_FACTOR    65599u
#define TEXT_UNITS_MAX UINT16_MAX

struct fragment {
	struct wevt_writer *writer;
	const struct mc_template *template_of;
	struct etw_text *text;
};

static void put8(struct fragment *fragment, unsigned value)
{
	etw_text_putc(fragment->writer->out, (char)value);
}

static void put16(struct fragment *fragment, unsigned value)
{
	le16 raw = le16_of((uint16_t)value);

	(void)etw_mc_append(fragment->writer, &raw, sizeof(raw));
}

/* A size that is known later; returns where it is. */
static size_t begin_size(struct fragment *fragment)
{
	return etw_mc_zeros(fragment->writer, sizeof(le32));
}

static void end_size(struct fragment *fragment, size_t at)
{
	etw_mc_set32(fragment->writer, at, fragment->writer->out->bytes - at - sizeof(le32));
}

static int put_units(struct fragment *fragment, const char *at, size_t bytes)
{
	struct etw_text *out = fragment->writer->out;
	size_t units = etw_utf8_put_utf16(at, bytes, NULL);
	char *to;

	if (units > TEXT_UNITS_MAX)
		return etw_mc_refuse(fragment->writer, fragment->template_of->element,
				     "a text of the template is longer than 65535 characters");
	put16(fragment, (unsigned)units);
	to = etw_text_begin(out, 2 * units);
	if (!to)
		return -ENOMEM;
	(void)etw_utf8_put_utf16(at, bytes, (uint8_t *)to);
	etw_text_end(out, to + 2 * units);
	return 0;
}

static int put_name(struct fragment *fragment, const char *name)
{
	struct etw_text *out = fragment->writer->out;
	size_t at = etw_mc_zeros(fragment->writer, sizeof(le16));
	uint32_t hash = 0;
	le16 raw;
	int r = put_units(fragment, name, strlen(name));

	if (r < 0)
		return r;
	for (size_t i = at + 2 * sizeof(le16); i < out->bytes; i += 2)
		hash = hash * HASH_FACTOR + etw_load16((const uint8_t *)out->at + i);
	raw = le16_of((uint16_t)hash);
	etw_mc_set(fragment->writer, at, &raw, sizeof(raw));
	put16(fragment, 0);
	return 0;
}

static int put_literal(struct fragment *fragment, const char *at, size_t bytes)
{
	if (!bytes)
		return 0;
	put8(fragment, TOKEN_TEXT);
	put8(fragment, 1); /* a string */
	return put_units(fragment, at, bytes);
}

static void put_substitution(struct fragment *fragment, uint16_t index,
			     const struct mc_field *field)
{
	put8(fragment, TOKEN_SUBSTITUTION);
	put16(fragment, index);
	put8(fragment, etw_mc_binary_type(field));
}

/* The field that "%n" stands for, or NULL; moves @at behind the digits. */
static const struct mc_field *take_insert(const struct fragment *fragment, const char **at)
{
	const struct mc_field *field = fragment->template_of->fields;
	char *end;
	unsigned long number;

	if (**at != '%' || (*at)[1] < '1' || (*at)[1] > '9')
		return NULL;
	number = strtoul(*at + 1, &end, 10);
	while (field && --number)
		field = field->next;
	if (field)
		*at = end;
	return field;
}

/* A text of UserData: literal, with substitutions where it says "%n". */
static int put_content(struct fragment *fragment, const char *content)
{
	const char *literal = content;
	const char *at = content;
	int r = 0;

	while (r == 0 && *at) {
		const char *insert = at;
		const struct mc_field *field = take_insert(fragment, &at);

		if (!field) {
			at++;
			continue;
		}
		r = put_literal(fragment, literal, (size_t)(insert - literal));
		put_substitution(fragment, field->index, field);
		literal = at;
	}
	return r < 0 ? r : put_literal(fragment, literal, (size_t)(at - literal));
}

/* Escapes what XML would take for markup. */
static void put_escaped(struct etw_text *text, const char *value)
{
	for (; *value; value++) {
		switch (*value) {
		case '&':
			etw_text_puts(text, "&amp;");
			break;
		case '<':
			etw_text_puts(text, "&lt;");
			break;
		case '"':
			etw_text_puts(text, "&quot;");
			break;
		default:
			etw_text_putc(text, *value);
		}
	}
}

static int put_attribute(struct fragment *fragment, const char *name, const char *value,
			 bool is_last)
{
	int r;

	put8(fragment, is_last ? TOKEN_ATTRIBUTE : TOKEN_ATTRIBUTE | TOKEN_MORE);
	r = put_name(fragment, name);
	if (r == 0)
		r = put_content(fragment, value);
	etw_text_putc(fragment->text, ' ');
	etw_text_puts(fragment->text, name);
	etw_text_puts(fragment->text, "=\"");
	put_escaped(fragment->text, value);
	etw_text_putc(fragment->text, '"');
	return r;
}

/* Opens an element up to its attributes. @ret_size: for end_size() when it is closed. */
static int open_element(struct fragment *fragment, const char *name, bool has_attributes,
			size_t *ret_size)
{
	put8(fragment, has_attributes ? TOKEN_OPEN | TOKEN_MORE : TOKEN_OPEN);
	put16(fragment, NO_DEPENDENCY);
	*ret_size = begin_size(fragment);
	etw_text_putc(fragment->text, '<');
	etw_text_puts(fragment->text, name);
	return put_name(fragment, name);
}

static int open_named(struct fragment *fragment, const char *element, const char *name,
		      size_t *ret_size)
{
	size_t attributes;
	int r = open_element(fragment, element, name, ret_size);

	if (r < 0 || !name)
		return r;
	attributes = begin_size(fragment);
	r = put_attribute(fragment, "Name", name, true);
	end_size(fragment, attributes);
	return r;
}

static void begin_content(struct fragment *fragment)
{
	put8(fragment, TOKEN_CLOSE_START);
	etw_text_putc(fragment->text, '>');
}

static void close_element(struct fragment *fragment, const char *name, size_t size)
{
	put8(fragment, TOKEN_END_ELEMENT);
	end_size(fragment, size);
	etw_text_printf(fragment->text, "</%s>", name);
}

static void close_empty(struct fragment *fragment, size_t size)
{
	put8(fragment, TOKEN_CLOSE_EMPTY);
	end_size(fragment, size);
	etw_text_puts(fragment->text, "/>");
}

static int put_field(struct fragment *fragment, const struct mc_field *field)
{
	const char *element = field->is_struct ? "ComplexData" : "Data";
	size_t size;
	int r = open_named(fragment, element, field->name, &size);

	if (r < 0)
		return r;
	begin_content(fragment);
	put_substitution(fragment, field->index, field);
	etw_text_printf(fragment->text, "%%%u", field->index + 1u);
	close_element(fragment, element, size);
	return 0;
}

static int put_event_data(struct fragment *fragment)
{
	static const char name[] = "EventData";
	size_t size;
	int r = open_named(fragment, name, fragment->template_of->name, &size);

	if (r < 0)
		return r;
	if (!fragment->template_of->fields) {
		close_empty(fragment, size);
		return 0;
	}
	begin_content(fragment);
	for (const struct mc_field *field = fragment->template_of->fields; field;
	     field = field->next) {
		r = put_field(fragment, field);
		if (r < 0)
			return r;
	}
	close_element(fragment, name, size);
	return 0;
}

static int put_run(struct fragment *fragment, const char *content)
{
	if (!content)
		return 0;
	put_escaped(fragment->text, content);
	return put_content(fragment, content);
}

static int open_as_written(struct fragment *fragment, const struct etw_xml_element *element,
			   size_t *ret_size)
{
	size_t attributes;
	int r = open_element(fragment, element->full_name, element->attribute_count, ret_size);

	if (r < 0 || !element->attribute_count)
		return r;
	attributes = begin_size(fragment);
	for (size_t i = 0; r == 0 && i < element->attribute_count; i++)
		r = put_attribute(fragment, element->attributes[i].name,
				  element->attributes[i].value, i + 1 == element->attribute_count);
	end_size(fragment, attributes);
	return r;
}

/* Whether an element has nothing but elements. */
static bool has_elements_only(const struct etw_xml_element *element)
{
	bool is_plain = element->first_child && !element->text;

	for (const struct etw_xml_element *child = element->first_child; is_plain && child;
	     child = child->next)
		is_plain = !child->tail;
	return is_plain;
}

static void break_line(struct fragment *fragment, unsigned depth)
{
	etw_text_puts(fragment->text, "\r\n");
	while (depth--)
		etw_text_putc(fragment->text, '\t');
}

/*
 * UserData as it is written; deep as the document may be, which is limited. As text it is laid out in
 * lines as the message compiler's XML library does it, which was seen for elements within elements.
 */
static int put_element(struct fragment *fragment, const struct etw_xml_element *element,
		       unsigned depth)
{
	bool is_broken = has_elements_only(element);
	size_t size;
	int r = open_as_written(fragment, element, &size);

	if (r < 0)
		return r;
	if (!element->first_child && !element->text) {
		close_empty(fragment, size);
		return 0;
	}
	begin_content(fragment);
	r = put_run(fragment, element->text);
	for (const struct etw_xml_element *child = element->first_child; r == 0 && child;
	     child = child->next) {
		if (is_broken)
			break_line(fragment, depth + 1);
		r = put_element(fragment, child, depth + 1);
		if (r == 0)
			r = put_run(fragment, child->tail);
	}
	if (is_broken)
		break_line(fragment, depth);
	close_element(fragment, element->full_name, size);
	return r;
}

int etw_mc_fragment(struct wevt_writer *writer, const struct mc_template *template_of,
		    struct etw_text *text)
{
	struct fragment fragment = {writer, template_of, text};
	const struct etw_xml_element *root = template_of->user_data
						     ? template_of->user_data->first_child
						     : NULL;
	int r;

	put8(&fragment, TOKEN_FRAGMENT);
	put8(&fragment, 1); /* version 1.1 */
	put8(&fragment, 1);
	put8(&fragment, 0); /* flags */
	r = root ? put_element(&fragment, root, 1) : put_event_data(&fragment);
	put8(&fragment, TOKEN_END);
	return r;
}
