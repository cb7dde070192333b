/* SPDX-License-Identifier: MIT */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool etw_number_parse(const char *string, uint64_t max, uint64_t *ret)
{
	bool is_hex = string[0] == '0' && (string[1] == 'x' || string[1] == 'X');
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)string[0]) || (is_hex && !isxdigit((unsigned char)string[2])))
		return false;
	errno = 0;
	value = strtoull(string, &end, is_hex ? 16 : 10);
	if (errno || *end || value > max)
		return false;
	*ret = value;
	return true;
}
