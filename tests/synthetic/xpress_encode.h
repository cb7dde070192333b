/* SPDX-License-Identifier: MIT */
/* Encoders of plain LZ77 XPRESS for made-up files: a literal one and a greedy one. */
#ifndef ETW_TESTS_SYNTHETIC_XPRESS_ENCODE_H
#define ETW_TESTS_SYNTHETIC_XPRESS_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* Room that the result of @bytes bytes may need. */
#define XPRESS_ENCODED_MAX(bytes) ((bytes) + (bytes) / 8 + 16)

/*
 * xpress_encode_literal() and xpress_encode_greedy() - compress @bytes bytes.
 *
 * @output: of XPRESS_ENCODED_MAX(@bytes)
 *
 * Both end as Windows' encoder does: unused bits of the last flag word are ones, and an exact multiple of
 * 32 tokens is followed by one more word of ones. Greedy matches reach back 8191 bytes at most and use
 * every form of length. They return the bytes written.
 */
size_t xpress_encode_literal(const uint8_t *input, size_t bytes, uint8_t *output);
size_t xpress_encode_greedy(const uint8_t *input, size_t bytes, uint8_t *output);

#endif
