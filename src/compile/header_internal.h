/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the header's generator share: header.c (the whole), header_names.c (names that are
 * used once), header_helpers.c (the text that is the same for all), header_provider.c (constants),
 * header_code.c (registration), header_events.c (macros), header_codes.c (spelling of a template's fields), header_templates.c
 * (functions).
 */
#ifndef ETW_COMPILE_HEADER_INTERNAL_H
#define ETW_COMPILE_HEADER_INTERNAL_H

#include "base/arena.h"
#include "base/macros.h"
#include "compile/header.h"

#define HEADER_CODES_BYTES 1600 /* of 99 fields */

/* An event that has code, with the names that are its own in this header. */
struct header_event {
	const struct mc_event *event;
	const char *symbol; /* of the descriptor */
	const char *macro;  /* after EventWrite and EventEnabled */
	const char *
		*parameters; /* of the macros, in their order; lengths come before their fields */
	size_t parameter_count;
};

struct header_provider {
	const struct mc_provider *provider;
	const char *name;  /* as an identifier: of the enable bits */
	const char *label; /* of registration: the name, or `_` and the symbol */
	struct header_event *events;
	size_t event_count;
};

struct header_writer {
	const struct mc_manifest *manifest;
	const struct etw_compile_header_options *options;
	struct etw_text *out;
	struct etw_fault *reterr;
	struct etw_arena arena; /* owned: all names */
	void *taken;            /* owned: a tree of <search.h> of names in the arena */
	struct header_provider *providers;
};

/* etw_mc_identifier() - a copy in which what is no letter, digit or `_` is `_`; NULL: no memory. */
char *etw_mc_identifier(struct header_writer *writer, const char *text);

/* etw_mc_format() - a text in the arena; NULL: no memory. */
char *etw_mc_format(struct header_writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * etw_mc_take() - a name that nothing else in the header has: @wanted, @other or @other with a number.
 *
 * @kind:  what a name is used for; names of different kinds may be equal
 * @other: borrowed in what is returned, as @wanted is; NULL: @wanted with a number
 *
 * Returns NULL when memory ran out.
 */
const char *etw_mc_take(struct header_writer *writer, const char *kind, const char *wanted,
			const char *other);

/* etw_mc_reserve() - takes the names of providers, and those that no symbol may have. Returns 0 or -ENOMEM. */
int etw_mc_reserve(struct header_writer *writer);

/* etw_mc_names_done() - frees the names that were taken. */
void etw_mc_names_done(struct header_writer *writer);

/* etw_mc_put_text() - appends words of the manifest to a comment, which they cannot end. */
void etw_mc_put_text(struct etw_text *out, const char *text);

/* etw_mc_put_helpers() - appends the text that all headers have. */
void etw_mc_put_helpers(struct etw_text *out);

/* etw_mc_put_constants() - GUIDs, numbers and descriptors. Return 0 or -ENOMEM, as the next two. */
int etw_mc_put_constants(struct header_writer *writer, struct header_provider *provider);
/* etw_mc_put_code() - maps, context, registration; etw_mc_put_events() - what writes its events. */
int etw_mc_put_code(struct header_writer *writer, struct header_provider *provider);
int etw_mc_put_events(struct header_writer *writer, struct header_provider *provider);

/* etw_mc_has_traits() - whether the provider's registration carries traits. */
bool etw_mc_has_traits(const struct mc_provider *provider);

/* What C code calls a type of field. */
struct type_code {
	uint16_t in_type;
	char letter;
	const char *scalar;  /* how a single value is passed */
	const char *element; /* of an array, and of data with a length */
	bool by_address;     /* a single value is passed as a pointer to it */
};

/* etw_mc_type_code() - of a field; a structure has one too. */
const struct type_code *etw_mc_type_code(const struct mc_field *field);
/* etw_mc_is_text() - strings; _counted(): data with a length before it; _struct(). */
bool etw_mc_is_text(const struct type_code *code);
bool etw_mc_is_counted(const struct type_code *code);
bool etw_mc_is_struct(const struct type_code *code);

/* etw_mc_is_array() - whether a field has several values. */
bool etw_mc_is_array(const struct mc_field *field);

/* etw_mc_has_length() - whether each value has a length of its own; _number(): that of the manifest. */
bool etw_mc_has_length(const struct mc_field *field);
unsigned etw_mc_length_number(const struct mc_field *field);

/* etw_mc_takes_length() - whether a field's argument comes with one that says how long it is. */
bool etw_mc_takes_length(const struct mc_field *field);

/* etw_mc_is_packed() - whether the caller has to lay out the argument as the event has it. */
bool etw_mc_is_packed(const struct mc_field *field);

/* etw_mc_spell() - the letters of a template's fields, NUL-terminated; NULL has none. */
void etw_mc_spell(const struct mc_template *template_of, char codes[static HEADER_CODES_BYTES]);

/*
 * etw_mc_put_templates() - the functions that events of all providers share. Returns 0; -ENOMEM; -EFBIG with the
 * writer's fault when an event has too many fields to be written.
 */
int etw_mc_put_templates(struct header_writer *writer);

#endif
