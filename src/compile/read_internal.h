/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the reader share: read.c (document and providers), read_rules.c (which elements and
 * attributes there are), read_strings.c, read_channels.c, read_names.c, read_maps.c, read_templates.c,
 * read_events.c, read_complaints.c. What returns int returns 0 or -ENOMEM: a fault of the manifest is a
 * complaint in its list, and reading goes on. Context: the one thread that reads.
 */
#ifndef ETW_COMPILE_READ_INTERNAL_H
#define ETW_COMPILE_READ_INTERNAL_H

#include "base/table.h"
#include "base/text.h"
#include "compile/model.h"
#include "schema/manifest/manifest_winmeta.h"

/* What is taken: SYMBOL_KINDS of schema/manifest, times a part. */
enum mc_part {
	MC_NAME = 0,
	MC_VALUE = 1 * SYMBOL_KINDS,
	MC_SYMBOL = 2 * SYMBOL_KINDS,
	MC_ID = 3 * SYMBOL_KINDS, /* chid, GUID */
};

struct mc_symbol {
	unsigned kind; /* a symbol_kind + an mc_part */
	const void *scope;
	const char *name;
	void *object;
};

struct mc_reader {
	struct mc_manifest *manifest;
	struct mc_provider *provider; /* the one being read */
	struct etw_table symbols;     /* struct mc_symbol, owned */
	struct etw_text text;         /* scratch, owned */
	uint64_t seed;
};

#define MC_APPEND(first, last, item)           \
	do {                                   \
		if (last)                      \
			(last)->next = (item); \
		else                           \
			(first) = (item);      \
		(last) = (item);               \
	} while (0)

/* etw_compile_new() - zeroed memory of the manifest, or NULL. */
void *etw_compile_new(struct mc_reader *reader, size_t bytes);

/* etw_compile_complain() / _warn() - adds a complaint about an element. */
int etw_compile_complain(struct mc_reader *reader, const struct etw_xml_element *element,
			 const char *format, ...) __attribute__((format(printf, 3, 4)));
int etw_compile_warn(struct mc_reader *reader, const struct etw_xml_element *element,
		     const char *format, ...) __attribute__((format(printf, 3, 4)));
int etw_compile_complain_at(struct mc_manifest *manifest, uint64_t line, uint64_t column,
			    bool is_warning, const char *text);

/* etw_compile_sort_complaints() - by line and column; those of one place stay as they are. */
int etw_compile_sort_complaints(struct mc_manifest *manifest);

/* etw_compile_claim() - takes a name; one that is taken already is complained of. NULL takes nothing. */
int etw_compile_claim(struct mc_reader *reader, const struct etw_xml_element *element,
		      unsigned kind, const void *scope, const char *name, void *object,
		      const char *what);
int etw_compile_claim_number(struct mc_reader *reader, const struct etw_xml_element *element,
			     unsigned kind, const void *scope, uint64_t number, const char *what);
int etw_compile_claim_guid(struct mc_reader *reader, const struct etw_xml_element *element,
			   unsigned kind, const void *scope, const GUID *guid, const char *what);

/* etw_compile_find() - the object that has the name, or NULL. */
void *etw_compile_find(struct mc_reader *reader, unsigned kind, const void *scope,
		       const char *name);

/* etw_compile_is_number() - whether an attribute is there and a number up to @max; else the rules complain of it. */
bool etw_compile_is_number(const struct etw_xml_element *element, const char *name, uint64_t max);

/* etw_compile_attribute_number() - of an attribute; @other when it is missing or none (which the rules tell). */
uint64_t etw_compile_attribute_number(const struct etw_xml_element *element, const char *name,
				      uint64_t other);
bool etw_compile_attribute_flag(const struct etw_xml_element *element, const char *name);

/* etw_compile_attribute_symbol() - the `symbol` attribute, or NULL when there is none or an empty one. */
const char *etw_compile_attribute_symbol(const struct etw_xml_element *element);

/* etw_compile_has_namespace() - whether a name has no prefix, or one that the element or one around it declares. */
bool etw_compile_has_namespace(const struct etw_xml_element *element, const char *name);

/* etw_compile_winmeta_name() - the name behind winmeta's prefix, or NULL. */
const char *etw_compile_winmeta_name(const struct mc_reader *reader, const char *name);

/* The parts of the document. */
int etw_compile_check_rules(struct mc_reader *reader, const struct etw_xml_element *root);
int etw_compile_read_strings(struct mc_reader *reader, const struct etw_xml_element *root);
int etw_compile_read_channels(struct mc_reader *reader);
int etw_compile_read_names(struct mc_reader *reader);
int etw_compile_read_maps(struct mc_reader *reader);
int etw_compile_read_templates(struct mc_reader *reader);
int etw_compile_read_filters(struct mc_reader *reader);
int etw_compile_read_events(struct mc_reader *reader);
int etw_compile_check_events(struct mc_reader *reader);
int etw_compile_check_symbols(struct mc_reader *reader);

/* etw_compile_message() - what an element's `message` attribute refers to; NULL: nothing. */
int etw_compile_message(struct mc_reader *reader, const struct etw_xml_element *element,
			struct mc_message **ret);

/* etw_compile_winmeta_message() - the message of one of winmeta's names. */
int etw_compile_winmeta_message(struct mc_reader *reader, enum symbol_kind kind, const char *name,
				const char *text, uint32_t id, struct mc_message **ret);

/* etw_compile_use() - the level, task, opcode or keyword that an event refers to; NULL: unknown. */
int etw_compile_use(struct mc_reader *reader, const struct etw_xml_element *element,
		    enum symbol_kind kind, const struct mc_name *task, const char *name,
		    const struct mc_name **ret);
int etw_compile_use_channel(struct mc_reader *reader, const struct etw_xml_element *element,
			    const char *name, const struct mc_channel **ret);
const struct mc_template *etw_compile_find_template(struct mc_reader *reader, const char *tid);

/* etw_compile_number_messages() - gives the messages that are used their ids. */
void etw_compile_number_messages(struct mc_manifest *manifest);

#endif
