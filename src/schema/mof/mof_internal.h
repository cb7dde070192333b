/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the MOF reader share: mof_lex.c (tokens), mof_parse.c (the file as a tree),
 * mof_classes.c (who is a provider, an event class, an event type), mof_fields.c (the fields of an event
 * type), mof_types.c (a property as a field), mof_map.c (qualifiers as maps and named numbers) and
 * mof_schema.c (the results).
 */
#ifndef ETW_SCHEMA_MOF_INTERNAL_H
#define ETW_SCHEMA_MOF_INTERNAL_H

#include <stdbool.h>

#include "base/table.h"
#include "schema/mof/mof.h"

enum mof_token_kind {
	MOF_END,
	MOF_IDENTIFIER, /* text */
	MOF_INTEGER,    /* number */
	MOF_REAL,
	MOF_STRING,    /* text: adjacent literals joined */
	MOF_CHARACTER, /* number: code point */
	MOF_ALIAS,     /* text, without the dollar sign */
	MOF_PRAGMA,
	MOF_PUNCTUATION, /* punctuation */
};

struct mof_token {
	enum mof_token_kind kind;
	char punctuation;
	bool is_negative;
	uint64_t line;
	uint64_t number; /* magnitude */
	const char *text;
};

struct mof_lexer {
	struct mof_token token; /* the present one */
	const char *at, *end;   /* UTF-8 */
	uint64_t line;
	struct etw_arena *arena; /* of the tokens' texts */
	struct etw_text text;    /* scratch, owned */
	struct etw_fault *reterr;
};

struct mof_value {
	struct mof_value *next;
	enum mof_token_kind kind; /* MOF_IDENTIFIER: true, false, null */
	bool is_negative;
	uint64_t number;
	const char *text; /* strings and identifiers */
};

struct mof_qualifier {
	struct mof_qualifier *next;
	const char *name;
	const struct mof_value *values;
	size_t value_count;
	uint64_t line;
};

struct mof_property {
	struct mof_property *next;
	const struct mof_qualifier *qualifiers;
	const char *type;
	const char *name;
	uint64_t line;
	uint64_t size; /* of the array; 0: none given */
	bool is_array;
	bool is_reference;

	/* mof_types.c, once the first class has asked; classes that inherit it ask again and again: */
	bool is_read;
	bool has_data_id;
	bool is_activity_id;
	bool is_related_activity_id;
	uint64_t data_id; /* WmiDataId; 0: none, or no number */
	uint64_t name_hash;
	const char *counter;    /* WmiSizeIs; NULL: none */
	const char *sentence;   /* why it has no layout; NULL: it has one */
	struct etw_field field; /* what it is without its map; the name is in the results */

	/* mof_map.c: */
	bool is_map_read;          /* map, once the first class has asked */
	const struct etw_map *map; /* without name; NULL: none */
};

struct mof_provider;

struct mof_class {
	struct mof_class *next;
	const struct mof_qualifier *qualifiers;
	struct mof_property *properties;
	size_t property_count;
	const char *name;
	const char *super;      /* NULL: none */
	const char *name_space; /* "": none named */
	struct mof_class *base; /* NULL: no superclass in this file */
	uint64_t line;

	/* mof_classes.c, of classes below EventTrace: */
	struct mof_provider *provider;
	struct mof_class *event; /* the nearest with a Guid, the class itself included */
	GUID guid;               /* of the event class */
	const char *task_name;   /* of an event class; in the results once a schema has asked */

	/* mof_fields.c, of event types: */
	struct mof_class *next_type; /* of the provider */
	const struct etw_field *fields;
	uint16_t field_count;
	const char *activity_id_name;
	const char *related_activity_id_name;
};

struct mof_map {
	struct mof_map *next;
	const struct etw_map *map;
};

/* An event class of a provider, in all its versions. */
struct mof_event {
	struct mof_event *next;
	const struct mof_provider *provider;
	struct mof_class *class; /* the first in the file */
	bool is_versioned;
	uint8_t last_version; /* the highest that is given */
};

/* A provider under construction. */
struct mof_provider {
	struct mof_provider *next;
	const struct mof_class *class;
	struct mof_class *first_type, *last_type;
	struct mof_event *first_event, *last_event;
	struct mof_map *first_map, *last_map;
	size_t event_count;
	size_t map_count;
	size_t schema_count;
};

