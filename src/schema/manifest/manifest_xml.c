/* SPDX-License-Identifier: MIT */
/* Expat's events as a tree. */
#include "schema/manifest/manifest_xml.h"

#include <assert.h>
#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "base/utf.h"
#include "schema/manifest/manifest_limits.h"

#define STRUCTURE "manifest"

struct builder {
	struct etw_arena *arena;
	XML_Parser parser;
	struct etw_xml_element *root;
	struct etw_xml_element *open; /* innermost element under construction */
	const char **place;           /* that the text being collected belongs to; NULL: to none */
	struct etw_text text;         /* owned; collected since the last tag */
	unsigned depth;
	size_t count;
	int error;
	uint64_t column; /* of what was refused, from 1 */
	struct etw_fault *reterr;
};

static void stop(struct builder *builder, int error)
{
	builder->error = error;
	(void)XML_StopParser(builder->parser, XML_FALSE);
}

static void refuse(struct builder *builder, const char *sentence)
{
	uint64_t line = XML_GetCurrentLineNumber(builder->parser);

	stop(builder, etw_fault_set(builder->reterr, -EBADMSG, line, STRUCTURE, NULL, sentence));
	builder->column = XML_GetCurrentColumnNumber(builder->parser) + 1;
}

/* A tag ends the text before it. */
static void keep_text(struct builder *builder)
{
	const char *text = etw_text_string(&builder->text);

	if (etw_text_error(&builder->text) < 0) {
		stop(builder, -ENOMEM);
		return;
	}
	if (builder->place && text[strspn(text, " \t\r\n")]) {
		*builder->place = etw_arena_strdup(builder->arena, text);
		if (!*builder->place)
			stop(builder, -ENOMEM);
	}
	etw_text_clear(&builder->text);
}

static void XMLCALL see_text(void *context, const XML_Char *text, int bytes)
{
	struct builder *builder = context;

	if (!builder->error)
		etw_text_append(&builder->text, text, (size_t)bytes);
}

static const char *without_prefix(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : name;
}

static int copy_attributes(struct builder *builder, struct etw_xml_element *element,
			   const XML_Char **pairs)
{
	struct etw_xml_attribute *attributes;
	size_t count = 0;

	while (pairs[2 * count])
		count++;
	if (!count)
		return 0;
	if (count > ETW_MANIFEST_ATTRIBUTES_MAX)
		return -E2BIG;
	attributes = etw_arena_array(builder->arena, count, sizeof(*attributes));
	if (!attributes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		attributes[i].name = etw_arena_strdup(builder->arena, pairs[2 * i]);
		attributes[i].value = etw_arena_strdup(builder->arena, pairs[2 * i + 1]);
		if (!attributes[i].name || !attributes[i].value)
			return -ENOMEM;
	}
	element->attributes = attributes;
	element->attribute_count = count;
	return 0;
}

static void XMLCALL begin_element(void *context, const XML_Char *name, const XML_Char **pairs)
{
	struct builder *builder = context;
	struct etw_xml_element *element;
	struct etw_xml_element *parent = builder->open;
	int r;

	keep_text(builder);
	if (builder->error)
		return;
	if (builder->depth == ETW_MANIFEST_DEPTH_MAX) {
		refuse(builder, "elements are nested too deeply");
		return;
	}
	if (builder->count++ == ETW_MANIFEST_ELEMENTS_MAX) {
		refuse(builder, "the manifest has too many elements");
		return;
	}
	element = etw_arena_alloc(builder->arena, sizeof(*element));
	r = element ? copy_attributes(builder, element, pairs) : -ENOMEM;
	if (r == -E2BIG) {
		refuse(builder, "an element has too many attributes");
		return;
	}
	if (r < 0) {
		stop(builder, r);
		return;
	}
	element->full_name = etw_arena_strdup(builder->arena, name);
	if (!element->full_name) {
		stop(builder, -ENOMEM);
		return;
	}
	element->name = without_prefix(element->full_name);
	element->line = XML_GetCurrentLineNumber(builder->parser);
	element->column = XML_GetCurrentColumnNumber(builder->parser) + 1;
	element->parent = parent;
	if (!parent)
		builder->root = element;
	else if (parent->last_child)
		parent->last_child->next = element;
	else
		parent->first_child = element;
	if (parent)
		parent->last_child = element;
	builder->open = element;
	builder->place = &element->text;
	builder->depth++;
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
	struct builder *builder = context;

	(void)name;
	if (builder->error || !builder->open)
		return;
	keep_text(builder);
	builder->place = &builder->open->tail;
	builder->open = builder->open->parent;
	builder->depth--;
}

static void XMLCALL see_entity(void *context, const XML_Char *name, int is_parameter,
			       const XML_Char *value, int value_length, const XML_Char *base,
			       const XML_Char *system_id, const XML_Char *public_id,
			       const XML_Char *notation)
{
	(void)name;
	(void)is_parameter;
	(void)value;
	(void)value_length;
	(void)base;
	(void)system_id;
	(void)public_id;
	(void)notation;
	refuse(context, "entity declarations are not accepted");
}

