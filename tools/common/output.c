/* SPDX-License-Identifier: MIT */
#include "tools/common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "tools/common/program.h"

#define PIECE_BYTES (256u * 1024)
#define FILE_MODE   0666

int etw_output_open(const char *path, struct etw_output *ret)
{
	int fd = STDOUT_FILENO;

	(void)signal(SIGPIPE, SIG_IGN);
	if (path) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
		if (fd < 0)
			return -errno;
	}
	*ret = (struct etw_output){.fd = fd, .is_file = path != NULL, .path = path};
	ret->is_prompt = !path && isatty(fd);
	return 0;
}

int etw_output_flush(struct etw_output *output)
{
	const char *at = output->text.at;
	size_t left = output->text.bytes;

	TRY(etw_text_error(&output->text));
	while (left) {
		ssize_t written = write(output->fd, at, left);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EPIPE)
			return ETW_OUTPUT_CLOSED;
		if (written < 0) {
			output->error = -errno;
			return -errno;
		}
		at += written;
		left -= (size_t)written;
	}
	etw_text_clear(&output->text);
	return 0;
}

int etw_output_continue(struct etw_output *output)
{
	if (LIKELY(output->text.bytes < PIECE_BYTES && !output->is_prompt))
		return etw_text_error(&output->text);
	return etw_output_flush(output);
}

int etw_output_tell(const struct etw_output *output, int result)
{
	if (!result || result == ETW_OUTPUT_CLOSED)
		return ETW_EXIT_OK;
	if (output->error)
		etw_program_message("cannot write %s: %s",
				    output->path ? output->path : "standard output",
				    strerror(-output->error));
	else if (result == -ENOMEM)
		etw_program_message("out of memory");
	else
		etw_program_message("cannot read on: %s", strerror(-result));
	return ETW_EXIT_FAILED;
}

void etw_output_done(struct etw_output *output)
{
	if (output->is_file)
		(void)close(output->fd);
	output->is_file = false;
	etw_text_done(&output->text);
}

void etw_output_clean(struct etw_text *text, const char *string)
{
	size_t from = text->bytes;

	etw_text_puts(text, string);
	(void)etw_export_clean(text, from);
}
