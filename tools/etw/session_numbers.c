/* SPDX-License-Identifier: MIT */
#include "tools/etw/session_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/etw/loss_table.h"

/* A number with its name in JSON, and in tables and lists. */
struct named {
	const char *key, *title;
	uint64_t value;
};

static int add_cpus(struct session_numbers *numbers, const struct wire_statistics *page,
		    uint32_t *known)
{
	if (page->first_cpu != *known || page->told_cpus == 0 ||
	    page->told_cpus > numbers->sums.cpu_count - *known)
		return -EPROTO;
	memcpy(&numbers->cpus[*known], page->cpus, page->told_cpus * sizeof(*numbers->cpus));
	*known += page->told_cpus;
	return 0;
}

static int gather(struct etw_controller *host, uint64_t handle, struct wire_statistics *page,
		  struct session_numbers *numbers)
{
	uint32_t known = 0;

	TRY(etw_control_statistics(host, handle, 0, page));
	numbers->sums = *page;
	numbers->cpus = calloc(page->cpu_count ? page->cpu_count : 1, sizeof(*numbers->cpus));
	if (!numbers->cpus)
		return -ENOMEM;
	while (known < numbers->sums.cpu_count) {
		if (known > 0)
			TRY(etw_control_statistics(host, handle, known, page));
		TRY(add_cpus(numbers, page, &known));
	}
	return 0;
}

int session_numbers_gather(struct etw_controller *host, uint64_t handle,
			   struct session_numbers *ret)
{
	CLEANUP(freep) struct wire_statistics *page = malloc(sizeof(*page));
	struct session_numbers numbers = {0};
	int result = page ? gather(host, handle, page, &numbers) : -ENOMEM;

	if (result)
		session_numbers_done(&numbers);
	else
		*ret = numbers;
	return result;
}

void session_numbers_done(struct session_numbers *numbers)
{
	free(numbers->cpus);
	*numbers = (struct session_numbers){0};
}

#define CAUSES      8
#define LIVE_LOSSES 4
#define CPU_VALUES  18

static void list_causes(const struct wire_session_loss *loss, struct named ret[CAUSES])
{
	const struct named all[CAUSES] = {
		{"no_buffer", "no free buffer", loss->no_buffer},
		{"too_large", "too large", loss->too_large},
		{"gaps", "never finished", loss->gaps},
		{"rejected", "refused", loss->rejected},
		{"source", "on the way from the kernel", loss->source},
		{"file", "not in the file", loss->file},
		{"replaced", "for rings that were replaced", loss->replaced},
		{"others", "claimed by other users", loss->others},
	};

	memcpy(ret, all, sizeof(all));
}

static void list_live_losses(const struct session_numbers *numbers, struct named ret[LIVE_LOSSES])
{
	struct named all[LIVE_LOSSES] = {
		{"slow", "of consumers that were slow", 0},
		{"unheard", "without a consumer", 0},
		{"missed", "with a consumer's memory", numbers->sums.missed_buffers},
		{"unread", "left unread", numbers->sums.unread_buffers},
	};

	for (uint32_t i = 0; i < numbers->sums.cpu_count; i++) {
		all[0].value += numbers->cpus[i].slow_buffers;
		all[1].value += numbers->cpus[i].unheard_buffers;
	}
	memcpy(ret, all, sizeof(all));
}

static void list_cpu(const struct wire_cpu_statistics *cpu, struct named ret[CPU_VALUES])
{
	const struct named all[CPU_VALUES] = {
		{"buffers", NULL, cpu->buffers},
		{"free_buffers", NULL, cpu->free_buffers},
		{"events", NULL, cpu->events},
		{"notes", NULL, cpu->notes},
		{"buffers_written", NULL, cpu->buffers_written},
		{"log_buffers_lost", NULL, cpu->log_buffers_lost},
		{"no_buffer", NULL, cpu->no_buffer},
		{"too_large", NULL, cpu->too_large},
		{"gaps", NULL, cpu->gaps},
		{"rejected", NULL, cpu->rejected},
		{"source", NULL, cpu->source},
		{"file", NULL, cpu->file},
		{"delivered_buffers", NULL, cpu->delivered_buffers},
		{"delivered_events", NULL, cpu->delivered_events},
		{"slow_buffers", NULL, cpu->slow_buffers},
		{"slow_events", NULL, cpu->slow_events},
		{"unheard_buffers", NULL, cpu->unheard_buffers},
		{"unheard_events", NULL, cpu->unheard_events},
	};

	memcpy(ret, all, sizeof(all));
}

