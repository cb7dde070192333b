/* SPDX-License-Identifier: MIT */
/* Microsoft's wide string functions. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/macros.h"
#include "compat/crt/invalid.h"

#define UNIT               wchar_t
#define SET_UNIT           wchar_t
#define UNSIGNED(unit)     ((uint16_t)(unit))
#define NAME(narrow, wide) wide

#define TRUNCATE_ALL ((size_t)-1) /* _TRUNCATE */
#define UP_TO_NUL    ((size_t)-2)
#ifndef STRUNCATE
#define STRUNCATE 80
#endif
#define NOT_COMPARED 0x7FFFFFFF /* _NLSCMPERROR */

#include "compat/crt/text_functions.inc"
