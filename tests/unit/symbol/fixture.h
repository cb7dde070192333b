/* SPDX-License-Identifier: MIT */
/* A folder that lasts for one test, and programs that are compiled into it. */
#ifndef ETW_TESTS_UNIT_SYMBOL_FIXTURE_H
#define ETW_TESTS_UNIT_SYMBOL_FIXTURE_H

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbols.h"

#define UNUSED_STATE void **state __attribute__((unused))
#define BASE         UINT64_C(0x555500000000) /* of images: a multiple of any page */
#define PID          40
#define PATH_BYTES   256
#define LINE_BYTES   1024

static char fixture_folder[64];

static inline int fixture_begin(UNUSED_STATE)
{
	(void)strcpy(fixture_folder, "/tmp/etw-symbol-XXXXXX");
	return mkdtemp(fixture_folder) ? 0 : -1;
}

static inline int fixture_end(UNUSED_STATE)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", fixture_folder);
	return system(command);
}

/* Runs a shell command in the folder; returns whether it succeeded. */
static inline bool __attribute__((format(printf, 1, 2))) run(const char *format, ...)
{
	char command[2048];
	va_list arguments;
	int bytes = snprintf(command, sizeof(command), "cd %s && ", fixture_folder);

	va_start(arguments, format);
	(void)vsnprintf(command + bytes, sizeof(command) - (size_t)bytes, format, arguments);
	va_end(arguments);
	return system(command) == 0;
}

static inline void write_text(const char *name, const char *text)
{
	char path[PATH_BYTES];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture_folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* What a command writes, its first line. */
static inline void __attribute__((format(printf, 2, 3)))
output_of(char line[LINE_BYTES], const char *format, ...)
{
	char command[2048];
	va_list arguments;
	FILE *stream;
	int bytes = snprintf(command, sizeof(command), "cd %s && ", fixture_folder);

	va_start(arguments, format);
	(void)vsnprintf(command + bytes, sizeof(command) - (size_t)bytes, format, arguments);
	va_end(arguments);
	line[0] = '\0';
	stream = popen(command, "re");
	assert_non_null(stream);
	if (!fgets(line, LINE_BYTES, stream))
		line[0] = '\0';
	(void)pclose(stream);
	line[strcspn(line, "\n")] = '\0';
}

/* Where nm says that a symbol of a file is. */
static inline uint64_t address_of(const char *file, const char *symbol)
{
	char line[LINE_BYTES];

	output_of(line, "nm %s | grep ' %s$'", file, symbol);
	assert_true(line[0] != '\0');
	return strtoull(line, NULL, 16);
}

/* How long nm says that it is. */
static inline uint64_t bytes_of(const char *file, const char *symbol)
{
	char line[LINE_BYTES];

	output_of(line, "nm -S %s | grep ' %s$' | cut -d ' ' -f 2", file, symbol);
	assert_true(line[0] != '\0');
	return strtoull(line, NULL, 16);
}

/* Where the first piece of a file is mapped, by its own headers. */
static inline uint64_t first_address_of(const char *file)
{
	char line[LINE_BYTES];

	output_of(line, "readelf -lW %s | awk '$1==\"LOAD\"{print $3; exit}'", file);
	return strtoull(line, NULL, 16);
}

/* The build id of a file, as a trace has it: its first 16 bytes. */
static inline void build_id_of(const char *file, uint8_t ret[16])
{
	char line[LINE_BYTES];

	output_of(line, "readelf -n %s | sed -n 's/.*Build ID: //p'", file);
	assert_true(strlen(line) >= 32);
	for (size_t i = 0; i < 16; i++) {
		char digits[3] = {line[2 * i], line[2 * i + 1], '\0'};

		ret[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static inline struct etw_symbols *fixture_symbols(const struct etw_symbols_options *options)
{
	struct etw_symbols *symbols;

	assert_int_equal(etw_symbols_create(options, &symbols), 0);
	return symbols;
}

/* An image of a file in the folder, loaded at time 10. */
static inline void tell_file(struct etw_symbols *symbols, uint64_t base, const char *file)
{
	char path[PATH_BYTES];
	const struct etw_symbol_image image = {PID, base, 1 << 20, path};

	(void)snprintf(path, sizeof(path), "%s/%s", fixture_folder, file);
	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_LOAD, &image, 10), 0);
}

/* The one frame of an address at time 20. */
static inline struct etw_symbol_frame frame_of(struct etw_symbols *symbols, uint64_t address)
{
	struct etw_symbol_frame frame;

	assert_int_equal(etw_symbols_resolve(symbols, PID, 20, address, false, &frame, 1), 1);
	return frame;
}

#endif