struct mof_reader {
	struct etw_arena *arena;  /* results */
	struct etw_arena scratch; /* tree, owned */
	struct etw_table names;   /* struct mof_class, owned */
	struct etw_table events;  /* struct mof_event, owned */
	struct mof_class *classes;
	size_t class_count;
	struct mof_provider *first_provider, *last_provider;
	size_t provider_count;
	size_t fields_left; /* what the classes may still have, inherited ones included */
	struct etw_definition *definition;
	struct etw_complaint *complaints; /* in scratch; room for ETW_COMPLAINTS_MAX, or NULL */
	const struct mof_class *current;  /* whom complaints are about */
	struct etw_fault *reterr;
};

/* mof_lex.c */

/* etw_mof_next() - reads the next token. Returns 0; -EBADMSG with the fault; -ENOMEM. */
int etw_mof_next(struct mof_lexer *lexer);

/* etw_mof_is_name() - whether two names are the same to MOF, which knows no case. NULL is no name. */
bool etw_mof_is_name(const char *left, const char *right);

/* etw_mof_is_identifier() - whether a text can be a name. */
bool etw_mof_is_identifier(const char *text);

/* mof_parse.c: fills classes, class_count and names of the reader. */
int etw_mof_read_tree(struct mof_reader *reader, struct mof_lexer *lexer);

/* etw_mof_hash_name() - the same for all names that are the same to MOF. */
uint64_t etw_mof_hash_name(const char *name);

/* etw_mof_qualifier() - the first of that name, or NULL. */
const struct mof_qualifier *etw_mof_qualifier(const struct mof_qualifier *first, const char *name);

/* etw_mof_text() - the one string of a qualifier; NULL when absent, no string, or several. */
const char *etw_mof_text(const struct mof_qualifier *first, const char *name);

/* etw_mof_number() - a value as a number, also one in a string; false: it is none up to @max. */
bool etw_mof_number(const struct mof_value *value, uint64_t max, uint64_t *ret);

/* etw_mof_complain() - notes that something of the current class was left out. Returns 0 or -ENOMEM. */
int etw_mof_complain(struct mof_reader *reader, uint64_t line, const char *sentence);

/* etw_mof_keep() - a copy of a string in the results; NULL gives NULL. Returns 0 or -ENOMEM. */
int etw_mof_keep(struct mof_reader *reader, const char *text, const char **ret);

/* mof_classes.c: finds providers, event classes and event types in the tree, and their fields. */
int etw_mof_read_classes(struct mof_reader *reader);

/* mof_schema.c: makes the definition of them. */
int etw_mof_make_definition(struct mof_reader *reader);

/*
 * etw_mof_fields() - the fields of an event type in mof_fields.c, inherited ones included.
 *
 * *ret_is_good tells whether the class can be decoded; if not, a complaint says why.
 */
int etw_mof_fields(struct mof_reader *reader, struct mof_class *class, bool *ret_is_good);

/* etw_mof_find_event() - the event class with the Guid of @class, or NULL. */
struct mof_event *etw_mof_find_event(const struct mof_reader *reader,
				     const struct mof_class *class);

/* etw_mof_version_qualifier() - EventVersion of a class, from the nearest that has it; NULL: none. */
const struct mof_qualifier *etw_mof_version_qualifier(const struct mof_class *class);

/*
 * etw_mof_read_layout() - what a property's type, qualifiers and array bounds say of its bytes.
 *
 * @field: of zeros
 *
 * Returns NULL, or a static sentence that says why its bytes are not known.
 */
const char *etw_mof_read_layout(const struct mof_property *property, struct etw_field *field);

/* etw_mof_read_property() - what the qualifiers of a property say, in mof_types.c; read once. Returns 0 or -ENOMEM. */
int etw_mof_read_property(struct mof_reader *reader, struct mof_property *property);

/*
 * etw_mof_field() - a property that was read and has a layout as a field, in mof_types.c.
 *
 * @class: the event type, for the map's name
 *
 * Returns 0 or -ENOMEM.
 */
int etw_mof_field(struct mof_reader *reader, const struct mof_class *class,
		  struct mof_property *property, struct etw_field *ret);

/*
 * etw_mof_map() - the map of a property in mof_map.c.
 *
 * Each event type has one of its own name, with shared entries. *ret becomes NULL when there is none.
 */
int etw_mof_map(struct mof_reader *reader, const struct mof_class *class,
		struct mof_property *property, const struct etw_map **ret);

/* etw_mof_is_strings() - whether a qualifier lists nothing but strings. */
bool etw_mof_is_strings(const struct mof_qualifier *list);

/* etw_mof_named() - the named numbers of a provider's property Flags or Level, in mof_map.c. */
int etw_mof_named(struct mof_reader *reader, const struct mof_property *property, uint64_t max,
		  const struct etw_named **ret, size_t *ret_count);

#endif
