/* SPDX-License-Identifier: MIT */
/* Numbers as people write them. */
#ifndef ETW_BASE_NUMBER_H
#define ETW_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* etw_number_parse() - a decimal or 0x number up to @max; returns whether @string is one, whole. */
bool etw_number_parse(const char *string, uint64_t max, uint64_t *ret);

#endif
