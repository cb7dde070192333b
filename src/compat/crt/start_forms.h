/* SPDX-License-Identifier: MIT */
/* The forms of wmain() by the names that C and C++ compilers make of them; a program has one of these. */
#ifndef ETW_COMPAT_START_FORMS_H
#define ETW_COMPAT_START_FORMS_H

#include <stddef.h>

#define FORM(name, symbol, parameters) \
	extern int name parameters __asm__(symbol) __attribute__((__weak__))

FORM(plain, "wmain", (int, wchar_t **, wchar_t **));
FORM(without, "_Z5wmainv", (void));
FORM(with_two, "_Z5wmainiPPw", (int, wchar_t **));
FORM(with_three, "_Z5wmainiPPwS0_", (int, wchar_t **, wchar_t **));
FORM(with_const, "_Z5wmainiPPKw", (int, wchar_t **));
FORM(with_const_three, "_Z5wmainiPPKwS1_", (int, wchar_t **, wchar_t **));
FORM(with_pointer_const, "_Z5wmainiPKPw", (int, wchar_t **));
FORM(with_pointer_const_three, "_Z5wmainiPKPwS1_", (int, wchar_t **, wchar_t **));
FORM(with_both_const, "_Z5wmainiPKPKw", (int, wchar_t **));
FORM(with_both_const_three, "_Z5wmainiPKPKwS2_", (int, wchar_t **, wchar_t **));

#endif
