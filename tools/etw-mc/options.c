/* SPDX-License-Identifier: MIT */
/*
 * Options begin with - or /, are told apart by case, and those of one letter without a value may stand
 * together: -Ubn. Paths of Linux begin with a slash too: such a word is an option unless it has a second slash
 * or something in the root folder is called so.
 */
#include "tools/etw-mc/options.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "tools/etw-mc/tell.h"

#define EXTENSION_CHARS_MAX 3

struct row {
	const char *word;
	bool has_value; /* else it is a switch */
	size_t offset;
};

#define VALUE(word, member)                                     \
	{                                                       \
		word, true, offsetof(struct mc_options, member) \
	}
#define SWITCH(word, member)                                     \
	{                                                        \
		word, false, offsetof(struct mc_options, member) \
	}

static const struct row rows[] = {
	VALUE("h", header_folder),
	VALUE("r", resource_folder),
	VALUE("x", debug_folder),
	VALUE("e", extension),
	VALUE("z", base),
	VALUE("cp", encoding_name),
	VALUE("m", message_limit_text),
	VALUE("p", prefix),
	VALUE("P", symbol_prefix),
	VALUE("s", baseline_folder),
	VALUE("t", compared_folder),
	VALUE("cs", namespace_of),
	VALUE("css", namespace_of),
	/* Where compilers of Windows Vista had their own schemas; later ones take and ignore them. */
	VALUE("w", ignored),
	VALUE("W", ignored),
	SWITCH("um", is_user),
	SWITCH("km", is_kernel),
	SWITCH("co", has_callout),
	SWITCH("mof", is_mof),
	SWITCH("generateProjections", is_projection),
	SWITCH("U8", is_utf8_output),
	SWITCH("a", is_ansi_input),
	SWITCH("A", is_ansi_output),
	SWITCH("b", is_base_used),
	SWITCH("c", is_customer),
	SWITCH("d", is_decimal),
	SWITCH("n", is_without_line),
	SWITCH("o", is_ole),
	SWITCH("u", is_unicode_input),
	SWITCH("U", is_unicode_output),
	SWITCH("v", is_verbose),
	SWITCH("?", is_help),
	SWITCH("-help", is_help),
	SWITCH("-version", is_version),
};

static const struct row *find_row(const char *word, size_t bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strlen(rows[i].word) == bytes && strncmp(rows[i].word, word, bytes) == 0)
			return &rows[i];
	}
	return NULL;
}

static void set_switch(struct mc_options *options, const struct row *row)
{
	*(bool *)((char *)options + row->offset) = true;
}

/* Whether the word has nothing but letters that are switches; @ret_odd is the first that is none. */
static bool is_run(const char *word, char *ret_odd)
{
	for (; *word; word++) {
		const struct row *row = find_row(word, 1);

		if (row && !row->has_value)
			continue;
		*ret_odd = *word;
		return false;
	}
	return true;
}

static bool is_option(const char *word)
{
	if (*word == '-')
		return word[1] != '\0';
	/* One component behind the slash, and nothing of that name: who wrote it meant an option. */
	return *word == '/' && word[1] && !strchr(word + 1, '/') && access(word, F_OK) < 0;
}

static bool take_option(struct mc_options *options, int argc, char **argv, int *i)
{
	const char *word = argv[*i] + 1;
	const struct row *row = find_row(word, strlen(word));
	char odd = 0;

	if (row && row->has_value) {
		if (*i + 1 >= argc) {
			mc_tell(false, " Missing argument for -%s switch.", word);
			return false;
		}
		*(const char **)((char *)options + row->offset) = argv[++*i];
		return true;
	}
	if (row) {
		set_switch(options, row);
		return true;
	}
	if (!is_run(word, &odd)) {
		if (word[1])
			mc_tell(false, "Invalid switch: %c. in %s; see -?", odd, argv[*i]);
		else
			mc_tell(false, "Invalid switch: %c.", odd);
		return false;
	}
	for (; *word; word++)
		set_switch(options, find_row(word, 1));
	return true;
}

static bool read_encoding(struct mc_options *options)
{
	static const char *const names[] = {"ansi", "utf-8", "utf-16"};

	if (!options->encoding_name)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcasecmp(options->encoding_name, names[i]) == 0) {
			options->encoding = (enum mc_encoding)i;
			return true;
		}
	}
	mc_tell(false, "-cp wants ansi, utf-8 or utf-16, not \"%s\"", options->encoding_name);
	return false;
}

static bool check_names(struct mc_options *options)
{
	if (!options->extension)
		options->extension = "h";
	options->extension += *options->extension == '.';
	if (!*options->extension || strlen(options->extension) > EXTENSION_CHARS_MAX ||
	    strchr(options->extension, '/')) {
		mc_tell(false, "-e wants an extension of one to three characters, not \"%s\"",
			options->extension);
		return false;
	}
	if (options->base &&
	    (!*options->base || strchr(options->base, '/') || strchr(options->base, '\\'))) {
		mc_tell(false,
			"-z wants a name without a folder, not \"%s\"; -h and -r name folders",
			options->base);
		return false;
	}
	if (options->message_limit_text &&
	    !etw_number_parse(options->message_limit_text, UINT32_MAX, &options->message_limit)) {
		mc_tell(false, "-m wants a number of characters, not \"%s\"",
			options->message_limit_text);
		return false;
	}
	return true;
}

/* What Microsoft's compiler generates and this one does not is refused, not left out. */
static bool check_refused(const struct mc_options *options)
{
	const char *option = options->is_projection     ? "-generateProjections"
			     : options->namespace_of    ? "-cs and -css"
			     : options->baseline_folder ? "-s"
			     : options->compared_folder ? "-t"
							: NULL;

	if (!option)
		return true;
	mc_tell(false, "%s: not built; C headers and binary resources are", option);
	return false;
}

static bool check_flavours(const struct mc_options *options)
{
	int flavours = options->is_user + options->is_kernel + (options->namespace_of != NULL) +
		       options->is_projection;

	if (flavours > 1) {
		mc_tell(false, "only one of -um, -km, -cs, -css and -generateProjections can be "
			       "given");
		return false;
	}
	if (options->is_mof && !flavours) {
		mc_tell(false, "-mof goes with -um, -km, -cs or -css only");
		return false;
	}
	return check_refused(options);
}

static bool read_words(int argc, char **argv, struct mc_options *ret)
{
	for (int i = 0; i < argc; i++) {
		if (is_option(argv[i])) {
			if (!take_option(ret, argc, argv, &i))
				return false;
		} else if (etw_words_add(&ret->inputs, argv[i]) < 0) {
			mc_tell(false, "out of memory");
			return false;
		}
	}
	return true;
}

bool mc_options_read(int argc, char **argv, struct mc_options *ret)
{
	*ret = (struct mc_options){0};
	if (!read_words(argc, argv, ret))
		return false;
	if (ret->is_help || ret->is_version)
		return true;
	if (!read_encoding(ret) || !check_names(ret) || !check_flavours(ret))
		return false;
	if (ret->inputs.count)
		return true;
	mc_tell(false, "no input file; see -?");
	return false;
}

void mc_options_done(struct mc_options *options)
{
	etw_words_done(&options->inputs);
}
