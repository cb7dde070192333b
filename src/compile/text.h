/* SPDX-License-Identifier: MIT */
/*
 * Message text files (.mc), from before there were manifests: messages with severity, facility and a text in each
 * language. They become a header with the messages' numbers, a message table for each language, and a resource
 * script. Context: one owner thread.
 */
#ifndef ETW_COMPILE_TEXT_H
#define ETW_COMPILE_TEXT_H

#include "base/fault.h"
#include "base/text.h"
#include "compile/message_table.h"
#include "compile/model.h"

/* A severity, facility or language. */
struct mc_text_name {
	struct mc_text_name *next;
	const char *name;
	const char *symbol; /* of a language: its file without extension; NULL: none */
	uint32_t number;
	size_t index; /* of a language: in mc_text_message.texts */
};

struct mc_text_message {
	const char *symbol; /* NULL: none */
	const char *type;   /* that the number is cast to; NULL: none */
	uint32_t id;        /* with severity and facility */
	unsigned base;      /* 10 or 16 */
	const char **texts; /* by language; NULL: it has none */
	uint64_t line;
	bool is_numbered; /* all statements about it were read */
};

/* What the header has of the file, in its order: a message, a line that is copied, or the names, at the last of such. */
struct mc_text_item {
	struct mc_text_item *next;
	struct mc_text_message *message; /* NULL: a line */
	const char *line;                /* NULL too: the names of severities and facilities */
};

struct mc_text_file {
	struct mc_manifest *manifest; /* owned; has the arena and the complaints */
	struct mc_text_name *severities, *facilities, *languages;
	size_t language_count;
	struct mc_text_item *items, *last_item;
};

struct etw_compile_text_options {
	const char *type; /* that numbers are cast to where the file says nothing; NULL: none */
	bool is_customer; /* numbers have the customer's bit */
	bool is_decimal;  /* numbers of severities and facilities are decimal */
};

/*
 * etw_compile_read_text() - reads and checks a message text file.
 *
 * @text: UTF-8
 * @ret:  returned owned also when the file has errors: the complaints of its manifest say which
 *
 * Returns 0 or -ENOMEM.
 */
int etw_compile_read_text(const char *text, size_t bytes,
			  const struct etw_compile_text_options *options,
			  struct mc_text_file **ret);

/* etw_compile_free_text() - takes NULL. */
void etw_compile_free_text(struct mc_text_file *file);
void etw_compile_free_textp(struct mc_text_file **file);

/* etw_compile_text_header() - appends the header. Returns 0 or -ENOMEM. */
int etw_compile_text_header(const struct mc_text_file *file,
			    const struct etw_compile_text_options *options, struct etw_text *out);

/* etw_compile_text_debug() - appends what a debugger includes: numbers and symbols. Returns 0 or -ENOMEM. */
int etw_compile_text_debug(const struct mc_text_file *file, const char *base, struct etw_text *out);

/*
 * etw_compile_text_table() - appends the message table of a language.
 *
 * Returns as etw_compile_message_table().
 */
int etw_compile_text_table(const struct mc_text_file *file, const struct mc_text_name *language,
			   bool is_line_kept, enum etw_compile_encoding encoding,
			   struct etw_text *out, struct etw_fault *reterr);

/* etw_compile_text_rc() - appends the resource script; @base as etw_compile_message_file(). Returns 0 or -ENOMEM. */
int etw_compile_text_rc(const struct mc_text_file *file, const char *base, struct etw_text *out);

#endif
