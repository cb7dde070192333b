/* SPDX-License-Identifier: MIT */
/* The words of an expression, read one after the other. What a run of characters is depends on where it stands. */
#ifndef ETW_FILTER_LEX_H
#define ETW_FILTER_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct etw_lexer {
	const char *text; /* borrowed */
	size_t bytes, at;
};

/* A run of characters of the expression. */
struct etw_lexeme {
	size_t at, bytes;
};

/* etw_lex_skip() - goes to the next character that is no blank; returns whether there is one. */
bool etw_lex_skip(struct etw_lexer *lexer);

/* etw_lex_peek() - the next character, or NUL at the end; blanks are skipped. */
char etw_lex_peek(struct etw_lexer *lexer);

/* etw_lex_take() - takes this character if it is the next one. */
bool etw_lex_take(struct etw_lexer *lexer, char c);

/* etw_lex_symbol() - takes these characters, which are none of a word, if they are next. */
bool etw_lex_symbol(struct etw_lexer *lexer, const char *symbol);

/* etw_lex_word() - the next word of letters, digits and "_"; no bytes where there is none. Not taken. */
struct etw_lexeme etw_lex_word(struct etw_lexer *lexer);

/* etw_lex_keyword() - takes this word if it is the next one. */
bool etw_lex_keyword(struct etw_lexer *lexer, const char *word);

/* etw_lex_is() - whether a lexeme is this word. */
bool etw_lex_is(const struct etw_lexer *lexer, struct etw_lexeme lexeme, const char *word);

/*
 * etw_lex_path() - takes the path of a field: "A.b[3].c"; a name in ` ` may have any characters.
 *
 * @path:   the path is appended without the quotes
 * @ret_is_plain: it is a single name without quotes, so that it may be a name of the language
 *
 * Returns NULL, or a static sentence that says what is wrong at the lexer's place.
 */
const char *etw_lex_path(struct etw_lexer *lexer, struct etw_text *path, bool *ret_is_plain);

/*
 * etw_lex_value() - takes a value: a run without blanks, or a text in " " or ' ', where the quote twice is one.
 *
 * @text: the value is appended without the quotes
 * @ret_is_quoted, @ret: whether it stood in quotes; and where
 *
 * Returns NULL, or a static sentence that says what is wrong at the lexer's place.
 */
const char *etw_lex_value(struct etw_lexer *lexer, struct etw_text *text, bool *ret_is_quoted,
			  struct etw_lexeme *ret);

/* etw_lex_here() - what stands here, to be marked: a word, or one character; no bytes at the end. */
struct etw_lexeme etw_lex_here(struct etw_lexer *lexer);

#endif
