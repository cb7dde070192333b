/* SPDX-License-Identifier: MIT */
/* Windows' numbers of the languages that its files come in. */
#ifndef ETW_SCHEMA_LANGUAGE_H
#define ETW_SCHEMA_LANGUAGE_H

#include <stddef.h>
#include <stdint.h>

/* etw_language_number() - of "en-US" and the like, case ignored; 0 when the name is not known. */
uint16_t etw_language_number(const char *name);

/* etw_language_name() - the names that are known, en-US first; NULL when @index is beyond the last. */
const char *etw_language_name(size_t index);

/*
 * etw_language_rank() - how welcome a language is: the lower the number, the better.
 *
 * @languages: names in order of preference, the last one NULL; NULL: no preference
 *
 * Behind what is asked for come other forms of the same language, American English, what has no language,
 * and all others.
 */
size_t etw_language_rank(uint32_t number, const char *const *languages);

#endif
