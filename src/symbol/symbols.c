/* SPDX-License-Identifier: MIT */
/* What is told, and what is answered. See symbols.h. */
#include "symbol/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/kallsyms.h"
#include "base/macros.h"
#include "symbol/code.h"
#include "symbol/images.h"
#include "symbol/kallsyms.h"
#include "symbol/modules.h"
#include "symbol/strings.h"
#include "symbol/table.h"

#define KERNEL_NAME "[kernel]"
#define KERNEL_PID  0
#define SYSTEM_PID  4 /* on Windows */
/* Clocks are set and slewed while a machine runs; one does not start twice within this. */
#define BOOT_DISTANCE_FT (10 * ETW_FILETIME_PER_SECOND)

struct etw_symbols {
	struct etw_symbol_strings strings;
	struct etw_symbol_images images;
	struct etw_symbol_modules modules;
	struct etw_symbol_table kernel;
	struct etw_symbol_loaded
		*kernel_module;               /* of what has no module of its own; NULL: not yet */
	enum etw_symbol_reason kernel_reason; /* why there are no symbols of it */
	struct etw_clock clock;
	int64_t boot_ft; /* FILETIME at which CLOCK_MONOTONIC was 0; 0: unknown */
	uint64_t dropped;
};

int etw_symbols_create(const struct etw_symbols_options *options, struct etw_symbols **ret)
{
	CLEANUP(freep) struct etw_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	if (etw_symbol_files_init(&symbols->modules.files, options->root, options->search_path,
				  options->is_elsewhere)) {
		etw_symbol_files_done(&symbols->modules.files);
		return -ENOMEM;
	}
	etw_symbol_strings_init(&symbols->strings);
	etw_symbol_images_init(&symbols->images, ETW_SYMBOL_STATEMENTS_MAX,
			       ETW_SYMBOL_PROCESSES_MAX);
	symbols->modules.strings = &symbols->strings;
	symbols->modules.images = &symbols->images;
	symbols->modules.trace_clock = &symbols->clock;
	symbols->modules.root_steps_left = ETW_SYMBOL_ROOT_STEPS_MAX;
	symbols->modules.entries_left = ETW_SYMBOL_ENTRIES_MAX;
	symbols->modules.map_entries_left = ETW_SYMBOL_MADE_MAX;
	symbols->modules.jit_entries_left = ETW_SYMBOL_MADE_MAX;
	symbols->modules.find_uid = options->find_uid;
	symbols->modules.uid_context = options->uid_context;
	symbols->modules.want_lines = options->want_lines;
	symbols->modules.want_inlines = options->want_inlines;
	symbols->modules.keep_mangled = options->keep_mangled;
	etw_symbol_table_init(&symbols->kernel, &symbols->modules.entries_left);
	symbols->kernel_reason = ETW_SYMBOL_NO_SYMBOLS;
	if (options->clock)
		symbols->clock = *options->clock;
	else
		etw_clock_init(&symbols->clock, ETW_CLOCK_SYSTEM, 0, 0, 0, 0);
	if (!options->is_elsewhere)
		symbols->boot_ft = etw_filetime_now() -
				   (int64_t)(etw_monotonic_ns() / ETW_NS_PER_FT);
	*ret = TAKE(symbols);
	return 0;
}

static void free_code(struct etw_symbol_process *process, void *context)
{
	(void)context;
	etw_symbol_code_free(process->code);
}

void etw_symbols_free(struct etw_symbols *symbols)
{
	if (!symbols)
		return;
	etw_symbol_images_each(&symbols->images, free_code, NULL);
	etw_symbol_images_done(&symbols->images);
	etw_symbol_table_done(&symbols->kernel);
	etw_symbol_modules_done(&symbols->modules);
	etw_symbol_strings_done(&symbols->strings);
	free(symbols);
}

static int keep_statement(struct etw_symbols *symbols, uint32_t pid,
			  const struct etw_symbol_statement *statement)
{
	int r = etw_symbol_images_keep(&symbols->images, pid, statement);

	if (r == -E2BIG)
		symbols->dropped++;
	return r;
}

