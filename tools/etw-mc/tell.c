/* SPDX-License-Identifier: MIT */
#include "tools/etw-mc/tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/text.h"
#include "tools/common/output.h"

static void put(const struct etw_text *text)
{
	(void)fflush(stdout);
	(void)fputs(etw_text_error(text) < 0 ? "out of memory\n" : etw_text_string(text), stderr);
}

static const char *severity(bool is_warning)
{
	return is_warning ? "warning" : "error";
}

void mc_tell(bool is_warning, const char *format, ...)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(freep) char *sentence = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&sentence, format, arguments) < 0)
		sentence = NULL;
	va_end(arguments);
	etw_text_printf(&text, "%s : %s : ", program_invocation_short_name, severity(is_warning));
	etw_output_clean(&text, sentence ? sentence : "out of memory");
	etw_text_putc(&text, '\n');
	put(&text);
}

void mc_tell_at(bool is_warning, const char *path, uint64_t line, uint64_t column,
		const char *sentence)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_output_clean(&text, path);
	etw_text_printf(&text, "(%" PRIu64, line);
	if (column)
		etw_text_printf(&text, ",%" PRIu64, column);
	etw_text_printf(&text, ") : %s : ", severity(is_warning));
	etw_output_clean(&text, sentence);
	etw_text_putc(&text, '\n');
	put(&text);
}
