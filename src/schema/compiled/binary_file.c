/* SPDX-License-Identifier: MIT */
/*
 * Files as the parsers want them: as if they were in memory as a whole. Of PE files only headers and
 * resources are read into a mapping of the file's size, whose other pages are never touched; a copy, so
 * that nobody can change or cut the file under the parsers.
 */
#include "schema/compiled/binary_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "schema/compiled/binary_internal.h"
#include "schema/compiled/language.h"
#include "schema/compiled/pe.h"

#define HEAD_BYTES ((size_t)64 * 1024) /* holds headers and section table of every usual file */

void etw_binary_file_close(struct etw_binary_file *image)
{
	if (image->at)
		(void)munmap(image->at, image->bytes);
}

/* A file that became shorter leaves zeros. */
static int read_range(int fd, const struct etw_binary_file *image, size_t offset, size_t bytes)
{
	while (bytes) {
		ssize_t got = pread(fd, image->at + offset, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		offset += (size_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

static bool is_inside(const struct etw_pe_resource *resource, size_t offset, size_t bytes)
{
	return resource->offset >= offset && resource->offset - offset <= bytes &&
	       resource->bytes <= bytes - (resource->offset - offset);
}

/* Resources that lie elsewhere than their directory: nothing usual, but nothing wrong. */
static int read_elsewhere(int fd, const struct etw_binary_file *image, size_t offset, size_t bytes)
{
	CLEANUP(etw_arena_done) struct etw_arena scratch = {0};
	const struct etw_bytes file = {image->at, image->bytes};
	bool is_elsewhere = false;
	struct etw_pe pe;

	/* The parser says what is wrong when it is its turn. */
	if (etw_pe_parse(&scratch, file, &pe, NULL) < 0)
		return 0;
	for (size_t i = 0; i < pe.template_count; i++)
		is_elsewhere |= !is_inside(&pe.templates[i], offset, bytes);
	for (size_t i = 0; i < pe.table_count; i++)
		is_elsewhere |= !is_inside(&pe.tables[i], offset, bytes);
	return is_elsewhere ? read_range(fd, image, 0, image->bytes) : 0;
}

static int read_image(int fd, const struct etw_binary_file *image)
{
	size_t head = image->bytes < HEAD_BYTES ? image->bytes : HEAD_BYTES;
	struct etw_bytes file = {image->at, head};
	size_t offset, bytes;

	TRY(read_range(fd, image, 0, head));
	if (head == image->bytes)
		return 0;
	if (!etw_pe_is(file) || etw_pe_section(file, image->bytes, &offset, &bytes, NULL) < 0)
		return read_range(fd, image, head, image->bytes - head);
	if (!bytes)
		return 0;
	TRY(read_range(fd, image, offset, bytes));
	return read_elsewhere(fd, image, offset, bytes);
}

int etw_binary_file_open(const char *path, struct etw_binary_file *ret)
{
	CLEANUP(etw_file_closep) int fd = -1;
	size_t bytes;
	void *at;

	TRY(etw_file_open_regular(path, ETW_BINARY_BYTES_MAX, &fd, &bytes));
	if (!bytes)
		return 0;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		  -1, 0);
	if (at == MAP_FAILED)
		return -ENOMEM;
	*ret = (struct etw_binary_file){at, bytes};
	return read_image(fd, ret);
}

static struct etw_bytes bytes_of(const struct etw_binary_file *image)
{
	return (struct etw_bytes){image->at, image->bytes};
}

static bool has_messages(const struct etw_binary_file *image)
{
	CLEANUP(etw_arena_done) struct etw_arena scratch = {0};
	struct etw_pe pe;

	/* A message table by itself is no PE file. */
	if (!etw_pe_is(bytes_of(image)))
		return image->bytes != 0 && !etw_binary_is_template(bytes_of(image));
	/* What is damaged is told by the parser. */
	return etw_pe_parse(&scratch, bytes_of(image), &pe, NULL) < 0 || pe.table_count;
}

/* "<folder>/<language>/<name>.mui" of @path; leaves *ret empty when there is no such file. */
static int open_language(const char *path, const char *language, struct etw_binary_file *ret)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(freep) char *file = NULL;
	int folder_bytes = slash ? (int)(slash + 1 - path) : 0;
	int r;

	if (asprintf(&file, "%.*s%s/%s.mui", folder_bytes, path, language, path + folder_bytes) <
	    0) {
		file = NULL;
		return -ENOMEM;
	}
	r = etw_binary_file_open(file, ret);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

/* The best language file beside @path. */
static int open_languages(const char *path, const char *const *languages,
			  struct etw_binary_file *ret)
{
	const char *name;

	for (; languages && *languages && !ret->at; languages++) {
		/* A name becomes part of a path. */
		if (!strchr(*languages, '/') && **languages && **languages != '.')
			TRY(open_language(path, *languages, ret));
	}
	for (size_t i = 0; !ret->at && (name = etw_language_name(i)); i++)
		TRY(open_language(path, name, ret));
	return 0;
}

int etw_binary_file_open_messages(const char *path, const struct etw_binary_file *file,
				  const char *const *languages, struct etw_binary_file *ret)
{
	return has_messages(file) ? 0 : open_languages(path, languages, ret);
}

int etw_binary_read(struct etw_arena *arena, const char *path, const char *message_path,
		    const char *const *languages, struct etw_definition **ret,
		    struct etw_fault *reterr)
{
	CLEANUP(etw_binary_file_close) struct etw_binary_file file = {0};
	CLEANUP(etw_binary_file_close) struct etw_binary_file messages = {0};
	CLEANUP(etw_binary_file_close) struct etw_binary_file language = {0};

	TRY(etw_binary_file_open(path, &file));
	if (message_path)
		TRY(etw_binary_file_open(message_path, &messages));
	TRY(etw_binary_file_open_messages(message_path ? message_path : path,
					  message_path ? &messages : &file, languages, &language));
	return etw_binary_parse(arena, bytes_of(&file),
				bytes_of(language.at ? &language : &messages), languages, ret,
				reterr);
}
