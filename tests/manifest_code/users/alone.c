/* SPDX-License-Identifier: MIT */
/* The header by itself, and once more: a program may include it in each of its headers. */
#include USERS_HEADER

#include USERS_HEADER

int alone(void);
int alone(void)
{
	return UsersStep_value + (int)UsersRare.Keyword;
}
