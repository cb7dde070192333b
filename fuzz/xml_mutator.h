/* SPDX-License-Identifier: MIT */
/*
 * Changes to XML text that leave it well-formed, so that a fuzzer gets past the XML parser: attributes
 * take values of other attributes or of a dictionary or are left out, elements without children are
 * doubled, moved or left out. For a target's LLVMFuzzerCustomMutator().
 */
#ifndef ETW_FUZZ_XML_MUTATOR_H
#define ETW_FUZZ_XML_MUTATOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "target.h"

#define XML_SPANS_MAX 512

struct xml_span {
	size_t at;
	size_t bytes;
};

struct xml_text {
	uint8_t *at;
	size_t bytes;
	size_t limit;
	uint64_t random;
	struct xml_span attributes[XML_SPANS_MAX]; /* ` name="value"` */
	struct xml_span values[XML_SPANS_MAX];     /* what is between the quotes of the same one */
	size_t attribute_count;
	struct xml_span elements[XML_SPANS_MAX]; /* `<name .../>` */
	size_t element_count;
	size_t tags[XML_SPANS_MAX]; /* places between elements */
	size_t tag_count;
};

static inline size_t xml_random(struct xml_text *text, size_t below)
{
	text->random = text->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return below ? (size_t)(text->random >> 33) % below : 0;
}

static inline size_t xml_find(const struct xml_text *text, size_t from, size_t end, int c)
{
	const uint8_t *found = from < end ? memchr(text->at + from, c, end - from) : NULL;

	return found ? (size_t)(found - text->at) : end;
}

static inline void xml_scan_attributes(struct xml_text *text, size_t from, size_t end)
{
	while (from < end && text->attribute_count < XML_SPANS_MAX) {
		size_t equals = xml_find(text, from, end, '=');
		size_t start = equals;
		size_t close;

		if (equals + 2 >= end)
			return;
		close = xml_find(text, equals + 2, end, text->at[equals + 1]);
		while (start > from && text->at[start - 1] > ' ')
			start--;
		if (start > from && close < end) {
			text->attributes[text->attribute_count] =
				(struct xml_span){start - 1, close + 1 - (start - 1)};
			text->values[text->attribute_count++] =
				(struct xml_span){equals + 2, close - equals - 2};
		}
		from = close + 1;
	}
}

static inline void xml_scan(struct xml_text *text)
{
	size_t at = 0;

	while ((at = xml_find(text, at, text->bytes, '<')) < text->bytes) {
		size_t end = xml_find(text, at, text->bytes, '>');

		if (end == text->bytes)
			return;
		if (text->tag_count < XML_SPANS_MAX)
			text->tags[text->tag_count++] = at;
		if (text->at[end - 1] == '/' && text->element_count < XML_SPANS_MAX)
			text->elements[text->element_count++] = (struct xml_span){at, end + 1 - at};
		xml_scan_attributes(text, at, end);
		at = end;
	}
}

/* Puts @bytes of @from in place of a span; false when there is no room. */
static inline int xml_replace(struct xml_text *text, struct xml_span span, const void *from,
			      size_t bytes)
{
	uint8_t copy[1024];
	size_t rest = text->bytes - span.at - span.bytes;

	if (bytes > sizeof(copy) || text->bytes - span.bytes + bytes > text->limit)
		return 0;
	if (bytes)
		memcpy(copy, from, bytes);
	memmove(text->at + span.at + bytes, text->at + span.at + span.bytes, rest);
	if (bytes)
		memcpy(text->at + span.at, copy, bytes);
	text->bytes = span.at + bytes + rest;
	return 1;
}

static inline int xml_change_value(struct xml_text *text, const char *const *words,
				   size_t word_count)
{
	const struct xml_span to = text->values[xml_random(text, text->attribute_count)];
	const struct xml_span from = text->values[xml_random(text, text->attribute_count)];
	const char *word = words[xml_random(text, word_count)];

	switch (xml_random(text, 4)) {
	case 0:
		return xml_replace(text, to, word, strlen(word));
	case 1: /* one more character, or one less */
		if (to.bytes && xml_random(text, 2))
			return xml_replace(text, (struct xml_span){to.at, 1}, NULL, 0);
		return xml_replace(text, (struct xml_span){to.at + to.bytes, 0}, word, 1);
	default:
		return xml_replace(text, to, text->at + from.at, from.bytes);
	}
}

static inline int xml_change_attribute(struct xml_text *text)
{
	const struct xml_span from = text->attributes[xml_random(text, text->attribute_count)];
	const struct xml_span to = text->attributes[xml_random(text, text->attribute_count)];

	if (xml_random(text, 2))
		return xml_replace(text, from, NULL, 0);
	return xml_replace(text, (struct xml_span){to.at + to.bytes, 0}, text->at + from.at,
			   from.bytes);
}

static inline int xml_change_element(struct xml_text *text)
{
	const struct xml_span from = text->elements[xml_random(text, text->element_count)];
	const struct xml_span to = {text->tags[xml_random(text, text->tag_count)], 0};

	if (!xml_random(text, 3))
		return xml_replace(text, from, NULL, 0);
	return xml_replace(text, to, text->at + from.at, from.bytes);
}

/* One to four changes, which keep the text well-formed; now and then it may become anything. Returns the new size. */
static inline size_t xml_mutate(uint8_t *data, size_t bytes, size_t limit, unsigned seed,
				const char *const *words, size_t word_count)
{
	struct xml_text text = {.at = data, .bytes = bytes, .limit = limit, .random = seed};
	size_t changes = 1 + xml_random(&text, 4);

	if (LLVMFuzzerMutate && seed % 10 == 0)
		return LLVMFuzzerMutate(data, bytes, limit);
	for (size_t i = 0; i < changes; i++) {
		text.attribute_count = text.element_count = text.tag_count = 0;
		xml_scan(&text);
		switch (xml_random(&text, 8)) {
		case 0:
		case 1:
			if (text.element_count)
				(void)xml_change_element(&text);
			break;
		case 2:
			if (text.attribute_count)
				(void)xml_change_attribute(&text);
			break;
		default:
			if (text.attribute_count)
				(void)xml_change_value(&text, words, word_count);
			break;
		}
	}
	return text.bytes;
}

#endif