int etw_symbols_tell_image(struct etw_symbols *symbols, enum etw_symbol_image_told told,
			   const struct etw_symbol_image *image, int64_t time_raw)
{
	static const enum etw_symbol_statement_kind kinds[] = {
		[ETW_SYMBOL_LOAD] = ETW_SYMBOL_STATEMENT_LOAD,
		[ETW_SYMBOL_UNLOAD] = ETW_SYMBOL_STATEMENT_UNLOAD,
		[ETW_SYMBOL_WAS_LOADED] = ETW_SYMBOL_STATEMENT_WAS_LOADED,
		[ETW_SYMBOL_IS_LOADED] = ETW_SYMBOL_STATEMENT_IS_LOADED,
	};
	struct etw_symbol_statement statement = {
		.kind = kinds[told],
		.base = image->base,
		.bytes = image->bytes,
		.time_raw = time_raw,
	};

	statement.path = etw_symbol_strings_keep(&symbols->strings, image->path,
						 strlen(image->path));
	return statement.path ? keep_statement(symbols, image->pid, &statement) : -ENOMEM;
}

int etw_symbols_tell_build_id(struct etw_symbols *symbols, uint32_t pid, uint64_t base,
			      int64_t time_raw, const uint8_t *build_id, size_t bytes)
{
	struct etw_symbol_statement statement = {
		.kind = ETW_SYMBOL_STATEMENT_BUILD_ID,
		.base = base,
		.time_raw = time_raw,
		.build_id_bytes = (uint8_t)bytes,
	};

	if (!bytes || bytes > sizeof(statement.build_id))
		return -EINVAL;
	memcpy(statement.build_id, build_id, bytes);
	return keep_statement(symbols, pid, &statement);
}

static int add_told(struct etw_symbols *symbols, struct etw_symbol_table *table,
		    const struct etw_symbol_told *told, const char *module)
{
	const struct etw_symbol_entry entry = {
		.start = told->start,
		.bytes = told->bytes,
		.name = told->name,
		.module = module,
	};
	int r = etw_symbol_table_add(table, &entry, told->name_bytes);

	if (r == -E2BIG)
		symbols->dropped++;
	return r;
}

int etw_symbols_tell_symbols(struct etw_symbols *symbols, uint32_t pid, uint64_t base,
			     int64_t time_raw, const struct etw_symbol_told *told, size_t count)
{
	struct etw_symbol_table *table;

	TRY(etw_symbol_images_told(&symbols->images, pid, base, time_raw,
				   &symbols->modules.entries_left, &table));
	for (size_t i = 0; i < count; i++)
		TRY(add_told(symbols, table, &told[i], NULL));
	return 0;
}

int etw_symbols_tell_inherited(struct etw_symbols *symbols, uint32_t pid, uint64_t base,
			       int64_t time_raw, uint32_t of_pid)
{
	const struct etw_symbol_statement statement = {
		.kind = ETW_SYMBOL_STATEMENT_INHERITED,
		.base = base,
		.time_raw = time_raw,
		.of_pid = of_pid,
	};

	return keep_statement(symbols, pid, &statement);
}

int etw_symbols_tell_kernel(struct etw_symbols *symbols, const struct etw_symbol_told *told,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *module = told[i].module;

		if (module) {
			module = etw_symbol_strings_keep(&symbols->strings, module, strlen(module));
			if (!module)
				return -ENOMEM;
		}
		TRY(add_told(symbols, &symbols->kernel, &told[i], module));
	}
	return 0;
}

int etw_symbols_read_kallsyms(struct etw_symbols *symbols, const char *path)
{
	int r = etw_symbol_kallsyms_read(path ? path : ETW_KALLSYMS_PATH, &symbols->strings,
					 &symbols->kernel);

	if (r == -EACCES)
		symbols->kernel_reason = ETW_SYMBOL_HIDDEN;
	return r;
}

bool etw_symbols_is_this_boot(int64_t boot_ft)
{
	int64_t now_ft = etw_filetime_now();
	int64_t up_ft = (int64_t)(etw_time_read_ns(CLOCK_BOOTTIME) / ETW_NS_PER_FT);
	int64_t distance_ft = etw_filetime_between(boot_ft, now_ft - up_ft);

	return distance_ft > -BOOT_DISTANCE_FT && distance_ft < BOOT_DISTANCE_FT;
}

