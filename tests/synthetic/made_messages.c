/* SPDX-License-Identifier: MIT */
/* Message tables: consecutive numbers make a block. */
#include <assert.h>
#include <string.h>

#include "base/macros.h"
#include "synthetic/made_wevt.h"
#include "wire/message_table.h"

static size_t add_entry(struct made_messages *table, const struct made_message *message)
{
	size_t start = table->bytes, chars = strlen(message->text) + 1;
	size_t text_bytes = message->is_ansi ? chars : 2 * chars;
	size_t bytes = ALIGN_UP(sizeof(struct wire_message_entry) + text_bytes, 4);
	uint8_t *at = table->at + start;

	assert(start + bytes <= sizeof(table->at));
	etw_store16(at, (uint16_t)bytes);
	etw_store16(at + 2, message->is_ansi ? 0 : WIRE_MESSAGE_UNICODE);
	for (size_t i = 0; i < chars; i++) {
		if (message->is_ansi)
			at[4 + i] = (uint8_t)message->text[i];
		else
			etw_store16(at + 4 + 2 * i, (uint8_t)message->text[i]);
	}
	table->bytes += bytes;
	return start;
}

static bool begins_block(const struct made_message *messages, size_t index)
{
	return !index || messages[index].id != messages[index - 1].id + 1;
}

void made_messages_init(struct made_messages *table, const struct made_message *messages,
			size_t count)
{
	uint8_t *block = table->at + sizeof(struct wire_message_table);
	uint32_t blocks = 0;

	memset(table, 0, sizeof(*table));
	for (size_t i = 0; i < count; i++)
		blocks += begins_block(messages, i);
	etw_store32(table->at, blocks);
	table->bytes = sizeof(struct wire_message_table) +
		       blocks * sizeof(struct wire_message_block);
	for (size_t i = 0; i < count; i++) {
		size_t offset = add_entry(table, &messages[i]);

		if (begins_block(messages, i)) {
			etw_store32(block, messages[i].id);
			etw_store32(block + 8, (uint32_t)offset);
		}
		etw_store32(block + 4, messages[i].id);
		if (i + 1 < count && begins_block(messages, i + 1))
			block += sizeof(struct wire_message_block);
	}
}

void made_messages_of_wevt(struct made_messages *table)
{
	static const struct made_message messages[] = {
		{0x10000001, "Keyword one\r\n", false},
		{0x30000001, "Start\r\n", false},
		{0x50000002, "Error\r\n", false},
		{0x50800103, "Filter text\r\n", false},
		{0x70000007, "Task text\r\n", false},
		{0x90000001, "Provider text\r\n", false},
		{0x90000002, "Channel text\r\n", false},
		{0xb0000001, "First %1%nsecond\r\nthird%0 not\r\n", false},
		{0xb0000003, "Bits %1\r\n", true},
		{0xd0000001, "Zero\r\n", false},
		{0xf0000001, "One\r\n", false},
	};

	made_messages_init(table, messages, ARRAY_SIZE(messages));
}
