/* SPDX-License-Identifier: MIT */
/* Where files with symbols are looked for. See files.h. */
#include "symbol/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"

#define SEARCH_PATH_VARIABLE "ETW_SYMBOL_PATH"
#define SEARCH_PATH_DEFAULT  "/usr/lib/debug"
/* Files of one build id's folder that are looked at: names that begin alike are few. */
#define BUILD_ID_FILES_MAX   65536
#define BUILD_ID_BYTES_LEAST 2

/* One search: what was found in vain. */
struct search {
	const struct etw_symbol_files *files;
	const struct etw_symbol_wanted *wanted;
	etw_symbol_try_file *try_file;
	void *context;
	int failure; /* the most telling one */
};

static int add_folder(struct etw_symbol_files *files, const char *at, size_t bytes)
{
	char **folders;

	if (!bytes)
		return 0;
	folders = reallocarray(files->folders, files->folder_count + 1, sizeof(*folders));
	if (!folders)
		return -ENOMEM;
	files->folders = folders;
	folders[files->folder_count] = strndup(at, bytes);
	if (!folders[files->folder_count])
		return -ENOMEM;
	files->folder_count++;
	return 0;
}

/* The other machine's own debug files come before this one's. */
static int add_default_of_root(struct etw_symbol_files *files)
{
	struct etw_text path = {0};
	int r;

	if (!files->root)
		return 0;
	etw_text_puts(&path, files->root);
	etw_text_puts(&path, SEARCH_PATH_DEFAULT);
	r = etw_text_error(&path);
	if (!r)
		r = add_folder(files, path.at, path.bytes);
	etw_text_done(&path);
	return r;
}

int etw_symbol_files_init(struct etw_symbol_files *files, const char *root, const char *search_path,
			  bool is_elsewhere)
{
	*files = (struct etw_symbol_files){.is_elsewhere = is_elsewhere};
	if (root && root[0] && strcmp(root, "/") != 0) {
		files->root = strdup(root);
		if (!files->root)
			return -ENOMEM;
	}
	if (!search_path)
		search_path = secure_getenv(SEARCH_PATH_VARIABLE);
	if (!search_path) {
		search_path = SEARCH_PATH_DEFAULT;
		TRY(add_default_of_root(files));
	}
	while (*search_path) {
		size_t bytes = strcspn(search_path, ":");

		TRY(add_folder(files, search_path, bytes));
		search_path += bytes + (search_path[bytes] == ':');
	}
	return 0;
}

void etw_symbol_files_done(struct etw_symbol_files *files)
{
	for (size_t i = 0; i < files->folder_count; i++)
		free(files->folders[i]);
	free(files->folders);
	free(files->root);
	*files = (struct etw_symbol_files){0};
}

