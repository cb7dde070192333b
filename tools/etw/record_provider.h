/* SPDX-License-Identifier: MIT */
/* A provider as `etw record --provider` names it. */
#ifndef ETW_TOOLS_ETW_RECORD_PROVIDER_H
#define ETW_TOOLS_ETW_RECORD_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#define RECORD_PROVIDER_BYTES 1024 /* of --provider, with its NUL */

/* Keywords that are named, or some of them; what they are is known when the provider is. */
struct record_words {
	const char *at; /* borrowed; NULL: the keywords are numbers, or none */
	size_t bytes;
};

/* NAME|GUID[:LEVEL[:ANY[:ALL]]], or tracepoints: record_tracepoints.h */
struct record_provider {
	const char *text; /* borrowed, as the user gave it */
	GUID guid;
	uint8_t level;
	uint64_t match_any, match_all;
	struct record_words any_words, all_words;
	char *names; /* owned: of the events that are chosen, each with its NUL; NULL: all are */
	size_t names_bytes;
	uint16_t name_count;
};

#endif
