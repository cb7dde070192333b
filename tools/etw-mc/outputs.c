/* SPDX-License-Identifier: MIT */
#include "tools/etw-mc/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/path.h"
#include "tools/etw-mc/tell.h"

static bool is_same_file(const char *left, const char *right)
{
	struct stat a, b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static char *join(const char *folder, const char *name)
{
	CLEANUP(freep) char *resolved = NULL;
	char *path = NULL;

	if (!folder)
		return strdup(name);
	if (etw_path_resolve(folder, &resolved) < 0)
		return NULL;
	if (asprintf(&path, "%s%s%s", resolved,
		     *resolved && resolved[strlen(resolved) - 1] != '/' ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static bool is_allowed(const struct mc_outputs *outputs, const char *path)
{
	for (size_t i = 0; i < outputs->count; i++) {
		if (strcmp(outputs->at[i].path, path) == 0) {
			mc_tell(false,
				"two outputs would be %s; -z, -e, -h and -r can keep them apart",
				path);
			return false;
		}
	}
	for (size_t i = 0; i < outputs->input_count; i++) {
		if (is_same_file(outputs->inputs[i], path)) {
			mc_tell(false, "the output %s would overwrite the input", path);
			return false;
		}
	}
	return true;
}

bool mc_outputs_add(struct mc_outputs *outputs, const char *folder, const char *name,
		    struct etw_text *bytes)
{
	struct mc_output *grown;
	CLEANUP(freep) char *path = NULL;

	if (etw_text_error(bytes) == 0)
		path = join(folder, name);
	grown = path ? realloc(outputs->at, (outputs->count + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		mc_tell(false, "out of memory");
		return false;
	}
	outputs->at = grown;
	if (!is_allowed(outputs, path))
		return false;
	outputs->at[outputs->count++] = (struct mc_output){.path = TAKE(path), .bytes = *bytes};
	etw_text_init(bytes);
	return true;
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A device, such as /dev/null, cannot be renamed over. */
static bool is_written_through(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static int write_bytes(int fd, const struct mc_output *output)
{
	return etw_file_write_all(fd, etw_text_string(&output->bytes), output->bytes.bytes);
}

static int write_through(const struct mc_output *output)
{
	int fd = open(output->path, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = write_bytes(fd, output);
	(void)close(fd);
	return r;
}

static int write_temporary(struct mc_output *output)
{
	int fd;
	int r;

	/* Renaming would fail, after others have been renamed. */
	if (is_folder(output->path))
		return -EISDIR;
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(output->temporary);
		output->temporary = NULL;
		return r;
	}
	r = write_bytes(fd, output);
	if (r == 0 && fchmod(fd, etw_file_mode()) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

static int put_in_place(struct mc_output *output)
{
	if (is_written_through(output->path))
		return write_through(output);
	if (rename(output->temporary, output->path) < 0)
		return -errno;
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

bool mc_outputs_write(struct mc_outputs *outputs, bool is_verbose)
{
	int r = 0;

	for (size_t i = 0; i < 2 * outputs->count; i++) {
		struct mc_output *output = &outputs->at[i % outputs->count];
		bool is_second = i >= outputs->count;

		if (is_second)
			r = put_in_place(output);
		else if (!is_written_through(output->path))
			r = write_temporary(output);
		if (r < 0) {
			mc_tell(false, "cannot write %s: %s", output->path, strerror(-r));
			return false;
		}
		if (is_verbose && is_second)
			(void)fprintf(stderr, "%s: %zu bytes\n", output->path, output->bytes.bytes);
	}
	return true;
}

void mc_outputs_done(struct mc_outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++) {
		struct mc_output *output = &outputs->at[i];

		if (output->temporary)
			(void)unlink(output->temporary);
		free(output->temporary);
		free(output->path);
		etw_text_done(&output->bytes);
	}
	free(outputs->at);
	*outputs = (struct mc_outputs){0};
}
