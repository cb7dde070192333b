/* SPDX-License-Identifier: MIT */
/*
 * Images of a program's own: code that the system does not know as a file of an executable format, such as what a
 * plug-in loader or a JIT compiler makes. A program that announces it has it shown by sessions of the kernel logger as
 * images of the process, and stacks through it have names. In the provider's library; link with -letw-provider.
 *
 *	struct libetw_symbol symbols[] = {{.offset = 0, .size = 96, .name = "my_plugin_main"}};
 *	struct libetw_image image = {.base = code, .size = size, .path = "my.plugin", .symbols = symbols, .symbol_count = 1};
 *	uint64_t number;
 *
 *	libetw_image_announce(&image, &number);
 *
 * docs/announced-images.md says what becomes of it. A forked child has the images too; an exec, an munmap() and the end
 * of the process end them.
 *
 * Functions return 0 or a negative errno. Context: any thread.
 */
#ifndef ETW_IMAGE_H
#define ETW_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>

ETW_EXTERN_C_BEGIN

/* A function in an image. */
struct libetw_symbol {
	uint64_t offset;  /* from the image's base */
	uint32_t size;    /* bytes; 0: up to the next symbol, or to the image's end */
	uint32_t reserved_pad;
	const char *name; /* UTF-8, 1 to 1,024 bytes */
};

/* What is announced. Zero everything first. */
struct libetw_image {
	const void *base; /* its first byte */
	uint64_t size;
	const char *path; /* UTF-8, up to 3,072 bytes: what it is to be called; need not be a file */
	const uint8_t *build_id; /* what tells this image from all others; NULL: nothing does */
	uint32_t build_id_bytes; /* up to 20 */
	uint32_t reserved_pad;
	const struct libetw_symbol *symbols; /* NULL: none yet */
	size_t symbol_count;                 /* up to 1,048,576 */
	uint64_t reserved[4];                /* 0 */
};

/* Forms of files with symbols. */
enum libetw_symbol_form {
	LIBETW_SYMBOLS_ELF = 1,      /* an ELF object; its first loaded byte lies at the image's base */
	LIBETW_SYMBOLS_PERF_MAP = 2, /* lines "ADDRESS SIZE NAME" in hexadecimal, as /tmp/perf-PID.map has them */
	LIBETW_SYMBOLS_JITDUMP = 3,  /* perf's jitdump; the last code that was loaded at an address holds */
};

/*
 * libetw_image_announce() - code of the process' own lies somewhere from now on.
 *
 * @image: borrowed for the call
 * @ret:   its number
 *
 * What lay there is gone; else an image would have to be withdrawn first. When a host is there, waits until it has taken
 * note, 200 ms at most: a stack through the code that is recorded afterwards comes behind its load in the trace. Without a
 * host, or a session that wants images, what was announced is remembered, and told to those that come.
 *
 * Returns 0; -EINVAL: an argument is NULL or empty, the range is not one that programs have, a symbol is not within it,
 * the build id is too long, reserved is not 0; -EILSEQ: a name is no UTF-8; -ENAMETOOLONG: a name is too long, or the path
 * of the hosts' folder; -E2BIG: more than 4,096 images or too many symbols; -ENOSPC: a host keeps no more of this user's;
 * -EPERM: a host cannot tell which process this is, such as one of another pid namespace; -EOPNOTSUPP: another version of
 * this library does the work; -ENOMEM; -EAGAIN: the thread that talks to hosts cannot be made.
 */
ETW_API int libetw_image_announce(const struct libetw_image *image, uint64_t *ret);

/*
 * libetw_image_add_symbols() - more functions of an image, as a JIT compiler makes them.
 *
 * A symbol at the place of an earlier one replaces it.
 *
 * Returns 0; -ENOENT: there is no such image; otherwise as libetw_image_announce().
 */
ETW_API int libetw_image_add_symbols(uint64_t image, const struct libetw_symbol *symbols,
				     size_t count);

/*
 * libetw_image_add_symbol_file() - the same from a file, which is read now. What of it lies outside the image is left out.
 *
 * @form: which form it has
 *
 * Returns 0; -EBADMSG: the file is damaged, or of another form; errno of opening and reading it; -EFBIG: it is larger than
 * 256 MiB; otherwise as libetw_image_add_symbols().
 */
ETW_API int libetw_image_add_symbol_file(uint64_t image, const char *path,
					 enum libetw_symbol_form form);

/*
 * libetw_image_withdraw() - the code is gone. Returns 0; -ENOENT: there is no such image; -EOPNOTSUPP as
 * libetw_image_announce().
 */
ETW_API int libetw_image_withdraw(uint64_t image);

ETW_EXTERN_C_END

#endif
