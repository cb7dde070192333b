/* SPDX-License-Identifier: MIT */
/* Stacks by the compiler's tables, by frame pointers, through signal handlers, and of stacks that are none. */
#include "provider/stack.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "provider/own_object.h"

#define NO_INLINE   __attribute__((noinline))
#define DEPTH       40
#define FAR         1000
#define STACK_BYTES (256 * 1024)

static struct etw_stack stack;

/* Where a function begins and ends is its compiler's to know: all addresses of a call chain are told of by their callers. */
struct chain {
	uintptr_t returns[DEPTH + 1]; /* where each call returns to, the innermost first */
	unsigned count;
};

static struct chain chain;

NO_INLINE static void walk_inside(void)
{
	etw_stack_walk(&stack);
	__asm__ volatile("" : : : "memory"); /* no jump in place of the call */
}

/* As EventWrite() does: two functions that are marked, and one that is not. */
ETW_STACK_ENTRY NO_INLINE static void walk_from_entry(void)
{
	walk_inside();
	__asm__ volatile("" : : : "memory");
}

ETW_STACK_ENTRY NO_INLINE static void walk_here(void)
{
	chain.returns[0] = (uintptr_t)__builtin_return_address(0);
	chain.count = 1;
	walk_from_entry();
	__asm__ volatile("" : : : "memory");
}

NO_INLINE static void go_down(unsigned depth)
{
	const uintptr_t returns = (uintptr_t)__builtin_return_address(0);

	if (depth == 0)
		walk_here();
	else
		go_down(depth - 1);
	__asm__ volatile("" : : : "memory");
	if (chain.count <= DEPTH)
		chain.returns[chain.count++] = returns;
}

static void check_chain(unsigned count)
{
	assert_true(stack.count >= count);
	assert_int_equal(chain.count, count);
	for (unsigned i = 0; i < count; i++) {
		if (stack.frames[i] != chain.returns[i])
			fail_msg("frame %u is %lx, not %lx", i, (unsigned long)stack.frames[i],
				 (unsigned long)chain.returns[i]);
	}
}

static void test_stack__is_the_chain_of_calls(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 3;
	     round++) { /* without rules that are kept, and with them */
		go_down(20);
		check_chain(22);
		assert_true(stack.count < ETW_STACK_FRAMES_MAX); /* it has an end */
	}
}

static void test_stack__is_cut_at_its_outer_end(void **state)
{
	(void)state;
	go_down(FAR);
	assert_int_equal(stack.count, ETW_STACK_FRAMES_MAX);
	assert_int_equal(stack.frames[0], chain.returns[0]);
}

static void test_stack__without_an_entry_is_whole(void **state)
{
	unsigned whole;

	(void)state;
	walk_inside();
	whole = stack.count;
	walk_here();
	assert_true(stack.count > 0);
	assert_int_equal(stack.count + 1, whole); /* but for walk_inside() */
}

/* A function of another copy of the library, which lies elsewhere: here between two others of one section. */
#define OTHER_COPY __attribute__((section("other_entry")))
extern const uint8_t other_start[] __asm__("__start_other_entry");
extern const uint8_t other_end[] __asm__("__stop_other_entry");

OTHER_COPY NO_INLINE static uintptr_t walk_from_other(void)
{
	walk_here();
	__asm__ volatile("" : : : "memory");
	return (uintptr_t)__builtin_return_address(0);
}

/* As many copies as there is room for; and more, which are not known. */
static void test_stack__begins_outside_of_all_copies(void **state)
{
	const struct etw_stack_entries entries = {(uintptr_t)other_start, (uintptr_t)other_end};
	uintptr_t caller;

	(void)state;
	caller = walk_from_other();
	assert_int_equal(stack.frames[0], chain.returns[0]);
	assert_in_range(stack.frames[0], entries.start, entries.end);
	assert_int_equal(stack.frames[1], caller);
	for (unsigned i = 0; i < 20; i++) {
		etw_stack_add_entries(entries);
		caller = walk_from_other();
		assert_int_equal(stack.frames[0], caller);
	}
	etw_stack_add_entries((struct etw_stack_entries){1, UINTPTR_MAX});
	caller = walk_from_other();
	assert_int_equal(stack.frames[0], caller);
}