/* One question, with what is known of it so far. */
struct question {
	uint64_t address, back;
	int64_t time_raw;
	struct etw_symbol_span *span;     /* NULL: in none */
	uint32_t pid;                     /* whose it is */
	struct etw_symbol_loaded *loaded; /* of the span */
};

static int module_of_span(struct etw_symbols *symbols, struct etw_symbol_span *span,
			  struct etw_symbol_loaded **ret)
{
	struct etw_symbol_loaded *loaded = span->module;

	if (!loaded) {
		TRY(etw_symbol_modules_need(&symbols->modules, span->path, span->build_id,
					    span->build_id_bytes, &loaded));
		span->module = loaded;
	}
	*ret = loaded;
	return 0;
}

static int find_span(struct etw_symbols *symbols, uint32_t pid, struct question *question)
{
	struct etw_symbol_process *process = etw_symbol_images_process(&symbols->images, pid);
	int r;

	if (!process)
		return 0;
	question->span = etw_symbol_process_find(process, question->address - question->back,
						 question->time_raw);
	if (!question->span)
		return 0;
	question->pid = pid;
	r = module_of_span(symbols, question->span, &question->loaded);
	if (r == -E2BIG) {
		question->span = NULL;
		return 0;
	}
	return r;
}

/* A frame of a symbol that is at hand. Returns 1 or -ENOMEM. */
static int answer_by_entry(struct etw_symbols *symbols, const struct question *question,
			   struct etw_symbol_entry *entry, uint64_t base,
			   struct etw_symbol_frame *frame)
{
	*frame = (struct etw_symbol_frame){.offset = question->address - base - entry->start};
	if (question->loaded)
		frame->module = &question->loaded->shown;
	TRY(etw_symbol_modules_show(&symbols->modules, entry, frame));
	return 1;
}

/* Reads the module's file, if that was not done. Returns 0 or -ENOMEM. */
static int need_file(struct etw_symbols *symbols, struct question *question)
{
	if (question->span->is_chosen)
		return 0;
	TRY(etw_symbol_modules_choose(&symbols->modules, question->pid, &question->loaded));
	question->span->module = question->loaded;
	question->span->is_chosen = true;
	return 0;
}

/* By what the trace says of the image, then by its file. Returns frames; 0: neither knows; -ENOMEM. */
static int answer_by_image(struct etw_symbols *symbols, struct question *question,
			   struct etw_symbol_frame *frames, size_t room)
{
	uint64_t base = question->span->base;
	struct etw_symbol_entry *entry = etw_symbol_images_told_at(
		&symbols->images, question->span, question->address - question->back - base);

	if (entry) {
		/* Its file may never be asked for. */
		if (question->loaded->shown.reason == ETW_SYMBOL_NOT_ASKED)
			question->loaded->shown.reason = ETW_SYMBOL_OK;
		return answer_by_entry(symbols, question, entry, base, frames);
	}
	TRY(need_file(symbols, question));
	return etw_symbol_modules_resolve(&symbols->modules, question->loaded,
					  question->address - base, question->back, frames, room);
}

static int need_kernel_module(struct etw_symbols *symbols, const char *name,
			      struct etw_symbol_loaded **ret)
{
	const char *kept = etw_symbol_strings_keep(&symbols->strings, name, strlen(name));

	if (!kept)
		return -ENOMEM;
	TRY(etw_symbol_modules_need(&symbols->modules, kept, NULL, 0, ret));
	(*ret)->is_read = true; /* it is no file */
	return 0;
}

static int answer_by_kernel(struct etw_symbols *symbols, struct question *question,
			    struct etw_symbol_frame *frames, size_t room)
{
	struct etw_symbol_entry *entry;
	int r;

