/* SPDX-License-Identifier: MIT */
/*
 * A PDB of any bytes gives messages, or a fault that says where. The first byte says what the rest is:
 *
 *	0  the file as it is
 *	1  streams, each behind its length (u16): laid into a container whose block map is consistent
 *	2  the symbols of one module: laid into streams that are right, and these into a container
 *
 * so that the search spends its time behind the checks of the container, too. The second byte orders the blocks.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "schema/store/store.h"
#include "schema/wpp/pdb.h"
#include "schema/wpp/tmf.h"
#include "target.h"

#define BLOCK_BYTES 512u
#define STREAMS_MAX 24
#define BLOCKS_MAX  200 /* of all streams */

struct streams {
	struct etw_bytes at[STREAMS_MAX];
	uint32_t count;
};

static uint32_t blocks_of(size_t bytes)
{
	return (uint32_t)((bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
}

/* Block @i of @count in an order that @seed chooses. */
static uint32_t place(uint32_t i, uint32_t count, uint8_t seed)
{
	if (seed & 1)
		i = count - 1 - i;
	return (i + (seed >> 1)) % count;
}

/* Superblock, free maps, block map, directory, streams. Returns owned memory. */
static uint8_t *lay(const struct streams *streams, uint8_t seed, size_t *ret_bytes)
{
	static const char magic[32] = "Microsoft C/C++ MSF 7.00\r\n\032DS\0\0";
	uint32_t total = 0, directory_blocks, next, used = 0;
	size_t at = 4 + 4 * (size_t)streams->count;
	uint8_t *file, *directory;

	for (uint32_t i = 0; i < streams->count; i++)
		total += blocks_of(streams->at[i].left);
	directory_blocks = blocks_of(at + 4 * (size_t)total);
	next = 4 + directory_blocks;
	*ret_bytes = (size_t)(next + total) * BLOCK_BYTES;
	file = calloc(1, *ret_bytes);
	CHECK(file);
	memcpy(file, magic, sizeof(magic));
	etw_store32(file + 32, BLOCK_BYTES);
	etw_store32(file + 36, 1);
	etw_store32(file + 40, next + total);
	etw_store32(file + 44, (uint32_t)(at + 4 * (size_t)total));
	etw_store32(file + 52, 3);
	for (uint32_t i = 0; i < directory_blocks; i++)
		etw_store32(file + (size_t)3 * BLOCK_BYTES + 4 * (size_t)i, 4 + i);
	directory = file + (size_t)4 * BLOCK_BYTES;
	etw_store32(directory, streams->count);
	for (uint32_t i = 0; i < streams->count; i++) {
		const struct etw_bytes *stream = &streams->at[i];

		etw_store32(directory + 4 + 4 * (size_t)i, (uint32_t)stream->left);
		for (uint32_t k = 0; k < blocks_of(stream->left); k++, at += 4, used++) {
			uint32_t block = next + place(used, total, seed);
			size_t done = (size_t)k * BLOCK_BYTES, left = stream->left - done;

			etw_store32(directory + at, block);
			memcpy(file + (size_t)block * BLOCK_BYTES, stream->at + done,
			       left < BLOCK_BYTES ? left : BLOCK_BYTES);
		}
	}
	return file;
}

/* Streams out of lengths and bytes, as many as there are. */
static void cut_streams(struct etw_bytes data, struct streams *ret)
{
	uint32_t blocks = 0;
	uint16_t bytes;

	while (ret->count < STREAMS_MAX && etw_bytes_u16(&data, &bytes)) {
		if (bytes > data.left)
			bytes = (uint16_t)data.left;
		blocks += blocks_of(bytes);
		if (blocks > BLOCKS_MAX)
			break;
		ret->at[ret->count].left = bytes;
		ret->at[ret->count++].at = etw_bytes_take(&data, bytes);
	}
}

static void check_pdb(struct etw_bytes file)
{
	struct etw_schema_store *store;
	struct etw_fault fault = {0};
	struct etw_wpp_messages again;
	struct etw_text text = {0};
	struct etw_arena arena;
	struct etw_pdb pdb;
	int r;

	etw_arena_init(&arena);
	r = etw_pdb_read(&arena, file, &pdb, &fault);
	if (r < 0) {
		check_refused(r, &fault, &arena);
		return;
	}
	check_memory(&arena, file.left);
	CHECK(!pdb.damage_count == !pdb.first_damage.sentence);
	for (size_t i = 0; i < pdb.control_count; i++)
		CHECK(pdb.controls[i].name && pdb.controls[i].keyword_count <= 64);
	etw_tmf_write(&pdb.messages, &text);
	if (pdb.messages.count) {
		CHECK(!etw_tmf_parse(&arena, text.at, text.bytes, &again, NULL));
		CHECK(again.count == pdb.messages.count);
	}
	CHECK(!etw_schema_store_create(&store));
	CHECK(!etw_schema_store_add_pdb(store, file.at, file.left, NULL));
	CHECK(etw_schema_store_damage(store, NULL) == pdb.damage_count);
	etw_schema_store_free(store);
	etw_text_done(&text);
	etw_arena_done(&arena);
}

/* Streams 1, 3 and 4 around the symbols of one module. */
static void wrap_symbols(struct etw_bytes symbols, uint8_t dbi[144], uint8_t **ret_module,
			 struct streams *ret)
{
	static const uint8_t identity[28] = {0x94, 0x2E, 0x31, 0x01};
	uint8_t *module = malloc(symbols.left + 4);

	CHECK(module);
	memset(dbi, 0, 144);
	etw_store32(dbi, UINT32_MAX);
	etw_store32(dbi + 24, 68);
	etw_store16(dbi + 64 + 34, 4);
	etw_store32(dbi + 64 + 36, (uint32_t)symbols.left + 4);
	etw_store32(module, 4);
	if (symbols.left)
		memcpy(module + 4, symbols.at, symbols.left);
	ret->at[1] = (struct etw_bytes){identity, sizeof(identity)};
	ret->at[3] = (struct etw_bytes){dbi, 64 + 68};
	ret->at[4] = (struct etw_bytes){module, symbols.left + 4};
	ret->count = 5;
	*ret_module = module;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	CLEANUP(freep) uint8_t *module = NULL;
	struct etw_bytes rest = {data, bytes};
	struct streams streams = {0};
	uint8_t kind, seed, dbi[144];
	size_t file_bytes;
	uint8_t *file;

	if (!etw_bytes_u8(&rest, &kind))
		return 0;
	if (kind % 3 == 0 || !etw_bytes_u8(&rest, &seed)) {
		check_pdb(rest);
		return 0;
	}
	if (kind % 3 == 1)
		cut_streams(rest, &streams);
	else if (rest.left <= (size_t)BLOCKS_MAX * BLOCK_BYTES)
		wrap_symbols(rest, dbi, &module, &streams);
	file = lay(&streams, seed, &file_bytes);
	check_pdb((struct etw_bytes){file, file_bytes});
	free(file);
	return 0;
}