static void *run_thread(void *argument)
{
	(void)argument;
	go_down(5);
	return NULL;
}

static void test_stack__of_a_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	check_chain(7);
	assert_in_range(stack.count, 7, 12);
}

/* Frames of other sizes, and such as are found by the frame pointer alone. */
NO_INLINE static void go_with_room(size_t bytes)
{
	char *room = __builtin_alloca(bytes); /* NOLINT: a frame whose size is not known before */

	__asm__ volatile("" : : "r"(room) : "memory");
	go_down(2);
	__asm__ volatile("" : : "r"(room) : "memory");
}

NO_INLINE static void go_aligned(void)
{
	_Alignas(256) char room[512];

	__asm__ volatile("" : : "r"(room) : "memory");
	go_with_room(1000);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void test_stack__through_frames_of_any_form(void **state)
{
	uintptr_t here = 0;
	bool is_found = false;

	(void)state;
	go_aligned();
	check_chain(4);
	here = (uintptr_t)__builtin_return_address(0);
	for (unsigned i = 0; i < stack.count; i++)
		is_found |= stack.frames[i] == here;
	assert_true(is_found);
}

static uintptr_t interrupted_caller;
static uint32_t handled;

static void on_signal(int number)
{
	(void)number;
	go_down(1);
	handled++;
}

NO_INLINE static void be_interrupted(void)
{
	interrupted_caller = (uintptr_t)__builtin_return_address(0);
	assert_int_equal(raise(SIGUSR1), 0);
	__asm__ volatile("" : : : "memory");
}

static void check_interrupted(void)
{
	bool is_found = false;

	for (unsigned i = 0; i < stack.count; i++)
		is_found |= stack.frames[i] == interrupted_caller;
	assert_true(is_found);
	check_chain(3);
}

static void test_stack__through_signal_handlers(void **state)
{
	static char alternate[64 * 1024];
	const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	const stack_t none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = on_signal};

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	be_interrupted();
	check_interrupted();
	assert_int_equal(sigaltstack(&other, NULL), 0);
	action.sa_flags = SA_ONSTACK;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	be_interrupted();
	check_interrupted();
	assert_int_equal(sigaltstack(&none, NULL), 0);
	assert_int_equal(handled, 2);
}

static ucontext_t main_context, coroutine;

static void run_coroutine(void)
{
	go_down(3);
	__asm__ volatile("" : : : "memory");
}

static void test_stack__of_a_coroutine(void **state)
{
	void *room = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	(void)state;
	assert_ptr_not_equal(room, MAP_FAILED);
	assert_int_equal(getcontext(&coroutine), 0);
	coroutine.uc_stack.ss_sp = room;
	coroutine.uc_stack.ss_size = STACK_BYTES;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, run_coroutine, 0);
	assert_int_equal(swapcontext(&main_context, &coroutine), 0);
	check_chain(5);
	assert_in_range(stack.count, 5, 10);
	assert_int_equal(munmap(room, STACK_BYTES), 0);
}

#if defined(__x86_64__)
/*
 * Code without tables, as a program makes it while it runs, calls the function in its argument: with a frame pointer,
 * or with one that is the second argument.
 */
static const uint8_t with_frame[] = {0x55, 0x48, 0x89, 0xE5, 0xFF, 0xD7, 0x5D, 0xC3};
static const uint8_t with_wrong_frame[] = {0x55, 0x48, 0x89, 0xF5, 0x48, 0x83,
					   0xEC, 0x00, 0xFF, 0xD7, 0x5D, 0xC3};

