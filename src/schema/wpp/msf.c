/* SPDX-License-Identifier: MIT */
/*
 * MSF 7.00. Block 0 is the superblock; at its end stand the numbers of the blocks that list the blocks of the
 * directory. The directory says for each stream how long it is and where its blocks are.
 */
#include "schema/wpp/msf.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

static const char magic[32] = "Microsoft C/C++ MSF 7.00\r\n\032DS\0\0";

#define AT_BLOCK_BYTES     32
#define AT_BLOCK_COUNT     40
#define AT_DIRECTORY_BYTES 44
#define AT_MAP_BLOCKS      52
#define BLOCK_BYTES_MIN    512u
#define BLOCK_BYTES_MAX    65536u
#define NIL_BYTES          UINT32_MAX

/* What opening needs besides the result. */
struct opening {
	struct etw_msf *msf;
	uint8_t *used; /* owned; a bit for each block that belongs to something */
	struct etw_fault *reterr;
};

static int fail(const struct opening *opening, uint64_t offset, const char *structure,
		const char *field, const char *sentence)
{
	return etw_fault_set(opening->reterr, -EBADMSG, offset, structure, field, sentence);
}

bool etw_msf_is(struct etw_bytes file)
{
	return file.left >= sizeof(magic) && !memcmp(file.at, magic, sizeof(magic));
}

static uint32_t blocks_of(const struct etw_msf *msf, uint32_t bytes)
{
	return (uint32_t)(((uint64_t)bytes + msf->block_bytes - 1) / msf->block_bytes);
}

static const uint8_t *block_at(const struct etw_msf *msf, uint32_t block)
{
	return msf->file.at + (size_t)block * msf->block_bytes;
}

/* Takes a block for one purpose, @offset says where its number stands. */
static int claim(struct opening *opening, uint32_t block, uint64_t offset, const char *structure)
{
	uint8_t bit = (uint8_t)(1u << (block & 7));

	if (block >= opening->msf->block_count)
		return fail(opening, offset, structure, "block", "a block lies outside the file");
	if (opening->used[block / 8] & bit)
		return fail(opening, offset, structure, "block", "a block is used twice");
	opening->used[block / 8] |= bit;
	return 0;
}

static int read_superblock(struct opening *opening, uint32_t *ret_directory_bytes)
{
	struct etw_msf *msf = opening->msf;
	const uint8_t *at = msf->file.at;
	uint64_t in_file;

	if (!etw_msf_is(msf->file))
		return fail(opening, 0, "superblock", "magic", "the file is no MSF 7.00 file");
	if (msf->file.left < AT_MAP_BLOCKS + 4)
		return fail(opening, msf->file.left, "superblock", NULL,
			    "the file ends within its superblock");
	if (msf->file.left > ETW_MSF_BYTES_MAX)
		return fail(opening, 0, "superblock", NULL, "the file is larger than 4 GiB");
	msf->block_bytes = etw_load32(at + AT_BLOCK_BYTES);
	if (msf->block_bytes < BLOCK_BYTES_MIN || msf->block_bytes > BLOCK_BYTES_MAX ||
	    (msf->block_bytes & (msf->block_bytes - 1)))
		return fail(opening, AT_BLOCK_BYTES, "superblock", "block size",
			    "the block size is no power of two from 512 to 65536");
	in_file = msf->file.left / msf->block_bytes;
	msf->block_count = etw_load32(at + AT_BLOCK_COUNT);
	if (msf->block_count > in_file)
		msf->block_count = (uint32_t)in_file;
	*ret_directory_bytes = etw_load32(at + AT_DIRECTORY_BYTES);
	if (*ret_directory_bytes < 4 ||
	    *ret_directory_bytes > (uint64_t)msf->block_count * msf->block_bytes)
		return fail(opening, AT_DIRECTORY_BYTES, "superblock", "directory size",
			    "the directory is empty or larger than the file");
	return 0;
}

/* Copies the directory together. @ret is owned. */
static int read_directory(struct opening *opening, uint32_t bytes, uint8_t **ret)
{
	const struct etw_msf *msf = opening->msf;
	uint32_t count = blocks_of(msf, bytes);
	uint32_t each = msf->block_bytes / 4;
	uint32_t maps = (count + each - 1) / each;
	CLEANUP(freep) uint8_t *directory = malloc((size_t)count * msf->block_bytes);

	if (!directory)
		return -ENOMEM;
	if (maps > (msf->block_bytes - AT_MAP_BLOCKS) / 4)
		return fail(opening, AT_DIRECTORY_BYTES, "superblock", "directory size",
			    "the directory has more blocks than the superblock can name");
	for (uint32_t i = 0; i < maps; i++) {
		uint32_t at = AT_MAP_BLOCKS + 4 * i;

		TRY(claim(opening, etw_load32(msf->file.at + at), at, "superblock"));
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t map = etw_load32(msf->file.at + AT_MAP_BLOCKS + 4 * (i / each));
		const uint8_t *at = block_at(msf, map) + (size_t)4 * (i % each);
		uint32_t block = etw_load32(at);

		TRY(claim(opening, block, (uint64_t)(at - msf->file.at), "block map"));
		memcpy(directory + (size_t)i * msf->block_bytes, block_at(msf, block),
		       msf->block_bytes);
	}
	*ret = TAKE(directory);
	return 0;
}

