/* SPDX-License-Identifier: MIT */
/*
 * Values for the events of a manifest, the same ones for the same seed: the arguments that the generated
 * macro of an event gets, the payload that they become, and what TDH has to find in it.
 */
#ifndef ETW_TESTS_MANIFEST_CODE_VALUES_H
#define ETW_TESTS_MANIFEST_CODE_VALUES_H

#include "base/arena.h"
#include "base/text.h"
#include "compile/model.h"

/* What the values of an event are like. */
enum values_kind {
	VALUES_LEAST,  /* zeros, empty texts, arrays without elements */
	VALUES_MOST,   /* all bits set, long texts */
	VALUES_NULL,   /* null pointers where a macro takes them, the lowest negative numbers */
	VALUES_RANDOM, /* this and all above */
};

/* How C code passes a field. */
enum values_form {
	VALUES_BY_VALUE,
	VALUES_BY_POINTER,
};

/* One argument of a macro. */
struct values_argument {
	const struct mc_field *field;
	enum values_form form;
	bool has_length; /* another argument before it */
	uint32_t length;
	bool is_null;
	struct etw_text bytes; /* that the argument is or points to */
};

/* What TdhGetProperty() has to give for a property, an element of it, or a member of an element. */
struct values_property {
	const struct mc_field *field, *member; /* member NULL: none */
	uint32_t index, member_index;          /* UINT32_MAX: the whole property */
	size_t offset, bytes;                  /* in the payload */
};

struct values {
	struct etw_arena arena;
	struct values_argument *arguments;
	size_t argument_count;
	struct etw_text payload;
	struct values_property *properties;
	size_t property_count, property_room;
	struct values_number *numbers; /* of fields that are counts and lengths */
	uint64_t shape, content;       /* states of two random sources */
	enum values_kind kind;
	bool is_failed; /* memory ran out */
};

/*
 * values_make() - the values of an event.
 *
 * @template_of: NULL: it has no fields
 * @round: from 0; VALUES_RANDOM and above are all random
 *
 * Ends the program when memory runs out. values_done() frees what is in it.
 */
void values_make(struct values *values, const struct mc_template *template_of, uint64_t seed,
		 unsigned round);
void values_done(struct values *values);

/* values_type() - what C calls one value of a field; of a structure: void. */
const char *values_type(const struct mc_field *field);

/* values_takes_length() - whether an argument for its length comes before a field's. */
bool values_takes_length(const struct mc_field *field);

/* values_is_by_value() - whether a field is passed as a number. */
bool values_is_by_value(const struct mc_field *field);

#endif
