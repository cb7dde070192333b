/* SPDX-License-Identifier: MIT */
/*
 * The grammar: classes with their qualifiers and properties become a tree; methods, default values,
 * instances and declarations of qualifiers are stepped over. Nothing here knows what a qualifier means.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/mof/mof_internal.h"

#define NUMBER_CHARS_MAX 64 /* in a string, without "0x" */

struct parser {
	struct mof_reader *reader;
	struct mof_lexer *lexer;
	struct mof_class *last;
	const char *name_space;
};

static int refuse(struct parser *parser, const char *sentence)
{
	return etw_fault_set(parser->reader->reterr, -EBADMSG, parser->lexer->token.line, "MOF",
			     NULL, sentence);
}

static bool is_mark(const struct parser *parser, char mark)
{
	const struct mof_token *token = &parser->lexer->token;

	return token->kind == MOF_PUNCTUATION && token->punctuation == mark;
}

static bool is_word(const struct parser *parser, const char *word)
{
	const struct mof_token *token = &parser->lexer->token;

	return token->kind == MOF_IDENTIFIER && strcasecmp(token->text, word) == 0;
}

/* Steps over the mark when it is there; 1: it was. */
static int take_mark(struct parser *parser, char mark)
{
	if (!is_mark(parser, mark))
		return 0;
	TRY(etw_mof_next(parser->lexer));
	return 1;
}

static int need_mark(struct parser *parser, char mark, const char *sentence)
{
	return is_mark(parser, mark) ? etw_mof_next(parser->lexer) : refuse(parser, sentence);
}

static int need_name(struct parser *parser, const char **ret, const char *sentence)
{
	if (parser->lexer->token.kind != MOF_IDENTIFIER)
		return refuse(parser, sentence);
	*ret = parser->lexer->token.text;
	return etw_mof_next(parser->lexer);
}

/* To behind the semicolon that ends the declaration, whatever stands in between. */
static int skip_declaration(struct parser *parser)
{
	size_t depth = 0;

	for (;;) {
		if (parser->lexer->token.kind == MOF_END)
			return refuse(parser, "the file ends within a declaration");
		if (is_mark(parser, '{') || is_mark(parser, '(') || is_mark(parser, '['))
			depth++;
		if (is_mark(parser, '}') || is_mark(parser, ')') || is_mark(parser, ']')) {
			if (!depth)
				return refuse(parser, "a bracket closes nothing");
			depth--;
		}
		if (!depth && is_mark(parser, ';'))
			return etw_mof_next(parser->lexer);
		TRY(etw_mof_next(parser->lexer));
	}
}

static int read_value(struct parser *parser, struct mof_value ***tail, size_t *count)
{
	const struct mof_token *token = &parser->lexer->token;
	struct mof_value *value;

	if (token->kind == MOF_END || token->kind == MOF_PUNCTUATION || token->kind == MOF_PRAGMA)
		return refuse(parser, "a qualifier lacks a value");
	value = etw_arena_alloc(&parser->reader->scratch, sizeof(*value));
	if (!value)
		return -ENOMEM;
	*value = (struct mof_value){NULL, token->kind, token->is_negative, token->number,
				    token->text};
	**tail = value;
	*tail = &value->next;
	++*count;
	return etw_mof_next(parser->lexer);
}

/* Behind the opening brace. */
static int read_list(struct parser *parser, struct mof_value ***tail, size_t *count)
{
	int r;

	while (!is_mark(parser, '}')) {
		TRY(read_value(parser, tail, count));
		TRY(r = take_mark(parser, ','));
		if (!r && !is_mark(parser, '}'))
			return refuse(parser, "the values of a list are not separated by commas");
	}
	return etw_mof_next(parser->lexer);
}

static int read_values(struct parser *parser, struct mof_qualifier *qualifier)
{
	struct mof_value *first = NULL;
	struct mof_value **tail = &first;
	int r;

	TRY(r = take_mark(parser, '{'));
	if (r) {
		TRY(read_list(parser, &tail, &qualifier->value_count));
	} else {
		TRY(r = take_mark(parser, '('));
		if (r) {
			TRY(read_value(parser, &tail, &qualifier->value_count));
			TRY(need_mark(parser, ')',
				      "the value of a qualifier does not end with a parenthesis"));
		}
	}
	qualifier->values = first;
	return 0;
}

static int read_qualifier(struct parser *parser, struct mof_qualifier **ret)
{
	struct mof_qualifier *qualifier = etw_arena_alloc(&parser->reader->scratch,
							  sizeof(*qualifier));
	int r;

	if (!qualifier)
		return -ENOMEM;
	qualifier->line = parser->lexer->token.line;
	TRY(need_name(parser, &qualifier->name, "a qualifier has no name"));
	TRY(read_values(parser, qualifier));
	TRY(r = take_mark(parser, ':'));
	if (r && parser->lexer->token.kind != MOF_IDENTIFIER)
		return refuse(parser, "a colon is followed by no flavour");
	while (r && parser->lexer->token.kind == MOF_IDENTIFIER)
		TRY(etw_mof_next(parser->lexer));
	*ret = qualifier;
	return 0;
}

