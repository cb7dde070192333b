/* SPDX-License-Identifier: MIT */
/* What code generators left behind. See code.h. */
#include "symbol/code.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "symbol/perf_map.h"

#define PATH_BYTES 64

void etw_symbol_code_free(struct etw_symbol_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->jitdump_count; i++)
		etw_symbol_jitdump_done(&code->jitdumps[i].dump);
	free(code->jitdumps);
	etw_symbol_table_done(&code->perf_table);
	free(code);
}

/*
 * Whether a file may tell of a process: in /tmp anybody may have made it. Files of another machine have other owners here.
 */
static bool has_right_owner(const struct etw_symbol_modules *modules, uint32_t pid, int fd)
{
	uint32_t uid = geteuid();

	if (modules->files.is_elsewhere || modules->files.root)
		return true;
	(void)etw_symbol_modules_find_uid(modules, pid, &uid);
	return etw_symbol_is_owner(fd, uid);
}

/* Opens a file of a process: within its own root while it lives, else at the recorded path. */
static int open_file(const struct etw_symbol_modules *modules, uint32_t pid, const char *inner,
		     const char *path, int *ret)
{
	const struct etw_symbol_files *files = &modules->files;
	const struct etw_symbol_process_at process = {pid, INT64_MAX};

	/* The files of another machine that has no copy here. */
	if (files->is_elsewhere && !files->root)
		return -ENOENT;
	if (files->is_elsewhere || !pid ||
	    etw_symbol_files_open_in_process(&process, inner, false, ret))
		TRY(etw_symbol_files_open(files->root, path, false, ret));
	if (has_right_owner(modules, pid, *ret))
		return 0;
	etw_file_closep(ret);
	return -EPERM;
}

static int need_module(struct etw_symbol_modules *modules, const char *path,
		       struct etw_symbol_loaded **ret)
{
	const char *kept = etw_symbol_strings_keep(modules->strings, path, strlen(path));

	if (!kept)
		return -ENOMEM;
	TRY(etw_symbol_modules_need(modules, kept, NULL, 0, ret));
	(*ret)->is_read = true;
	(*ret)->shown.reason = ETW_SYMBOL_OK;
	(*ret)->shown.symbol_file = kept;
	return 0;
}

/* The module that is named says why it has no names. */
static int refuse_perf_map(struct etw_symbol_modules *modules, const char *path,
			   struct etw_symbol_code *code)
{
	int r = need_module(modules, path, &code->perf_map);

	if (r)
		return r == -E2BIG ? 0 : r;
	code->perf_map->shown.reason = ETW_SYMBOL_OTHER_OWNER;
	code->perf_map->shown.symbol_file = NULL;
	return 0;
}

static int read_perf_map(struct etw_symbol_modules *modules, uint32_t pid,
			 struct etw_symbol_code *code)
{
	struct etw_symbol_living living = {.inner_pid = pid};
	char inner[PATH_BYTES], path[PATH_BYTES];
	CLEANUP(etw_file_closep) int fd = -1;
	CLEANUP(freep) char *text = NULL;
	size_t bytes;
	off_t end;
	int r;

	if (!modules->files.is_elsewhere && !etw_symbol_living_read(pid, &living))
		living.inner_pid = pid;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	snprintf(inner, sizeof(inner), "/tmp/perf-%u.map", living.inner_pid);
	r = open_file(modules, pid, inner, path, &fd);
	if (r)
		return r == -EPERM ? refuse_perf_map(modules, path, code) : 0;
	end = lseek(fd, 0, SEEK_END);
	if (end <= 0 || lseek(fd, 0, SEEK_SET))
		return 0;
	bytes = (size_t)end < ETW_SYMBOL_PERF_MAP_BYTES_MAX ? (size_t)end
							    : ETW_SYMBOL_PERF_MAP_BYTES_MAX;
	text = malloc(bytes);
	if (!text)
		return -ENOMEM;
	if (etw_file_read_all(fd, text, bytes, &bytes))
		return 0;
	r = need_module(modules, path, &code->perf_map);
	if (r)
		return r == -E2BIG ? 0 : r;
	r = etw_symbol_perf_map_parse(text, bytes, &code->perf_table);
	if (r == -E2BIG)
		code->perf_map->shown.reason = ETW_SYMBOL_TOO_LARGE;
	return r == -ENOMEM ? r : 0;
}

