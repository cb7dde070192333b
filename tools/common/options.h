/* SPDX-License-Identifier: MIT */
/* Options that several verbs share, on top of getopt_long. */
#ifndef ETW_TOOLS_COMMON_OPTIONS_H
#define ETW_TOOLS_COMMON_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "decode/decode.h"
#include "schema/store/store.h"
#include "tools/common/manifest.h"
#include "tools/common/terminal.h"

/* Codes of getopt_long for the shared options; a verb's own begin at ETW_OPTION_OWN. */
enum etw_option_code {
	ETW_OPTION_HELP = 256,
	ETW_OPTION_MANIFEST,
	ETW_OPTION_NO_KNOWN_PROVIDERS,
	ETW_OPTION_COLOUR,
	ETW_OPTION_NO_PAGER,
	ETW_OPTION_OWN,
};

/* The rows of a verb's `struct option` table for the shared options. */
#define ETW_SHARED_OPTIONS                                                                \
	{"help", no_argument, NULL, ETW_OPTION_HELP},                                     \
		{"manifest", required_argument, NULL, ETW_OPTION_MANIFEST},               \
		{"no-known-providers", no_argument, NULL, ETW_OPTION_NO_KNOWN_PROVIDERS}, \
		{"color", required_argument, NULL, ETW_OPTION_COLOUR},                    \
		{"colour", required_argument, NULL, ETW_OPTION_COLOUR},                   \
	{                                                                                 \
		"no-pager", no_argument, NULL, ETW_OPTION_NO_PAGER                        \
	}

/* Their lines in a help text. */
#define ETW_MANIFEST_HELP                                                                    \
	"  --manifest PATH     decode with the schemas of this file: a manifest, a binary\n" \
	"                      (.dll, .exe, .sys, WEVT_TEMPLATE), MOF, TMF or PDB; or of\n"  \
	"                      all such files below a folder; may be repeated\n"             \
	"  --no-known-providers\n"                                                           \
	"                      decode without the table of Windows' known providers\n"
#define ETW_SHARED_HELP                                                   \
	ETW_MANIFEST_HELP                                                 \
	"  --color WHEN        auto (the default), always, never\n"       \
	"  --no-pager          do not show long output through a pager\n" \
	"  --help              this text\n"

/* A list of strings of the command line. */
struct etw_words {
	const char **at; /* owned; the words are borrowed */
	size_t count;
};

struct etw_shared_options {
	struct etw_words manifests;
	bool no_known_providers;
	enum etw_colour_mode colour;
	bool no_pager;
	bool help;
};

/* etw_words_add() - returns 0 or -ENOMEM. */
int etw_words_add(struct etw_words *words, const char *word);
void etw_words_done(struct etw_words *words);

/*
 * etw_shared_option_take() - handles one of the shared options, or getopt's complaint.
 *
 * @code: what getopt_long returned
 *
 * Returns whether parsing can go on; what is wrong is told on standard error.
 */
bool etw_shared_option_take(struct etw_shared_options *shared, int code);

/*
 * etw_options_complain() - tells of an option that getopt_long refused ('?' or ':').
 *
 * @find_owner: the command that has an option of this name, or NULL
 */
void etw_options_complain(int code, char *const *arguments, const struct option *options,
			  const char *(*find_owner)(const char *name));

/*
 * etw_shared_decoder_create() - a decoder and its store, which knows the manifests that were given.
 *
 * @manifests: zeroed; the caller's etw_manifests_done() in every case
 *
 * Returns 0 with both owned, or -1, told on standard error.
 */
int etw_shared_decoder_create(const struct etw_shared_options *shared,
			      struct etw_manifests *manifests, struct etw_schema_store **ret_store,
			      struct etw_decoder **ret);

#endif
