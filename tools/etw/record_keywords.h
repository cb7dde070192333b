/* SPDX-License-Identifier: MIT */
/*
 * Keywords of `etw record --provider`: numbers, and names that the provider's definition gives them. The part of a name behind
 * "KEYWORD_" is enough.
 */
#ifndef ETW_TOOLS_ETW_RECORD_KEYWORDS_H
#define ETW_TOOLS_ETW_RECORD_KEYWORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "schema/store/store.h"
#include "tools/etw/record_provider.h"

/*
 * record_keywords_parse() - keywords with commas or plus signs between them.
 *
 * @ret_mask:  of numbers
 * @ret_words: set where there is a name among them; lies in @text
 *
 * Returns whether each is a number, or may be a name.
 */
bool record_keywords_parse(const char *text, size_t bytes, uint64_t *ret_mask,
			   struct record_words *ret_words);

/*
 * record_keywords_resolve() - what the names of a provider's keywords mean.
 *
 * Installed definitions are asked, and the table of known providers where @store has it. Returns 0 or -1, told.
 */
int record_keywords_resolve(struct record_provider *provider, struct etw_schema_store *store);

/*
 * record_keywords_complete() - lines of what may stand for @word, "NAME:LEVEL:" and keywords so far: the keywords of the provider.
 * Nothing where the word does not get so far.
 */
void record_keywords_complete(const char *word, struct etw_text *text);

#endif
