/* SPDX-License-Identifier: MIT */
/* Files and folders by path. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "compat/win32/file.h"
#include "compat/win32/text.h"

DWORD etw_path_error(const char *path, int error)
{
	char *folder, *slash;
	bool is_there;

	if (error != ENOENT)
		return etw_error_of_errno(error);
	folder = strdup(path);
	slash = folder ? strrchr(folder, '/') : NULL;
	if (slash)
		slash[slash == folder] = '\0';
	is_there = !slash || !access(folder, F_OK);
	free(folder);
	return is_there ? ERROR_FILE_NOT_FOUND : ERROR_PATH_NOT_FOUND;
}

/* Takes @path. */
static BOOL settle(char *path, bool is_good)
{
	const int error = errno;
	const DWORD code = path && !is_good ? etw_path_error(path, error) : ERROR_SUCCESS;

	if (code)
		SetLastError(code == ERROR_FILE_EXISTS ? ERROR_ALREADY_EXISTS : code);
	free(path);
	return path && is_good;
}

#define PATH_FUNCTION(name, call)                         \
	BOOL name##A(LPCSTR lpPath)                       \
	{                                                 \
		char *path = etw_linux_path(lpPath);      \
                                                          \
		return settle(path, path && !(call));     \
	}                                                 \
	BOOL name##W(LPCWSTR lpPath)                      \
	{                                                 \
		char *path = etw_linux_path_wide(lpPath); \
                                                          \
		return settle(path, path && !(call));     \
	}

PATH_FUNCTION(DeleteFile, unlink(path))
PATH_FUNCTION(RemoveDirectory, rmdir(path))

BOOL CreateDirectoryA(LPCSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes)
{
	char *path = etw_linux_path(lpPathName);

	(void)lpSecurityAttributes;
	return settle(path, path && !mkdir(path, 0777));
}

BOOL CreateDirectoryW(LPCWSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes)
{
	char *path = etw_linux_path_wide(lpPathName);

	(void)lpSecurityAttributes;
	return settle(path, path && !mkdir(path, 0777));
}

/* Takes @path. */
static BOOL read_data(char *path, WIN32_FILE_ATTRIBUTE_DATA *ret)
{
	struct stat status;

	if (!settle(path, path && !stat(path, &status)))
		return FALSE;
	etw_file_data(&status, ret);
	return TRUE;
}

DWORD GetFileAttributesA(LPCSTR lpFileName)
{
	WIN32_FILE_ATTRIBUTE_DATA data;

	return read_data(etw_linux_path(lpFileName), &data) ? data.dwFileAttributes
							    : INVALID_FILE_ATTRIBUTES;
}

DWORD GetFileAttributesW(LPCWSTR lpFileName)
{
	WIN32_FILE_ATTRIBUTE_DATA data;

	return read_data(etw_linux_path_wide(lpFileName), &data) ? data.dwFileAttributes
								 : INVALID_FILE_ATTRIBUTES;
}

BOOL GetFileAttributesExA(LPCSTR lpFileName, GET_FILEEX_INFO_LEVELS fInfoLevelId,
			  LPVOID lpFileInformation)
{
	(void)fInfoLevelId;
	return read_data(etw_linux_path(lpFileName), lpFileInformation);
}

BOOL GetFileAttributesExW(LPCWSTR lpFileName, GET_FILEEX_INFO_LEVELS fInfoLevelId,
			  LPVOID lpFileInformation)
{
	(void)fInfoLevelId;
	return read_data(etw_linux_path_wide(lpFileName), lpFileInformation);
}

/* --- Copying and moving. Both take their paths. */
static int copy_bytes(int from, int to)
{
	for (;;) {
		const ssize_t bytes = sendfile(to, from, NULL, (size_t)1 << 20);

		if (bytes <= 0)
			return (int)bytes;
	}
}

