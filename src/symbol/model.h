/* SPDX-License-Identifier: MIT */
/* What an address of a stack comes to: the module, the function, the line; and why it is not more than that. */
#ifndef ETW_SYMBOL_MODEL_H
#define ETW_SYMBOL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of build ids that are kept. The events of a trace have the first 16. */
#define ETW_SYMBOL_BUILD_ID_BYTES 20

/* Frames that one address can become: a function and those inlined in it. */
#define ETW_SYMBOL_FRAMES_MAX 64

/* What is kept of hostile traces and files at most. */
#define ETW_SYMBOL_STATEMENTS_MAX \
	((size_t)1 << 22) /* what is told of images: loads, unloads, build ids */
#define ETW_SYMBOL_MODULES_MAX   ((size_t)1 << 16)
#define ETW_SYMBOL_PROCESSES_MAX ((size_t)1 << 20)
#define ETW_SYMBOL_ENTRIES_MAX   ((size_t)1 << 24) /* of all symbol tables together */
#define ETW_SYMBOL_MADE_MAX \
	((size_t)1 << 23) /* of all perf maps, and of all jitdumps with their lines */

/* Why addresses of a module have no names, or have fewer than they might. */
enum etw_symbol_reason {
	ETW_SYMBOL_OK = 0,         /* its full symbol table was found */
	ETW_SYMBOL_NOT_ASKED,      /* no address of it was looked up yet */
	ETW_SYMBOL_STRIPPED,       /* only exported names: no debug file was found */
	ETW_SYMBOL_NO_SYMBOLS,     /* a file that has no names at all */
	ETW_SYMBOL_NO_FILE,        /* neither the file nor a debug file is there */
	ETW_SYMBOL_NO_ACCESS,      /* a file that may not be read */
	ETW_SYMBOL_OTHER_BUILD_ID, /* the file at the path is another build than the one that ran */
	ETW_SYMBOL_NOT_ELF,        /* a file of another format, such as a Windows image */
	ETW_SYMBOL_DAMAGED,        /* an ELF file that cannot be read */
	ETW_SYMBOL_TOO_LARGE,      /* beyond the limits: see docs/symbols.md */
	ETW_SYMBOL_HIDDEN,         /* kallsyms shows no addresses: kernel.kptr_restrict */
	ETW_SYMBOL_OTHER_KERNEL,   /* this machine runs another kernel, or started it anew */
	ETW_SYMBOL_LEFT_OUT,       /* this build has no libdw */
	ETW_SYMBOL_OTHER_OWNER,    /* code that a process made, told by a file of another user */
};

/* etw_symbol_reason_sentence() - why, and what helps: one sentence without a full stop, static; "" for OK. */
const char *etw_symbol_reason_sentence(enum etw_symbol_reason reason);

/* What images with the same path and build id have in common. */
struct etw_symbol_module {
	const char *name; /* of the file, without its folder */
	const char *path; /* as the trace has it */
	uint8_t build_id[ETW_SYMBOL_BUILD_ID_BYTES];
	size_t build_id_bytes; /* 0: unknown */
	enum etw_symbol_reason reason;
	const char *symbol_file; /* where the names are from; NULL: from the trace, or none */
	uint64_t asked, named;   /* addresses looked up, and those of them that got a function */
};

/*
 * A frame. Pointers hold until etw_symbols_free(), and two strings of frames of one etw_symbols are the same pointer
 * when they are equal.
 */
struct etw_symbol_frame {
	const struct etw_symbol_module *module; /* NULL: the address is in none that is known */
	const char *function;                   /* as people read it; NULL: unknown */
	const char *raw_function; /* as the linker has it; the same where nothing is mangled */
	const char *file;         /* source file, when lines are wanted; NULL: unknown */
	uint32_t line;            /* 0: unknown */
	bool is_inlined;          /* its code is a part of the next frame's function */
	/*
	 * From the beginning of the function; without one from the beginning of the image; without a module the
	 * address itself. Of inlined frames: that of the function whose part they are.
	 */
	uint64_t offset;
	/* Without a name: where its function begins, from the beginning of the image, by the tables of unwinding. */
	bool has_begin;
	uint64_t begin;
};

#endif
