/* SPDX-License-Identifier: MIT */
#include "tools/common/program.h"

int main(void)
{
	etw_program_error("no command is built yet");
	return ETW_EXIT_FAILED;
}
