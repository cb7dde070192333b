/* SPDX-License-Identifier: MIT */
/* What is wrong with a manifest, and which names in it are taken. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "compile/read_internal.h"

#define COMPLAINTS_MAX 1000 /* kept; further ones are counted */

void *etw_compile_new(struct mc_reader *reader, size_t bytes)
{
	return etw_arena_alloc(&reader->manifest->arena, bytes);
}

int etw_compile_complain_at(struct mc_manifest *manifest, uint64_t line, uint64_t column,
			    bool is_warning, const char *text)
{
	struct mc_complaint *complaint;

	if (is_warning)
		manifest->warning_count++;
	else
		manifest->error_count++;
	if (manifest->error_count + manifest->warning_count > COMPLAINTS_MAX)
		return 0;
	complaint = etw_arena_alloc(&manifest->arena, sizeof(*complaint));
	if (!complaint)
		return -ENOMEM;
	complaint->text = etw_arena_strdup(&manifest->arena, text);
	if (!complaint->text)
		return -ENOMEM;
	complaint->line = line;
	complaint->column = column;
	complaint->is_warning = is_warning;
	MC_APPEND(manifest->complaints, manifest->last_complaint, complaint);
	return 0;
}

static int complain(struct mc_reader *reader, const struct etw_xml_element *element,
		    bool is_warning, const char *format, va_list arguments)
{
	char text[512];

	(void)vsnprintf(text, sizeof(text), format, arguments);
	return etw_compile_complain_at(reader->manifest, element->line, element->column, is_warning,
				       text);
}

int etw_compile_complain(struct mc_reader *reader, const struct etw_xml_element *element,
			 const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = complain(reader, element, /* is_warning= */ false, format, arguments);
	va_end(arguments);
	return r;
}

int etw_compile_warn(struct mc_reader *reader, const struct etw_xml_element *element,
		     const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = complain(reader, element, /* is_warning= */ true, format, arguments);
	va_end(arguments);
	return r;
}

static int compare_complaints(const void *left, const void *right)
{
	const struct mc_complaint *a = *(const struct mc_complaint *const *)left;
	const struct mc_complaint *b = *(const struct mc_complaint *const *)right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

int etw_compile_sort_complaints(struct mc_manifest *manifest)
{
	struct mc_complaint **all;
	size_t count = 0;

	for (struct mc_complaint *at = manifest->complaints; at; at = at->next)
		at->number = count++;
	all = calloc(count + 1, sizeof(void *));
	if (!all)
		return -ENOMEM;
	count = 0;
	for (struct mc_complaint *at = manifest->complaints; at; at = at->next)
		all[count++] = at;
	qsort(all, count, sizeof(void *), compare_complaints);
	manifest->complaints = manifest->last_complaint = NULL;
	for (size_t i = 0; i < count; i++) {
		all[i]->next = NULL;
		MC_APPEND(manifest->complaints, manifest->last_complaint, all[i]);
	}
	free(all);
	return 0;
}

static bool is_symbol(const void *item, const void *key)
{
	const struct mc_symbol *symbol = item, *wanted = key;

	return symbol->kind == wanted->kind && symbol->scope == wanted->scope &&
	       strcmp(symbol->name, wanted->name) == 0;
}

static uint64_t hash_symbol(const struct mc_reader *reader, const struct mc_symbol *symbol)
{
	uint64_t hash = etw_hash_mix(reader->seed + symbol->kind,
				     (uint64_t)(uintptr_t)symbol->scope);

	return etw_hash_bytes(hash, symbol->name, strlen(symbol->name));
}

void *etw_compile_find(struct mc_reader *reader, unsigned kind, const void *scope, const char *name)
{
	const struct mc_symbol key = {.kind = kind, .scope = scope, .name = name};
	const struct mc_symbol *found = etw_table_find(&reader->symbols, hash_symbol(reader, &key),
						       is_symbol, &key);

	return found ? found->object : NULL;
}

int etw_compile_claim(struct mc_reader *reader, const struct etw_xml_element *element,
		      unsigned kind, const void *scope, const char *name, void *object,
		      const char *what)
{
	struct mc_symbol symbol = {.kind = kind, .scope = scope, .name = name, .object = object};
	struct mc_symbol *copy;
	uint64_t hash;

	if (!name)
		return 0;
	hash = hash_symbol(reader, &symbol);
	if (etw_table_find(&reader->symbols, hash, is_symbol, &symbol))
		return etw_compile_complain(reader, element, "the %s %s is used twice", what, name);
	copy = etw_arena_copy(&reader->manifest->arena, &symbol, sizeof(symbol));
	return copy ? etw_table_insert(&reader->symbols, hash, copy) : -ENOMEM;
}

int etw_compile_claim_number(struct mc_reader *reader, const struct etw_xml_element *element,
			     unsigned kind, const void *scope, uint64_t number, const char *what)
{
	char text[24];
	char *copy;

	(void)snprintf(text, sizeof(text), number < 65536 ? "%llu" : "0x%llx",
		       (unsigned long long)number);
	copy = etw_arena_strdup(&reader->manifest->arena, text);
	if (!copy)
		return -ENOMEM;
	return etw_compile_claim(reader, element, kind, scope, copy, copy, what);
}

int etw_compile_claim_guid(struct mc_reader *reader, const struct etw_xml_element *element,
			   unsigned kind, const void *scope, const GUID *guid, const char *what)
{
	char text[ETW_GUID_BRACED_BYTES];
	char *copy;

	etw_guid_format_braced(guid, text);
	copy = etw_arena_strdup(&reader->manifest->arena, text);
	if (!copy)
		return -ENOMEM;
	return etw_compile_claim(reader, element, kind, scope, copy, copy, what);
}

uint64_t etw_compile_attribute_number(const struct etw_xml_element *element, const char *name,
				      uint64_t other)
{
	const char *text = etw_xml_attribute(element, name);
	uint64_t number;

	return text && etw_number_parse(text, UINT64_MAX, &number) ? number : other;
}

bool etw_compile_attribute_flag(const struct etw_xml_element *element, const char *name)
{
	const char *text = etw_xml_attribute(element, name);

	return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

const char *etw_compile_attribute_symbol(const struct etw_xml_element *element)
{
	const char *symbol = etw_xml_attribute(element, "symbol");

	return symbol && *symbol ? symbol : NULL;
}

bool etw_compile_is_number(const struct etw_xml_element *element, const char *name, uint64_t max)
{
	const char *text = etw_xml_attribute(element, name);
	uint64_t number;

	return text && etw_number_parse(text, max, &number);
}

bool etw_compile_has_namespace(const struct etw_xml_element *element, const char *name)
{
	const char *colon = strchr(name, ':');

	for (; colon && element; element = element->parent) {
		for (size_t i = 0; i < element->attribute_count; i++) {
			const char *at = element->attributes[i].name;

			if (strncmp(at, "xmlns:", 6) == 0 &&
			    strncmp(at + 6, name, (size_t)(colon - name)) == 0 &&
			    !at[6 + (colon - name)])
				return true;
		}
	}
	return !colon;
}

const char *etw_compile_winmeta_name(const struct mc_reader *reader, const char *name)
{
	size_t bytes = strlen(reader->manifest->winmeta);

	return strncmp(name, reader->manifest->winmeta, bytes) == 0 && name[bytes] == ':'
		       ? name + bytes + 1
		       : NULL;
}