/* The lengths of the streams, and how many blocks they have together. */
static int read_lengths(struct opening *opening, struct etw_bytes *directory, uint64_t *ret_total)
{
	struct etw_msf *msf = opening->msf;
	uint64_t total = 0;

	if (!etw_bytes_u32(directory, &msf->stream_count) ||
	    msf->stream_count > ETW_MSF_STREAMS_MAX)
		return fail(opening, 0, "directory", "stream count",
			    "there are more than 65536 streams");
	if (directory->left / 4 < msf->stream_count)
		return fail(opening, 4, "directory", "stream sizes",
			    "the directory ends within the sizes of the streams");
	msf->stream_bytes = calloc(msf->stream_count + 1u, sizeof(*msf->stream_bytes));
	msf->first = calloc(msf->stream_count + 1u, sizeof(*msf->first));
	if (!msf->stream_bytes || !msf->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < msf->stream_count; i++) {
		uint32_t bytes = 0;

		(void)etw_bytes_u32(directory, &bytes);
		msf->stream_bytes[i] = bytes == NIL_BYTES ? 0 : bytes;
		msf->first[i] = (uint32_t)total;
		total += blocks_of(msf, msf->stream_bytes[i]);
		if (total > msf->block_count)
			return fail(opening, 4 + 4 * (uint64_t)i, "directory", "stream sizes",
				    "the streams are larger than the file");
	}
	if (directory->left / 4 < total)
		return fail(opening, 4 + 4 * (uint64_t)msf->stream_count, "directory", "blocks",
			    "the directory ends within the blocks of the streams");
	*ret_total = total;
	return 0;
}

static int read_streams(struct opening *opening, struct etw_bytes directory)
{
	struct etw_msf *msf = opening->msf;
	size_t bytes = directory.left;
	uint64_t total;

	TRY(read_lengths(opening, &directory, &total));
	msf->blocks = calloc((size_t)total + 1, sizeof(*msf->blocks));
	if (!msf->blocks)
		return -ENOMEM;
	for (uint64_t i = 0; i < total; i++) {
		uint64_t offset = bytes - directory.left;

		(void)etw_bytes_u32(&directory, &msf->blocks[i]);
		TRY(claim(opening, msf->blocks[i], offset, "directory"));
	}
	return 0;
}

static int open_file(struct opening *opening)
{
	CLEANUP(freep) uint8_t *directory = NULL;
	uint32_t bytes;

	TRY(read_superblock(opening, &bytes));
	opening->used = calloc(1, opening->msf->block_count / 8 + 1u);
	if (!opening->used)
		return -ENOMEM;
	TRY(claim(opening, 0, 0, "superblock"));
	TRY(read_directory(opening, bytes, &directory));
	return read_streams(opening, (struct etw_bytes){directory, bytes});
}

int etw_msf_open(struct etw_bytes file, struct etw_msf *ret, struct etw_fault *reterr)
{
	struct opening opening = {.msf = ret, .reterr = reterr};
	int r;

	*ret = (struct etw_msf){.file = file};
	r = open_file(&opening);
	free(opening.used);
	if (r < 0)
		etw_msf_close(ret);
	return r;
}

void etw_msf_close(struct etw_msf *msf)
{
	free(msf->stream_bytes);
	free(msf->first);
	free(msf->blocks);
	*msf = (struct etw_msf){0};
}

int etw_msf_stream(const struct etw_msf *msf, uint32_t index, struct etw_msf_stream *ret)
{
	const uint32_t *blocks;
	uint32_t bytes, count;
	bool is_one_piece = true;

	if (index >= msf->stream_count)
		return -ENOENT;
	blocks = msf->blocks + msf->first[index];
	bytes = msf->stream_bytes[index];
	count = blocks_of(msf, bytes);
	*ret = (struct etw_msf_stream){.bytes = {msf->file.at, 0}};
	if (!count)
		return 0;
	for (uint32_t i = 1; i < count; i++)
		is_one_piece &= blocks[i] == blocks[i - 1] + 1;
	if (is_one_piece) {
		ret->bytes = (struct etw_bytes){block_at(msf, blocks[0]), bytes};
		return 0;
	}
	ret->copy = malloc(bytes);
	if (!ret->copy)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t done = i * msf->block_bytes;
		uint32_t left = bytes - done;

		memcpy(ret->copy + done, block_at(msf, blocks[i]),
		       left < msf->block_bytes ? left : msf->block_bytes);
	}
	ret->bytes = (struct etw_bytes){ret->copy, bytes};
	return 0;
}

void etw_msf_stream_done(struct etw_msf_stream *stream)
{
	free(stream->copy);
	*stream = (struct etw_msf_stream){0};
}