/* "3 (no free buffer 2, refused 1)" */
static void put_sum(struct etw_text *text, uint64_t sum, const struct named *parts, size_t count)
{
	const char *between = " (";

	etw_number_grouped(text, sum);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].value == 0)
			continue;
		etw_text_printf(text, "%s%s ", between, parts[i].title);
		etw_number_grouped(text, parts[i].value);
		between = ", ";
	}
	if (*between == ',')
		etw_text_putc(text, ')');
	etw_text_putc(text, '\n');
}

/* Free buffers are counted at another moment than all of them. */
static uint64_t count_in_use(uint64_t all, uint64_t free_buffers)
{
	return all - MIN(free_buffers, all);
}

static void put_buffers(struct etw_text *text, const struct wire_session_info *info,
			const struct session_numbers *numbers)
{
	const struct wire_statistics *sums = &numbers->sums;

	etw_text_puts(text, "  buffers: ");
	etw_number_grouped(text, sums->number_of_buffers);
	etw_text_puts(text, ", ");
	etw_number_grouped(text, count_in_use(sums->number_of_buffers, sums->free_buffers));
	etw_text_puts(text, " in use; ");
	etw_number_grouped(text, info->buffers_written);
	etw_text_puts(text, " written, ");
	etw_number_grouped(text, info->log_buffers_lost);
	etw_text_puts(text, " lost to the file\n");
	if (info->overwritten) {
		etw_text_puts(text, "  events overwritten in the circular file: ");
		etw_number_grouped(text, info->overwritten);
		etw_text_putc(text, '\n');
	}
}

/* Of a session without filters there is nothing to say. */
static void put_filtered(struct etw_text *text, const struct wire_statistics *sums)
{
	if (!sums->filtered && !sums->others_filtered)
		return;
	etw_text_puts(text, "  events filtered: ");
	etw_number_grouped(text, sums->filtered);
	if (sums->others_filtered) {
		etw_text_puts(text, ", and ");
		etw_number_grouped(text, sums->others_filtered);
		etw_text_puts(text, " claimed by other users");
	}
	etw_text_putc(text, '\n');
}

static const char *state_of(uint32_t state)
{
	switch (state) {
	case WIRE_CONSUMER_HERE:
		return "here";
	case WIRE_CONSUMER_AWAITED:
		return "awaited";
	case WIRE_CONSUMER_FUTURE:
		return "future";
	default:
		return NULL;
	}
}

static void put_consumers(struct etw_text *text, const struct session_numbers *numbers)
{
	for (unsigned i = 0; i < WIRE_STATISTICS_CONSUMERS; i++) {
		const struct wire_consumer_statistics *one = &numbers->sums.consumers[i];

		if (!state_of(one->state))
			continue;
		if (one->state == WIRE_CONSUMER_FUTURE)
			etw_text_puts(text, "  kept for the next consumer: ");
		else
			etw_text_printf(text, "  consumer %u%s: ", i,
					one->state == WIRE_CONSUMER_AWAITED ? ", awaited" : "");
		etw_number_count(text, one->buffers, "buffer");
		etw_text_puts(text, ", ");
		etw_number_grouped(text, one->waiting);
		etw_text_puts(text, " not read yet, ");
		etw_number_grouped(text, one->lost);
		etw_text_puts(text, " lost\n");
	}
}

static void put_cells(struct etw_grid *grid, const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		etw_number_grouped(etw_grid_cell(grid), values[i]);
}

static bool has_loss(const struct wire_cpu_statistics *cpu)
{
	return cpu->no_buffer || cpu->too_large || cpu->gaps || cpu->rejected || cpu->source ||
	       cpu->file;
}

static void put_flow(struct etw_text *text, const struct session_numbers *numbers, const char *bold,
		     const char *plain)
{
	static const struct etw_grid_column columns[] = {
		{.title = "  processor", .is_right = true}, {.title = "events", .is_right = true},
		{.title = "in use", .is_right = true},      {.title = "free", .is_right = true},
		{.title = "written", .is_right = true},     {.title = "lost", .is_right = true},
		{.title = "delivered", .is_right = true},   {.title = "slow", .is_right = true},
		{.title = "unheard", .is_right = true},
	};
	struct etw_grid grid;

	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < numbers->sums.cpu_count; i++) {
		const struct wire_cpu_statistics *cpu = &numbers->cpus[i];
		const uint64_t cells[] = {
			i,
			cpu->events,
			count_in_use(cpu->buffers, cpu->free_buffers),
			cpu->free_buffers,
			cpu->buffers_written,
			cpu->log_buffers_lost,
			cpu->delivered_buffers,
			cpu->slow_buffers,
			cpu->unheard_buffers,
		};

		if (cpu->events || has_loss(cpu))
			put_cells(&grid, cells, ARRAY_SIZE(cells));
	}
	etw_grid_print(&grid, 0, bold, plain, text);
	etw_grid_done(&grid);
}

