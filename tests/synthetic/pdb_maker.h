/* SPDX-License-Identifier: MIT */
/*
 * Small PDB files for tests: streams are filled one by one, then laid into an MSF container, with the blocks of
 * each stream in one piece or scattered backwards over the file.
 */
#ifndef ETW_TESTS_SYNTHETIC_PDB_MAKER_H
#define ETW_TESTS_SYNTHETIC_PDB_MAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"

#define PDB_STREAMS_MAX   16
#define PDB_FIRST_MODULE  5 /* stream of the first module's symbols */
#define PDB_BLOCK_DEFAULT 512u

struct pdb_stream {
	uint8_t *at;
	size_t bytes;
};

struct pdb_maker {
	struct pdb_stream streams[PDB_STREAMS_MAX];
	unsigned stream_count;
	unsigned module_count;
	uint32_t block_bytes;
	bool is_scattered;
	uint32_t type_count;
	size_t procedure; /* of the open one, in the last module's stream; 0: none */
};

static inline void pdb_put(struct pdb_maker *maker, unsigned stream, const void *at, size_t bytes)
{
	struct pdb_stream *to = &maker->streams[stream];

	to->at = realloc(to->at, to->bytes + bytes + 1);
	if (!to->at)
		abort();
	if (bytes)
		memcpy(to->at + to->bytes, at, bytes);
	to->bytes += bytes;
}

static inline void pdb_u16(struct pdb_maker *maker, unsigned stream, uint16_t value)
{
	uint8_t raw[2];

	etw_store16(raw, value);
	pdb_put(maker, stream, raw, sizeof(raw));
}

static inline void pdb_u32(struct pdb_maker *maker, unsigned stream, uint32_t value)
{
	uint8_t raw[4];

	etw_store32(raw, value);
	pdb_put(maker, stream, raw, sizeof(raw));
}

static inline void pdb_fill(struct pdb_maker *maker, unsigned stream, size_t bytes)
{
	static const uint8_t zeros[256];

	pdb_put(maker, stream, zeros, bytes);
}

/* The PDB stream and the head of the DBI stream. */
static inline void pdb_begin(struct pdb_maker *maker, const GUID *guid, uint32_t age)
{
	uint8_t raw[16];

	*maker = (struct pdb_maker){.stream_count = PDB_FIRST_MODULE,
				    .block_bytes = PDB_BLOCK_DEFAULT};
	etw_guid_write(raw, guid);
	pdb_u32(maker, 1, 20000404);
	pdb_u32(maker, 1, 0x12345678);
	pdb_u32(maker, 1, age + 7); /* the DBI stream's age is the one that counts */
	pdb_put(maker, 1, raw, sizeof(raw));
	pdb_u32(maker, 3, UINT32_MAX);
	pdb_u32(maker, 3, 19990903);
	pdb_u32(maker, 3, age);
	pdb_fill(maker, 3, 52);
}

/* pdb_drop() - frees what was not made into a file. */
static inline void pdb_drop(struct pdb_maker *maker)
{
	for (unsigned i = 0; i < PDB_STREAMS_MAX; i++)
		free(maker->streams[i].at);
	*maker = (struct pdb_maker){0};
}

/* The current module's stream. */
static inline unsigned pdb_module(const struct pdb_maker *maker)
{
	return maker->stream_count - 1;
}

/* A symbol of any kind, padded to four bytes; returns where it begins. */
static inline size_t pdb_symbol(struct pdb_maker *maker, uint16_t kind, const void *at,
				size_t bytes)
{
	unsigned stream = pdb_module(maker);
	size_t padding = (4 - (bytes + 4) % 4) % 4, start = maker->streams[stream].bytes;

	pdb_u16(maker, stream, (uint16_t)(bytes + padding + 2));
	pdb_u16(maker, stream, kind);
	pdb_put(maker, stream, at, bytes);
	pdb_fill(maker, stream, padding);
	return start;
}

