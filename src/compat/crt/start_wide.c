/* SPDX-License-Identifier: MIT */
/*
 * main() of a program that has wmain(), whichever of its forms: C++ compilers make a name of its own of each.
 *
 * The names do not tell what the function returns. A form without arguments may return nothing, as `void wmain(void)`
 * does; what it leaves in the register is then the program's exit status, as on Windows.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compat/crt/start.h"
#include "compat/crt/start_forms.h"

int main(void)
{
	int (*const two[])(int, wchar_t **) = {with_two, with_const, with_pointer_const,
					       with_both_const};
	int (*const three[])(int, wchar_t **, wchar_t **) = {plain, with_three, with_const_three,
							     with_pointer_const_three,
							     with_both_const_three};
	wchar_t **arguments = *etw_compat_wide_arguments();
	wchar_t **environment = *etw_compat_wide_environment();
	int count = *etw_compat_argument_count();

	if (!arguments || !environment) {
		(void)fputs("not enough memory for the program's arguments\n", stderr);
		return 255;
	}
	if (without)
		return without();
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		if (two[i])
			return two[i](count, arguments);
	for (size_t i = 0; i < sizeof(three) / sizeof(three[0]); i++)
		if (three[i])
			return three[i](count, arguments, environment);
	(void)fputs("the program has neither main() nor wmain() in a form that is known; "
		    "write int wmain(int argc, wchar_t **argv)\n",
		    stderr);
	return 255;
}
