/* SPDX-License-Identifier: MIT */
/* Open files. Sharing modes are not kept: on Linux nobody is shut out of a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "compat/win32/file.h"
#include "compat/win32/text.h"

static HANDLE publish(int fd, char *delete_path, bool is_borrowed)
{
	struct etw_object *file = etw_object_create(ETW_OBJECT_FILE);
	HANDLE handle;

	if (!file) {
		if (!is_borrowed)
			(void)close(fd);
		free(delete_path);
		return INVALID_HANDLE_VALUE;
	}
	file->fd = fd;
	file->file.path = delete_path;
	file->file.is_borrowed = is_borrowed;
	(void)pthread_mutex_lock(&etw_object_lock);
	handle = etw_handle_open(file);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return handle ? handle : INVALID_HANDLE_VALUE;
}

static int flags_of(DWORD access, DWORD disposition)
{
	const bool reads = access & (GENERIC_READ | GENERIC_ALL | FILE_READ_DATA);
	const bool appends = (access & FILE_APPEND_DATA) && !(access & FILE_WRITE_DATA);
	const bool writes = access &
			    (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_DATA | FILE_APPEND_DATA);
	int flags = O_CLOEXEC | O_NOCTTY | (writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY);

	if (appends)
		flags |= O_APPEND;
	switch (disposition) {
	case CREATE_NEW:
		return flags | O_CREAT | O_EXCL;
	case CREATE_ALWAYS:
		return flags | O_CREAT | O_TRUNC;
	case OPEN_ALWAYS:
		return flags | O_CREAT;
	case TRUNCATE_EXISTING:
		return flags | O_TRUNC;
	default:
		return flags;
	}
}

/* Takes @path. */
static HANDLE open_file(char *path, DWORD access, DWORD disposition, DWORD attributes)
{
	struct stat status;
	bool was_there;
	HANDLE file;
	int fd;

	if (!path)
		return INVALID_HANDLE_VALUE;
	if (disposition < CREATE_NEW || disposition > TRUNCATE_EXISTING ||
	    (disposition == TRUNCATE_EXISTING &&
	     !(access & (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_DATA)))) {
		free(path);
		SetLastError(ERROR_INVALID_PARAMETER);
		return INVALID_HANDLE_VALUE;
	}
	if (attributes & FILE_FLAG_OVERLAPPED) {
		free(path);
		SetLastError(ERROR_NOT_SUPPORTED);
		return INVALID_HANDLE_VALUE;
	}
	was_there = !stat(path, &status);
	fd = open(path, flags_of(access, disposition),
		  attributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0666);
	/* Windows opens a folder only where the caller says that it may be one. */
	if (fd >= 0 && !(attributes & FILE_FLAG_BACKUP_SEMANTICS) && !fstat(fd, &status) &&
	    S_ISDIR(status.st_mode)) {
		(void)close(fd);
		fd = -1;
		errno = EACCES;
	}
	if (fd < 0) {
		const DWORD error = etw_path_error(path, errno);

		free(path);
		SetLastError(error);
		return INVALID_HANDLE_VALUE;
	}
	if (!(attributes & FILE_FLAG_DELETE_ON_CLOSE)) {
		free(path);
		path = NULL;
	}
	file = publish(fd, path, false);
	if (file != INVALID_HANDLE_VALUE)
		SetLastError(
			was_there && (disposition == CREATE_ALWAYS || disposition == OPEN_ALWAYS)
				? ERROR_ALREADY_EXISTS
				: ERROR_SUCCESS);
	return file;
}

HANDLE CreateFileA(LPCSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
		   LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
		   DWORD dwFlagsAndAttributes, HANDLE hTemplateFile)
{
	(void)dwShareMode;
	(void)lpSecurityAttributes;
	(void)hTemplateFile;
	return open_file(etw_linux_path(lpFileName), dwDesiredAccess, dwCreationDisposition,
			 dwFlagsAndAttributes);
}

HANDLE CreateFileW(LPCWSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
		   LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
		   DWORD dwFlagsAndAttributes, HANDLE hTemplateFile)
{
	(void)dwShareMode;
	(void)lpSecurityAttributes;
	(void)hTemplateFile;
	return open_file(etw_linux_path_wide(lpFileName), dwDesiredAccess, dwCreationDisposition,
			 dwFlagsAndAttributes);
}

