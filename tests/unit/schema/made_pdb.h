/* SPDX-License-Identifier: MIT */
/* A PDB that is made and read at once, for tests of its reader. */
#ifndef ETW_TESTS_UNIT_SCHEMA_MADE_PDB_H
#define ETW_TESTS_UNIT_SCHEMA_MADE_PDB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/wpp/pdb.h"
#include "synthetic/pdb_maker.h"

#define SECTION "01e9b841-7d67-315a-7b92-23b2033356de Mod // SRC=File.c MJ= MN="

static const GUID pdb_guid = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

static struct etw_arena arena;
static struct pdb_maker maker;
static struct etw_pdb pdb;
static struct etw_fault fault;

static inline int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	pdb_drop(&maker);
	pdb_begin(&maker, &pdb_guid, 3);
	fault = (struct etw_fault){0};
	pdb = (struct etw_pdb){0};
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	pdb_drop(&maker);
	return 0;
}

static inline int read_made(void)
{
	size_t bytes;
	uint8_t *file = pdb_finish(&maker, &bytes);
	int r = etw_pdb_read(&arena, (struct etw_bytes){file, bytes}, &pdb, &fault);

	free(file);
	return r;
}

static inline void read_modules(void)
{
	int r;

	pdb_end_modules(&maker);
	r = read_made();
	if (r < 0)
		print_error("%s: %s\n", fault.structure, fault.sentence);
	assert_int_equal(r, 0);
}

/* One module whose only symbol is an annotation in a procedure. */
static inline void add_annotated(const char *function, const char *const *strings)
{
	pdb_add_module(&maker);
	pdb_add_procedure(&maker, 0x1110, function);
	pdb_add_annotation(&maker, strings);
	pdb_end_procedure(&maker);
}

static inline void check_damage(size_t count, const char *sentence)
{
	assert_int_equal(pdb.damage_count, count);
	assert_string_equal(pdb.first_damage.sentence, sentence);
}

#endif