/* Begins a module; its symbols follow. */
static inline void pdb_add_module(struct pdb_maker *maker)
{
	maker->stream_count++;
	maker->module_count++;
	pdb_u32(maker, pdb_module(maker), 4);
}

static inline void pdb_add_procedure(struct pdb_maker *maker, uint16_t kind, const char *name)
{
	uint8_t body[8192] = {0};
	size_t bytes = strlen(name) + 1;

	memcpy(body + 35, name, bytes);
	maker->procedure = pdb_symbol(maker, kind, body, 35 + bytes);
}

static inline void pdb_end_procedure(struct pdb_maker *maker)
{
	size_t end = pdb_symbol(maker, 0x114F, NULL, 0);

	etw_store32(maker->streams[pdb_module(maker)].at + maker->procedure + 8, (uint32_t)end);
}

/* @strings: up to a NULL */
static inline void pdb_add_annotation(struct pdb_maker *maker, const char *const *strings)
{
	uint8_t body[4096] = {0};
	size_t bytes = 8;
	uint16_t count = 0;

	for (; *strings; strings++, count++) {
		size_t more = strlen(*strings) + 1;

		if (bytes + more > sizeof(body))
			abort();
		memcpy(body + bytes, *strings, more);
		bytes += more;
	}
	etw_store16(body + 6, count);
	(void)pdb_symbol(maker, 0x1019, body, bytes);
}

#define PDB_FIRST_TYPE 0x1000
#define PDB_GLOBALS    4 /* stream of the global symbols */

/* A record of the type stream, whose head pdb_end_types() completes; returns the type's number. */
static inline uint32_t pdb_type(struct pdb_maker *maker, uint16_t kind, const void *at,
				size_t bytes)
{
	if (!maker->type_count)
		pdb_fill(maker, 2, 56);
	pdb_u16(maker, 2, (uint16_t)(bytes + 2));
	pdb_u16(maker, 2, kind);
	pdb_put(maker, 2, at, bytes);
	return PDB_FIRST_TYPE + maker->type_count++;
}

/* An enumerator at the end of @list, padded to four bytes. @value: up to 15 bits */
static inline size_t pdb_enumerator(uint8_t *list, size_t bytes, const char *name, uint16_t value)
{
	etw_store16(list + bytes, 0x1502);
	etw_store16(list + bytes + 2, 3);
	etw_store16(list + bytes + 4, value);
	memcpy(list + bytes + 6, name, strlen(name) + 1);
	bytes += 7 + strlen(name);
	for (unsigned left = (4 - bytes % 4) % 4; left; left--)
		list[bytes++] = (uint8_t)(0xF0 + left);
	return bytes;
}

/* Returns the number of the enumeration. @properties: 0x80 for one that is not defined */
static inline uint32_t pdb_enum(struct pdb_maker *maker, const char *name, uint32_t list,
				uint16_t properties)
{
	uint8_t body[256] = {0};

	etw_store16(body + 2, properties);
	etw_store32(body + 4, 0x74);
	etw_store32(body + 8, list);
	memcpy(body + 12, name, strlen(name) + 1);
	return pdb_type(maker, 0x1507, body, 13 + strlen(name));
}

/* A typedef among the global symbols, of which the DBI stream's head tells. */
static inline void pdb_typedef(struct pdb_maker *maker, const char *name, uint32_t type)
{
	etw_store16(maker->streams[3].at + 20, PDB_GLOBALS);
	pdb_u16(maker, PDB_GLOBALS, (uint16_t)(7 + strlen(name)));
	pdb_u16(maker, PDB_GLOBALS, 0x1108);
	pdb_u32(maker, PDB_GLOBALS, type);
	pdb_put(maker, PDB_GLOBALS, name, strlen(name) + 1);
}