HANDLE GetStdHandle(DWORD nStdHandle)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static HANDLE handles[3];
	const DWORD fd = STD_INPUT_HANDLE - nStdHandle;
	HANDLE handle;

	if (fd > 2) {
		SetLastError(ERROR_INVALID_HANDLE);
		return INVALID_HANDLE_VALUE;
	}
	if (fcntl((int)fd, F_GETFD) < 0)
		return NULL;
	(void)pthread_mutex_lock(&lock);
	/* One that the program closed is opened anew. */
	if (!handles[fd] || !CompareObjectHandles(handles[fd], handles[fd]))
		handles[fd] = publish((int)fd, NULL, true);
	handle = handles[fd];
	(void)pthread_mutex_unlock(&lock);
	return handle;
}

BOOL SetStdHandle(DWORD nStdHandle, HANDLE hHandle)
{
	struct etw_object *file = etw_handle_get(hHandle, ETW_OBJECT_FILE);
	const DWORD fd = STD_INPUT_HANDLE - nStdHandle;
	BOOL is_set;

	if (!file)
		return FALSE;
	is_set = fd <= 2 && dup2(file->fd, (int)fd) >= 0;
	etw_object_release(file);
	return is_set ? TRUE : etw_fail(ERROR_INVALID_HANDLE);
}

static int64_t place_of(const OVERLAPPED *overlapped)
{
	return (int64_t)((uint64_t)overlapped->OffsetHigh << 32 | overlapped->Offset);
}

BOOL ReadFile(HANDLE hFile, LPVOID lpBuffer, DWORD nNumberOfBytesToRead,
	      LPDWORD lpNumberOfBytesRead, LPOVERLAPPED lpOverlapped)
{
	struct etw_object *file = etw_handle_get(hFile, ETW_OBJECT_FILE);
	ssize_t bytes;
	int error;

	if (lpNumberOfBytesRead)
		*lpNumberOfBytesRead = 0;
	if (!file)
		return FALSE;
	do {
		bytes = lpOverlapped ? pread(file->fd, lpBuffer, nNumberOfBytesToRead,
					     place_of(lpOverlapped))
				     : read(file->fd, lpBuffer, nNumberOfBytesToRead);
	} while (bytes < 0 && errno == EINTR);
	error = errno;
	etw_object_release(file);
	if (bytes < 0)
		return etw_fail(etw_error_of_errno(error));
	if (lpNumberOfBytesRead)
		*lpNumberOfBytesRead = (DWORD)bytes;
	return lpOverlapped && bytes == 0 && nNumberOfBytesToRead ? etw_fail(ERROR_HANDLE_EOF)
								  : TRUE;
}

BOOL WriteFile(HANDLE hFile, LPCVOID lpBuffer, DWORD nNumberOfBytesToWrite,
	       LPDWORD lpNumberOfBytesWritten, LPOVERLAPPED lpOverlapped)
{
	struct etw_object *file = etw_handle_get(hFile, ETW_OBJECT_FILE);
	DWORD written = 0;
	int error = 0;

	if (lpNumberOfBytesWritten)
		*lpNumberOfBytesWritten = 0;
	if (!file)
		return FALSE;
	while (written < nNumberOfBytesToWrite) {
		const char *at = (const char *)lpBuffer + written;
		const size_t left = nNumberOfBytesToWrite - written;
		const ssize_t bytes = lpOverlapped ? pwrite(file->fd, at, left,
							    place_of(lpOverlapped) + written)
						   : write(file->fd, at, left);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0) {
			error = errno;
			break;
		}
		written += (DWORD)bytes;
	}
	etw_object_release(file);
	if (lpNumberOfBytesWritten)
		*lpNumberOfBytesWritten = written;
	return error ? etw_fail(etw_error_of_errno(error)) : TRUE;
}

static void release_file(struct etw_object *const *file)
{
	etw_object_release(*file);
}

/* `fd` of a file's handle, which stays open until the function returns; -1 with the last error. */
#define BORROW_FD(handle)                                                            \
	CLEANUP(release_file)                                                        \
	struct etw_object *const borrowed = etw_handle_get(handle, ETW_OBJECT_FILE); \
	const int fd = borrowed ? borrowed->fd : -1

static BOOL of_errno(bool is_good)
{
	return is_good ? TRUE : etw_fail(etw_error_of_errno(errno));
}

BOOL FlushFileBuffers(HANDLE hFile)
{
	BORROW_FD(hFile);

	return fd >= 0 && of_errno(!fsync(fd));
}

BOOL GetFileSizeEx(HANDLE hFile, PLARGE_INTEGER lpFileSize)
{
	BORROW_FD(hFile);
	struct stat status;

	if (fd < 0 || !of_errno(!fstat(fd, &status)))
		return FALSE;
	lpFileSize->QuadPart = status.st_size;
	return TRUE;
}