/* Only a place: a descriptor of whatever the path may be. @root_fd: as below */
static int find_within(int root_fd, const char *path, bool is_followed)
{
	const int flags = O_PATH | O_CLOEXEC | (is_followed ? 0 : O_NOFOLLOW);
	const struct open_how how = {
		.flags = (uint32_t)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (root_fd == AT_FDCWD)
		fd = open(path, flags);
	else
		fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/* @root_fd: whose "/" the path and all symbolic links start from; AT_FDCWD: this process' */
static int open_within(int root_fd, const char *path, bool is_followed, int *ret)
{
	CLEANUP(etw_file_closep) const int place_fd = find_within(root_fd, path, is_followed);
	CLEANUP(etw_file_closep) int fd = -1;
	struct stat status;

	if (place_fd < 0)
		return place_fd;
	fd = etw_file_open_place(place_fd);
	if (fd < 0)
		return fd;
	if (fstat(fd, &status))
		return -errno;
	if ((uint64_t)status.st_size > ETW_SYMBOL_FILE_BYTES_MAX)
		return -EFBIG;
	*ret = fd;
	fd = -1;
	return 0;
}

int etw_symbol_files_open(const char *root, const char *path, bool is_followed, int *ret)
{
	CLEANUP(etw_file_closep) int root_fd = -1;

	if (!root)
		return open_within(AT_FDCWD, path, is_followed, ret);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0 ? -errno : open_within(root_fd, path, is_followed, ret);
}

int etw_symbol_files_open_in_process(const struct etw_symbol_process_at *process, const char *path,
				     bool is_followed, int *ret)
{
	CLEANUP(etw_file_closep) const int root_fd = etw_symbol_process_root_open(process);

	return root_fd < 0 ? root_fd : open_within(root_fd, path, is_followed, ret);
}

/* Goes on after what could not be opened, and remembers why. */
static int fail(struct search *search, int error)
{
	if (error == -ENOMEM)
		return error;
	if (error == -EFBIG || error == -EACCES || error == -EPERM)
		search->failure = error == -EFBIG ? error : -EACCES;
	return 1;
}

static int try_path(struct search *search, const char *root, const char *path)
{
	int fd = -1, r = etw_symbol_files_open(root, path, true, &fd);

	return r ? fail(search, r) : search->try_file(search->context, fd, path);
}

/*
 * The mount namespace of a process that lives may have other files at the same paths. Only where a build id says
 * whether it is the file, and the user who could have made it is the one whose process it names.
 */
static int try_in_process(struct search *search, const struct etw_symbol_process_at *process,
			  const char *path)
{
	CLEANUP(etw_file_closep) int fd = -1;
	int r, found;

	r = etw_symbol_files_open_in_process(process, path, true, &fd);
	if (r)
		return fail(search, r);
	if (!etw_symbol_is_owner(fd, search->wanted->uid)) {
		search->failure = -EPERM;
		return 1;
	}
	found = fd;
	fd = -1;
	return search->try_file(search->context, found, path);
}

/* @first and what follows it as one path. */
static int try_joined(struct search *search, const char *first, const char *second,
		      const char *third)
{
	struct etw_text path = {0};
	int r;

	etw_text_puts(&path, first);
	etw_text_puts(&path, second);
	etw_text_puts(&path, third);
	r = etw_text_error(&path);
	if (!r)
		r = try_path(search, NULL, etw_text_string(&path));
	etw_text_done(&path);
	return r;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A folder that has files by their build ids: .build-id/ab/cdef....debug. Of recorded build ids the end may be
 * missing, so the folder is read.
 */
static int try_build_id(struct search *search, const char *folder, const char *ending)
{
	const struct etw_symbol_wanted *wanted = search->wanted;
	char rest[2 * 64 + 1] = "", place[32];
	struct etw_text path = {0};
	struct dirent *item;
	size_t files = 0;
	DIR *stream;
	int r = 1;

	if (wanted->build_id_bytes < BUILD_ID_BYTES_LEAST || wanted->build_id_bytes > 64)
		return 1;
	for (size_t i = 1; i < wanted->build_id_bytes; i++)
		snprintf(rest + 2 * (i - 1), 3, "%02x", wanted->build_id[i]);
	snprintf(place, sizeof(place), "/.build-id/%02x/", wanted->build_id[0]);
	etw_text_puts(&path, folder);
	etw_text_puts(&path, place);
	stream = etw_text_error(&path) ? NULL : opendir(etw_text_string(&path));
	while (r == 1 && stream && files++ < BUILD_ID_FILES_MAX && (item = readdir(stream))) {
		size_t bytes = strspn(item->d_name, "0123456789abcdef");

		if (strncmp(item->d_name, rest, strlen(rest)) == 0 &&
		    strcmp(item->d_name + bytes, ending) == 0)
			r = try_joined(search, etw_text_string(&path), item->d_name, "");
	}
	if (stream)
		closedir(stream);
	etw_text_done(&path);
	return r;
}

static int try_image_places(struct search *search)
{
	const struct etw_symbol_files *files = search->files;
	const char *path = search->wanted->path;
	int r = 1;

	for (size_t i = 0; r == 1 && i < search->wanted->process_count; i++)
		r = try_in_process(search, &search->wanted->processes[i], path);
	if (search->wanted->process_count)
		return r;
	if (path[0] == '/')
		r = try_path(search, files->root, path);
	for (size_t i = 0; r == 1 && i < files->folder_count; i++) {
		r = try_build_id(search, files->folders[i], "");
		if (r == 1 && path[0] == '/')
			r = try_joined(search, files->folders[i], path, "");
		if (r == 1)
			r = try_joined(search, files->folders[i], "/", name_of(path));
	}
	return r;
}

/* In a folder of debug files: as distributions arrange them, then all in one folder. */
static int try_debug_folder(struct search *search, const char *folder, const char *image_folder)
{
	const char *link = search->wanted->debug_link;
	struct etw_text path = {0};
	int r = try_build_id(search, folder, ".debug");

	if (r == 1 && link) {
		etw_text_puts(&path, folder);
		etw_text_puts(&path, image_folder);
		r = etw_text_error(&path);
		if (!r)
			r = try_joined(search, etw_text_string(&path), "/", link);
		etw_text_done(&path);
		if (r == 1)
			r = try_joined(search, folder, "/", link);
	}
	if (r == 1)
		r = try_joined(search, folder, search->wanted->path, ".debug");
	return r;
}

static int try_beside(struct search *search, const char *image_folder, const char *between)
{
	const struct etw_symbol_wanted *wanted = search->wanted;
	struct etw_text path = {0};
	int r;

	etw_text_puts(&path, image_folder);
	etw_text_puts(&path, between);
	etw_text_puts(&path, wanted->debug_link);
	r = etw_text_error(&path);
	if (!r && !wanted->process_count)
		r = try_path(search, search->files->root, etw_text_string(&path));
	else if (!r)
		r = 1;
	for (size_t i = 0; r == 1 && i < wanted->process_count; i++)
		r = try_in_process(search, &wanted->processes[i], etw_text_string(&path));
	etw_text_done(&path);
	return r;
}

/* Beside the image, where its own root is. */
static int try_debug_beside(struct search *search, const char *image_folder)
{
	int r;

	if (!search->wanted->debug_link || search->wanted->path[0] != '/')
		return 1;
	r = try_beside(search, image_folder, "/");
	return r == 1 ? try_beside(search, image_folder, "/.debug/") : r;
}

static int try_debug_places(struct search *search)
{
	const struct etw_symbol_files *files = search->files;
	const char *path = search->wanted->path;
	CLEANUP(freep) char *folder = strndup(path, (size_t)(name_of(path) - path));
	int r;

	if (!folder)
		return -ENOMEM;
	if (folder[0] && folder[1])
		folder[strlen(folder) - 1] = '\0';
	r = try_debug_beside(search, folder);
	for (size_t i = 0; r == 1 && i < files->folder_count; i++)
		r = try_debug_folder(search, files->folders[i], folder);
	return r;
}

/* By the build id, and as distributions arrange them: .dwz/NAME. */
static int try_common_places(struct search *search)
{
	static const char folder[] = "/.dwz/";
	const struct etw_symbol_files *files = search->files;
	const char *name = strstr(search->wanted->path, folder);
	int r = 1;

	if (name && strstr(name, "/../"))
		name = NULL;
	for (size_t i = 0; r == 1 && i < files->folder_count; i++) {
		r = try_build_id(search, files->folders[i], ".debug");
		if (r == 1 && name)
			r = try_joined(search, files->folders[i], name, "");
	}
	return r;
}

static int search_places(const struct etw_symbol_files *files,
			 const struct etw_symbol_wanted *wanted, etw_symbol_try_file *try_file,
			 void *context, int (*places)(struct search *search))
{
	struct search search = {
		.files = files,
		.wanted = wanted,
		.try_file = try_file,
		.context = context,
		.failure = -ENOENT,
	};
	int r;

	/* A name that leads out of the folders is nobody's. */
	if (wanted->debug_link && strchr(wanted->debug_link, '/'))
		return -ENOENT;
	r = places(&search);
	return r == 1 ? search.failure : r;
}

int etw_symbol_files_try_image(const struct etw_symbol_files *files,
			       const struct etw_symbol_wanted *wanted,
			       etw_symbol_try_file *try_file, void *context)
{
	return search_places(files, wanted, try_file, context, try_image_places);
}

int etw_symbol_files_try_debug(const struct etw_symbol_files *files,
			       const struct etw_symbol_wanted *wanted,
			       etw_symbol_try_file *try_file, void *context)
{
	return search_places(files, wanted, try_file, context, try_debug_places);
}

int etw_symbol_files_try_common(const struct etw_symbol_files *files,
				const struct etw_symbol_wanted *wanted,
				etw_symbol_try_file *try_file, void *context)
{
	return search_places(files, wanted, try_file, context, try_common_places);
}
