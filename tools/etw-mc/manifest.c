/* SPDX-License-Identifier: MIT */
#include "tools/etw-mc/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/path.h"
#include "base/utf.h"
#include "compile/header.h"
#include "compile/message_table.h"
#include "compile/mof.h"
#include "compile/rc.h"
#include "compile/read.h"
#include "compile/wevt.h"
#include "schema/manifest/manifest_limits.h"
#include "tools/etw-mc/complaints.h"
#include "tools/etw-mc/names.h"
#include "tools/etw-mc/tell.h"

/* What the making of one manifest's outputs shares. */
struct job {
	const struct mc_options *options;
	const char *path;
	const char *base;
	const struct mc_manifest *manifest;
	struct mc_outputs *outputs;
};

/* What a writer failed with: its fault has the line of the element that does not fit. */
static bool tell_fault(const struct job *job, int error, const struct etw_fault *fault)
{
	if (fault->sentence && !fault->offset)
		mc_tell(false, "%s", fault->sentence);
	else if (fault->sentence)
		mc_tell_at(false, job->path, fault->offset, 0, fault->sentence);
	else
		mc_tell(false, "%s: %s", job->path, strerror(-error));
	return false;
}

static bool add_header(const struct job *job)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text name = {0};
	const struct etw_compile_header_options options = {
		.prefix = job->options->prefix,
		.strip = job->options->symbol_prefix,
		.is_kernel = job->options->is_kernel,
		.has_callout = job->options->has_callout,
	};
	struct etw_fault fault = {0};
	int r = etw_compile_header(job->manifest, &options, &text, &fault);

	if (r < 0)
		return tell_fault(job, r, &fault);
	mc_encode(job->options->encoding, &text);
	etw_text_printf(&name, "%s.%s", job->base, job->options->extension);
	return mc_outputs_add(job->outputs, job->options->header_folder, etw_text_string(&name),
			      &text);
}

static bool add_script(const struct job *job)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text name = {0};
	struct etw_fault fault = {0};
	int r = etw_compile_rc(job->manifest, job->base, job->options->is_base_used, &text, &fault);

	if (r < 0)
		return tell_fault(job, r, &fault);
	mc_encode(mc_script_encoding(job->options->encoding), &text);
	etw_text_printf(&name, "%s.rc", job->base);
	return mc_outputs_add(job->outputs, job->options->resource_folder, etw_text_string(&name),
			      &text);
}

static bool add_wevt(const struct job *job)
{
	CLEANUP(etw_text_done) struct etw_text bytes = {0};
	CLEANUP(etw_text_done) struct etw_text name = {0};
	struct etw_fault fault = {0};
	int r = etw_compile_wevt(job->manifest, COMPILE_WEVT_MAJOR, &bytes, &fault);

	if (r < 0)
		return tell_fault(job, r, &fault);
	etw_compile_wevt_file(job->base, &name);
	return mc_outputs_add(job->outputs, job->options->resource_folder, etw_text_string(&name),
			      &bytes);
}

static bool add_messages(const struct job *job, const struct mc_culture *culture)
{
	CLEANUP(etw_text_done) struct etw_text bytes = {0};
	CLEANUP(etw_text_done) struct etw_text name = {0};
	struct etw_fault fault = {0};
	int r = etw_compile_message_table_as(
		job->manifest, culture, !job->options->is_without_line,
		job->options->is_utf8_output ? COMPILE_UTF8 : COMPILE_UTF16, &bytes, &fault);

	if (r < 0)
		return tell_fault(job, r, &fault);
	etw_compile_message_file(culture, job->options->is_base_used ? job->base : NULL, &name);
	return mc_outputs_add(job->outputs, job->options->resource_folder, etw_text_string(&name),
			      &bytes);
}

static bool add_outputs(const struct job *job)
{
	const struct mc_culture *culture = job->manifest->cultures;

	if (!add_header(job) || !add_script(job) || !add_wevt(job) || !add_messages(job, culture))
		return false;
	for (culture = culture ? culture->next : NULL; culture; culture = culture->next) {
		if (!add_messages(job, culture))
			return false;
	}
	return true;
}

/* -m: translations are longer than the texts that they are made of, and some buffers are short. */
static void check_lengths(const struct job *job)
{
	const struct mc_manifest *manifest = job->manifest;

	for (const struct mc_message *message = manifest->messages;
	     job->options->message_limit && message; message = message->next) {
		for (size_t i = 0; i < manifest->culture_count && message->element; i++) {
			CLEANUP(etw_text_done) struct etw_text text = {0};
			const char *at = message->texts[i];
			size_t units = at ? etw_utf8_put_utf16(at, strlen(at), NULL) : 0;

			if (units <= job->options->message_limit)
				continue;
			etw_text_printf(&text,
					"the string %s has %zu characters, more than the limit of "
					"%zu",
					message->name, units, (size_t)job->options->message_limit);
			mc_tell_at(true, job->path, message->element->line,
				   message->element->column, etw_text_string(&text));
		}
	}
}

static bool compile(struct job *job, const char *text, size_t bytes)
{
	CLEANUP(etw_compile_freep) struct mc_manifest *manifest = NULL;

	if (etw_compile_read(text, bytes, &manifest) < 0) {
		mc_tell(false, "out of memory");
		return false;
	}
	job->manifest = manifest;
	if (job->options->is_mof && !manifest->error_count && etw_compile_check_mof(manifest) < 0) {
		mc_tell(false, "out of memory");
		return false;
	}
	mc_tell_complaints(job->path, manifest);
	if (manifest->error_count)
		return false;
	if (job->options->is_mof) {
		mc_tell(false,
			"%s keeps to the rules of -mof, but classes and classic code are "
			"not built; C headers and binary resources are",
			job->path);
		return false;
	}
	check_lengths(job);
	return add_outputs(job);
}

bool mc_manifest_compile(const struct mc_options *options, const char *path,
			 struct mc_outputs *outputs)
{
	struct job job = {.options = options, .path = path, .outputs = outputs};
	CLEANUP(freep) char *text = NULL;
	CLEANUP(freep) char *base = mc_base_name(options, path);
	size_t bytes;
	int r;

	if (options->is_customer) {
		mc_tell(false,
			"-c is for message text files: numbers of a manifest's messages would "
			"collide");
		return false;
	}
	r = etw_file_read(path, ETW_MANIFEST_BYTES_MAX, &text, &bytes);

	if (r < 0 || !base) {
		mc_tell(false, "cannot read %s: %s", path, r < 0 ? strerror(-r) : "out of memory");
		return false;
	}
	job.base = base;
	return compile(&job, text, bytes);
}