/* None, or all in brackets. They are searched in their order, by each class that inherits them too. */
static int read_qualifiers(struct parser *parser, const struct mof_qualifier **ret)
{
	struct mof_qualifier *first = NULL;
	struct mof_qualifier **tail = &first;
	size_t count = 0;
	int r;

	TRY(r = take_mark(parser, '['));
	while (r && !is_mark(parser, ']')) {
		if (count++ == ETW_MOF_QUALIFIERS_MAX)
			return refuse(parser, "a declaration has more than 64 qualifiers");
		TRY(read_qualifier(parser, tail));
		tail = &(*tail)->next;
		TRY(r = take_mark(parser, ','));
		if (!r && !is_mark(parser, ']'))
			return refuse(parser, "qualifiers are not separated by commas");
		r = 1;
	}
	if (r)
		TRY(etw_mof_next(parser->lexer));
	*ret = first;
	return 0;
}

/* Behind the opening bracket. */
static int read_array(struct parser *parser, struct mof_property *property)
{
	const struct mof_token *token = &parser->lexer->token;

	property->is_array = true;
	if (token->kind == MOF_INTEGER) {
		if (!token->number || token->is_negative)
			return refuse(parser, "an array has no elements");
		property->size = token->number;
		TRY(etw_mof_next(parser->lexer));
	}
	return need_mark(parser, ']', "the size of an array is no number in brackets");
}

/* Gives *ret NULL for a method, which no event has. */
static int read_property(struct parser *parser, struct mof_property **ret)
{
	struct mof_property *property = etw_arena_alloc(&parser->reader->scratch,
							sizeof(*property));
	int r;

	if (!property)
		return -ENOMEM;
	*ret = NULL;
	TRY(read_qualifiers(parser, &property->qualifiers));
	property->line = parser->lexer->token.line;
	TRY(need_name(parser, &property->type, "a property has no type"));
	if (is_word(parser, "ref")) {
		property->is_reference = true;
		TRY(etw_mof_next(parser->lexer));
	}
	TRY(need_name(parser, &property->name, "a property has no name"));
	if (is_mark(parser, '('))
		return skip_declaration(parser);
	TRY(r = take_mark(parser, '['));
	if (r)
		TRY(read_array(parser, property));
	*ret = property;
	if (is_mark(parser, '='))
		return skip_declaration(parser);
	return need_mark(parser, ';', "a property does not end with a semicolon");
}

/* Behind the opening brace. */
static int read_body(struct parser *parser, struct mof_class *class)
{
	struct mof_property **tail = &class->properties;

	while (!is_mark(parser, '}')) {
		if (parser->lexer->token.kind == MOF_END)
			return refuse(parser, "the file ends within a class");
		TRY(read_property(parser, tail));
		if (!*tail)
			continue;
		tail = &(*tail)->next;
		if (++class->property_count > ETW_SCHEMA_FIELDS_MAX)
			return refuse(parser, "a class has too many properties");
	}
	TRY(etw_mof_next(parser->lexer));
	return need_mark(parser, ';', "a class does not end with a semicolon");
}

/* Behind the word `class`. */
static int read_class(struct parser *parser, const struct mof_qualifier *qualifiers)
{
	struct mof_reader *reader = parser->reader;
	struct mof_class *class = etw_arena_alloc(&reader->scratch, sizeof(*class));
	int r;

	if (!class)
		return -ENOMEM;
	if (reader->class_count++ == ETW_MOF_CLASSES_MAX)
		return refuse(parser, "the file has too many classes");
	class->qualifiers = qualifiers;
	class->name_space = parser->name_space;
	class->line = parser->lexer->token.line;
	TRY(need_name(parser, &class->name, "a class has no name"));
	if (is_word(parser, "as")) {
		TRY(etw_mof_next(parser->lexer));
		if (parser->lexer->token.kind != MOF_ALIAS)
			return refuse(parser, "an alias does not begin with a dollar sign");
		TRY(etw_mof_next(parser->lexer));
	}
	TRY(r = take_mark(parser, ':'));
	if (r)
		TRY(need_name(parser, &class->super, "a colon is followed by no superclass"));
	TRY(need_mark(parser, '{', "a class has no body"));
	TRY(read_body(parser, class));
	if (parser->last)
		parser->last->next = class;
	else
		reader->classes = class;
	parser->last = class;
	return 0;
}

