/* SPDX-License-Identifier: MIT */
/*
 * From the addresses of stacks to names. Whoever reads a trace tells first what was loaded where and when, with the
 * build ids and symbols that the trace itself has; then asks.
 *
 * Names are looked for in the symbols that the trace brings, then in the ELF file and its debug files, then in what code
 * generators leave behind (perf maps, jitdump). docs/symbols.md says where these are searched. A file whose build id
 * is not the recorded one is not used.
 *
 * What is told may come in any order of time; once something was asked, more may be told. Files are read when the first
 * address in them is asked for, and are hostile until they were checked.
 *
 * Context: one owner thread.
 */
#ifndef ETW_SYMBOL_SYMBOLS_H
#define ETW_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "symbol/model.h"

struct etw_symbols_options {
	/* Stands for "/" of recorded paths, as a copy of the other machine's files; NULL: this machine's. */
	const char *root;
	/* Folders of debug files, with ':' between; NULL: ETW_SYMBOL_PATH, and where that is not set /usr/lib/debug. */
	const char *search_path;
	/* Of the trace: what times count. NULL: FILETIME. Copied. */
	const struct etw_clock *clock;
	/*
	 * Not this machine and boot: neither processes that live here are asked for their files and perf maps, nor
	 * the kernel for its symbols and vDSO.
	 */
	bool is_elsewhere;
	/*
	 * Whose process it was, for files in folders where anybody may write. Returns false when that is not known: then
	 * the process that lives is asked. NULL: nobody knows.
	 */
	bool (*find_uid)(const void *context, uint32_t pid, uint32_t *ret);
	const void *uid_context; /* borrowed */
	bool want_lines;         /* source files and lines; slower */
	bool want_inlines;       /* a frame for each inlined function; slower */
	bool keep_mangled;       /* `function` stays as the linker has it */
};

struct etw_symbols;

/* etw_symbols_create() - knows nothing yet. @options: borrowed for the call. Returns 0 or -ENOMEM. */
int etw_symbols_create(const struct etw_symbols_options *options, struct etw_symbols **ret);

/* etw_symbols_free() - frees all that was handed out; takes NULL. */
void etw_symbols_free(struct etw_symbols *symbols);

/* How an image became known: the events of the classic Image class. */
enum etw_symbol_image_told {
	ETW_SYMBOL_LOAD = 0,   /* opcode 10 */
	ETW_SYMBOL_UNLOAD,     /* 2; without a load it was there from the beginning */
	ETW_SYMBOL_WAS_LOADED, /* 3, rundown at the start: there from the beginning */
	ETW_SYMBOL_IS_LOADED, /* 4, rundown at the end: as at the start when nothing told of it before */
};

/* pid 0, and 4 on Windows: the kernel's, which are found for addresses of the kernel in every process. */
struct etw_symbol_image {
	uint32_t pid;
	uint64_t base, bytes;
	const char *path; /* UTF-8; copied */
};

/*
 * etw_symbols_tell_image() - what an Image event says.
 *
 * Returns 0; -E2BIG beyond ETW_SYMBOL_STATEMENTS_MAX: it is counted as dropped; -ENOMEM.
 */
int etw_symbols_tell_image(struct etw_symbols *symbols, enum etw_symbol_image_told told,
			   const struct etw_symbol_image *image, int64_t time_raw);

/*
 * etw_symbols_tell_build_id() - of the image that this process has at this base at that time (DbgID_RSDS: the 16
 * bytes of its GUID, as etw_guid_write() writes them).
 *
 * @bytes: up to ETW_SYMBOL_BUILD_ID_BYTES
 *
 * One that no image is told of is ignored. Returns 0; -EINVAL for no bytes or too many; -E2BIG; -ENOMEM.
 */
int etw_symbols_tell_build_id(struct etw_symbols *symbols, uint32_t pid, uint64_t base,
			      int64_t time_raw, const uint8_t *build_id, size_t bytes);

