/* SPDX-License-Identifier: MIT */
#include "tools/etw/report_io.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/json_members.h"
#include "tools/etw/report_tables.h"

static const struct {
	const char *title, *key;
} kinds[ETW_PROCESS_IO_KINDS] = {
	[ETW_PROCESS_DISK_READ] = {"disk read", "disk_read_bytes"},
	[ETW_PROCESS_DISK_WRITTEN] = {"disk written", "disk_written_bytes"},
	[ETW_PROCESS_FILE_READ] = {"file read", "file_read_bytes"},
	[ETW_PROCESS_FILE_WRITTEN] = {"file written", "file_written_bytes"},
	[ETW_PROCESS_RECEIVED] = {"received", "received_bytes"},
	[ETW_PROCESS_SENT] = {"sent", "sent_bytes"},
};

static bool has_kind(const struct etw_process_usage *usage, unsigned kind)
{
	return etw_process_io_has(&usage->io, etw_process_io_area((enum etw_process_io_kind)kind));
}

static uint64_t bytes_of(const struct etw_process_usage *usage,
			 const struct etw_process_share *share, unsigned kind)
{
	return etw_process_io_bytes(&usage->io, &share->io, (enum etw_process_io_kind)kind);
}

/* A process with the sum that it is ordered by. */
struct ranked {
	uint64_t bytes;
	size_t place; /* among the processes, busiest first */
};

static int compare(const void *left_at, const void *right_at)
{
	const struct ranked *left = left_at, *right = right_at;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

/* Those that read or wrote anything. Returns how many they are. */
static size_t rank(const struct etw_process_usage *usage, struct ranked *ranks)
{
	size_t count = 0;

	for (size_t i = 0; i < usage->shares.count; i++) {
		uint64_t sum = 0;

		for (unsigned kind = 0; kind < ETW_PROCESS_IO_KINDS; kind++)
			sum += bytes_of(usage, usage->sorted[i], kind);
		if (sum)
			ranks[count++] = (struct ranked){sum, i};
	}
	qsort(ranks, count, sizeof(*ranks), compare);
	return count;
}

static void put_cells(struct etw_grid *grid, const struct etw_process_usage *usage,
		      const struct etw_process_share *share)
{
	const char *name = report_process_name(share);
	struct etw_text *cell;

	for (unsigned kind = 0; kind < ETW_PROCESS_IO_KINDS; kind++) {
		uint64_t bytes = bytes_of(usage, share, kind);

		if (!has_kind(usage, kind))
			continue;
		cell = etw_grid_cell(grid);
		if (bytes)
			etw_number_bytes(cell, bytes);
		else
			etw_text_putc(cell, '-');
	}
	cell = etw_grid_cell(grid);
	if (share->pid == ETW_PROCESS_NONE)
		etw_text_putc(cell, '-');
	else
		etw_text_unsigned(cell, share->pid);
	etw_output_clean(etw_grid_cell(grid), share->pid == ETW_PROCESS_NONE
						      ? "threads of unknown processes"
					      : name ? name
						     : "-");
}

static void put_rows(struct etw_text *text, const struct report *report,
		     const struct report_look *look, const struct ranked *ranks, size_t rows)
{
	struct etw_grid_column columns[ETW_PROCESS_IO_KINDS + 2];
	struct etw_grid grid;
	size_t count = 0;

	for (unsigned kind = 0; kind < ETW_PROCESS_IO_KINDS; kind++)
		if (has_kind(&report->usage, kind))
			columns[count++] = (struct etw_grid_column){.title = kinds[kind].title,
								    .is_right = true};
	columns[count++] = (struct etw_grid_column){.title = "pid", .is_right = true};
	columns[count++] = (struct etw_grid_column){.title = "process", .gives_way = true};
	etw_grid_init(&grid, columns, count);
	for (size_t i = 0; i < rows; i++)
		put_cells(&grid, &report->usage, report->usage.sorted[ranks[i].place]);
	etw_grid_print(&grid, look->width, "", "", text);
	etw_grid_done(&grid);
}

void report_io_write(struct etw_text *text, const struct report *report,
		     const struct report_look *look, size_t rows)
{
	CLEANUP(freep)
	struct ranked *ranks = calloc(report->usage.shares.count + 1, sizeof(*ranks));
	size_t count;

	if (!ranks) {
		text->error = -ENOMEM;
		return;
	}
	count = rank(&report->usage, ranks);
	if (!count || !rows)
		return;
	report_title_write(text, look, "Input and output (most bytes first)");
	put_rows(text, report, look, ranks, count < rows ? count : rows);
	report_more_write(text, count, rows, "");
}

void report_io_json(struct etw_text *text, const struct etw_process_usage *usage,
		    const struct etw_process_share *share)
{
	for (unsigned kind = 0; kind < ETW_PROCESS_IO_KINDS; kind++)
		if (has_kind(usage, kind))
			json_number(text, kinds[kind].key, bytes_of(usage, share, kind));
}