static BOOL copy(char *from, char *to, bool is_new)
{
	struct stat status, target;
	BOOL is_copied = FALSE;
	int in, out = -1;

	in = from && to ? open(from, O_RDONLY | O_CLOEXEC) : -1;
	if (in >= 0 && !fstat(in, &status)) {
		if (S_ISREG(status.st_mode))
			out = open(to, O_WRONLY | O_CLOEXEC | O_CREAT | (is_new ? O_EXCL : 0),
				   status.st_mode & 0777);
		else
			errno = EISDIR;
	}
	/* Emptied only once it is known not to be the source. */
	if (out >= 0 && !fstat(out, &target)) {
		if (target.st_dev == status.st_dev && target.st_ino == status.st_ino)
			errno = EBUSY;
		else
			is_copied = (!S_ISREG(target.st_mode) || !ftruncate(out, 0)) &&
				    copy_bytes(in, out) == 0;
	}
	if (from && to && !is_copied)
		SetLastError(etw_path_error(in < 0 ? from : to, errno));
	if (in >= 0)
		(void)close(in);
	if (out >= 0)
		(void)close(out);
	free(from);
	free(to);
	return is_copied;
}

BOOL CopyFileA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName, BOOL bFailIfExists)
{
	return copy(etw_linux_path(lpExistingFileName), etw_linux_path(lpNewFileName),
		    bFailIfExists);
}

BOOL CopyFileW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName, BOOL bFailIfExists)
{
	return copy(etw_linux_path_wide(lpExistingFileName), etw_linux_path_wide(lpNewFileName),
		    bFailIfExists);
}

static BOOL move(char *from, char *to, DWORD flags)
{
	BOOL is_moved = FALSE;
	int result;

	if (from && to) {
		result = renameat2(AT_FDCWD, from, AT_FDCWD, to,
				   flags & MOVEFILE_REPLACE_EXISTING ? 0 : RENAME_NOREPLACE);
		if (result && errno == EXDEV && flags & MOVEFILE_COPY_ALLOWED) {
			is_moved = copy(strdup(from), strdup(to),
					!(flags & MOVEFILE_REPLACE_EXISTING)) &&
				   !unlink(from);
		} else {
			is_moved = !result;
			if (result)
				SetLastError(errno == EEXIST ? ERROR_ALREADY_EXISTS
							     : etw_path_error(from, errno));
		}
	}
	free(from);
	free(to);
	return is_moved;
}

BOOL MoveFileExA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName, DWORD dwFlags)
{
	return move(etw_linux_path(lpExistingFileName), etw_linux_path(lpNewFileName), dwFlags);
}

BOOL MoveFileExW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName, DWORD dwFlags)
{
	return move(etw_linux_path_wide(lpExistingFileName), etw_linux_path_wide(lpNewFileName),
		    dwFlags);
}

BOOL MoveFileA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName)
{
	return MoveFileExA(lpExistingFileName, lpNewFileName, MOVEFILE_COPY_ALLOWED);
}

BOOL MoveFileW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName)
{
	return MoveFileExW(lpExistingFileName, lpNewFileName, MOVEFILE_COPY_ALLOWED);
}

/* --- Names in folders. */
/* Windows has `*` and `?` alone: a bracket is a character. "*.*" is every name. Owned, or NULL. */
static char *pattern_of(const char *name)
{
	char *pattern, *to;

	if (!strcmp(name, "*.*"))
		return strdup("*");
	pattern = to = malloc(3 * strlen(name) + 1);
	for (; pattern && *name; name++) {
		if (*name == '[')
			to = stpcpy(to, "[[]");
		else
			*to++ = *name;
	}
	if (pattern)
		*to = '\0';
	return pattern;
}

static HANDLE find_first(char *path)
{
	struct etw_object *find;
	char *slash;
	HANDLE handle;

	if (!path)
		return INVALID_HANDLE_VALUE;
	find = etw_object_create(ETW_OBJECT_FIND);
	if (!find) {
		free(path);
		return INVALID_HANDLE_VALUE;
	}
	slash = strrchr(path, '/');
	find->find.pattern = pattern_of(slash ? slash + 1 : path);
	if (slash)
		slash[slash == path] = '\0';
	else
		(void)stpcpy(path, ".");
	find->find.path = path;
	find->find.folder = find->find.pattern ? opendir(path) : NULL;
	if (!find->find.folder) {
		etw_object_release(find);
		SetLastError(ERROR_PATH_NOT_FOUND);
		return INVALID_HANDLE_VALUE;
	}
	(void)pthread_mutex_lock(&etw_object_lock);
	handle = etw_handle_open(find);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return handle ? handle : INVALID_HANDLE_VALUE;
}