static void XMLCALL see_attribute_list(void *context, const XML_Char *element,
				       const XML_Char *attribute, const XML_Char *type,
				       const XML_Char *value, int is_required)
{
	(void)element;
	(void)attribute;
	(void)type;
	(void)value;
	(void)is_required;
	refuse(context, "attribute declarations are not accepted");
}

/*
 * The encoding to force, or NULL to believe the document. Editors leave wrong declarations behind, so
 * the bytes are asked first.
 */
static const char *find_encoding(const char *text, size_t bytes)
{
	const uint8_t *at = (const uint8_t *)text;

	if (bytes >= 2 && ((at[0] == 0xff && at[1] == 0xfe) || (at[0] && !at[1])))
		return "UTF-16LE";
	if (bytes >= 2 && ((at[0] == 0xfe && at[1] == 0xff) || (!at[0] && at[1])))
		return "UTF-16BE";
	return etw_utf8_is_valid(at, bytes) ? "UTF-8" : NULL;
}

static const char *sentence_of(enum XML_Error error)
{
	switch (error) {
	case XML_ERROR_UNKNOWN_ENCODING:
	case XML_ERROR_INCORRECT_ENCODING:
		return "the encoding is not supported";
	case XML_ERROR_TAG_MISMATCH:
		return "the end tag is of another element than the one that is open";
	case XML_ERROR_DUPLICATE_ATTRIBUTE:
		return "an attribute is given twice";
	case XML_ERROR_UNDEFINED_ENTITY:
		return "the entity is none that XML defines";
	case XML_ERROR_NO_ELEMENTS:
	case XML_ERROR_UNCLOSED_TOKEN:
		return "the text ends before its elements are closed";
	case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
		return "the text goes on behind its only element";
	default:
		return "the text is not well-formed XML";
	}
}

static int run(struct builder *builder, const char *text, size_t bytes)
{
	enum XML_Error error;

	XML_SetUserData(builder->parser, builder);
	XML_SetElementHandler(builder->parser, begin_element, end_element);
	XML_SetCharacterDataHandler(builder->parser, see_text);
	XML_SetEntityDeclHandler(builder->parser, see_entity);
	XML_SetAttlistDeclHandler(builder->parser, see_attribute_list);
	if (XML_Parse(builder->parser, text, (int)bytes, XML_TRUE) == XML_STATUS_OK)
		return 0;
	if (builder->error)
		return builder->error;
	error = XML_GetErrorCode(builder->parser);
	if (error == XML_ERROR_NO_MEMORY)
		return -ENOMEM;
	refuse(builder, sentence_of(error));
	return builder->error;
}

int etw_xml_parse(struct etw_arena *arena, const char *text, size_t bytes,
		  struct etw_xml_element **ret, struct etw_fault *reterr)
{
	uint64_t column;

	return etw_xml_parse_at(arena, text, bytes, ret, reterr, &column);
}

int etw_xml_parse_at(struct etw_arena *arena, const char *text, size_t bytes,
		     struct etw_xml_element **ret, struct etw_fault *reterr, uint64_t *ret_column)
{
	struct builder builder = {.arena = arena, .reterr = reterr, .column = 1};
	const char *encoding;
	int r;

	static_assert(ETW_MANIFEST_BYTES_MAX <= INT_MAX, "expat counts in int");
	*ret_column = 1;
	if (bytes > ETW_MANIFEST_BYTES_MAX)
		return etw_fault_set(reterr, -EBADMSG, 1, STRUCTURE, NULL,
				     "the manifest is larger than the limit");
	encoding = find_encoding(text, bytes);
	builder.parser = XML_ParserCreate(encoding);
	if (!builder.parser)
		return -ENOMEM;
	r = run(&builder, text, bytes);
	XML_ParserFree(builder.parser);
	*ret_column = builder.column;
	etw_text_done(&builder.text);
	if (r == 0)
		*ret = builder.root;
	return r;
}

const char *etw_xml_attribute(const struct etw_xml_element *element, const char *name)
{
	for (size_t i = 0; i < element->attribute_count; i++) {
		if (strcmp(element->attributes[i].name, name) == 0)
			return element->attributes[i].value;
	}
	return NULL;
}

static const struct etw_xml_element *skip_to(const struct etw_xml_element *element,
					     const char *name)
{
	while (element && strcmp(element->name, name) != 0)
		element = element->next;
	return element;
}

const struct etw_xml_element *etw_xml_first(const struct etw_xml_element *element, const char *name)
{
	return skip_to(element->first_child, name);
}

const struct etw_xml_element *etw_xml_next(const struct etw_xml_element *element, const char *name)
{
	return skip_to(element->next, name);
}
