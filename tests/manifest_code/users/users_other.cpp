/* SPDX-License-Identifier: MIT */
/* The same header in C++. */
#include "users.h"

#include USERS_HEADER

const void *users_other(unsigned number)
{
	EventWriteUsersStep(number, "C++");
	return EventEnabledUsersVerbose() ? &USERS_Context : nullptr;
}
