/* SPDX-License-Identifier: MIT */
#include "base/digits.h"

const char etw_digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
				  "25262728293031323334353637383940414243444546474849"
				  "50515253545556575859606162636465666768697071727374"
				  "75767778798081828384858687888990919293949596979899";

static char *write_four(char *to, uint32_t value)
{
	etw_store32((uint8_t *)to, etw_digits_four(value));
	return to + 4;
}

static char *write_eight(char *to, uint32_t value)
{
	return write_four(write_four(to, value / 10000), value % 10000);
}

/* @value: below 10^8 */
static char *write_below_eight(char *to, uint32_t value)
{
	if (value < 10000)
		return etw_write_below_10000(to, value);
	return write_four(etw_write_below_10000(to, value / 10000), value % 10000);
}

char *etw_write_large(char *to, uint64_t value)
{
	const uint32_t eight = 100000000;

	if (LIKELY(value < eight))
		return write_below_eight(to, (uint32_t)value);
	if (value < (uint64_t)eight * eight) {
		to = write_below_eight(to, (uint32_t)(value / eight));
		return write_eight(to, (uint32_t)(value % eight));
	}
	to = etw_write_below_10000(to, (uint32_t)(value / eight / eight));
	value %= (uint64_t)eight * eight;
	to = write_eight(to, (uint32_t)(value / eight));
	return write_eight(to, (uint32_t)(value % eight));
}

char *etw_write_seven(char *to, uint32_t value)
{
	const uint32_t high = value / 10000;

	/* The first of the upper four is a zero that is not wanted. */
	etw_store32((uint8_t *)to, etw_digits_four(high) >> 8);
	return write_four(to + 3, value % 10000);
}

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signs16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

char *etw_write_hex(char *to, uint64_t value)
{
	const unsigned digits = (67u - (unsigned)__builtin_clzll(value | 1)) / 4;
	/* The first digit moves to the top; what follows the last one lies behind the end. */
	const words2 words = {htobe64(value << 4 * (16 - digits))};
	const bytes16 nibbles = __builtin_shufflevector((bytes16)words >> 4, (bytes16)words & 15, 0,
							16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
							22, 7, 23);
	const bytes16 letters = (bytes16)((signs16)nibbles > 9) & ('A' - '9' - 1);
	const bytes16 text = nibbles + '0' + letters;

	memcpy(to, &text, sizeof(text));
	return to + digits;
}
