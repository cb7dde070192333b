/* SPDX-License-Identifier: MIT */
#include "tools/etw-mc/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/utf.h"
#include "compile/text.h"
#include "tools/etw-mc/complaints.h"
#include "tools/etw-mc/names.h"
#include "tools/etw-mc/tell.h"

#define BYTES_MAX ((size_t)16 << 20)

struct job {
	const struct mc_options *options;
	struct etw_compile_text_options text;
	const char *path;
	const char *base;
	const struct mc_text_file *file;
	struct mc_outputs *outputs;
};

static bool add(const struct job *job, const char *folder, const char *extension,
		enum mc_encoding encoding, struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};

	mc_encode(encoding, text);
	etw_text_printf(&name, "%s.%s", job->base, extension);
	return mc_outputs_add(job->outputs, folder, etw_text_string(&name), text);
}

static enum etw_compile_encoding table_encoding(const struct mc_options *options)
{
	if (options->is_utf8_output)
		return COMPILE_UTF8;
	return options->is_ansi_output ? COMPILE_ANSI : COMPILE_UTF16;
}

static bool add_table(const struct job *job, const struct mc_text_name *language)
{
	CLEANUP(etw_text_done) struct etw_text bytes = {0};
	CLEANUP(etw_text_done) struct etw_text name = {0};
	const struct mc_options *options = job->options;
	struct etw_fault fault = {0};
	int r = etw_compile_text_table(job->file, language, !options->is_without_line,
				       table_encoding(options), &bytes, &fault);

	if (r < 0) {
		mc_tell(false, "%s: %s", job->path, fault.sentence ? fault.sentence : strerror(-r));
		return false;
	}
	etw_text_printf(&name, "%s%s%s.bin", options->is_base_used ? job->base : "",
			options->is_base_used ? "_" : "", language->symbol);
	return mc_outputs_add(job->outputs, options->resource_folder, etw_text_string(&name),
			      &bytes);
}

static bool add_outputs(const struct job *job)
{
	CLEANUP(etw_text_done) struct etw_text header = {0};
	CLEANUP(etw_text_done) struct etw_text script = {0};
	CLEANUP(etw_text_done) struct etw_text debug = {0};
	const struct mc_options *options = job->options;

	/* Memory that ran out is told of when the text is added. */
	(void)etw_compile_text_header(job->file, &job->text, &header);
	(void)etw_compile_text_rc(job->file, options->is_base_used ? job->base : NULL, &script);
	if (!add(job, options->header_folder, options->extension, options->encoding, &header) ||
	    !add(job, options->resource_folder, "rc", mc_script_encoding(options->encoding),
		 &script))
		return false;
	if (options->debug_folder) {
		(void)etw_compile_text_debug(job->file, job->base, &debug);
		if (!add(job, options->debug_folder, "dbg", options->encoding, &debug))
			return false;
	}
	for (const struct mc_text_name *at = job->file->languages; at; at = at->next) {
		if (!add_table(job, at))
			return false;
	}
	return true;
}

static void check_lengths(const struct job *job)
{
	for (const struct mc_text_item *at = job->file->items; job->options->message_limit && at;
	     at = at->next) {
		for (size_t i = 0; at->message && i < job->file->language_count; i++) {
			const char *text = at->message->texts[i];
			size_t units = text ? etw_utf8_put_utf16(text, strlen(text), NULL) : 0;

			if (units > job->options->message_limit)
				mc_tell_at(true, job->path, at->message->line, 0,
					   "the message is longer than the limit of -m");
		}
	}
}

/* As UTF-8: a byte order mark decides, then -u; text of a code page is told from UTF-8 by its bytes. */
static void decode(const struct mc_options *options, const char *bytes, size_t count,
		   struct etw_text *ret)
{
	const uint8_t *at = (const uint8_t *)bytes;

	if (count >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		etw_text_append(ret, bytes + 3, count - 3);
	else if (count >= 2 && at[0] == 0xff && at[1] == 0xfe)
		etw_text_utf16(ret, at + 2, (count - 2) / 2);
	else if (options->is_unicode_input)
		etw_text_utf16(ret, at, count / 2);
	else
		etw_text_ansi(ret, at, count);
}

static bool compile(struct job *job, const struct etw_text *text)
{
	CLEANUP(etw_compile_free_textp) struct mc_text_file *file = NULL;

	if (etw_text_error(text) < 0 ||
	    etw_compile_read_text(etw_text_string(text), text->bytes, &job->text, &file) < 0) {
		mc_tell(false, "out of memory");
		return false;
	}
	job->file = file;
	mc_tell_complaints(job->path, file->manifest);
	if (file->manifest->error_count)
		return false;
	check_lengths(job);
	return add_outputs(job);
}

bool mc_text_file_compile(const struct mc_options *options, const char *path,
			  struct mc_outputs *outputs)
{
	struct job job = {.options = options,
			  .text = {.type = options->is_ole ? "HRESULT" : NULL,
				   .is_customer = options->is_customer,
				   .is_decimal = options->is_decimal},
			  .path = path,
			  .outputs = outputs};
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(freep) char *bytes = NULL;
	CLEANUP(freep) char *base = mc_base_name(options, path);
	size_t count;
	int r = etw_file_read(path, BYTES_MAX, &bytes, &count);

	if (r < 0 || !base) {
		mc_tell(false, "cannot read %s: %s", path, r < 0 ? strerror(-r) : "out of memory");
		return false;
	}
	job.base = base;
	decode(options, bytes, count, &text);
	return compile(&job, &text);
}
