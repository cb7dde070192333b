/* SPDX-License-Identifier: MIT */
/* The command line of Microsoft's message compiler. */
#ifndef ETW_TOOLS_ETW_MC_OPTIONS_H
#define ETW_TOOLS_ETW_MC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/common/options.h"

/* What -cp asks for. */
enum mc_encoding {
	MC_ENCODING_PLAIN, /* "ansi", the default: UTF-8 without a byte order mark */
	MC_ENCODING_UTF8,
	MC_ENCODING_UTF16,
};

/* All strings are borrowed from the command line. */
struct mc_options {
	struct etw_words inputs;                     /* owned list */
	const char *header_folder, *resource_folder; /* NULL: the current one */
	const char *debug_folder;                    /* of the .dbg file; NULL: none is asked for */
	const char *extension;                       /* of the header, without its period */
	const char *base;                            /* NULL: the input's */
	const char *encoding_name;
	const char *message_limit_text;
	const char *prefix;          /* instead of "EventWrite"; NULL: none */
	const char *symbol_prefix;   /* taken off symbols; NULL: none */
	const char *baseline_folder; /* that -s writes; NULL: none */
	const char *compared_folder; /* that -t compares with; NULL: none */
	const char *ignored;
	const char *namespace_of; /* of -cs, -css */
	enum mc_encoding encoding;
	uint64_t message_limit; /* 0: none */
	bool is_user, is_kernel, is_mof, is_projection;
	bool has_callout;
	bool is_ansi_input, is_unicode_input, is_ansi_output, is_unicode_output, is_utf8_output;
	bool is_base_used, is_customer, is_decimal, is_without_line, is_ole;
	bool is_verbose, is_help, is_version;
};

/*
 * mc_options_read() - @argv without the program's name.
 *
 * What is wrong is told on standard error. Returns whether the program can go on.
 */
bool mc_options_read(int argc, char **argv, struct mc_options *ret);

/* mc_options_done() - frees the list of inputs; takes a zeroed struct. */
void mc_options_done(struct mc_options *options);

#endif
