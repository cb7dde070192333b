/* SPDX-License-Identifier: MIT */
#include "tools/common/shell_word.h"

#include <string.h>

void etw_shell_word(struct etw_text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";

	if (*word && word[strspn(word, plain)] == '\0') {
		etw_text_puts(text, word);
		return;
	}
	etw_text_putc(text, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			etw_text_puts(text, "'\\''");
		else
			etw_text_putc(text, *word);
	}
	etw_text_putc(text, '\'');
}
