/* SPDX-License-Identifier: MIT */
/* The languages in which Windows itself is sold; other numbers are found as "some language". */
#include "schema/compiled/language.h"

#include <stdbool.h>
#include <strings.h>

#include "base/macros.h"

#define ENGLISH_US   0x0409u
#define PRIMARY_MASK 0x03ffu

struct language {
	const char *name;
	uint16_t number;
};

static const struct language languages_known[] = {
	{"en-US", ENGLISH_US}, {"en-GB", 0x0809}, {"ar-SA", 0x0401}, {"bg-BG", 0x0402},
	{"ca-ES", 0x0403},     {"cs-CZ", 0x0405}, {"da-DK", 0x0406}, {"de-DE", 0x0407},
	{"el-GR", 0x0408},     {"es-ES", 0x0c0a}, {"es-MX", 0x080a}, {"et-EE", 0x0425},
	{"eu-ES", 0x042d},     {"fi-FI", 0x040b}, {"fr-CA", 0x0c0c}, {"fr-FR", 0x040c},
	{"gl-ES", 0x0456},     {"he-IL", 0x040d}, {"hr-HR", 0x041a}, {"hu-HU", 0x040e},
	{"id-ID", 0x0421},     {"it-IT", 0x0410}, {"ja-JP", 0x0411}, {"ko-KR", 0x0412},
	{"lt-LT", 0x0427},     {"lv-LV", 0x0426}, {"nb-NO", 0x0414}, {"nl-NL", 0x0413},
	{"pl-PL", 0x0415},     {"pt-BR", 0x0416}, {"pt-PT", 0x0816}, {"ro-RO", 0x0418},
	{"ru-RU", 0x0419},     {"sk-SK", 0x041b}, {"sl-SI", 0x0424}, {"sr-Latn-RS", 0x241a},
	{"sv-SE", 0x041d},     {"th-TH", 0x041e}, {"tr-TR", 0x041f}, {"uk-UA", 0x0422},
	{"vi-VN", 0x042a},     {"zh-CN", 0x0804}, {"zh-HK", 0x0c04}, {"zh-TW", 0x0404},
};

uint16_t etw_language_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages_known); i++) {
		if (strcasecmp(languages_known[i].name, name) == 0)
			return languages_known[i].number;
	}
	return 0;
}

const char *etw_language_name(size_t index)
{
	return index < ARRAY_SIZE(languages_known) ? languages_known[index].name : NULL;
}

static bool is_form_of(uint32_t number, uint32_t wanted)
{
	return wanted && (number & PRIMARY_MASK) == (wanted & PRIMARY_MASK);
}

size_t etw_language_rank(uint32_t number, const char *const *languages)
{
	size_t count = 0, form = SIZE_MAX;

	for (; languages && languages[count]; count++) {
		uint16_t wanted = etw_language_number(languages[count]);

		if (wanted && number == wanted)
			return count;
		if (form == SIZE_MAX && is_form_of(number, wanted))
			form = count;
	}
	if (form != SIZE_MAX)
		return count + form;
	if (number == ENGLISH_US)
		return 2 * count;
	if (!number)
		return 2 * count + 1;
	return 2 * count + 2;
}
