/* SPDX-License-Identifier: MIT */
#include "tools/etw/report_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/table.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/json_members.h"
#include "tools/etw/process_table.h"
#include "tools/etw/verb.h"

/* What the numbers before a process' name take, about. */
#define COLUMNS_OF_NUMBERS 30

void report_title_write(struct etw_text *text, const struct report_look *look, const char *title)
{
	etw_text_printf(text, "\n%s%s%s\n", look->bold, title, look->plain);
}

void report_more_write(struct etw_text *text, size_t count, size_t rows, const char *verb)
{
	if (count <= rows)
		return;
	etw_text_puts(text, "  ... and ");
	etw_number_grouped(text, count - rows);
	etw_text_puts(text, " more");
	if (etw_verb_find(verb))
		etw_text_printf(text, "; etw %s lists all", verb);
	etw_text_putc(text, '\n');
}

/* Kinds of one name: versions of an event, and what differs only in its schema, are one for a reader. */
struct named {
	const char *name; /* in the arena */
	const struct tally_provider *provider;
	uint64_t count;
};

struct naming {
	struct etw_arena arena;
	struct etw_table table;
	struct named **sorted; /* in the arena */
};

static void naming_done(struct naming *naming)
{
	etw_table_done(&naming->table);
	etw_arena_done(&naming->arena);
}

static bool is_named(const void *item, const void *key)
{
	const struct named *left = item, *right = key;

	return left->provider == right->provider && !strcmp(left->name, right->name);
}

/* Of classic events the class is half of the name. */
static int add_kind(struct naming *naming, const struct tally_kind *kind)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};
	struct named key = {.provider = kind->provider}, *named;
	uint64_t hash = etw_hash_mix(etw_hash_seed(), (uint64_t)(uintptr_t)kind->provider);

	if (kind->provider->is_classic)
		tally_kind_write(&name, kind);
	else
		tally_kind_name_write(&name, kind);
	key.name = etw_text_string(&name);
	for (const char *at = key.name; *at; at++)
		hash = etw_hash_mix(hash, (uint8_t)*at);
	named = etw_table_find(&naming->table, hash, is_named, &key);
	if (!named) {
		named = etw_arena_alloc(&naming->arena, sizeof(*named));
		key.name = etw_arena_strdup(&naming->arena, key.name);
		if (!named || !key.name)
			return -ENOMEM;
		*named = key;
		TRY(etw_table_insert(&naming->table, hash, named));
	}
	named->count += kind->count;
	return 0;
}

static int compare_named(const void *left_at, const void *right_at)
{
	const struct named *left = *(struct named *const *)left_at;
	const struct named *right = *(struct named *const *)right_at;

	int order;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	order = strcmp(left->name, right->name);
	/* Of two providers; else the order would be that of a table with a random seed. */
	return order ? order : memcmp(&left->provider->guid, &right->provider->guid, sizeof(GUID));
}

static int name_kinds(struct naming *naming, const struct tally *tally)
{
	size_t count = 0;

	for (size_t i = 0; i < tally->kinds.count; i++)
		TRY(add_kind(naming, tally->sorted_kinds[i]));
	naming->sorted = etw_arena_array(&naming->arena, naming->table.count + 1,
					 sizeof(struct named *));
	if (!naming->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < naming->table.room; i++) {
		if (naming->table.slots[i].item)
			naming->sorted[count++] = naming->table.slots[i].item;
	}
	qsort(naming->sorted, count, sizeof(struct named *), compare_named);
	return 0;
}

void report_kinds_write(struct etw_text *text, const struct report *report,
			const struct report_look *look, size_t rows)
{
	static const struct etw_grid_column columns[] = {
		{.title = "events", .is_right = true},
		{.title = "share", .is_right = true},
		{.title = "event"},
		{.title = "provider", .gives_way = true},
	};
	const struct tally *tally = &report->tally;
	CLEANUP(naming_done) struct naming naming = {0};
	struct etw_grid grid;

	if (!rows || name_kinds(&naming, tally))
		return;
	if (rows > naming.table.count)
		rows = naming.table.count;
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	report_title_write(text, look, "What happened (the commonest events)");
	for (size_t i = 0; i < rows; i++) {
		const struct named *named = naming.sorted[i];

		etw_number_grouped(etw_grid_cell(&grid), named->count);
		etw_number_share(etw_grid_cell(&grid), named->count, tally->count);
		etw_text_puts(etw_grid_cell(&grid), named->name);
		if (named->provider->is_classic)
			etw_text_puts(etw_grid_cell(&grid), "(classic)");
		else
			tally_provider_write(etw_grid_cell(&grid), named->provider);
	}
	etw_grid_print(&grid, look->width, "", "", text);
	etw_grid_done(&grid);
	report_more_write(text, naming.table.count, rows, "info");
}

