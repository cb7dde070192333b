/* SPDX-License-Identifier: MIT */
/*
 * The precise reason why outside bytes were refused. Parsers fill it beside the error code; tools
 * print it. Sentences are static, so that reporting cannot fail and costs nothing on hot paths.
 */
#ifndef ETW_BASE_FAULT_H
#define ETW_BASE_FAULT_H

#include <stdint.h>

struct etw_fault {
	uint64_t offset;       /* in the file or blob, bytes; line number for text formats */
	const char *structure; /* "buffer header", "event header", "manifest" ... static */
	const char *field;     /* static; NULL when the whole structure is meant */
	const char *sentence;  /* one clear sentence without a full stop, static */
};

/* Fills @reterr when it is not NULL and returns @error, so that a parser can end with one line. */
static inline int etw_fault_set(struct etw_fault *reterr, int error, uint64_t offset,
				const char *structure, const char *field, const char *sentence)
{
	if (reterr)
		*reterr = (struct etw_fault){offset, structure, field, sentence};
	return error;
}

#endif