static void put_losses(struct etw_text *text, const struct session_numbers *numbers,
		       const char *bold, const char *plain)
{
	static const struct etw_grid_column columns[] = {
		{.title = "  processor", .is_right = true},
		{.title = "no buffer", .is_right = true},
		{.title = "too large", .is_right = true},
		{.title = "gaps", .is_right = true},
		{.title = "refused", .is_right = true},
		{.title = "kernel", .is_right = true},
		{.title = "file", .is_right = true},
	};
	struct etw_grid grid;

	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < numbers->sums.cpu_count; i++) {
		const struct wire_cpu_statistics *cpu = &numbers->cpus[i];
		const uint64_t cells[] = {i,         cpu->no_buffer, cpu->too_large,
					  cpu->gaps, cpu->rejected,  cpu->source,
					  cpu->file};

		if (has_loss(cpu))
			put_cells(&grid, cells, ARRAY_SIZE(cells));
	}
	if (grid.cells > 0)
		etw_grid_print(&grid, 0, bold, plain, text);
	etw_grid_done(&grid);
}

void session_numbers_write(struct etw_text *text, const struct wire_session_info *info,
			   const struct session_numbers *numbers, const char *bold,
			   const char *plain)
{
	struct named causes[CAUSES], live[LIVE_LOSSES];
	struct loss_table sources;
	bool has_events = false;

	list_causes(&numbers->sums.loss, causes);
	list_live_losses(numbers, live);
	put_buffers(text, info, numbers);
	etw_text_puts(text, "  events lost: ");
	put_sum(text, info->events_lost, causes, CAUSES);
	loss_table_of_session(&numbers->sums.loss, &sources);
	loss_table_write(text, &sources, "    ");
	put_filtered(text, &numbers->sums);
	etw_text_puts(text, "  real-time buffers lost: ");
	put_sum(text, info->real_time_buffers_lost, live, LIVE_LOSSES);
	put_consumers(text, numbers);
	for (uint32_t i = 0; i < numbers->sums.cpu_count; i++)
		has_events |= numbers->cpus[i].events || has_loss(&numbers->cpus[i]);
	if (!has_events)
		return;
	put_flow(text, numbers, bold, plain);
	put_losses(text, numbers, bold, plain);
}

static void put_members(struct etw_text *text, const struct named *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		etw_text_printf(text, "%s\"%s\":%" PRIu64, i ? "," : "", values[i].key,
				values[i].value);
}

static void put_json_consumers(struct etw_text *text, const struct session_numbers *numbers)
{
	const char *comma = "";

	etw_text_puts(text, ",\"consumers\":[");
	for (unsigned i = 0; i < WIRE_STATISTICS_CONSUMERS; i++) {
		const struct wire_consumer_statistics *one = &numbers->sums.consumers[i];
		const struct named values[] = {
			{"buffers", NULL, one->buffers},
			{"waiting", NULL, one->waiting},
			{"lost", NULL, one->lost},
		};

		if (!state_of(one->state))
			continue;
		etw_text_printf(text, "%s{\"state\":\"%s\",", comma, state_of(one->state));
		put_members(text, values, ARRAY_SIZE(values));
		etw_text_putc(text, '}');
		comma = ",";
	}
	etw_text_putc(text, ']');
}

void session_numbers_write_json(struct etw_text *text, const struct wire_session_info *info,
				const struct session_numbers *numbers)
{
	struct named causes[CAUSES], live[LIVE_LOSSES], cpu[CPU_VALUES];
	struct loss_table sources;

	list_causes(&info->loss, causes);
	etw_text_puts(text, ",\"events_lost_by_cause\":{");
	put_members(text, causes, CAUSES);
	etw_text_putc(text, '}');
	loss_table_of_session(&info->loss, &sources);
	loss_table_write_json(text, &sources);
	if (!numbers)
		return;
	etw_text_printf(text,
			",\"events_filtered\":%" PRIu64 ",\"events_filtered_of_others\":%" PRIu64,
			numbers->sums.filtered, numbers->sums.others_filtered);
	list_live_losses(numbers, live);
	etw_text_puts(text, ",\"real_time_buffers_lost_by_cause\":{");
	put_members(text, live, LIVE_LOSSES);
	etw_text_putc(text, '}');
	put_json_consumers(text, numbers);
	etw_text_puts(text, ",\"processors\":[");
	for (uint32_t i = 0; i < numbers->sums.cpu_count; i++) {
		etw_text_puts(text, i ? ",{" : "{");
		list_cpu(&numbers->cpus[i], cpu);
		put_members(text, cpu, CPU_VALUES);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}
