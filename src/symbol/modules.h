/* SPDX-License-Identifier: MIT */
/*
 * Modules: what images with the same path and build id have in common. A module reads its file when the first address in
 * it is asked for; how many files stay open is limited.
 *
 * Where a file is found only below the roots of processes, it is one user's: then there is a module for each user whose
 * processes have the image, so that no user's file names the code of another's processes.
 */
#ifndef ETW_SYMBOL_MODULES_H
#define ETW_SYMBOL_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/time.h"
#include "symbol/elf_file.h"
#include "symbol/files.h"
#include "symbol/images.h"
#include "symbol/model.h"
#include "symbol/place_cache.h"
#include "symbol/strings.h"
#include "symbol/table.h"

/* Files that stay open for lines and inlined functions. */
#define ETW_SYMBOL_OPEN_FILES_MAX 64
/* Of memory, for copies of files that stay open, when one more is opened. */
#define ETW_SYMBOL_COPIES_BYTES_MAX (UINT64_C(1) << 30)

/* Processes of one user below whose roots an image is looked for. */
#define ETW_SYMBOL_ROOTS_MAX 8
/* What is told of images that is looked at to find these processes, for all modules together. */
#define ETW_SYMBOL_ROOT_STEPS_MAX ((size_t)1 << 28)

struct etw_symbol_loaded {
	struct etw_symbol_module shown;
	struct etw_symbol_table table; /* by file address */
	struct etw_symbol_table
		functions;          /* likewise, without names; empty where all names are known */
	struct etw_symbol_elf *elf; /* owned; NULL: not open */
	uint64_t used;              /* when the file was asked last, in questions */
	uint64_t base;              /* file address of the image's base */
	bool is_of_user;            /* its file is looked for below the roots of these: */
	uint32_t uid;
	struct etw_symbol_process_at processes[ETW_SYMBOL_ROOTS_MAX];
	size_t process_count;
	bool is_read;
	bool is_elf; /* its file was found; it may be closed at present */
	void *code; /* the caller's: what a code generator left in the file; NULL until it sets it */
};

struct etw_symbol_modules {
	struct etw_symbol_files files;
	struct etw_symbol_strings *strings;     /* borrowed */
	const struct etw_symbol_images *images; /* borrowed; NULL: no processes are asked */
	const struct etw_clock *trace_clock;    /* borrowed; of the images' times */
	size_t root_steps_left;
	struct etw_table by_key;
	struct etw_symbol_loaded **at; /* owned, each by itself */
	size_t count, room;
	size_t entries_left;
	size_t map_entries_left; /* of perf maps; apart, for whoever may write one may write much */
	size_t jit_entries_left; /* of jitdumps: functions and lines */
	bool (*find_uid)(const void *context, uint32_t pid, uint32_t *ret); /* may be NULL */
	const void *uid_context;
	size_t open_count;
	uint64_t clock;
	struct etw_symbol_place_cache cache;
	bool want_lines, want_inlines, keep_mangled;
};

/* etw_symbol_modules_done() - frees all. */
void etw_symbol_modules_done(struct etw_symbol_modules *modules);

/*
 * etw_symbol_modules_need() - the module of this path and build id, made where it is not there.
 *
 * @path: kept by `strings`
 *
 * Returns 0; -E2BIG beyond ETW_SYMBOL_MODULES_MAX; -ENOMEM.
 */
int etw_symbol_modules_need(struct etw_symbol_modules *modules, const char *path,
			    const uint8_t *build_id, size_t build_id_bytes,
			    struct etw_symbol_loaded **ret);

/*
 * etw_symbol_modules_choose() - reads a module's file, and where there is none the one of the user whose process it is.
 *
 * @loaded: in the module that all have in common, out the one that knows more
 *
 * Returns 0 or -ENOMEM.
 */
int etw_symbol_modules_choose(struct etw_symbol_modules *modules, uint32_t pid,
			      struct etw_symbol_loaded **loaded);

/* etw_symbol_modules_find_uid() - whose process it is, by the trace, else by /proc. Returns whether that is known. */
bool etw_symbol_modules_find_uid(const struct etw_symbol_modules *modules, uint32_t pid,
				 uint32_t *ret);

/* etw_symbol_modules_shown_name() - a kept name as it is shown, kept likewise; NULL when memory ran out. */
const char *etw_symbol_modules_shown_name(struct etw_symbol_modules *modules, const char *raw);

/*
 * etw_symbol_modules_show() - the name of a symbol as it is shown, in a frame.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_symbol_modules_show(struct etw_symbol_modules *modules, struct etw_symbol_entry *entry,
			    struct etw_symbol_frame *frame);

/*
 * etw_symbol_modules_resolve() - the frames of an address, by the file of a module that was chosen.
 *
 * @from_base: distance from the image's base to the address
 * @back:      bytes before it where the code is looked up: 1 for an address to return to, else 0
 *
 * Returns how many; 0: the file does not tell; -ENOMEM.
 */
int etw_symbol_modules_resolve(struct etw_symbol_modules *modules, struct etw_symbol_loaded *loaded,
			       uint64_t from_base, uint64_t back, struct etw_symbol_frame *frames,
			       size_t room);

/*
 * etw_symbol_modules_keeps_frame() - whether a frame pointer is in place at an address, by the module's file.
 *
 * @from_base, @back: as above
 *
 * Returns 1 or 0; -ENOENT: the file does not tell; -ENOMEM.
 */
int etw_symbol_modules_keeps_frame(struct etw_symbol_modules *modules,
				   struct etw_symbol_loaded *loaded, uint64_t from_base,
				   uint64_t back);

#endif
