/* SPDX-License-Identifier: MIT */
/* Where an event is written: check_users counts the instructions that it costs while it is disabled. */
#include USERS_HEADER

int write_step(unsigned number);
int write_step(unsigned number)
{
	return (int)EventWriteUsersStep(number, "text");
}
