/* SPDX-License-Identifier: MIT */
/* Words of command lines, as a user can paste them into a shell. */
#ifndef ETW_TOOLS_COMMON_SHELL_WORD_H
#define ETW_TOOLS_COMMON_SHELL_WORD_H

#include "base/text.h"

/* etw_shell_word() - appends a word, quoted where a shell would take it for something else. */
void etw_shell_word(struct etw_text *text, const char *word);

#endif
