/* SPDX-License-Identifier: MIT */
/*
 * Whether the text that a walk found reads like text. A layout that is not the payload's own may use it up to the
 * last byte all the same, with half a number at the beginning of a name; what gives it away is characters that
 * no text has.
 */
#ifndef ETW_DECODE_LEGIBLE_H
#define ETW_DECODE_LEGIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/decoding.h"

/*
 * etw_legible_utf16() / _ansi() - whether text has no control characters but tab and line ends; UTF-16 moreover
 * no characters for private use, none that do not exist, and no half of a pair but at its end, where text is cut.
 *
 * Only what is in front of a NUL counts. Those of C1 are legible: genuine names have them where Windows-1252 was
 * widened byte by byte.
 */
bool etw_legible_utf16(const uint8_t *at, uint32_t bytes);
bool etw_legible_ansi(const uint8_t *at, uint32_t bytes);

/*
 * etw_legible_schema() - whether a schema has any text that is to be judged.
 *
 * A layout that comes with the event, or by the message's own number, is no guess: its text is what the program wrote,
 * be it as it may.
 */
bool etw_legible_schema(const struct etw_schema *schema);

/* etw_legible_decoding() - all text of an event. @ret_field: of the first that is not, untouched else. */
bool etw_legible_decoding(const struct etw_decoding *decoding, uint16_t *ret_field);

#endif