/* The next name of the pattern; returns it, borrowed until the next call, or NULL. */
static const char *next_name(struct etw_object *find, WIN32_FILE_ATTRIBUTE_DATA *data)
{
	struct dirent *entry;
	struct stat status;

	while ((entry = readdir(find->find.folder))) {
		if (fnmatch(find->find.pattern, entry->d_name, FNM_CASEFOLD | FNM_NOESCAPE))
			continue;
		if (fstatat(dirfd(find->find.folder), entry->d_name, &status, 0) &&
		    fstatat(dirfd(find->find.folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		etw_file_data(&status, data);
		return entry->d_name;
	}
	return NULL;
}

#define FIND_NEXT(name, data_type, put)                                                      \
	BOOL name(HANDLE hFindFile, data_type *lpFindFileData)                               \
	{                                                                                    \
		struct etw_object *find = etw_handle_get(hFindFile, ETW_OBJECT_FIND);        \
		WIN32_FILE_ATTRIBUTE_DATA data;                                              \
		const char *entry;                                                           \
                                                                                             \
		if (!find)                                                                   \
			return FALSE;                                                        \
		entry = next_name(find, &data);                                              \
		if (entry) {                                                                 \
			memset(lpFindFileData, 0, sizeof(*lpFindFileData));                  \
			memcpy(lpFindFileData, &data, sizeof(data));                         \
			(void)put(entry, lpFindFileData->cFileName, MAX_PATH, ETW_SIZE_CUT); \
		}                                                                            \
		etw_object_release(find);                                                    \
		return entry ? TRUE : etw_fail(ERROR_NO_MORE_FILES);                         \
	}

FIND_NEXT(FindNextFileA, WIN32_FIND_DATAA, etw_return_narrow)
FIND_NEXT(FindNextFileW, WIN32_FIND_DATAW, etw_return_wide)

static HANDLE settle_find(HANDLE handle, BOOL is_found)
{
	if (handle == INVALID_HANDLE_VALUE || is_found)
		return handle;
	(void)CloseHandle(handle);
	SetLastError(ERROR_FILE_NOT_FOUND);
	return INVALID_HANDLE_VALUE;
}

HANDLE FindFirstFileA(LPCSTR lpFileName, LPWIN32_FIND_DATAA lpFindFileData)
{
	HANDLE handle = find_first(etw_linux_path(lpFileName));

	return settle_find(handle,
			   handle != INVALID_HANDLE_VALUE && FindNextFileA(handle, lpFindFileData));
}

HANDLE FindFirstFileW(LPCWSTR lpFileName, LPWIN32_FIND_DATAW lpFindFileData)
{
	HANDLE handle = find_first(etw_linux_path_wide(lpFileName));

	return settle_find(handle,
			   handle != INVALID_HANDLE_VALUE && FindNextFileW(handle, lpFindFileData));
}

BOOL FindClose(HANDLE hFindFile)
{
	struct etw_object *find = etw_handle_get(hFindFile, ETW_OBJECT_FIND);

	etw_object_release(find);
	return find ? CloseHandle(hFindFile) : FALSE;
}

/* --- Names of files. */
/* A path from the root on, without "." and "..", which need not be there. Takes @path. */
static char *full(char *path)
{
	char *folder, *joined = NULL, *to;

	if (!path)
		return NULL;
	if (*path == '/') {
		joined = path;
	} else {
		folder = getcwd(NULL, 0);
		if (folder && asprintf(&joined, "%s/%s", folder, path) < 0)
			joined = NULL;
		free(folder);
		free(path);
		if (!joined)
			return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	}
	to = joined;
	for (const char *at = joined; *at;) {
		const char *from = at + strspn(at, "/");
		const size_t length = strcspn(from, "/");

		at = from + length;
		if (length == 2 && !strncmp(from, "..", 2)) {
			while (to > joined && *--to != '/')
				;
		} else if (length && !(length == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, length);
			to += length;
		}
	}
	if (to == joined)
		*to++ = '/';
	*to = '\0';
	return joined;
}

DWORD GetFullPathNameA(LPCSTR lpFileName, DWORD nBufferLength, LPSTR lpBuffer, LPSTR *lpFilePart)
{
	char *path = full(etw_linux_path(lpFileName));
	DWORD length = 0;

	if (path)
		length = etw_return_narrow(path, lpBuffer, nBufferLength, ETW_SIZE_WITHOUT_NUL);
	if (path && lpFilePart && length < nBufferLength)
		*lpFilePart = strrchr(lpBuffer, '/') + 1;
	free(path);
	return length;
}

DWORD GetFullPathNameW(LPCWSTR lpFileName, DWORD nBufferLength, LPWSTR lpBuffer, LPWSTR *lpFilePart)
{
	char *path = full(etw_linux_path_wide(lpFileName));
	DWORD length = 0;

	if (path)
		length = etw_return_wide(path, lpBuffer, nBufferLength, ETW_SIZE_WITHOUT_NUL);
	if (path && lpFilePart && length < nBufferLength) {
		*lpFilePart = lpBuffer + length;
		while ((*lpFilePart)[-1] != '/')
			--*lpFilePart;
	}
	free(path);
	return length;
}

/* With a slash at its end, as Windows has a backslash there. */
#define TEMP_FOLDER "/tmp/"

DWORD GetTempPathA(DWORD nBufferLength, LPSTR lpBuffer)
{
	return etw_return_narrow(TEMP_FOLDER, lpBuffer, nBufferLength, ETW_SIZE_WITHOUT_NUL);
}

DWORD GetTempPathW(DWORD nBufferLength, LPWSTR lpBuffer)
{
	return etw_return_wide(TEMP_FOLDER, lpBuffer, nBufferLength, ETW_SIZE_WITHOUT_NUL);
}

/* A number that names no file yet; the file is made. Takes @folder. */
static UINT temp_name(char *folder, const char *prefix, UINT unique, char to[MAX_PATH])
{
	UINT number = unique ? unique & 0xFFFF : (UINT)(getpid() ^ (pid_t)GetTickCount());

	for (int i = 0; folder && i < 0x10000; i++, number++) {
		int fd;

		number &= 0xFFFF;
		if (!number)
			continue;
		if (snprintf(to, MAX_PATH, "%s/%.3s%X.tmp", folder, prefix, number) >= MAX_PATH) {
			SetLastError(ERROR_BUFFER_OVERFLOW);
			break;
		}
		if (unique) {
			free(folder);
			return number;
		}
		fd = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd >= 0) {
			(void)close(fd);
			free(folder);
			return number;
		}
		if (errno != EEXIST) {
			SetLastError(errno == ENOENT ? ERROR_DIRECTORY : etw_error_of_errno(errno));
			break;
		}
	}
	free(folder);
	return 0;
}

UINT GetTempFileNameA(LPCSTR lpPathName, LPCSTR lpPrefixString, UINT uUnique, LPSTR lpTempFileName)
{
	return temp_name(etw_linux_path(lpPathName), lpPrefixString, uUnique, lpTempFileName);
}

UINT GetTempFileNameW(LPCWSTR lpPathName, LPCWSTR lpPrefixString, UINT uUnique,
		      LPWSTR lpTempFileName)
{
	char *prefix = etw_narrow(lpPrefixString);
	char name[MAX_PATH];
	const UINT number = temp_name(etw_linux_path_wide(lpPathName), prefix ? prefix : "",
				      uUnique, name);

	if (number)
		(void)etw_return_wide(name, lpTempFileName, MAX_PATH, ETW_SIZE_CUT);
	free(prefix);
	return number;
}