typedef void (*made_code)(void (*call)(void), uintptr_t frame);

static made_code make_code(const uint8_t *bytes, size_t count)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	made_code code;

	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page, bytes, count);
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	memcpy(&code, &page, sizeof(code));
	return code;
}

static void call_down(void)
{
	go_down(1);
	__asm__ volatile("" : : : "memory");
}

NO_INLINE static uintptr_t run_code(made_code code, uintptr_t frame)
{
	code(call_down, frame);
	__asm__ volatile("" : : : "memory");
	return (uintptr_t)__builtin_return_address(0);
}

static void test_stack__by_frame_pointers_where_there_is_no_table(void **state)
{
	const made_code code = make_code(with_frame, sizeof(with_frame));
	bool is_found = false;
	uintptr_t returns;

	(void)state;
	returns = run_code(code, 0);
	check_chain(3);
	assert_int_equal(stack.frames[3], (uintptr_t)code + 6);
	for (unsigned i = 4; i < stack.count; i++)
		is_found |= stack.frames[i] == returns;
	assert_true(is_found);
}

static void test_stack__wrong_frame_pointers_end_it(void **state)
{
	const made_code code = make_code(with_wrong_frame, sizeof(with_wrong_frame));
	uintptr_t local = 0, bounds[2];
	const uintptr_t frames[] = {0,
				    1,
				    8,
				    (uintptr_t)&local,
				    (uintptr_t)&local & ~(uintptr_t)4095,
				    UINTPTR_MAX,
				    UINTPTR_MAX - 7,
				    UINTPTR_MAX - 15,
				    UINTPTR_MAX / 2 + 1,
				    (uintptr_t)&stack};

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		(void)run_code(code, frames[i]);
		assert_in_range(stack.count, 4, ETW_STACK_FRAMES_MAX);
	}
	/* All places up to the stack's end. */
	(void)etw_stack_find_bounds((uintptr_t)&local, bounds);
	for (uintptr_t at = bounds[1] - 4096; at < bounds[1] + 64; at += 4) {
		(void)run_code(code, at);
		assert_in_range(stack.count, 4, ETW_STACK_FRAMES_MAX);
	}
}
#endif

static void test_stack__bounds(void **state)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t bounds[2];

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_READ), 0);
	(void)etw_stack_find_bounds((uintptr_t)pages + 5000, bounds);
	assert_int_equal(bounds[0], (uintptr_t)pages + 4096);
	assert_int_equal(bounds[1], (uintptr_t)pages + 8192);
	assert_int_equal(munmap(pages, 3 * 4096), 0);
}

/* Behind the first one: the kernel kills a process that asks it for anything but this. */
static void test_stack__later_ones_ask_the_kernel_for_nothing(void **state)
{
	pid_t child = fork();
	int status = -1;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		go_down(2);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			(void)syscall(SYS_exit, 77);
		for (unsigned i = 0; i < 100; i++)
			go_down(i % 10);
		(void)syscall(SYS_exit, 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack__is_the_chain_of_calls),
		cmocka_unit_test(test_stack__is_cut_at_its_outer_end),
		cmocka_unit_test(test_stack__without_an_entry_is_whole),
		cmocka_unit_test(test_stack__begins_outside_of_all_copies),
		cmocka_unit_test(test_stack__of_a_thread),
		cmocka_unit_test(test_stack__through_frames_of_any_form),
		cmocka_unit_test(test_stack__through_signal_handlers),
		cmocka_unit_test(test_stack__of_a_coroutine),
#if defined(__x86_64__)
		cmocka_unit_test(test_stack__by_frame_pointers_where_there_is_no_table),
		cmocka_unit_test(test_stack__wrong_frame_pointers_end_it),
#endif
		cmocka_unit_test(test_stack__bounds),
		cmocka_unit_test(test_stack__later_ones_ask_the_kernel_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