/* A symbol that the trace itself has. */
struct etw_symbol_told {
	uint64_t start; /* from the image's base; of the kernel the address */
	uint64_t bytes; /* 0: up to the next one */
	const char *name;
	size_t name_bytes;
	/* Of the kernel: the module's name; NULL: the kernel itself. Ignored for images. */
	const char *module;
};

/*
 * etw_symbols_tell_symbols() - of the image that this process has at this base at that time: as code generators
 * announce it. They come before what any file says.
 *
 * Of an image that nobody tells of they are ignored. Returns 0; -E2BIG beyond the limits; -ENOMEM.
 */
int etw_symbols_tell_symbols(struct etw_symbols *symbols, uint32_t pid, uint64_t base,
			     int64_t time_raw, const struct etw_symbol_told *told, size_t count);

/*
 * etw_symbols_tell_inherited() - the image that this process has at this base at that time is a copy of what another one has
 * there: its symbols are those, too, whenever they are told.
 *
 * Returns likewise.
 */
int etw_symbols_tell_inherited(struct etw_symbols *symbols, uint32_t pid, uint64_t base,
			       int64_t time_raw, uint32_t of_pid);

/* etw_symbols_tell_kernel() - symbols of the kernel and its modules, as the recorder found them. Returns likewise. */
int etw_symbols_tell_kernel(struct etw_symbols *symbols, const struct etw_symbol_told *told,
			    size_t count);

/*
 * etw_symbols_read_kallsyms() - takes the kernel's symbols from kallsyms, for a trace of this machine and this boot
 * that has none of its own. Whoever calls it knows that it is one: etw_symbols_is_this_boot().
 *
 * @path: NULL: /proc/kallsyms
 *
 * Returns 0; -EACCES: all addresses are hidden (kernel.kptr_restrict); -EBADMSG: not a table of symbols; -E2BIG; -ENOMEM;
 * what reading fails with. The reason is kept for addresses of the kernel.
 */
int etw_symbols_read_kallsyms(struct etw_symbols *symbols, const char *path);

/* etw_symbols_is_this_boot() - whether a trace whose header has this BootTime is of the present boot of this machine. */
bool etw_symbols_is_this_boot(int64_t boot_ft);

/* etw_symbols_is_kernel() - whether a 64-bit address is the kernel's, on Linux and on Windows. */
static inline bool etw_symbols_is_kernel(uint64_t address)
{
	return address >= UINT64_C(0xFFFF000000000000);
}

/*
 * etw_symbols_resolve() - what an address of a stack is.
 *
 * @is_return:  all frames but the innermost: it is where a call returns to, so that the call is before it
 * @frames:     the innermost first: inlined functions, then the one whose code it is
 * @room:       at least 1; ETW_SYMBOL_FRAMES_MAX is always enough. Of more, the outermost are kept
 *
 * Returns how many there are, always 1 or more: where nothing is known, one with the bare address; -ENOMEM.
 */
int etw_symbols_resolve(struct etw_symbols *symbols, uint32_t pid, int64_t time_raw,
			uint64_t address, bool is_return, struct etw_symbol_frame *frames,
			size_t room);

/*
 * etw_symbols_keeps_frame() - whether the frame pointer of the function at an address is in place there, so that who
 * follows frame pointers finds its caller.
 *
 * Returns 1 or 0; -ENOENT: nothing tells, as of the kernel and of generated code; -ENOMEM.
 */
int etw_symbols_keeps_frame(struct etw_symbols *symbols, uint32_t pid, int64_t time_raw,
			    uint64_t address, bool is_return);

/* etw_symbols_module_count() - and the module with this number, in the order in which they became known; or NULL. */
size_t etw_symbols_module_count(const struct etw_symbols *symbols);
const struct etw_symbol_module *etw_symbols_module_at(const struct etw_symbols *symbols,
						      size_t number);

/* etw_symbols_dropped() - images and symbols beyond the limits. */
uint64_t etw_symbols_dropped(const struct etw_symbols *symbols);

#endif
