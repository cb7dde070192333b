/* SPDX-License-Identifier: MIT */
/* The words of a line of the table: docs/format/known-providers.md. Errors end the program with file and line. */
#ifndef ETW_GENERATE_KNOWN_INDEX_LINE_H
#define ETW_GENERATE_KNOWN_INDEX_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define WORD_BYTES_MAX 512

struct line {
	const char *file;
	unsigned number;
	const char *at; /* what is left of the line */
};

/* refuse() - ends the program: what is wrong with the line. */
void refuse(const struct line *line, const char *sentence) __attribute__((noreturn));

/* take_word() - the next name or number. Returns whether it was in quotes. */
bool take_word(struct line *line, char word[WORD_BYTES_MAX]);

/* skip_sign() - takes the sign when it comes next, blanks before it aside. */
bool skip_sign(struct line *line, char sign);

/* take_sign() - takes the sign, which has to come next. */
void take_sign(struct line *line, char sign);

/* skip_text() - takes the text when it comes next. */
bool skip_text(struct line *line, const char *text);

/* take_rest() - what is left as one name, in quotes or not. */
void take_rest(struct line *line, char word[WORD_BYTES_MAX]);

/* is_at_end() - whether only blanks are left. */
bool is_at_end(const struct line *line);

/* take_number() - a decimal number, or one with 0x, up to @max. */
uint64_t take_number(struct line *line, uint64_t max);

/* number_of() - the number that a whole word is. */
uint64_t number_of(const struct line *line, const char *word, uint64_t max);

/* is_number() - whether a word without quotes is one: digits alone. */
bool is_number(const char *word);

#endif