void report_kinds_json(struct etw_text *text, const struct report *report)
{
	CLEANUP(naming_done) struct naming naming = {0};
	CLEANUP(etw_text_done) struct etw_text provider = {0};

	if (name_kinds(&naming, &report->tally)) {
		text->error = -ENOMEM;
		return;
	}
	etw_text_puts(text, ",\"kinds\":[");
	for (size_t i = 0; i < naming.table.count; i++) {
		const struct named *named = naming.sorted[i];

		etw_text_puts(text, i ? ",{\"event\":" : "{\"event\":");
		json_value(text, named->name);
		etw_text_clear(&provider);
		tally_provider_write(&provider, named->provider);
		json_text(text, "provider", etw_text_string(&provider));
		if (named->provider->is_classic)
			etw_text_puts(text, ",\"classic\":true");
		json_number(text, "count", named->count);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

struct lives {
	size_t known, started, ended, commands;
};

static struct lives count_lives(const struct report *report)
{
	const struct etw_machine_processes *processes = &report->inputs->processes;
	struct lives lives = {0};

	for (size_t i = 0; i < processes->count; i++) {
		size_t count = etw_processes_count(processes->machines[i]);

		lives.known += count;
		for (size_t j = 0; j < count; j++) {
			const struct etw_process *process = etw_processes_at(processes->machines[i],
									     j);

			lives.started += process->has_start;
			lives.ended += process->has_end;
			lives.commands += process->program->command_line != NULL;
		}
	}
	return lives;
}

void report_lives_json(struct etw_text *text, const struct report *report)
{
	const struct lives lives = count_lives(report);

	json_number(text, "processes_known", lives.known);
	json_number(text, "processes_started", lives.started);
	json_number(text, "processes_ended", lives.ended);
}

static void put_processes_title(struct etw_text *text, const struct report *report,
				const struct report_look *look, const struct lives *lives)
{
	const char *measure = process_measure_words(report->usage.measure);
	size_t count = report->usage.shares.count;
	CLEANUP(etw_text_done) struct etw_text title = {0};

	etw_text_puts(&title, "Processes (");
	etw_number_grouped(&title, count > lives->known ? count : lives->known);
	if (lives->known) {
		etw_text_puts(&title, "; ");
		etw_number_grouped(&title, lives->started);
		etw_text_puts(&title, " started, ");
		etw_number_grouped(&title, lives->ended);
		etw_text_puts(&title, " ended");
	} else {
		etw_text_puts(&title, "; the trace does not tell what they ran");
	}
	if (measure)
		etw_text_printf(&title, "), busiest first by CPU time (%s)", measure);
	else
		etw_text_puts(&title, "), busiest first by events");
	report_title_write(text, look, etw_text_string(&title));
}

/*
 * A command line for the last column: what a program was told says more than where it lies, so that of one
 * which does not fit the folder goes first. "C:\\Windows\\notepad.exe" a.txt: "...\\notepad.exe" a.txt
 */
static void put_command(struct etw_text *text, const char *command, size_t room)
{
	bool is_quoted = *command == '"';
	const char *program = command + is_quoted;
	const char *end = program + strcspn(program, is_quoted ? "\"" : " ");
	const char *name = end;

	while (name > program && !strchr("\\/", name[-1]))
		name--;
	if (strlen(command) <= room || name == program) {
		etw_output_clean(text, command);
		return;
	}
	etw_text_printf(text, "%s...%c", is_quoted ? "\"" : "", name[-1]);
	etw_output_clean(text, name);
}

const char *report_process_name(const struct etw_process_share *share)
{
	if (share->pid == ETW_PROCESS_NONE)
		return NULL;
	if (share->process && share->process->program->name)
		return share->process->program->name;
	/* What the system itself is called does not need an event. */
	return etw_processes_name(share->of, share->pid, INT64_MIN);
}

static const char *name_of(const struct etw_process_share *share)
{
	const char *name = report_process_name(share);

	return share->pid == ETW_PROCESS_NONE ? "threads of unknown processes" : name ? name : "-";
}

/* How many characters the last column has for a command line. */
static size_t room_for_commands(const struct etw_process_usage *usage, size_t rows, size_t width)
{
	size_t taken = 0;

	for (size_t i = 0; i < rows; i++) {
		size_t length = strlen(name_of(usage->sorted[i]));

		taken = length > taken ? length : taken;
	}
	taken += COLUMNS_OF_NUMBERS;
	return width > taken ? width - taken : 1;
}

static void put_process(struct etw_grid *grid, const struct etw_process_usage *usage,
			const struct etw_process_share *share, size_t command_room)
{
	const char *command = share->process ? share->process->program->command_line : NULL;
	struct etw_text *cell;

	if (process_measure_words(usage->measure))
		etw_number_duration(etw_grid_cell(grid),
				    (int64_t)etw_process_usage_time(usage, share));
	etw_number_grouped(etw_grid_cell(grid), share->events);
	cell = etw_grid_cell(grid);
	if (share->pid == ETW_PROCESS_NONE)
		etw_text_putc(cell, '-');
	else
		etw_text_unsigned(cell, share->pid);
	etw_output_clean(etw_grid_cell(grid), name_of(share));
	if (command_room)
		put_command(etw_grid_cell(grid), command ? command : "-", command_room);
}

void report_processes_write(struct etw_text *text, const struct report *report,
			    const struct report_look *look, size_t rows)
{
	static const struct etw_grid_column with_commands[] = {
		{.title = "CPU time", .is_right = true},      {.title = "events", .is_right = true},
		{.title = "pid", .is_right = true},           {.title = "process"},
		{.title = "command line", .gives_way = true},
	};
	static const struct etw_grid_column without_commands[] = {
		{.title = "CPU time", .is_right = true},
		{.title = "events", .is_right = true},
		{.title = "pid", .is_right = true},
		{.title = "process", .gives_way = true},
	};
	const struct etw_process_usage *usage = &report->usage;
	const struct lives lives = count_lives(report);
	bool has_time = process_measure_words(usage->measure) != NULL;
	struct etw_grid grid;
	size_t room;

	if (!rows)
		return;
	if (lives.commands)
		etw_grid_init(&grid, with_commands + !has_time,
			      ARRAY_SIZE(with_commands) - !has_time);
	else
		etw_grid_init(&grid, without_commands + !has_time,
			      ARRAY_SIZE(without_commands) - !has_time);
	put_processes_title(text, report, look, &lives);
	room = lives.commands ? room_for_commands(usage, rows, look->width) : 0;
	for (size_t i = 0; i < rows; i++)
		put_process(&grid, usage, usage->sorted[i], room);
	etw_grid_print(&grid, look->width, "", "", text);
	etw_grid_done(&grid);
	report_more_write(text, usage->shares.count, rows, "processes");
}

void report_providers_write(struct etw_text *text, const struct report *report,
			    const struct report_look *look)
{
	static const struct etw_grid_column columns[] = {
		{.title = "events", .is_right = true},
		{.title = "share", .is_right = true},
		{.title = "decoded", .is_right = true},
		{.title = "provider", .gives_way = true},
	};
	const struct tally *tally = &report->tally;
	size_t rows = tally->providers.count < look->top ? tally->providers.count : look->top;
	struct etw_grid grid;

	if (!rows)
		return;
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	report_title_write(text, look, "Busiest providers");
	for (size_t i = 0; i < rows; i++) {
		const struct tally_provider *provider = tally->sorted_providers[i];

		etw_number_grouped(etw_grid_cell(&grid), provider->count);
		etw_number_share(etw_grid_cell(&grid), provider->count, tally->count);
		etw_number_share(etw_grid_cell(&grid), provider->statuses[ETW_DECODE_COMPLETE],
				 provider->count);
		tally_provider_write(etw_grid_cell(&grid), provider);
		if (provider->is_classic)
			etw_text_puts(&grid.text, " (classic)");
	}
	etw_grid_print(&grid, look->width, "", "", text);
	etw_grid_done(&grid);
	report_more_write(text, tally->providers.count, rows, "info");
}