static size_t read_file(void *context, uint64_t offset, void *to, size_t bytes)
{
	const int *fd = context;
	size_t done = 0;

	while (done < bytes && offset + done <= INT64_MAX) {
		ssize_t got = pread(*fd, (uint8_t *)to + done, bytes - done,
				    (off_t)(offset + done));

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* "/any/jit-123.dump", of which code generators map a page so that it is found. */
static bool is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t digits;

	if (!slash || strncmp(slash, "/jit-", strlen("/jit-")) != 0)
		return false;
	digits = strspn(slash + strlen("/jit-"), "0123456789");
	return digits && strcmp(slash + strlen("/jit-") + digits, ".dump") == 0;
}

static bool is_known(const struct etw_symbol_code *code, const char *path)
{
	for (size_t i = 0; i < code->jitdump_count; i++)
		if (code->jitdumps[i].loaded->shown.path == path)
			return true;
	return code->jitdump_count == ETW_SYMBOL_JITDUMPS_MAX;
}

/* An item at least, for reading one that has none takes its time, too. */
static size_t cost_of(const struct etw_symbol_jitdump *dump)
{
	return dump->record_count + dump->line_count + 1;
}

static int read_jitdump(struct etw_symbol_modules *modules, uint32_t pid, const char *path,
			struct etw_symbol_code *code)
{
	CLEANUP(etw_file_closep) int fd = -1;
	struct etw_symbol_jitdump_file *file;
	int r;

	file = reallocarray(code->jitdumps, code->jitdump_count + 1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	code->jitdumps = file;
	file += code->jitdump_count;
	*file = (struct etw_symbol_jitdump_file){0};
	r = need_module(modules, path, &file->loaded);
	if (r)
		return r == -E2BIG ? 0 : r;
	code->jitdump_count++;
	r = open_file(modules, pid, path, path, &fd);
	if (r) {
		file->loaded->shown.reason = r == -EPERM ? ETW_SYMBOL_OTHER_OWNER
							 : ETW_SYMBOL_NO_FILE;
		file->loaded->shown.symbol_file = NULL;
		return 0;
	}
	if (!modules->jit_entries_left) {
		file->loaded->shown.reason = ETW_SYMBOL_TOO_LARGE;
		return 0;
	}
	r = etw_symbol_jitdump_parse(read_file, &fd, modules->strings, &file->dump, NULL);
	modules->jit_entries_left -= MIN(modules->jit_entries_left, cost_of(&file->dump));
	if (r == -EBADMSG)
		file->loaded->shown.reason = ETW_SYMBOL_DAMAGED;
	return r == -ENOMEM ? r : 0;
}

int etw_symbol_code_need(struct etw_symbol_modules *modules, struct etw_symbol_process *process,
			 struct etw_symbol_code **ret)
{
	struct etw_symbol_code *code = process->code;

	if (!code) {
		code = calloc(1, sizeof(*code));
		if (!code)
			return -ENOMEM;
		etw_symbol_table_init(&code->perf_table, &modules->map_entries_left);
		process->code = code;
		TRY(read_perf_map(modules, process->pid, code));
	}
	*ret = code;
	if (code->statements_seen == process->statement_count)
		return 0;
	for (size_t i = 0; i < process->statement_count; i++) {
		const char *path = process->statements[i].path;

		if (path && is_jitdump(path) && !is_known(code, path))
			TRY(read_jitdump(modules, process->pid, path, code));
	}
	code->statements_seen = process->statement_count;
	return 0;
}

static int answer_by_jitdump(struct etw_symbol_modules *modules,
			     const struct etw_symbol_jitdump_file *file, uint64_t address,
			     uint64_t back, uint64_t monotonic_ns, struct etw_symbol_frame *frame)
{
	const struct etw_symbol_jit_function *function;
	const struct etw_symbol_jit_line *line;

	if (!file->dump.has_monotonic_time)
		monotonic_ns = ETW_SYMBOL_JIT_LATEST;
	function = etw_symbol_jitdump_find(&file->dump, address - back, monotonic_ns);
	if (!function)
		return 0;
	*frame = (struct etw_symbol_frame){
		.module = &file->loaded->shown,
		.raw_function = function->name,
		.function = etw_symbol_modules_shown_name(modules, function->name),
		.offset = address - function->start,
	};
	line = modules->want_lines ? etw_symbol_jitdump_line(&file->dump, function, address - back)
				   : NULL;
	if (line) {
		frame->file = line->file;
		frame->line = line->line;
	}
	return frame->function ? 1 : -ENOMEM;
}

int etw_symbol_code_resolve(struct etw_symbol_modules *modules, struct etw_symbol_code *code,
			    uint64_t address, uint64_t back, uint64_t monotonic_ns,
			    struct etw_symbol_frame *frame, struct etw_symbol_loaded **ret_loaded)
{
	struct etw_symbol_entry *entry;

	for (size_t i = 0; i < code->jitdump_count; i++) {
		int r = answer_by_jitdump(modules, &code->jitdumps[i], address, back, monotonic_ns,
					  frame);

		*ret_loaded = code->jitdumps[i].loaded;
		if (r)
			return r;
	}
	entry = etw_symbol_table_find(&code->perf_table, address - back);
	if (!entry && code->perf_map && code->perf_map->shown.reason == ETW_SYMBOL_OTHER_OWNER) {
		*ret_loaded = code->perf_map;
		*frame = (struct etw_symbol_frame){.module = &code->perf_map->shown,
						   .offset = address};
		return 1;
	}
	if (!entry)
		return 0;
	*ret_loaded = code->perf_map;
	*frame = (struct etw_symbol_frame){
		.module = &code->perf_map->shown,
		.offset = address - entry->start,
	};
	TRY(etw_symbol_modules_show(modules, entry, frame));
	return 1;
}
