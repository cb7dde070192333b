/* SPDX-License-Identifier: MIT */
/* What the files of the program share: one in C, one in C++, and one with functions of its own. */
#ifndef ETW_TESTS_USERS_H
#define ETW_TESTS_USERS_H

#ifdef __cplusplus
extern "C" {
#endif

/* users_other() - writes from C++; returns the address of the provider's context as that file sees it. */
const void *users_other(unsigned number);

/* users_custom() - what a header calls instead of the library where a program says so; returns failures. */
int users_custom(void);

#ifdef __cplusplus
}
#endif

#endif
