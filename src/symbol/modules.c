/* SPDX-License-Identifier: MIT */
/* Modules and their files. See modules.h. */
#include "symbol/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "symbol/demangle.h"
#include "symbol/vdso.h"

#define FIRST_ROOM 64

struct key {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes;
	bool is_of_user;
	uint32_t uid;
};

static bool is_key(const void *item, const void *key_item)
{
	const struct etw_symbol_loaded *loaded = item;
	const struct key *key = key_item;

	return loaded->shown.path == key->path && loaded->is_of_user == key->is_of_user &&
	       loaded->uid == key->uid && loaded->shown.build_id_bytes == key->build_id_bytes &&
	       (!key->build_id_bytes ||
		memcmp(loaded->shown.build_id, key->build_id, key->build_id_bytes) == 0);
}

static uint64_t hash_of(const struct key *key)
{
	const uint64_t user = key->is_of_user ? (uint64_t)key->uid + 1 : 0;

	return etw_hash_bytes(
		etw_hash_mix(etw_hash_mix(etw_hash_seed(), (uintptr_t)key->path), user),
		key->build_id, key->build_id_bytes);
}

static void close_file(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded)
{
	if (!loaded->elf)
		return;
	etw_symbol_elf_close(loaded->elf);
	loaded->elf = NULL;
	modules->open_count--;
}

void etw_symbol_modules_done(struct etw_symbol_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		close_file(modules, modules->at[i]);
		etw_symbol_table_done(&modules->at[i]->table);
		etw_symbol_table_done(&modules->at[i]->functions);
		free(modules->at[i]);
	}
	free(modules->at);
	etw_table_done(&modules->by_key);
	etw_symbol_place_cache_done(&modules->cache);
	etw_symbol_files_done(&modules->files);
}

static int make(struct etw_symbol_modules *modules, const struct key *key,
		struct etw_symbol_loaded **ret)
{
	CLEANUP(freep) struct etw_symbol_loaded *loaded = calloc(1, sizeof(*loaded));
	const char *slash = strrchr(key->path, '/'), *backslash = strrchr(key->path, '\\');
	const char *name = slash ? slash + 1 : backslash ? backslash + 1 : key->path;

	if (!loaded)
		return -ENOMEM;
	loaded->shown.path = key->path;
	loaded->shown.name = etw_symbol_strings_keep(modules->strings, name, strlen(name));
	if (!loaded->shown.name)
		return -ENOMEM;
	loaded->shown.reason = ETW_SYMBOL_NOT_ASKED;
	loaded->shown.build_id_bytes = key->build_id_bytes;
	if (key->build_id_bytes)
		memcpy(loaded->shown.build_id, key->build_id, key->build_id_bytes);
	loaded->is_of_user = key->is_of_user;
	loaded->uid = key->uid;
	etw_symbol_table_init(&loaded->table, &modules->entries_left);
	etw_symbol_table_init(&loaded->functions, &modules->entries_left);
	TRY(etw_table_insert(&modules->by_key, hash_of(key), loaded));
	modules->at[modules->count++] = loaded;
	*ret = TAKE(loaded);
	return 0;
}

static int need(struct etw_symbol_modules *modules, const struct key *key,
		struct etw_symbol_loaded **ret)
{
	struct etw_symbol_loaded *loaded = etw_table_find(&modules->by_key, hash_of(key), is_key,
							  key);

	if (loaded) {
		*ret = loaded;
		return 0;
	}
	if (modules->count >= ETW_SYMBOL_MODULES_MAX)
		return -E2BIG;
	if (modules->count == modules->room) {
		size_t room = modules->room ? 2 * modules->room : FIRST_ROOM;
		struct etw_symbol_loaded **at;

		at = reallocarray(modules->at, room, sizeof(void *));

		if (!at)
			return -ENOMEM;
		modules->at = at;
		modules->room = room;
	}
	return make(modules, key, ret);
}

int etw_symbol_modules_need(struct etw_symbol_modules *modules, const char *path,
			    const uint8_t *build_id, size_t build_id_bytes,
			    struct etw_symbol_loaded **ret)
{
	const struct key key = {
		.path = path,
		.build_id = build_id,
		.build_id_bytes = build_id_bytes,
	};

