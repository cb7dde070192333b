/* SPDX-License-Identifier: MIT */
/*
 * A small XML document as a tree. Documents that declare entities or default attributes are refused: no manifest needs them, and
 * they are how a small file grows into a large one.
 */
#ifndef ETW_SCHEMA_MANIFEST_XML_H
#define ETW_SCHEMA_MANIFEST_XML_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

struct etw_xml_attribute {
	const char *name; /* with its prefix */
	const char *value;
};

struct etw_xml_element {
	const char *name;      /* without prefix */
	const char *full_name; /* as written */
	const char *text;      /* before the first child; NULL: nothing but blanks */
	const char *tail; /* behind the end of the element, up to the next tag; NULL: the same */
	const struct etw_xml_attribute *attributes;
	size_t attribute_count;
	uint64_t line;   /* from 1 */
	uint64_t column; /* of its "<", from 1 */
	struct etw_xml_element *parent;
	struct etw_xml_element *first_child;
	struct etw_xml_element *last_child;
	struct etw_xml_element *next; /* sibling */
};

/*
 * etw_xml_parse() - reads a document.
 *
 * @arena: the tree lives there
 *
 * Returns 0; -EBADMSG with @reterr, offset = line; -ENOMEM.
 */
int etw_xml_parse(struct etw_arena *arena, const char *text, size_t bytes,
		  struct etw_xml_element **ret, struct etw_fault *reterr);

/* etw_xml_parse_at() - the same; @ret_column, from 1, goes with the line of a fault. */
int etw_xml_parse_at(struct etw_arena *arena, const char *text, size_t bytes,
		     struct etw_xml_element **ret, struct etw_fault *reterr, uint64_t *ret_column);

/* etw_xml_attribute() - an attribute's value, or NULL. */
const char *etw_xml_attribute(const struct etw_xml_element *element, const char *name);

/* etw_xml_first() / _next() - the first child of this name, the next sibling of this name; or NULL. */
const struct etw_xml_element *etw_xml_first(const struct etw_xml_element *element,
					    const char *name);
const struct etw_xml_element *etw_xml_next(const struct etw_xml_element *element, const char *name);

#endif
