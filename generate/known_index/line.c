/* SPDX-License-Identifier: MIT */
#include "line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"

#define SIGNS "\"=(){}[], \t"

void refuse(const struct line *line, const char *sentence)
{
	fail("%s:%u: %s", line->file, line->number, sentence);
}

static void skip_blanks(struct line *line)
{
	line->at += strspn(line->at, " \t");
}

static void add_char(const struct line *line, char word[WORD_BYTES_MAX], size_t *count, char c)
{
	if (*count + 1 >= WORD_BYTES_MAX)
		refuse(line, "a word is too long");
	word[(*count)++] = c;
}

static void take_quoted(struct line *line, char word[WORD_BYTES_MAX])
{
	size_t count = 0;

	for (line->at++; *line->at != '"'; line->at++) {
		if (*line->at == '\\' && line->at[1])
			line->at++;
		if (!*line->at)
			refuse(line, "a quoted word has no end");
		add_char(line, word, &count, *line->at);
	}
	line->at++;
	word[count] = '\0';
}

bool take_word(struct line *line, char word[WORD_BYTES_MAX])
{
	size_t count = 0;

	skip_blanks(line);
	if (*line->at == '"') {
		take_quoted(line, word);
		return true;
	}
	for (; *line->at && !strchr(SIGNS, *line->at); line->at++)
		add_char(line, word, &count, *line->at);
	if (!count)
		refuse(line, "a word is missing");
	word[count] = '\0';
	return false;
}

bool skip_sign(struct line *line, char sign)
{
	skip_blanks(line);
	if (*line->at != sign)
		return false;
	line->at++;
	return true;
}

void take_sign(struct line *line, char sign)
{
	static char sentence[] = "a '?' is missing";

	if (skip_sign(line, sign))
		return;
	*strchr(sentence, '?') = sign;
	refuse(line, sentence);
}

bool skip_text(struct line *line, const char *text)
{
	size_t bytes = strlen(text);

	if (strncmp(line->at, text, bytes) != 0)
		return false;
	line->at += bytes;
	return true;
}

void take_rest(struct line *line, char word[WORD_BYTES_MAX])
{
	size_t count = 0;

	skip_blanks(line);
	if (*line->at == '"') {
		take_quoted(line, word);
		if (!is_at_end(line))
			refuse(line, "something follows a name");
		return;
	}
	while (*line->at)
		add_char(line, word, &count, *line->at++);
	if (!count)
		refuse(line, "a name is missing");
	word[count] = '\0';
}

bool is_at_end(const struct line *line)
{
	return !line->at[strspn(line->at, " \t")];
}

uint64_t number_of(const struct line *line, const char *word, uint64_t max)
{
	int base = strncmp(word, "0x", 2) == 0 ? 16 : 10;
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(word, &end, base);
	if (!isdigit((unsigned char)*word) || *end || errno || value > max)
		refuse(line, "a number is malformed or too large");
	return value;
}

uint64_t take_number(struct line *line, uint64_t max)
{
	char word[WORD_BYTES_MAX];

	if (take_word(line, word))
		refuse(line, "a number is in quotes");
	return number_of(line, word, max);
}

bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}
