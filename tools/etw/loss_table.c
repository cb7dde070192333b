/* SPDX-License-Identifier: MIT */
#include "tools/etw/loss_table.h"

#include <inttypes.h>

#include "base/loss.h"
#include "base/number.h"
#include "tools/common/number.h"

static struct loss_cell *find_cell(struct loss_table *table, const struct loss_cell *like)
{
	for (size_t i = 0; i < table->count; i++) {
		struct loss_cell *cell = &table->cells[i];

		if (cell->cause == like->cause && cell->class_number == like->class_number &&
		    cell->processor == like->processor)
			return cell;
	}
	return NULL;
}

static void put_cell(struct loss_table *table, const struct loss_cell *cell)
{
	struct loss_cell *to = find_cell(table, cell);

	if (!to && table->count == LOSS_CELLS_MAX) {
		table->left_out++;
		return;
	}
	if (!to)
		to = &table->cells[table->count++];
	*to = *cell;
}

void loss_table_take(struct loss_table *table, const struct wire_session_note *note)
{
	const struct loss_cell cell = {
		.cause = (uint32_t)note->numbers[0],
		.class_number = (uint32_t)note->numbers[1],
		.processor = (uint32_t)note->numbers[2],
		.events = note->numbers[3],
	};

	if (note->kind == WIRE_NOTE_LOST || note->kind == WIRE_NOTE_INCOMPLETE)
		put_cell(table, &cell);
}

void loss_table_of_session(const struct wire_session_loss *loss, struct loss_table *ret)
{
	*ret = (struct loss_table){0};
	for (unsigned i = 0; i < WIRE_SOURCE_LOSSES_MAX && loss->sources[i].events; i++) {
		const struct loss_cell cell = {
			.cause = loss->sources[i].cause,
			.class_number = loss->sources[i].class_number,
			.processor = ETW_LOSS_ANY_PROCESSOR,
			.events = loss->sources[i].events,
		};

		put_cell(ret, &cell);
	}
}

static uint64_t sum_of(const struct loss_table *table, uint32_t cause, uint32_t class_number)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->cells[i].cause == cause && table->cells[i].class_number == class_number)
			sum = etw_sum_saturated(sum, table->cells[i].events);
	}
	return sum;
}

static void put_cause(struct etw_text *text, const struct loss_table *table, uint32_t cause,
		      const char *indent)
{
	const char *before = ": ";

	for (uint32_t i = 0; i < ETW_LOSS_CLASSES; i++) {
		uint64_t sum = sum_of(table, cause, i);

		if (!sum)
			continue;
		if (before[0] == ':')
			etw_text_printf(text, "%s%s, %s", indent,
					etw_loss_is_event(cause) ? "lost" : "incomplete",
					etw_loss_cause_text(cause));
		etw_text_puts(text, before);
		etw_number_grouped(text, sum);
		etw_text_printf(text, " %s", etw_loss_class_text(i));
		before = ", ";
	}
	if (before[0] != ':')
		etw_text_putc(text, '\n');
}

void loss_table_write(struct etw_text *text, const struct loss_table *table, const char *indent)
{
	for (uint32_t cause = 0; cause < ETW_LOSS_CAUSES; cause++)
		put_cause(text, table, cause, indent);
	if (table->left_out) {
		etw_text_puts(text, indent);
		etw_number_count(text, table->left_out, "note");
		etw_text_puts(text, " of loss more\n");
	}
}

void loss_table_write_json(struct etw_text *text, const struct loss_table *table)
{
	if (!table->count)
		return;
	etw_text_puts(text, ",\"loss_by_cause\":[");
	for (size_t i = 0; i < table->count; i++) {
		const struct loss_cell *cell = &table->cells[i];

		etw_text_printf(text, "%s{\"cause\":\"%s\",\"class\":\"%s\"", i ? "," : "",
				etw_loss_cause_name(cell->cause),
				etw_loss_class_name(cell->class_number));
		if (cell->processor != ETW_LOSS_ANY_PROCESSOR)
			etw_text_printf(text, ",\"processor\":%u", cell->processor);
		etw_text_printf(text, ",\"is_lost\":%s,\"events\":%" PRIu64 "}",
				etw_loss_is_event(cell->cause) ? "true" : "false", cell->events);
	}
	etw_text_putc(text, ']');
}