	return need(modules, &key, ret);
}

/* What a name is shown as: kept, and demangled where that is wanted. */
const char *etw_symbol_modules_shown_name(struct etw_symbol_modules *modules, const char *raw)
{
	CLEANUP(freep) char *demangled = modules->keep_mangled ? NULL : etw_symbol_demangle(raw);
	const char *name = demangled ? demangled : raw;

	return etw_symbol_strings_keep(modules->strings, name, strlen(name));
}

int etw_symbol_modules_show(struct etw_symbol_modules *modules, struct etw_symbol_entry *entry,
			    struct etw_symbol_frame *frame)
{
	if (!entry->shown)
		entry->shown = etw_symbol_modules_shown_name(modules, entry->name);
	frame->function = entry->shown;
	frame->raw_function = etw_symbol_strings_keep(modules->strings, entry->name,
						      strlen(entry->name));
	return frame->function && frame->raw_function ? 0 : -ENOMEM;
}

static void close_oldest(struct etw_symbol_modules *modules)
{
	struct etw_symbol_loaded *oldest = NULL;

	for (size_t i = 0; i < modules->count; i++) {
		struct etw_symbol_loaded *loaded = modules->at[i];

		if (loaded->elf && (!oldest || loaded->used < oldest->used))
			oldest = loaded;
	}
	if (oldest)
		close_file(modules, oldest);
}

static uint64_t copies_bytes(const struct etw_symbol_modules *modules)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < modules->count; i++)
		if (modules->at[i]->elf)
			bytes += etw_symbol_elf_copy_bytes(modules->at[i]->elf);
	return bytes;
}

static int open_file(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded)
{
	const struct etw_symbol_wanted wanted = {
		.processes = loaded->processes,
		.process_count = loaded->process_count,
		.uid = loaded->uid,
		.path = loaded->shown.path,
		.build_id = loaded->shown.build_id,
		.build_id_bytes = loaded->shown.build_id_bytes,
	};
	enum etw_symbol_reason reason;
	int r;

	while (modules->open_count >= ETW_SYMBOL_OPEN_FILES_MAX ||
	       (modules->open_count && copies_bytes(modules) > ETW_SYMBOL_COPIES_BYTES_MAX))
		close_oldest(modules);
	if (etw_symbol_is_vdso(loaded->shown.path) && !modules->files.is_elsewhere)
		r = etw_symbol_vdso_open(&modules->files, &wanted, &loaded->elf, &reason);
	else
		r = etw_symbol_elf_open(&modules->files, &wanted, &loaded->elf, &reason);
	if (r == -ENOENT)
		loaded->shown.reason = reason;
	if (r)
		return r;
	modules->open_count++;
	return 0;
}

/* A kernel's image begins at _stext, which need not be where its file's first piece begins. */
static void find_kernel_base(struct etw_symbol_loaded *loaded)
{
	if (strncmp(loaded->shown.name, "vmlinux", strlen("vmlinux")) != 0)
		return;
	for (size_t i = 0; i < loaded->table.count; i++)
		if (strcmp(loaded->table.at[i].name, "_stext") == 0)
			loaded->base = loaded->table.at[i].start;
}

/* Reads the symbols, once. Whatever fails but for memory is a reason, and leaves the table empty. */
static int read_file(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded)
{
	const char *path;
	int r;

	loaded->is_read = true;
	r = open_file(modules, loaded);
	if (r)
		return r == -ENOENT ? 0 : r;
	loaded->is_elf = true;
	loaded->base = etw_symbol_elf_address(loaded->elf, 0);
	TRY(etw_symbol_elf_read(loaded->elf, &loaded->table, &loaded->shown.reason));
	if (loaded->shown.reason != ETW_SYMBOL_OK)
		TRY(etw_symbol_elf_read_functions(loaded->elf, &loaded->functions));
	find_kernel_base(loaded);
	path = etw_symbol_elf_path(loaded->elf);
	loaded->shown.symbol_file = etw_symbol_strings_keep(modules->strings, path, strlen(path));
	if (!modules->want_lines && !modules->want_inlines)
		close_file(modules, loaded);
	return 0;
}

