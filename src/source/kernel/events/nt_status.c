/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/nt_status.h"

#include <errno.h>
#include <stddef.h>

#include "base/macros.h"

#define STATUS_UNSUCCESSFUL UINT32_C(0xC0000001)

/* A call that a signal interrupted begins once more, by itself: linux/errno.h, which programs do not see. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

/* Numbers and meanings [MS-ERREF 2.3.1]. */
static const struct {
	int error;
	uint32_t status;
} statuses[] = {
	{EPERM, 0xC0000061},                 /* PRIVILEGE_NOT_HELD */
	{ENOENT, 0xC0000034},                /* OBJECT_NAME_NOT_FOUND */
	{EINTR, 0xC0000120},                 /* CANCELLED */
	{EIO, 0xC0000185},                   /* IO_DEVICE_ERROR */
	{ENXIO, 0xC000000E},                 /* NO_SUCH_DEVICE */
	{EBADF, 0xC0000008},                 /* INVALID_HANDLE */
	{EAGAIN, 0xC00000D8},                /* CANT_WAIT */
	{ENOMEM, 0xC0000017},                /* NO_MEMORY */
	{EACCES, 0xC0000022},                /* ACCESS_DENIED */
	{EFAULT, 0xC0000005},                /* ACCESS_VIOLATION */
	{EBUSY, 0xC0000043},                 /* SHARING_VIOLATION */
	{EEXIST, 0xC0000035},                /* OBJECT_NAME_COLLISION */
	{EXDEV, 0xC00000D4},                 /* NOT_SAME_DEVICE */
	{ENODEV, 0xC000000E},                /* NO_SUCH_DEVICE */
	{ENOTDIR, 0xC0000103},               /* NOT_A_DIRECTORY */
	{EISDIR, 0xC00000BA},                /* FILE_IS_A_DIRECTORY */
	{EINVAL, 0xC000000D},                /* INVALID_PARAMETER */
	{ENFILE, 0xC000009A},                /* INSUFFICIENT_RESOURCES */
	{EMFILE, 0xC000011F},                /* TOO_MANY_OPENED_FILES */
	{ENOTTY, 0xC0000010},                /* INVALID_DEVICE_REQUEST */
	{ETXTBSY, 0xC0000043},               /* SHARING_VIOLATION */
	{EFBIG, 0xC0000904},                 /* FILE_TOO_LARGE */
	{ENOSPC, 0xC000007F},                /* DISK_FULL */
	{ESPIPE, 0xC0000010},                /* INVALID_DEVICE_REQUEST */
	{EROFS, 0xC00000A2},                 /* MEDIA_WRITE_PROTECTED */
	{EMLINK, 0xC0000265},                /* TOO_MANY_LINKS */
	{EDEADLK, 0xC0000194},               /* POSSIBLE_DEADLOCK */
	{ENAMETOOLONG, 0xC0000106},          /* NAME_TOO_LONG */
	{ENOSYS, 0xC0000002},                /* NOT_IMPLEMENTED */
	{ENOTEMPTY, 0xC0000101},             /* DIRECTORY_NOT_EMPTY */
	{ELOOP, 0xC0000280},                 /* REPARSE_POINT_NOT_RESOLVED */
	{EOVERFLOW, 0xC0000095},             /* INTEGER_OVERFLOW */
	{EOPNOTSUPP, 0xC00000BB},            /* NOT_SUPPORTED */
	{ETIMEDOUT, 0xC00000B5},             /* IO_TIMEOUT */
	{ESTALE, 0xC0000128},                /* FILE_CLOSED */
	{EDQUOT, 0xC0000044},                /* QUOTA_EXCEEDED */
	{ERESTARTSYS, 0xC000022D},           /* RETRY */
	{ERESTARTNOINTR, 0xC000022D},        /* RETRY */
	{ERESTARTNOHAND, 0xC000022D},        /* RETRY */
	{ERESTART_RESTARTBLOCK, 0xC000022D}, /* RETRY */
	/* Of sockets. */
	{EPROTO, 0xC000023E},        /* PROTOCOL_UNREACHABLE */
	{ENOPROTOOPT, 0xC000023E},   /* PROTOCOL_UNREACHABLE */
	{EMSGSIZE, 0xC0000004},      /* INFO_LENGTH_MISMATCH */
	{EADDRINUSE, 0xC000020A},    /* ADDRESS_ALREADY_EXISTS */
	{EADDRNOTAVAIL, 0xC0000207}, /* INVALID_ADDRESS_COMPONENT */
	{ENETDOWN, 0xC000023C},      /* NETWORK_UNREACHABLE */
	{ENETUNREACH, 0xC000023C},   /* NETWORK_UNREACHABLE */
	{ENETRESET, 0xC000020D},     /* CONNECTION_RESET */
	{ECONNRESET, 0xC000020D},    /* CONNECTION_RESET */
	{ECONNABORTED, 0xC0000241},  /* CONNECTION_ABORTED */
	{ENOBUFS, 0xC000009A},       /* INSUFFICIENT_RESOURCES */
	{ECONNREFUSED, 0xC0000236},  /* CONNECTION_REFUSED */
	{EHOSTDOWN, 0xC000023D},     /* HOST_UNREACHABLE */
	{EHOSTUNREACH, 0xC000023D},  /* HOST_UNREACHABLE */
};

uint32_t etw_kernel_nt_status(int64_t result)
{
	if (result >= 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (result == -statuses[i].error)
			return statuses[i].status;
	return STATUS_UNSUCCESSFUL;
}
