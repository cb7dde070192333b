/* SPDX-License-Identifier: MIT */
/* Stacks of which a part cannot be read: what ran out of its stack still has a handler that writes events. */
#include "provider/stack.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_INLINE   __attribute__((noinline))
#define PAGE        4096u
#define ROOM_PAGES  16u
#define GUARD_PAGES 16u
#define PASSED      7
#define DEPTH_MAX   1000000u /* never reached */

static struct etw_stack stack;
static char alternate[128 * 1024];

/* The stack pointer is in the guard: nothing of what lies above it is known to be a stack. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	etw_stack_walk(&stack);
	_exit(stack.count > 1 ? PASSED : 1);
}

static void use_alternate(void)
{
	const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	const struct sigaction action = {.sa_sigaction = on_fault,
					 .sa_flags = SA_ONSTACK | SA_SIGINFO};

	if (sigaltstack(&other, NULL) < 0 || sigaction(SIGSEGV, &action, NULL) < 0 ||
	    sigaction(SIGBUS, &action, NULL) < 0)
		_exit(2);
}

/* Frames larger than a page whose lowest bytes are touched first. */
NO_INLINE static unsigned overflow(unsigned depth)
{
	volatile char room[5 * PAGE];

	room[0] = (char)depth;
	return depth == DEPTH_MAX ? 0 : overflow(depth + 1) + (unsigned)room[0];
}

static void *run_over(void *unused)
{
	(void)unused;
	use_alternate();
	(void)overflow(0);
	return NULL;
}

/* With a guard that is a mapping, as each thread has one. */
static void overflow_thread(void)
{
	const size_t bytes = (size_t)(GUARD_PAGES + ROOM_PAGES) * PAGE;
	char *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	if (room == MAP_FAILED || mprotect(room + (size_t)GUARD_PAGES * PAGE,
					   (size_t)ROOM_PAGES * PAGE, PROT_READ | PROT_WRITE) < 0)
		_exit(3);
	if (pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, room + (size_t)GUARD_PAGES * PAGE,
				  (size_t)ROOM_PAGES * PAGE) ||
	    pthread_create(&thread, &attributes, run_over, NULL))
		_exit(4);
	(void)pthread_join(thread, NULL);
	_exit(5);
}

/* Without one: below the stack of the program nothing is mapped. */
static void overflow_program(void)
{
	const struct rlimit limit = {1024 * 1024, 1024 * 1024};

	if (setrlimit(RLIMIT_STACK, &limit) < 0)
		_exit(6);
	(void)run_over(NULL);
	_exit(8);
}

#if defined(__x86_64__)
/* As a switch to a coroutine whose stack has been freed: what faults is the return there. */
void test_return_on(uintptr_t stack_pointer);
__asm__(".pushsection .text\n"
	".type test_return_on, @function\n"
	"test_return_on:\n"
	"	.cfi_startproc\n"
	"	movq %rdi, %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size test_return_on, . - test_return_on\n"
	".popsection\n");

static ucontext_t program, coroutine;

static void walk_on_it(void)
{
	etw_stack_walk(&stack);
}

static void switch_to_freed(void)
{
	char *room = mmap(NULL, (size_t)ROOM_PAGES * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || getcontext(&coroutine) < 0)
		_exit(10);
	coroutine.uc_stack.ss_sp = room;
	coroutine.uc_stack.ss_size = (size_t)ROOM_PAGES * PAGE;
	coroutine.uc_link = &program;
	makecontext(&coroutine, walk_on_it, 0);
	/* What is known of it from now on is out of date. */
	if (swapcontext(&program, &coroutine) < 0 || munmap(room, (size_t)ROOM_PAGES * PAGE) < 0)
		_exit(14);
	use_alternate();
	test_return_on((uintptr_t)room + PAGE / 2);
	_exit(11);
}

static void switch_to_guard(void)
{
	char *room = mmap(NULL, (size_t)ROOM_PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (room == MAP_FAILED)
		_exit(12);
	use_alternate();
	test_return_on((uintptr_t)room + PAGE / 2);
	_exit(13);
}
#endif

static int run_in_child(void (*run)(void))
{
	const struct rlimit no_core = {0, 0};
	const pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		run();
		_exit(9);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_stack__of_a_thread_that_ran_out_of_it(void **state)
{
	const int status = run_in_child(overflow_thread);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

static void test_stack__of_a_program_that_ran_out_of_it(void **state)
{
	const int status = run_in_child(overflow_program);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

#if defined(__x86_64__)
static void test_stack__of_what_runs_on_a_freed_one(void **state)
{
	const int status = run_in_child(switch_to_freed);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

static void test_stack__of_what_runs_on_a_guard(void **state)
{
	const int status = run_in_child(switch_to_guard);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), PASSED);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack__of_a_thread_that_ran_out_of_it),
		cmocka_unit_test(test_stack__of_a_program_that_ran_out_of_it),
#if defined(__x86_64__)
		cmocka_unit_test(test_stack__of_what_runs_on_a_freed_one),
		cmocka_unit_test(test_stack__of_what_runs_on_a_guard),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