bool etw_symbol_modules_find_uid(const struct etw_symbol_modules *modules, uint32_t pid,
				 uint32_t *ret)
{
	struct etw_symbol_living living;

	if (modules->find_uid && modules->find_uid(modules->uid_context, pid, ret))
		return true;
	if (!etw_symbol_living_read(pid, &living))
		return false;
	*ret = living.uid;
	return true;
}

/* A search for processes below whose roots a module's file may be. */
struct root_search {
	struct etw_symbol_modules *modules;
	struct etw_symbol_loaded *loaded;
};

/* When a process had the image last, by what is told of it. Returns whether it had it. */
static bool find_time(struct root_search *search, const struct etw_symbol_process *process,
		      int64_t *ret_raw)
{
	bool is_found = false;

	for (size_t i = 0; i < process->statement_count && search->modules->root_steps_left; i++) {
		const struct etw_symbol_statement *statement = &process->statements[i];

		search->modules->root_steps_left--;
		if (statement->path != search->loaded->shown.path ||
		    (is_found && statement->time_raw < *ret_raw))
			continue;
		is_found = true;
		*ret_raw = statement->time_raw;
	}
	return is_found;
}

static void consider_root(struct etw_symbol_process *process, void *context)
{
	struct root_search *search = context;
	struct etw_symbol_loaded *loaded = search->loaded;
	struct etw_symbol_process_at at = {.pid = process->pid};
	int64_t time_raw;
	uint32_t uid;

	if (loaded->process_count == ETW_SYMBOL_ROOTS_MAX || !find_time(search, process, &time_raw))
		return;
	for (size_t i = 0; i < loaded->process_count; i++)
		if (loaded->processes[i].pid == process->pid)
			return;
	at.time_ft = etw_clock_to_filetime(search->modules->trace_clock, time_raw);
	if (etw_symbol_living_is(&at) &&
	    etw_symbol_modules_find_uid(search->modules, at.pid, &uid) && uid == loaded->uid)
		loaded->processes[loaded->process_count++] = at;
}

/* Reads a user's file of an image: below the root of the process that is asked about, then of the others. */
static int read_of_user(struct etw_symbol_modules *modules, uint32_t pid,
			struct etw_symbol_loaded *loaded)
{
	struct root_search search = {modules, loaded};
	struct etw_symbol_process *process = etw_symbol_images_process(modules->images, pid);

	if (process)
		consider_root(process, &search);
	etw_symbol_images_each(modules->images, consider_root, &search);
	if (loaded->process_count)
		return read_file(modules, loaded);
	loaded->is_read = true;
	loaded->shown.reason = ETW_SYMBOL_NO_FILE;
	return 0;
}

/* Without a build id a path alone would tell which file it is. */
static bool may_be_below_roots(const struct etw_symbol_modules *modules,
			       const struct etw_symbol_loaded *loaded, uint32_t pid)
{
	return modules->images && pid && !modules->files.is_elsewhere && !loaded->is_of_user &&
	       loaded->shown.path[0] == '/' && loaded->shown.build_id_bytes;
}

int etw_symbol_modules_choose(struct etw_symbol_modules *modules, uint32_t pid,
			      struct etw_symbol_loaded **loaded)
{
	struct etw_symbol_loaded *common = *loaded, *own;
	struct key key = {
		.path = common->shown.path,
		.build_id = common->shown.build_id,
		.build_id_bytes = common->shown.build_id_bytes,
		.is_of_user = true,
	};
	int r;

	if (!common->is_read)
		TRY(read_file(modules, common));
	if (common->is_elf || !may_be_below_roots(modules, common, pid) ||
	    !etw_symbol_modules_find_uid(modules, pid, &key.uid))
		return 0;
	r = need(modules, &key, &own);
	if (!r && !own->is_read)
		r = read_of_user(modules, pid, own);
	if (r)
		return r == -ENOMEM ? r : 0;
	if (own->is_elf)
		*loaded = own;
	else if (common->shown.reason == ETW_SYMBOL_NO_FILE)
		common->shown.reason = own->shown.reason;
	return 0;
}

/* Inlined functions and lines. Returns how many frames; 0: the file does not tell; -ENOMEM. */
static int ask_places(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded,
		      uint64_t lookup, const struct etw_symbol_frame *outer,
		      struct etw_symbol_frame *frames)
{
	struct etw_symbol_source_place places[ETW_SYMBOL_FRAMES_MAX];
	size_t count;

