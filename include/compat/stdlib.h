/* SPDX-License-Identifier: MIT */
/* The C library's <stdlib.h>, and what Microsoft adds. */
#pragma GCC system_header
#include_next <stdlib.h>

#ifndef ETW_COMPAT_STDLIB_H
#define ETW_COMPAT_STDLIB_H

#include <etw_compat_crt.h>
#include <wchar.h> /* _wtoi and its like are in both of Microsoft's headers */

ETW_CRT_BEGIN
errno_t _i64toa_s(long long value, char *to, size_t size, int radix);
errno_t _ui64toa_s(unsigned long long value, char *to, size_t size, int radix);
errno_t _itoa_s(int value, char *to, size_t size, int radix);
errno_t _ltoa_s(int value, char *to, size_t size, int radix);
errno_t _ultoa_s(unsigned value, char *to, size_t size, int radix);
char *_itoa(int value, char *to, int radix);
char *_ltoa(int value, char *to, int radix);
char *_ultoa(unsigned value, char *to, int radix);
char *_i64toa(long long value, char *to, int radix);
char *_ui64toa(unsigned long long value, char *to, int radix);

typedef void (*_invalid_parameter_handler)(const wchar_t *expression, const wchar_t *function,
					   const wchar_t *file, unsigned line, uintptr_t reserved);
_invalid_parameter_handler _set_invalid_parameter_handler(_invalid_parameter_handler handler);
_invalid_parameter_handler _get_invalid_parameter_handler(void);
_invalid_parameter_handler _set_thread_local_invalid_parameter_handler(
	_invalid_parameter_handler handler);
_invalid_parameter_handler _get_thread_local_invalid_parameter_handler(void);

int *etw_compat_argument_count(void);
char ***etw_compat_arguments(void);
wchar_t ***etw_compat_wide_arguments(void);
wchar_t ***etw_compat_wide_environment(void);
#define __argc    (*etw_compat_argument_count())
#define __argv    (*etw_compat_arguments())
#define __wargv   (*etw_compat_wide_arguments())
#define _wenviron (*etw_compat_wide_environment())

#define _MAX_PATH  260
#define _MAX_DRIVE 3
#define _MAX_DIR   256
#define _MAX_FNAME 256
#define _MAX_EXT   256

#define _byteswap_ushort(value) __builtin_bswap16(value)
#define _byteswap_ulong(value)  __builtin_bswap32(value)
#define _byteswap_uint64(value) __builtin_bswap64(value)

ETW_CRT_END

#endif
