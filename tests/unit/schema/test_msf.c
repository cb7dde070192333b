/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/wpp/msf.h"
#include "synthetic/pdb_maker.h"

#define DIRECTORY (4 * 512) /* where the made file's directory begins */

static uint8_t *file;
static size_t file_bytes;
static struct etw_msf msf;
static struct etw_fault fault;

/* Stream 0 is empty, 1 short, 2 of three blocks, 3 not there. */
static void make(bool is_scattered)
{
	struct pdb_maker maker = {
		.stream_count = 4, .block_bytes = 512, .is_scattered = is_scattered};
	uint8_t bytes[1200];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i / 5);
	pdb_put(&maker, 1, "short", 5);
	pdb_put(&maker, 2, bytes, sizeof(bytes));
	file = pdb_finish(&maker, &file_bytes);
	etw_store32(file + DIRECTORY + 16, UINT32_MAX);
	fault = (struct etw_fault){0};
}

static void refuse(const char *structure, const char *sentence)
{
	assert_int_equal(etw_msf_open((struct etw_bytes){file, file_bytes}, &msf, &fault),
			 -EBADMSG);
	assert_string_equal(fault.structure, structure);
	assert_string_equal(fault.sentence, sentence);
	free(file);
}

static void check_streams(bool is_scattered)
{
	struct etw_msf_stream stream;

	make(is_scattered);
	assert_true(etw_msf_is((struct etw_bytes){file, file_bytes}));
	assert_int_equal(etw_msf_open((struct etw_bytes){file, file_bytes}, &msf, &fault), 0);
	assert_int_equal(msf.stream_count, 4);
	assert_int_equal(etw_msf_stream(&msf, 0, &stream), 0);
	assert_int_equal(stream.bytes.left, 0);
	assert_int_equal(etw_msf_stream(&msf, 1, &stream), 0);
	assert_int_equal(stream.bytes.left, 5);
	assert_memory_equal(stream.bytes.at, "short", 5);
	assert_null(stream.copy);
	assert_int_equal(etw_msf_stream(&msf, 2, &stream), 0);
	assert_int_equal(stream.bytes.left, 1200);
	for (size_t i = 0; i < 1200; i++)
		assert_int_equal(stream.bytes.at[i], (uint8_t)(i / 5));
	assert_int_equal(stream.copy != NULL, is_scattered);
	etw_msf_stream_done(&stream);
	assert_int_equal(etw_msf_stream(&msf, 3, &stream), 0);
	assert_int_equal(stream.bytes.left, 0);
	assert_int_equal(etw_msf_stream(&msf, 4, &stream), -ENOENT);
	etw_msf_close(&msf);
	free(file);
}

static void test_msf__streams_in_one_piece_are_borrowed(void **state)
{
	(void)state;
	check_streams(false);
}

static void test_msf__scattered_streams_are_copied_together(void **state)
{
	(void)state;
	check_streams(true);
}

static void test_msf__refused_superblocks(void **state)
{
	(void)state;
	make(false);
	assert_false(etw_msf_is((struct etw_bytes){file, 31}));
	file[0] = 'm';
	refuse("superblock", "the file is no MSF 7.00 file");
	make(false);
	file_bytes = 55;
	refuse("superblock", "the file ends within its superblock");
	make(false);
	etw_store32(file + 32, 256);
	refuse("superblock", "the block size is no power of two from 512 to 65536");
	make(false);
	etw_store32(file + 32, 131072);
	refuse("superblock", "the block size is no power of two from 512 to 65536");
	make(false);
	etw_store32(file + 32, 1000);
	refuse("superblock", "the block size is no power of two from 512 to 65536");
	make(false);
	etw_store32(file + 44, 3);
	refuse("superblock", "the directory is empty or larger than the file");
	make(false);
	etw_store32(file + 44, UINT32_MAX);
	refuse("superblock", "the directory is empty or larger than the file");
}

/* The file says it is larger than 4 GiB; not one byte behind the superblock is looked at. */
static void test_msf__refused_size(void **state)
{
	(void)state;
	make(false);
	file_bytes = (size_t)ETW_MSF_BYTES_MAX + 1;
	refuse("superblock", "the file is larger than 4 GiB");
}

static void test_msf__refused_blocks(void **state)
{
	(void)state;
	make(false);
	etw_store32(file + 52, 1000);
	refuse("superblock", "a block lies outside the file");
	make(false);
	etw_store32(file + 52, 0);
	refuse("superblock", "a block is used twice");
	make(false);
	etw_store32(file + 3 * 512, 3);
	refuse("block map", "a block is used twice");
	make(false);
	etw_store32(file + DIRECTORY + 20, 4);
	refuse("directory", "a block is used twice");
	make(false);
	etw_store32(file + DIRECTORY + 24, etw_load32(file + DIRECTORY + 28));
	refuse("directory", "a block is used twice");
	make(false);
	etw_store32(file + DIRECTORY + 24, 9999);
	refuse("directory", "a block lies outside the file");
	make(false);
	file_bytes -= 512;
	refuse("directory", "a block lies outside the file");
}

static void test_msf__refused_directories(void **state)
{
	(void)state;
	make(false);
	etw_store32(file + DIRECTORY, 65537);
	refuse("directory", "there are more than 65536 streams");
	make(false);
	etw_store32(file + DIRECTORY, 1000);
	refuse("directory", "the directory ends within the sizes of the streams");
	make(false);
	etw_store32(file + DIRECTORY + 4, 0x10000000);
	refuse("directory", "the streams are larger than the file");
	make(false);
	etw_store32(file + 44, 24);
	refuse("directory", "the directory ends within the blocks of the streams");
}

/* 115 numbers of map blocks fit behind a superblock of 512 bytes; each map names 128 blocks. */
static void test_msf__directory_beyond_its_maps(void **state)
{
	(void)state;
	file_bytes = (size_t)20000 * 512;
	file = calloc(1, file_bytes);
	assert_non_null(file);
	memcpy(file, "Microsoft C/C++ MSF 7.00\r\n\032DS\0\0", 32);
	etw_store32(file + 32, 512);
	etw_store32(file + 40, 20000);
	etw_store32(file + 44, 115 * 128 * 512);
	refuse("superblock", "a block is used twice");
	file = calloc(1, file_bytes);
	assert_non_null(file);
	memcpy(file, "Microsoft C/C++ MSF 7.00\r\n\032DS\0\0", 32);
	etw_store32(file + 32, 512);
	etw_store32(file + 40, 20000);
	etw_store32(file + 44, 115 * 128 * 512 + 1);
	refuse("superblock", "the directory has more blocks than the superblock can name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_msf__streams_in_one_piece_are_borrowed),
		cmocka_unit_test(test_msf__scattered_streams_are_copied_together),
		cmocka_unit_test(test_msf__refused_superblocks),
		cmocka_unit_test(test_msf__refused_size),
		cmocka_unit_test(test_msf__refused_blocks),
		cmocka_unit_test(test_msf__refused_directories),
		cmocka_unit_test(test_msf__directory_beyond_its_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
