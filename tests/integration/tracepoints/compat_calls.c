/* SPDX-License-Identifier: MIT */
/* compat_calls NUMBER COUNT - prints its pid, and makes a system call COUNT times as 32-bit programs do. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SKIPPED 77

#ifdef __x86_64__
static sigjmp_buf back;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

static long call(long number)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(0L), "c"(0L), "d"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

int main(int argc, char **argv)
{
	long number = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	printf("%d\n", (int)getpid());
	(void)fflush(stdout);
	/* Without the kernel's emulation it is a fault. */
	(void)signal(SIGSEGV, leave);
	if (sigsetjmp(back, 1))
		_exit(SKIPPED);
	for (long i = 0; i < count; i++)
		if (call(number) < 0)
			_exit(SKIPPED);
	_exit(0);
}
#else
int main(void)
{
	return SKIPPED;
}
#endif