	if (!loaded->elf && open_file(modules, loaded))
		return 0;
	loaded->used = ++modules->clock;
	count = etw_symbol_elf_places(loaded->elf, lookup, places,
				      modules->want_inlines ? ETW_SYMBOL_FRAMES_MAX : 1);
	for (size_t i = 0; i < count; i++) {
		const char *raw = places[i].function, *file = places[i].file;
		bool is_last = i + 1 == count;

		frames[i] = *outer;
		frames[i].is_inlined = !is_last;
		/* The symbol table names the outermost one, if it has a name for it: a clone's, for example. */
		if (raw && (!is_last || !outer->function)) {
			frames[i].raw_function = etw_symbol_strings_keep(modules->strings, raw,
									 strlen(raw));
			frames[i].function = etw_symbol_modules_shown_name(modules, raw);
			if (!frames[i].function || !frames[i].raw_function)
				return -ENOMEM;
		}
		if (!modules->want_lines || !file)
			continue;
		frames[i].file = etw_symbol_strings_keep(modules->strings, file, strlen(file));
		frames[i].line = places[i].line;
		if (!frames[i].file)
			return -ENOMEM;
	}
	return (int)count;
}

static int resolve_places(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded,
			  uint64_t lookup, const struct etw_symbol_frame *outer,
			  struct etw_symbol_frame *frames, size_t room)
{
	struct etw_symbol_frame found[ETW_SYMBOL_FRAMES_MAX];
	size_t count = etw_symbol_place_cache_find(&modules->cache, loaded, lookup, frames, room);
	int r;

	if (!count) {
		r = ask_places(modules, loaded, lookup, outer, found);
		if (r < 0)
			return r;
		count = (size_t)r;
		if (!count) {
			if (!outer->function)
				return 0;
			found[0] = *outer;
			count = 1;
		}
		etw_symbol_place_cache_keep(&modules->cache, loaded, lookup, found, count);
		if (count > room) {
			memcpy(frames, found + (count - room), room * sizeof(*frames));
			count = room;
		} else {
			memcpy(frames, found, count * sizeof(*frames));
		}
	}
	/* One address may have been kept as one to return to, and be asked for as it is. */
	for (size_t i = 0; i < count; i++)
		frames[i].offset = outer->offset;
	return (int)count;
}

/* Of a function that has no name. */
static void find_begin(struct etw_symbol_loaded *loaded, uint64_t lookup,
		       struct etw_symbol_frame *frame)
{
	const struct etw_symbol_entry *function = etw_symbol_table_find(&loaded->functions, lookup);

	if (!function || function->start < loaded->base)
		return;
	frame->has_begin = true;
	frame->begin = function->start - loaded->base;
}

int etw_symbol_modules_resolve(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded,
			       uint64_t from_base, uint64_t back, struct etw_symbol_frame *frames,
			       size_t room)
{
	struct etw_symbol_frame outer = {.module = &loaded->shown, .offset = from_base};
	struct etw_symbol_entry *entry;
	uint64_t lookup;

	lookup = loaded->base + from_base - back;
	entry = etw_symbol_table_find(&loaded->table, lookup);
	if (entry) {
		TRY(etw_symbol_modules_show(modules, entry, &outer));
		outer.offset = lookup + back - entry->start;
	}
	if (loaded->is_elf && (modules->want_lines || modules->want_inlines)) {
		int r = resolve_places(modules, loaded, lookup, &outer, frames, room);

		if (r)
			return r;
	}
	if (!entry)
		find_begin(loaded, lookup, &outer);
	frames[0] = outer;
	return entry || outer.has_begin ? 1 : 0;
}

int etw_symbol_modules_keeps_frame(struct etw_symbol_modules *modules,
				   struct etw_symbol_loaded *loaded, uint64_t from_base,
				   uint64_t back)
{
	if (!loaded->is_elf)
		return -ENOENT;
	if (!loaded->elf)
		TRY(open_file(modules, loaded));
	loaded->used = ++modules->clock;
	return etw_symbol_elf_keeps_frame(loaded->elf, loaded->base + from_base - back);
}
