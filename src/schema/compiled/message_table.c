/* SPDX-License-Identifier: MIT */
/* The walk over all entries happens once, when a table is opened: later ones need no checks. */
#include "schema/compiled/message_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/utf.h"
#include "wire/message_table.h"

struct etw_message_block {
	uint32_t low, high;
	size_t first; /* index of the entry of `low` */
};

static int refuse(struct etw_fault *reterr, uint64_t offset, const char *field,
		  const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, offset, "message table", field, sentence);
}

/* The entry at @offset; its length is at least that of its head. */
static int check_entry(struct etw_bytes bytes, size_t offset, size_t *left, size_t *ret_bytes,
		       struct etw_fault *reterr)
{
	size_t length;

	if (offset > bytes.left || bytes.left - offset < sizeof(struct wire_message_entry))
		return refuse(reterr, offset, NULL, "an entry goes beyond the table");
	length = etw_load16(bytes.at + offset);
	if (length < sizeof(struct wire_message_entry))
		return refuse(reterr, offset, "Length", "an entry is shorter than its head");
	if (length > bytes.left - offset)
		return refuse(reterr, offset, "Length", "an entry goes beyond the table");
	if (length > *left)
		return refuse(reterr, offset, "Length", "the entries share bytes");
	*left -= length;
	*ret_bytes = length;
	return 0;
}

/* How many entries there are; checks them all. */
static int count_entries(struct etw_bytes bytes, const struct wire_message_block *wire,
			 size_t block_count, size_t *ret, struct etw_fault *reterr)
{
	size_t left = bytes.left; /* entries that share no bytes are not more than the table */
	size_t count = 0;

	for (size_t i = 0; i < block_count; i++) {
		uint32_t low = le32_get(wire[i].low), high = le32_get(wire[i].high);
		size_t offset = le32_get(wire[i].offset), length;

		if (high < low)
			return refuse(reterr, sizeof(le32) + i * sizeof(*wire), "HighId",
				      "a block ends before it begins");
		for (uint64_t id = low; id <= high; id++) {
			TRY(check_entry(bytes, offset, &left, &length, reterr));
			offset += length;
			count++;
		}
	}
	*ret = count;
	return 0;
}

static int compare_blocks(const void *left, const void *right)
{
	uint32_t left_low = ((const struct etw_message_block *)left)->low;
	uint32_t right_low = ((const struct etw_message_block *)right)->low;

	return left_low < right_low ? -1 : left_low > right_low;
}

static int check_order(const struct etw_message_block *blocks, size_t count,
		       struct etw_fault *reterr)
{
	for (size_t i = 1; i < count; i++) {
		if (blocks[i].low <= blocks[i - 1].high)
			return refuse(reterr, sizeof(le32), "LowId",
				      "two blocks have the same number");
	}
	return 0;
}

int etw_message_table_open(struct etw_arena *arena, struct etw_bytes bytes,
			   struct etw_message_table *ret, struct etw_fault *reterr)
{
	const struct wire_message_block *wire;
	struct etw_message_block *blocks;
	size_t entry_count, entry = 0;
	uint32_t block_count = 0;
	uint32_t *entries;

	if (bytes.left < sizeof(struct wire_message_table))
		return refuse(reterr, 0, NULL, "the table ends within its head");
	block_count = etw_load32(bytes.at);
	wire = (const void *)(bytes.at + sizeof(struct wire_message_table));
	if ((bytes.left - sizeof(struct wire_message_table)) / sizeof(*wire) < block_count)
		return refuse(reterr, 0, "NumberOfBlocks", "the blocks go beyond the table");
	TRY(count_entries(bytes, wire, block_count, &entry_count, reterr));
	blocks = etw_arena_array(arena, block_count, sizeof(*blocks));
	entries = etw_arena_array(arena, entry_count, sizeof(*entries));
	if (!blocks || !entries)
		return -ENOMEM;
	for (size_t i = 0; i < block_count; i++) {
		uint32_t offset = le32_get(wire[i].offset);

		blocks[i] = (struct etw_message_block){le32_get(wire[i].low),
						       le32_get(wire[i].high), entry};
		for (uint64_t id = blocks[i].low; id <= blocks[i].high; id++) {
			entries[entry++] = offset;
			offset += etw_load16(bytes.at + offset);
		}
	}
	qsort(blocks, block_count, sizeof(*blocks), compare_blocks);
	TRY(check_order(blocks, block_count, reterr));
	*ret = (struct etw_message_table){bytes.at, blocks, block_count, entries, entry_count};
	return 0;
}

bool etw_message_table_find(const struct etw_message_table *table, uint32_t id, size_t *ret_index)
{
	size_t low = 0, high = table->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct etw_message_block *block = &table->blocks[middle];

		if (id < block->low) {
			high = middle;
		} else if (id > block->high) {
			low = middle + 1;
		} else {
			*ret_index = block->first + (id - block->low);
			return true;
		}
	}
	return false;
}

/* Takes the closing line end off, and turns the others into blanks. */
static void join_lines(struct etw_text *text)
{
	size_t bytes = text->bytes, to = 0;

	if (bytes && text->at[bytes - 1] == '\n')
		bytes--;
	if (bytes && text->at[bytes - 1] == '\r')
		bytes--;
	for (size_t from = 0; from < bytes; from++) {
		char c = text->at[from];

		if (c == '\r' && from + 1 < bytes && text->at[from + 1] == '\n')
			from++;
		text->at[to++] = c == '\r' || c == '\n' ? ' ' : c;
	}
	if (text->at)
		etw_text_end(text, text->at + to);
}

void etw_message_text(struct etw_text *text, const char *message)
{
	for (const char *at = message; *at; at++) {
		if (at[0] != '%' || !at[1]) {
			etw_text_putc(text, *at);
			continue;
		}
		at++;
		switch (*at) {
		case '0':
			return;
		case 'n':
			etw_text_puts(text, "\r\n");
			break;
		case 'r':
			etw_text_putc(text, '\r');
			break;
		case 't':
			etw_text_putc(text, '\t');
			break;
		default:
			etw_text_putc(text, '%');
			etw_text_putc(text, *at);
			break;
		}
	}
}

void etw_message_table_text(const struct etw_message_table *table, size_t index,
			    struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text raw = {0};
	const uint8_t *at = table->at + table->entries[index];
	size_t bytes = etw_load16(at) - sizeof(struct wire_message_entry);
	bool is_unicode = etw_load16(at + 2) & WIRE_MESSAGE_UNICODE;

	at += sizeof(struct wire_message_entry);
	if (is_unicode)
		etw_text_utf16(&raw, at, etw_utf16_length(at, bytes / 2));
	else
		etw_text_ansi(&raw, at, strnlen((const char *)at, bytes));
	join_lines(&raw);
	if (etw_text_error(&raw))
		text->error = raw.error;
	else
		etw_message_text(text, etw_text_string(&raw));
}