static inline void pdb_end_types(struct pdb_maker *maker)
{
	uint8_t *head = maker->streams[2].at;

	etw_store32(head, 20040203);
	etw_store32(head + 4, 56);
	etw_store32(head + 8, PDB_FIRST_TYPE);
	etw_store32(head + 12, PDB_FIRST_TYPE + maker->type_count);
	etw_store32(head + 16, (uint32_t)(maker->streams[2].bytes - 56));
}

/* The list of modules, once all have their symbols. */
static inline void pdb_end_modules(struct pdb_maker *maker)
{
	size_t start = maker->streams[3].bytes;

	for (unsigned i = 0; i < maker->module_count; i++) {
		unsigned stream = PDB_FIRST_MODULE + i;

		pdb_fill(maker, 3, 34);
		pdb_u16(maker, 3, (uint16_t)stream);
		pdb_u32(maker, 3, (uint32_t)maker->streams[stream].bytes);
		pdb_fill(maker, 3, 24);
		pdb_put(maker, 3, "module.obj", 11);
		pdb_put(maker, 3, "a.lib", 6);
		pdb_fill(maker, 3, (4 - maker->streams[3].bytes % 4) % 4);
	}
	etw_store32(maker->streams[3].at + 24, (uint32_t)(maker->streams[3].bytes - start));
}

static inline uint32_t pdb_blocks(const struct pdb_maker *maker, size_t bytes)
{
	return (uint32_t)((bytes + maker->block_bytes - 1) / maker->block_bytes);
}

/*
 * The file; owned by the caller. Blocks: superblock, two of the free map, block map, directory, streams.
 * The directory has to fit one block map. Frees the streams.
 */
static inline uint8_t *pdb_finish(struct pdb_maker *maker, size_t *ret_bytes)
{
	static const char magic[32] = "Microsoft C/C++ MSF 7.00\r\n\032DS\0\0";
	uint32_t total = 0, next, each = maker->block_bytes;
	size_t directory_bytes = 4 + 4 * (size_t)maker->stream_count, at = 0;
	uint32_t directory_blocks;
	uint8_t *file, *directory;

	for (unsigned i = 0; i < maker->stream_count; i++)
		total += pdb_blocks(maker, maker->streams[i].bytes);
	directory_bytes += 4 * (size_t)total;
	directory_blocks = pdb_blocks(maker, directory_bytes);
	next = 4 + directory_blocks;
	*ret_bytes = (size_t)(next + total) * each;
	file = calloc(1, *ret_bytes);
	directory = calloc(1, (size_t)directory_blocks * each);
	if (!file || !directory)
		abort();
	memcpy(file, magic, sizeof(magic));
	etw_store32(file + 32, each);
	etw_store32(file + 36, 1);
	etw_store32(file + 40, next + total);
	etw_store32(file + 44, (uint32_t)directory_bytes);
	etw_store32(file + 52, 3);
	for (uint32_t i = 0; i < directory_blocks; i++)
		etw_store32(file + (size_t)3 * each + (size_t)4 * i, 4 + i);
	etw_store32(directory, maker->stream_count);
	for (unsigned i = 0; i < maker->stream_count; i++)
		etw_store32(directory + 4 + (size_t)4 * i, (uint32_t)maker->streams[i].bytes);
	at = 4 + 4 * (size_t)maker->stream_count;
	for (unsigned i = 0; i < maker->stream_count; i++) {
		struct pdb_stream *stream = &maker->streams[i];
		uint32_t count = pdb_blocks(maker, stream->bytes);

		for (uint32_t k = 0; k < count; k++, at += 4) {
			uint32_t block = next + (maker->is_scattered ? count - 1 - k : k);
			size_t done = (size_t)k * each, left = stream->bytes - done;

			etw_store32(directory + at, block);
			memcpy(file + (size_t)block * each, stream->at + done,
			       left < each ? left : each);
		}
		next += count;
		free(stream->at);
		*stream = (struct pdb_stream){0};
	}
	memcpy(file + (size_t)4 * each, directory, (size_t)directory_blocks * each);
	free(directory);
	return file;
}

#endif
