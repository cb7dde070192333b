/* SPDX-License-Identifier: MIT */
/*
 * What plug-ins of tests/chains hold: enter, parse, step, work, each called by the one before. It stands by itself: check_plugins.py
 * takes its bytes out of the object and puts them into files of a form that nobody knows, under names of their own.
 */
#define CALL static __attribute__((noinline))

/* Each does more behind its call, which keeps it from being a jump. */
CALL int work(volatile unsigned long *sum, int (*is_over)(void))
{
	while (!is_over())
		for (unsigned long i = 0; i < 200000; i++)
			*sum += i;
	return 1;
}

CALL int step(volatile unsigned long *sum, int (*is_over)(void))
{
	int result = work(sum, is_over);

	*sum += 2;
	return result + 1;
}

CALL int parse(volatile unsigned long *sum, int (*is_over)(void))
{
	int result = step(sum, is_over);

	*sum += 3;
	return result + 1;
}

int enter(volatile unsigned long *sum, int (*is_over)(void));

int enter(volatile unsigned long *sum, int (*is_over)(void))
{
	int result = parse(sum, is_over);

	*sum += 4;
	return result + 1;
}
