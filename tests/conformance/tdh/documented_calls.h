/* SPDX-License-Identifier: MIT */
/* Each function of tdh.h that documents an error, called with one thing out of order or with nothing. */
#ifndef ETW_TESTS_CONFORMANCE_TDH_DOCUMENTED_CALLS_H
#define ETW_TESTS_CONFORMANCE_TDH_DOCUMENTED_CALLS_H

#include <stddef.h>

#include <tdh.h>

/* What is out of order. */
enum cause {
	NONE,
	NO_POINTER, /* in place of what the answer is put into, or of what is asked for */
	NO_ROOM,
	NOBODY,  /* knows the provider or the message */
	GONE,    /* its registered definition */
	UNNAMED, /* the provider has no such map, property, value, event */
	NO_EVENTS,
	BAD_TYPE,
	BAD_DATA,
	BAD_XML,
	NO_FILE,
	NO_RESOURCE,
	TOO_LONG,
	NO_MEMORY,
};

/* What runs before the call, and what runs when it has succeeded, are in order; NULL: nothing. */
struct documented_call {
	const char *name;
	ULONG (*asked)(enum cause cause);
	ULONG (*before)(enum cause cause);
	ULONG (*after)(enum cause cause);
};

/* documented_call() - the call of this function; NULL: it has none. */
const struct documented_call *documented_call(const char *name);

/* documented_begin() / _end() - makes and removes what the calls ask for: set-up and teardown of the tests. */
int documented_begin(void **state);
int documented_end(void **state);

#endif
