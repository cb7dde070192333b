/* SPDX-License-Identifier: MIT */
/* See names.h. */
#include "daemon/names.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "base/utf.h"

/* Case mappings of all of Unicode; NULL where the machine lacks them: then ASCII alone is folded. */
static locale_t unicode_locale(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return locale;
}

static uint32_t fold_point(uint32_t point)
{
	locale_t locale = unicode_locale();

	if (point < 0x80 || !locale)
		return point >= 'a' && point <= 'z' ? point - 0x20 : point;
	return (uint32_t)towupper_l((wint_t)point, locale);
}

int etwd_name_fold(const char *name, char **ret)
{
	size_t bytes = strlen(name);
	/* An upper-case letter may be longer than its lower-case one, but never over 4 bytes a byte. */
	char *key = malloc(bytes * 4 + 1);
	char *to = key;

	if (!key)
		return -ENOMEM;
	for (size_t at = 0, used; at < bytes; at += used) {
		uint32_t point = etw_utf8_decode((const uint8_t *)name + at, bytes - at, &used);

		if (point == UINT32_MAX) {
			free(key);
			return -EINVAL;
		}
		to += etw_utf8_encode(fold_point(point), to);
	}
	*to = '\0';
	*ret = key;
	return 0;
}
