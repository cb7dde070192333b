/* SPDX-License-Identifier: MIT */
#include "tools/common/unrelated.h"

#include <stdlib.h>

#include "base/macros.h"
#include "base/time.h"
#include "decode/format.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/common/program.h"

#define DAY_FT (24 * 3600 * ETW_FILETIME_PER_SECOND)
#define SLACK_FT \
	(600 * ETW_FILETIME_PER_SECOND) /* clocks are set, and the boot is computed from them */

/* Whether the speeds could be two measurements of one processor. */
static bool is_same_speed(uint32_t left, uint32_t right)
{
	uint32_t more = left > right ? left : right, less = left > right ? right : left;

	return !less || more - less <= more / 20;
}

static int64_t end_of(const struct etw_etl_header *header)
{
	return header->end_ft > header->start_ft ? header->end_ft : header->start_ft;
}

/* Whether the one was still recorded, without a boot of its own, when the other's machine had booted. */
static bool was_up_during_boot(const struct etw_etl_header *early,
			       const struct etw_etl_header *late)
{
	return early->boot_ft > 0 && early->boot_ft + SLACK_FT < late->boot_ft &&
	       end_of(early) > late->boot_ft + SLACK_FT;
}

static bool is_other_machine(const struct etw_etl_header *left, const struct etw_etl_header *right)
{
	if (left->os_build != right->os_build || left->os_major != right->os_major ||
	    left->os_minor != right->os_minor || left->processors != right->processors ||
	    !is_same_speed(left->cpu_mhz, right->cpu_mhz))
		return true;
	return was_up_during_boot(left, right) || was_up_during_boot(right, left);
}

/* From the end of the one to the start of the other; not above 0 when they overlap, or when is not known. */
static int64_t gap_between(const struct etw_etl_header *left, const struct etw_etl_header *right)
{
	const struct etw_etl_header *early = left->start_ft <= right->start_ft ? left : right;
	const struct etw_etl_header *late = early == left ? right : left;

	return early->start_ft > 0 ? late->start_ft - end_of(early) : 0;
}

/* The file whose time is nearest to that of file @index, among the others. */
static size_t nearest(const struct etw_etl_header *const *headers, size_t count, size_t index)
{
	size_t best = index ? 0 : 1;

	for (size_t i = 0; i < count; i++) {
		if (i != index && gap_between(headers[i], headers[index]) <
					  gap_between(headers[best], headers[index]))
			best = i;
	}
	return best;
}

/* What tells two machines apart. */
static void put_machine(struct etw_text *text, const struct etw_etl_header *header,
			const struct etw_etl_header *other)
{
	bool is_alike = header->os_build == other->os_build &&
			header->processors == other->processors;

	etw_text_printf(text, "build %u, ", header->os_build);
	etw_number_count(text, header->processors, "processor");
	if (is_alike && !is_same_speed(header->cpu_mhz, other->cpu_mhz)) {
		etw_text_puts(text, " at ");
		etw_number_grouped(text, header->cpu_mhz);
		etw_text_puts(text, " MHz");
	} else if (is_alike) {
		etw_text_puts(text, ", booted ");
		etw_format_filetime(header->boot_ft, text);
	}
}

static void put_pair(struct etw_text *text, const char *left, const char *right)
{
	etw_output_clean(text, left);
	etw_text_puts(text, " and ");
	etw_output_clean(text, right);
}

static void put_gap(struct etw_text *text, int64_t gap_ft)
{
	etw_text_puts(text, "are ");
	etw_number_count(text, (uint64_t)((gap_ft + DAY_FT / 2) / DAY_FT), "day");
	etw_text_puts(text, " apart");
}

static void put_machines_differ(struct etw_text *text, const struct etw_etl_header *left,
				const struct etw_etl_header *right)
{
	int64_t gap_ft = gap_between(left, right);

	etw_text_puts(text, " come from different machines (");
	put_machine(text, left, right);
	etw_text_puts(text, "; ");
	put_machine(text, right, left);
	etw_text_puts(text, ")");
	if (gap_ft >= DAY_FT) {
		etw_text_puts(text, " and ");
		put_gap(text, gap_ft);
	}
}

bool etw_unrelated_write(struct etw_text *text, const struct etw_etl_header *const *headers,
			 const char *const *paths, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (!is_other_machine(headers[0], headers[i]))
			continue;
		put_pair(text, paths[0], paths[i]);
		put_machines_differ(text, headers[0], headers[i]);
		return true;
	}
	for (size_t i = 0; i < count && count > 1; i++) {
		size_t other = nearest(headers, count, i);
		int64_t gap_ft = gap_between(headers[i], headers[other]);

		if (gap_ft < DAY_FT)
			continue;
		put_pair(text, paths[i < other ? i : other], paths[i < other ? other : i]);
		etw_text_putc(text, ' ');
		put_gap(text, gap_ft);
		return true;
	}
	return false;
}

void etw_unrelated_warn(const struct etw_inputs *inputs)
{
	CLEANUP(freep)
	const struct etw_etl_header **headers = calloc(inputs->count,
						       sizeof(const struct etw_etl_header *));
	struct etw_text text = {0};

	if (!headers)
		return;
	for (size_t i = 0; i < inputs->count; i++)
		headers[i] = etw_trace_header(inputs->traces[i]);
	if (etw_unrelated_write(&text, headers, (const char *const *)inputs->paths, inputs->count))
		etw_program_message("warning: %s: they are merged by time as if they belonged "
				    "together",
				    etw_text_string(&text));
	etw_text_done(&text);
}
