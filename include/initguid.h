/* SPDX-License-Identifier: MIT */
/* Makes every DEFINE_GUID that follows a definition. */
#ifndef INITGUID
#define INITGUID
#endif
#include <guiddef.h>