/* Behind the word `#pragma`. Only the namespace matters. */
static int read_pragma(struct parser *parser)
{
	struct mof_qualifier pragma = {0};
	struct mof_value *first = NULL;
	struct mof_value **tail = &first;
	uint64_t line = parser->lexer->token.line;
	int r;

	TRY(need_name(parser, &pragma.name, "a pragma has no name"));
	TRY(r = take_mark(parser, '('));
	while (r && !is_mark(parser, ')')) {
		TRY(read_value(parser, &tail, &pragma.value_count));
		TRY(r = take_mark(parser, ','));
		if (!r && !is_mark(parser, ')'))
			return refuse(parser, "a pragma does not end with a parenthesis");
		r = 1;
	}
	if (r)
		TRY(etw_mof_next(parser->lexer));
	if (etw_mof_is_name(pragma.name, "namespace") && first && first->kind == MOF_STRING) {
		/* Compared for each class that is there twice. */
		if (strnlen(first->text, ETW_MOF_NAME_BYTES_MAX + 1) > ETW_MOF_NAME_BYTES_MAX)
			return refuse(parser, "the name of a namespace is too long");
		parser->name_space = first->text;
	}
	if (etw_mof_is_name(pragma.name, "include"))
		return etw_mof_complain(parser->reader, line,
					"a file that is included is not read");
	return 0;
}

static int read_production(struct parser *parser)
{
	const struct mof_qualifier *qualifiers;

	if (parser->lexer->token.kind == MOF_PRAGMA) {
		TRY(etw_mof_next(parser->lexer));
		return read_pragma(parser);
	}
	TRY(read_qualifiers(parser, &qualifiers));
	if (is_word(parser, "class")) {
		TRY(etw_mof_next(parser->lexer));
		return read_class(parser, qualifiers);
	}
	if (is_word(parser, "instance") || is_word(parser, "qualifier"))
		return skip_declaration(parser);
	return refuse(parser, "a declaration begins neither a class nor an instance");
}

uint64_t etw_mof_hash_name(const char *name)
{
	uint64_t hash = etw_hash_seed();

	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		hash = etw_hash_mix(hash, c >= 'A' && c <= 'Z' ? c | 0x20u : c);
	}
	return hash;
}

static bool is_class(const void *item, const void *key)
{
	return etw_mof_is_name(((const struct mof_class *)item)->name, key);
}

/* Texts in other languages stand in namespaces below the first one, in classes of the same name. */
static int index_class(struct mof_reader *reader, struct mof_class **place)
{
	struct mof_class *class = *place;
	uint64_t hash = etw_mof_hash_name(class->name);
	const struct mof_class *known = etw_table_find(&reader->names, hash, is_class, class->name);

	if (!known)
		return etw_table_insert(&reader->names, hash, class);
	*place = class->next;
	if (!etw_mof_is_name(known->name_space, class->name_space))
		return 0;
	reader->current = class;
	return etw_mof_complain(reader, class->line, "a class is defined twice");
}

int etw_mof_read_tree(struct mof_reader *reader, struct mof_lexer *lexer)
{
	struct parser parser = {.reader = reader, .lexer = lexer, .name_space = ""};

	TRY(etw_mof_next(lexer));
	while (lexer->token.kind != MOF_END) {
		int r;

		/* Stray semicolons harm nobody. */
		TRY(r = take_mark(&parser, ';'));
		if (!r)
			TRY(read_production(&parser));
	}
	for (struct mof_class **place = &reader->classes; *place;) {
		struct mof_class *class = *place;

		TRY(index_class(reader, place));
		if (*place == class)
			place = &class->next;
	}
	for (struct mof_class *class = reader->classes; class; class = class->next) {
		if (class->super)
			class->base = etw_table_find(&reader->names,
						     etw_mof_hash_name(class->super), is_class,
						     class->super);
	}
	return 0;
}

const struct mof_qualifier *etw_mof_qualifier(const struct mof_qualifier *first, const char *name)
{
	while (first && !etw_mof_is_name(first->name, name))
		first = first->next;
	return first;
}

const char *etw_mof_text(const struct mof_qualifier *first, const char *name)
{
	const struct mof_qualifier *found = etw_mof_qualifier(first, name);

	if (!found || found->value_count != 1 || found->values->kind != MOF_STRING)
		return NULL;
	return found->values->text;
}

/* Inherited ones are read again by each class: zeros in front of them may not go on forever. */
static bool parse_number(const char *text, uint64_t *ret)
{
	bool is_hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *digits = is_hex ? text + 2 : text;
	char *end;

	if (strnlen(digits, NUMBER_CHARS_MAX + 1) > NUMBER_CHARS_MAX)
		return false;
	if (!*digits || digits[strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789")])
		return false;
	errno = 0;
	*ret = strtoull(digits, &end, is_hex ? 16 : 10);
	return errno == 0;
}

bool etw_mof_number(const struct mof_value *value, uint64_t max, uint64_t *ret)
{
	const char *text = value->text;
	bool is_negative = value->is_negative;
	uint64_t number = value->number;

	if (value->kind == MOF_STRING) {
		is_negative = *text == '-';
		if (!parse_number(text + is_negative, &number))
			return false;
	} else if (value->kind != MOF_INTEGER) {
		return false;
	}
	/* Maps of signed properties: the number as the payload holds it. */
	if (is_negative) {
		if (max != UINT32_MAX || number > UINT64_C(1) << 31)
			return false;
		number = (uint32_t)-number;
	}
	if (number > max)
		return false;
	*ret = number;
	return true;
}
