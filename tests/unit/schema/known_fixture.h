/* SPDX-License-Identifier: MIT */
/* This build's index of known providers, open for a group of tests, and a provider of it by name. */
#ifndef ETW_TESTS_UNIT_SCHEMA_KNOWN_FIXTURE_H
#define ETW_TESTS_UNIT_SCHEMA_KNOWN_FIXTURE_H

#include <stdlib.h>

#include "base/arena.h"
#include "base/file.h"
#include "schema/known/known.h"

struct known_fixture {
	struct etw_known *known;
	struct etw_arena arena;
};

static inline int open_known(void **state)
{
	static struct known_fixture fixture;

	(void)unsetenv("ETW_KNOWN_PROVIDERS");
	etw_arena_init(&fixture.arena);
	*state = &fixture;
	return etw_known_open(NULL, &fixture.known, NULL);
}

static inline int close_known(void **state)
{
	struct known_fixture *fixture = *state;

	etw_known_close(fixture->known);
	etw_arena_done(&fixture->arena);
	return 0;
}

static inline struct etw_known_provider find_provider(const struct known_fixture *fixture,
						      const char *name)
{
	struct etw_known_provider provider;

	assert_int_equal(etw_known_find_name(fixture->known, name, 0, &provider), 0);
	return provider;
}

/* The bytes of this build's index, for changing them: owned. */
static inline struct wire_known_head *copy_index(const struct known_fixture *fixture,
						 size_t *ret_bytes)
{
	char *bytes;

	assert_int_equal(etw_file_read(etw_known_path(fixture->known), ETW_KNOWN_BYTES_MAX, &bytes,
				       ret_bytes),
			 0);
	return (struct wire_known_head *)bytes;
}

/* An item of a part of such a copy. */
static inline void *item_of(struct wire_known_head *head, enum wire_known_part_id id, size_t bytes,
			    uint32_t number)
{
	return (uint8_t *)head + le32_get(head->parts[id].offset) + bytes * number;
}

static inline struct etw_known *open_copy(struct wire_known_head *head, size_t bytes)
{
	struct etw_known *known;

	assert_int_equal(
		etw_known_open_bytes((struct etw_bytes){(uint8_t *)head, bytes}, &known, NULL), 0);
	return known;
}

#endif