DWORD GetFileSize(HANDLE hFile, LPDWORD lpFileSizeHigh)
{
	LARGE_INTEGER size;

	if (!GetFileSizeEx(hFile, &size))
		return INVALID_FILE_SIZE;
	if (lpFileSizeHigh)
		*lpFileSizeHigh = (DWORD)size.HighPart;
	/* A size may look like the failure. */
	if (size.LowPart == INVALID_FILE_SIZE)
		SetLastError(ERROR_SUCCESS);
	return size.LowPart;
}

BOOL SetFilePointerEx(HANDLE hFile, LARGE_INTEGER liDistanceToMove, PLARGE_INTEGER lpNewFilePointer,
		      DWORD dwMoveMethod)
{
	static const int methods[] = {SEEK_SET, SEEK_CUR, SEEK_END};
	BORROW_FD(hFile);
	off_t at;

	if (fd < 0)
		return FALSE;
	if (dwMoveMethod > FILE_END)
		return etw_fail(ERROR_INVALID_PARAMETER);
	at = lseek(fd, liDistanceToMove.QuadPart, methods[dwMoveMethod]);
	if (at < 0)
		return etw_fail(errno == EINVAL ? ERROR_NEGATIVE_SEEK : etw_error_of_errno(errno));
	if (lpNewFilePointer)
		lpNewFilePointer->QuadPart = at;
	return TRUE;
}

DWORD SetFilePointer(HANDLE hFile, LONG lDistanceToMove, PLONG lpDistanceToMoveHigh,
		     DWORD dwMoveMethod)
{
	LARGE_INTEGER distance = {.QuadPart = lDistanceToMove}, at;

	if (lpDistanceToMoveHigh) {
		distance.LowPart = (DWORD)lDistanceToMove;
		distance.HighPart = *lpDistanceToMoveHigh;
	}
	if (!SetFilePointerEx(hFile, distance, &at, dwMoveMethod))
		return INVALID_SET_FILE_POINTER;
	if (lpDistanceToMoveHigh)
		*lpDistanceToMoveHigh = at.HighPart;
	if (at.LowPart == INVALID_SET_FILE_POINTER)
		SetLastError(ERROR_SUCCESS);
	return at.LowPart;
}

BOOL SetEndOfFile(HANDLE hFile)
{
	BORROW_FD(hFile);

	return fd >= 0 && of_errno(!ftruncate(fd, lseek(fd, 0, SEEK_CUR)));
}

DWORD GetFileType(HANDLE hFile)
{
	BORROW_FD(hFile);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return FILE_TYPE_UNKNOWN;
	SetLastError(ERROR_SUCCESS);
	return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)
		       ? FILE_TYPE_DISK
	       : S_ISCHR(status.st_mode) ? FILE_TYPE_CHAR
					 : FILE_TYPE_PIPE;
}

static FILETIME filetime_of(const struct timespec *time)
{
	const uint64_t ft = (uint64_t)(ETW_FILETIME_UNIX_EPOCH +
				       time->tv_sec * ETW_FILETIME_PER_SECOND +
				       time->tv_nsec / ETW_NS_PER_FT);

	return (FILETIME){(DWORD)ft, (DWORD)(ft >> 32)};
}

DWORD etw_file_attributes(const struct stat *status)
{
	DWORD attributes = 0;

	if (S_ISDIR(status->st_mode))
		attributes |= FILE_ATTRIBUTE_DIRECTORY;
	else if (!S_ISREG(status->st_mode))
		attributes |= FILE_ATTRIBUTE_DEVICE;
	if (!(status->st_mode & 0222))
		attributes |= FILE_ATTRIBUTE_READONLY;
	return attributes ? attributes : FILE_ATTRIBUTE_NORMAL;
}

/* A file's change of status is the nearest to a creation that every file system keeps. */
void etw_file_data(const struct stat *status, WIN32_FILE_ATTRIBUTE_DATA *ret)
{
	*ret = (WIN32_FILE_ATTRIBUTE_DATA){
		.dwFileAttributes = etw_file_attributes(status),
		.ftCreationTime = filetime_of(&status->st_ctim),
		.ftLastAccessTime = filetime_of(&status->st_atim),
		.ftLastWriteTime = filetime_of(&status->st_mtim),
		.nFileSizeHigh = (DWORD)((uint64_t)status->st_size >> 32),
		.nFileSizeLow = (DWORD)status->st_size,
	};
}

