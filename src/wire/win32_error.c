/* SPDX-License-Identifier: MIT */
/*
 * The table from errno to Win32. Codes follow what Windows returns for the same thing: a path that
 * leads nowhere, no file of that name, a full disk, a sharing conflict (the documented errors of
 * CreateFile and ReadFile), and for traces what StartTrace, OpenTrace, ProcessTrace and the Tdh
 * functions document. Where one errno stands for two Windows codes, the caller that knows better
 * says so itself: -ENOENT for a session is ERROR_WMI_INSTANCE_NOT_FOUND, for a schema
 * ERROR_NOT_FOUND, for a file the code below.
 */
#include "wire/win32_error.h"

#include <errno.h>
#include <stddef.h>

#include <winerror.h>

#include "base/macros.h"

struct error_row {
	int error;
	ULONG code;
};

static const struct error_row rows[] = {
	/* Arguments. */
	{EINVAL, ERROR_INVALID_PARAMETER},
	{EFAULT, ERROR_NOACCESS},
	{EBADF, ERROR_INVALID_HANDLE},
	{ENAMETOOLONG, ERROR_FILENAME_EXCED_RANGE},
	{EILSEQ, ERROR_INVALID_PARAMETER}, /* text that is not UTF-8 or UTF-16 */
	{ERANGE, ERROR_ARITHMETIC_OVERFLOW},
	{EOVERFLOW, ERROR_ARITHMETIC_OVERFLOW},

	/* Rights and resources. */
	{EACCES, ERROR_ACCESS_DENIED},
	{EPERM, ERROR_ACCESS_DENIED},
	{EROFS, ERROR_WRITE_PROTECT},
	{ENOMEM, ERROR_NOT_ENOUGH_MEMORY},
	{ENOBUFS,
	 ERROR_NOT_ENOUGH_MEMORY},   /* no trace buffer free: EventWrite documents this one */
	{EMSGSIZE, ERROR_MORE_DATA}, /* event larger than a buffer: likewise */
	{EMFILE, ERROR_TOO_MANY_OPEN_FILES},
	{ENFILE, ERROR_NO_SYSTEM_RESOURCES},
	{EUSERS, ERROR_NO_SYSTEM_RESOURCES}, /* a host has as many sessions or peers as it takes */
	{ETOOMANYREFS,
	 ERROR_NO_SYSTEM_RESOURCES}, /* this user has as many of a host's as one may */
	{EAGAIN, ERROR_BUSY},
	{EBUSY, ERROR_BUSY},
	{ETXTBSY, ERROR_SHARING_VIOLATION},

	/* Files. */
	{ENOENT, ERROR_FILE_NOT_FOUND},
	{ENOTDIR, ERROR_PATH_NOT_FOUND},
	{EISDIR, ERROR_ACCESS_DENIED}, /* CreateFile on a folder */
	{ELOOP, ERROR_BAD_PATHNAME},
	{EEXIST, ERROR_ALREADY_EXISTS},
	{ENOTEMPTY, ERROR_DIR_NOT_EMPTY},
	{ENOSPC, ERROR_DISK_FULL},
	{EDQUOT, ERROR_DISK_FULL},
	{EFBIG, ERROR_FILE_TOO_LARGE},
	{EIO, ERROR_IO_DEVICE},
	{ESTALE, ERROR_DEV_NOT_EXIST},
	{ENODEV, ERROR_DEV_NOT_EXIST},
	{EBADMSG, ERROR_FILE_CORRUPT}, /* undocumented; what WPA and xperf show (0x80070570) */

	/* The other end. */
	{EPROTO, ERROR_INVALID_DATA},
	{EPIPE, ERROR_BROKEN_PIPE},
	{ECONNRESET, ERROR_BROKEN_PIPE},
	{ECONNREFUSED, ERROR_CONNECTION_REFUSED},
	{ENOEXEC, ERROR_WMI_SERVER_UNAVAILABLE},         /* no etwd to start */
	{ECHILD, ERROR_WMI_SERVER_UNAVAILABLE},          /* it was killed while it started */
	{ENOTRECOVERABLE, ERROR_WMI_SERVER_UNAVAILABLE}, /* it dies again and again */
	{ESRCH, ERROR_NOT_FOUND},
	{ETIMEDOUT, ERROR_TIMEOUT},
	{ECANCELED, ERROR_CANCELLED},
	{EINTR, ERROR_OPERATION_ABORTED},

	/* Not there yet. */
	{EOPNOTSUPP, ERROR_NOT_SUPPORTED},
	{ENOSYS, ERROR_CALL_NOT_IMPLEMENTED},
};

ULONG etw_win32_from_result(int result)
{
	if (result >= 0)
		return ERROR_SUCCESS;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].error == -result)
			return rows[i].code;
	}
	return ERROR_GEN_FAILURE;
}

ULONG etw_win32_from_start(int result)
{
	switch (result) {
	case -ENOENT: /* the file's folder */
		return ERROR_PATH_NOT_FOUND;
	case -EBUSY:
		return ERROR_ACTIVE_CONNECTIONS;
	case -ETXTBSY: /* another session writes to the file */
		return ERROR_BAD_PATHNAME;
	default:
		return etw_win32_from_result(result);
	}
}