	TRY(find_span(symbols, KERNEL_PID, question));
	if (!question->span)
		TRY(find_span(symbols, SYSTEM_PID, question));
	entry = etw_symbol_table_find(&symbols->kernel, question->address - question->back);
	if (!question->span) {
		r = need_kernel_module(symbols,
				       entry && entry->module ? entry->module : KERNEL_NAME,
				       &question->loaded);
		if (r == -ENOMEM)
			return r;
		if (!r)
			question->loaded->shown.reason = entry ? ETW_SYMBOL_OK
							       : symbols->kernel_reason;
	}
	if (entry) {
		if (question->loaded)
			question->loaded->shown.reason = ETW_SYMBOL_OK;
		return answer_by_entry(symbols, question, entry, 0, frames);
	}
	return question->span ? answer_by_image(symbols, question, frames, room) : 0;
}

/* The time of code generators' files. */
static uint64_t monotonic_ns(const struct etw_symbols *symbols, int64_t time_raw)
{
	int64_t time_ft = etw_clock_to_filetime(&symbols->clock, time_raw);

	if (!symbols->boot_ft)
		return ETW_SYMBOL_JIT_LATEST;
	if (time_ft <= symbols->boot_ft)
		return 0;
	return (uint64_t)etw_filetime_between(symbols->boot_ft, time_ft) * ETW_NS_PER_FT;
}

/* Code in no image: it was made while the process ran. */
static int answer_by_code(struct etw_symbols *symbols, uint32_t pid, struct question *question,
			  struct etw_symbol_frame *frame)
{
	struct etw_symbol_process *process;
	struct etw_symbol_code *code;

	int r;

	/* Of another machine, and no copy of its files is here. */
	if (symbols->modules.files.is_elsewhere && !symbols->modules.files.root)
		return 0;
	r = etw_symbol_images_need_process(&symbols->images, pid, &process);
	if (r)
		return r == -E2BIG ? 0 : r;
	TRY(etw_symbol_code_need(&symbols->modules, process, &code));
	return etw_symbol_code_resolve(&symbols->modules, code, question->address, question->back,
				       monotonic_ns(symbols, question->time_raw), frame,
				       &question->loaded);
}

int etw_symbols_resolve(struct etw_symbols *symbols, uint32_t pid, int64_t time_raw,
			uint64_t address, bool is_return, struct etw_symbol_frame *frames,
			size_t room)
{
	struct question question = {
		.address = address,
		.back = is_return && address,
		.time_raw = time_raw,
	};
	int r = 0;

	if (etw_symbols_is_kernel(address)) {
		r = answer_by_kernel(symbols, &question, frames, room);
	} else {
		TRY(find_span(symbols, pid, &question));
		if (question.span)
			r = answer_by_image(symbols, &question, frames, room);
		else
			r = answer_by_code(symbols, pid, &question, frames);
		if (!r && !question.span)
			question.loaded = NULL;
	}
	if (r < 0)
		return r;
	if (question.loaded) {
		question.loaded->shown.asked++;
		question.loaded->shown.named += r > 0 && frames[r - 1].function;
	}
	if (r)
		return r;
	frames[0] = (struct etw_symbol_frame){
		.module = question.loaded ? &question.loaded->shown : NULL,
		.offset = address - (question.span ? question.span->base : 0),
	};
	return 1;
}

int etw_symbols_keeps_frame(struct etw_symbols *symbols, uint32_t pid, int64_t time_raw,
			    uint64_t address, bool is_return)
{
	struct question question = {
		.address = address,
		.back = is_return && address,
		.time_raw = time_raw,
	};

	if (etw_symbols_is_kernel(address))
		return -ENOENT;
	TRY(find_span(symbols, pid, &question));
	/* What the trace itself has symbols of is no file, whatever its path says. */
	if (!question.span || question.span->told || question.span->is_inherited)
		return -ENOENT;
	TRY(need_file(symbols, &question));
	return etw_symbol_modules_keeps_frame(&symbols->modules, question.loaded,
					      address - question.span->base, question.back);
}

size_t etw_symbols_module_count(const struct etw_symbols *symbols)
{
	return symbols->modules.count;
}

const struct etw_symbol_module *etw_symbols_module_at(const struct etw_symbols *symbols,
						      size_t number)
{
	return number < symbols->modules.count ? &symbols->modules.at[number]->shown : NULL;
}

uint64_t etw_symbols_dropped(const struct etw_symbols *symbols)
{
	return symbols->dropped;
}