BOOL GetFileTime(HANDLE hFile, LPFILETIME lpCreationTime, LPFILETIME lpLastAccessTime,
		 LPFILETIME lpLastWriteTime)
{
	BORROW_FD(hFile);
	struct stat status;

	if (fd < 0 || !of_errno(!fstat(fd, &status)))
		return FALSE;
	if (lpCreationTime)
		*lpCreationTime = filetime_of(&status.st_ctim);
	if (lpLastAccessTime)
		*lpLastAccessTime = filetime_of(&status.st_atim);
	if (lpLastWriteTime)
		*lpLastWriteTime = filetime_of(&status.st_mtim);
	return TRUE;
}

BOOL GetFileInformationByHandle(HANDLE hFile, LPBY_HANDLE_FILE_INFORMATION lpFileInformation)
{
	BORROW_FD(hFile);
	WIN32_FILE_ATTRIBUTE_DATA data;
	struct stat status;

	if (fd < 0 || !of_errno(!fstat(fd, &status)))
		return FALSE;
	etw_file_data(&status, &data);
	*lpFileInformation = (BY_HANDLE_FILE_INFORMATION){
		.dwFileAttributes = data.dwFileAttributes,
		.ftCreationTime = data.ftCreationTime,
		.ftLastAccessTime = data.ftLastAccessTime,
		.ftLastWriteTime = data.ftLastWriteTime,
		.dwVolumeSerialNumber = (DWORD)status.st_dev,
		.nFileSizeHigh = data.nFileSizeHigh,
		.nFileSizeLow = data.nFileSizeLow,
		.nNumberOfLinks = (DWORD)status.st_nlink,
		.nFileIndexHigh = (DWORD)((uint64_t)status.st_ino >> 32),
		.nFileIndexLow = (DWORD)status.st_ino,
	};
	return TRUE;
}

BOOL GetFileInformationByHandleEx(HANDLE hFile, FILE_INFO_BY_HANDLE_CLASS FileInformationClass,
				  LPVOID lpFileInformation, DWORD dwBufferSize)
{
	BORROW_FD(hFile);
	FILE_STANDARD_INFO *info = lpFileInformation;
	struct stat status;

	if (fd < 0)
		return FALSE;
	if (FileInformationClass != FileStandardInfo)
		return etw_fail(ERROR_NOT_SUPPORTED);
	if (dwBufferSize < sizeof(*info))
		return etw_fail(ERROR_BAD_LENGTH);
	if (!of_errno(!fstat(fd, &status)))
		return FALSE;
	memset(info, 0, sizeof(*info));
	info->AllocationSize.QuadPart = (LONGLONG)status.st_blocks * 512;
	info->EndOfFile.QuadPart = status.st_size;
	info->NumberOfLinks = (DWORD)status.st_nlink;
	info->DeletePending = status.st_nlink == 0;
	info->Directory = S_ISDIR(status.st_mode);
	return TRUE;
}

static char *path_of(int fd)
{
	char link[40], path[4096];
	ssize_t bytes;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes < 0)
		return etw_fail_null(etw_error_of_errno(errno));
	path[bytes] = '\0';
	return strdup(path);
}

/* Says, or takes back, that the file is deleted once its handle is closed. */
static BOOL dispose(HANDLE handle, bool is_deleted)
{
	struct etw_object *file = etw_handle_get(handle, ETW_OBJECT_FILE);
	char *path;

	if (!file)
		return FALSE;
	path = is_deleted ? path_of(file->fd) : NULL;
	(void)pthread_mutex_lock(&etw_object_lock);
	free(file->file.path);
	file->file.path = path;
	etw_object_unref(file);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return path || !is_deleted;
}

BOOL SetFileInformationByHandle(HANDLE hFile, FILE_INFO_BY_HANDLE_CLASS FileInformationClass,
				LPVOID lpFileInformation, DWORD dwBufferSize)
{
	BORROW_FD(hFile);

	if (fd < 0)
		return FALSE;
	switch (FileInformationClass) {
	case FileDispositionInfo:
		if (dwBufferSize < sizeof(FILE_DISPOSITION_INFO))
			return etw_fail(ERROR_BAD_LENGTH);
		return dispose(hFile, ((FILE_DISPOSITION_INFO *)lpFileInformation)->DeleteFile);
	case FileEndOfFileInfo:
		if (dwBufferSize < sizeof(FILE_END_OF_FILE_INFO))
			return etw_fail(ERROR_BAD_LENGTH);
		return of_errno(!ftruncate(
			fd, ((FILE_END_OF_FILE_INFO *)lpFileInformation)->EndOfFile.QuadPart));
	default:
		return etw_fail(ERROR_NOT_SUPPORTED);
	}
}
