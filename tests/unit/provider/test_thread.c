/* SPDX-License-Identifier: MIT */
/* Which threads are inside: marks that nest, that are left behind, of threads that are gone; slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "provider/thread.h"

#define FIRST_CHUNK 64 /* slots that need no memory of their own */
#define MANY        200
#define SHORT_LIVED 1000

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
/*
 * A thread that is cancelled, or ends in a signal handler, leaves frames behind whose surroundings the sanitizer holds
 * for poisoned. Its own last steps lie there, where it takes its signal stack away: so it gets none.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "use_sigaltstack=0";
}
#endif
#endif

static bool is_memory_short;      /* mmap() fails */
static void (*before_mmap)(void); /* atomic; or NULL */
void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void (*const before)(void) = load_acquire(&before_mmap);

	if (before)
		before();
	if (is_memory_short) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(at, bytes, protection, flags, fd, offset);
}

static int prepare(void **state)
{
	(void)state;
	return etw_fork_prepare();
}

/* What a write does around itself; @inside is the write. */
static __attribute__((noinline)) void stay_inside(void (*inside)(struct etw_entry *entry))
{
	struct etw_thread *thread = etw_thread_enter();
	struct etw_entry entry = {.thread = thread};

	if (!thread)
		etw_thread_enter_slow(etw_stack_pointer(), &entry);
	else
		entry.thread_id = thread->thread_id;
	inside(&entry);
	if (thread)
		etw_thread_leave(thread);
	else
		etw_thread_leave_slow(&entry);
}

static bool is_passed(void)
{
	const uint64_t epoch = etw_thread_begin_epoch();

	return etw_thread_passed(epoch) >= epoch;
}

/* A thread that was joined is there for a moment yet. */
static bool becomes_passed(void)
{
	for (int i = 0; i < 60000; i++) {
		if (is_passed())
			return true;
		(void)usleep(1000);
	}
	return false;
}

static void expect_not_passed(struct etw_entry *entry)
{
	(void)entry;
	assert_false(is_passed());
}

static void do_nothing(struct etw_entry *entry)
{
	(void)entry;
}

static void test_thread__is_inside_until_it_leaves(void **state)
{
	(void)state;
	stay_inside(do_nothing);
	assert_true(is_passed());
	stay_inside(expect_not_passed);
	assert_true(is_passed());
}

static void expect_own_id(struct etw_entry *entry)
{
	assert_int_equal(entry->thread_id, gettid());
}

static void test_thread__looks_around_once_for_each_epoch(void **state)
{
	struct etw_thread *thread;

	(void)state;
	stay_inside(expect_own_id);
	thread = etw_thread_enter();
	assert_non_null(thread);
	etw_thread_leave(thread);
	(void)etw_thread_begin_epoch();
	assert_null(etw_thread_enter());
	errno = 77;
	stay_inside(expect_own_id);
	assert_int_equal(errno, 77);
	thread = etw_thread_enter();
	assert_non_null(thread);
	etw_thread_leave(thread);
}

/* The thread entered behind the epoch's beginning, and cannot have what was unpublished before. */
static void expect_passed_epoch_of_before(struct etw_entry *entry)
{
	const uint64_t before = etw_thread_epoch();

	(void)entry;
	assert_int_equal(etw_thread_passed(before), before);
	assert_false(is_passed());
	assert_int_equal(etw_thread_passed(etw_thread_epoch()), before);
}

static void test_thread__that_entered_later_holds_nothing_up(void **state)
{
	(void)state;
	stay_inside(do_nothing);
	(void)etw_thread_begin_epoch();
	stay_inside(expect_passed_epoch_of_before);
}

static void expect_nested(struct etw_entry *entry)
{
	assert_null(entry->thread);
	assert_false(entry->is_unlisted);
	assert_int_equal(entry->thread_id, gettid());
}

static void nest(struct etw_entry *entry)
{
	(void)entry;
	stay_inside(expect_nested);
	assert_false(is_passed());
	stay_inside(expect_nested); /* now with another stamp */
	assert_false(is_passed());
}

static void test_thread__a_write_inside_a_write_leaves_the_outer_mark(void **state)
{
	(void)state;
	stay_inside(do_nothing);
	stay_inside(nest);
	assert_true(is_passed());
}

static sigjmp_buf way_out;

static void leave_behind(struct etw_entry *entry)
{
	(void)entry;
	siglongjmp(way_out, 1);
}

static void on_signal(int signal)
{
	(void)signal;
	siglongjmp(way_out, 1);
}

static void interrupt(struct etw_entry *entry)
{
	(void)entry;
	(void)raise(SIGUSR1);
}

static void expect_own_stay(struct etw_entry *entry)
{
	assert_non_null(entry->thread);
}

/* The second write comes from the same place, as events do in a loop: its frame lies where the first one's lay. */
static void leak_and_write_again(void (*leak)(struct etw_entry *entry))
{
	void (*volatile write)(struct etw_entry * entry) = leak;

	for (volatile int i = 0; i < 2; i++) {
		if (sigsetjmp(way_out, 1) == 0)
			stay_inside(write);
		if (i == 0)
			assert_false(is_passed());
		write = expect_own_stay;
	}
}

static void test_thread__a_mark_that_a_jump_left_behind_is_mended(void **state)
{
	(void)state;
	stay_inside(do_nothing);
	leak_and_write_again(leave_behind);
	assert_true(is_passed());
}

static void test_thread__so_is_one_that_a_signal_handler_left_behind(void **state)
{
	struct sigaction action = {.sa_handler = on_signal};

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	stay_inside(do_nothing);
	leak_and_write_again(interrupt);
	assert_true(is_passed());
}

static void die(struct etw_entry *entry)
{
	(void)entry;
	(void)kill(getpid(), SIGKILL);
}

/* The child of vfork() has its parent's memory, thread-local data and stack. */
static volatile bool is_killed; /* not in a register that the child changes */

static void kill_child_inside(struct etw_entry *entry)
{
	if (is_killed)
		expect_own_stay(entry);
	else
		die(entry);
}

static void test_thread__a_vfork_child_that_is_killed_inside_holds_up_until_the_next(void **state)
{
	int status;

	(void)state;
#ifdef ETW_THREAD_SANITIZED /* its vfork() is fork() */
	skip();
#endif
	stay_inside(do_nothing);
	is_killed = false;
	for (volatile int i = 0; i < 2; i++) {
		volatile pid_t child = i == 0 ? vfork() : -1;

		if (child <= 0)
			stay_inside(kill_child_inside);
		if (i == 0) {
			assert_int_equal(waitpid(child, &status, 0), child);
			assert_true(WIFSIGNALED(status));
			is_killed = true;
			assert_false(is_passed());
		}
	}
	assert_true(is_passed());
}

static void expect_unlisted(struct etw_entry *entry)
{
	if (!entry->is_unlisted || entry->thread || is_passed())
		_exit(1);
}

static void *write_first_in_vfork_child(void *unused)
{
	struct etw_thread *volatile before = etw_thread;
	int status;
	const pid_t child = vfork();

	if (child == 0) {
		stay_inside(expect_unlisted);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_ptr_equal(etw_thread, before); /* the child's slot would not be the thread's */
	stay_inside(expect_own_stay);
	return unused;
}

static void run_thread(void *(*run)(void *unused))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_thread__a_vfork_child_takes_no_slot(void **state)
{
	(void)state;
#ifdef ETW_THREAD_SANITIZED
	skip();
#endif
	run_thread(write_first_in_vfork_child);
	assert_true(is_passed());
}

static void end_thread(struct etw_entry *entry)
{
	(void)entry;
	pthread_exit(NULL);
}

static void *end_inside(void *unused)
{
	stay_inside(end_thread);
	return unused;
}

static pthread_barrier_t meeting;
static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_cancellation(struct etw_entry *entry)
{
	(void)entry;
	(void)pthread_barrier_wait(&meeting);
	(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		(void)pause();
}

static void *be_cancelled_inside(void *unused)
{
	stay_inside(wait_for_cancellation);
	return unused;
}

static void test_thread__that_ended_inside_holds_nothing_up(void **state)
{
	pthread_t thread;

	(void)state;
	run_thread(end_inside);
	assert_true(becomes_passed());
	assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, be_cancelled_inside, NULL), 0);
	(void)pthread_barrier_wait(&meeting);
	assert_false(is_passed());
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(becomes_passed());
	(void)pthread_barrier_destroy(&meeting);
}

static void write_in_handler(int signal)
{
	(void)signal;
	stay_inside(expect_own_stay);
}

static void *write_first_in_handler(void *unused)
{
	struct etw_thread *before = etw_thread;
	struct etw_thread *taken;

	(void)raise(SIGUSR2);
	taken = etw_thread;
	assert_ptr_not_equal(taken, before);
	stay_inside(expect_own_id);
	assert_ptr_equal(etw_thread, taken);
	return unused;
}

static void test_thread__its_first_write_may_be_in_a_handler(void **state)
{
	struct sigaction action = {.sa_handler = write_in_handler};

	(void)state;
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	run_thread(write_first_in_handler);
}

static struct etw_thread *slots[MANY];

static void expect_listed(struct etw_entry *entry)
{
	assert_false(entry->is_unlisted);
	expect_own_id(entry);
}

static void *take_and_wait(void *number)
{
	stay_inside(expect_listed);
	slots[(uintptr_t)number] = etw_thread;
	(void)pthread_barrier_wait(&meeting); /* all have a slot */
	(void)pthread_barrier_wait(&meeting);
	return NULL;
}

static void start_many(pthread_t *threads, uintptr_t count)
{
	assert_int_equal(pthread_barrier_init(&meeting, NULL, (unsigned)count + 1), 0);
	for (uintptr_t i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_wait, (void *)i), 0);
	(void)pthread_barrier_wait(&meeting);
}

static void end_many(const pthread_t *threads, unsigned count)
{
	(void)pthread_barrier_wait(&meeting);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	(void)pthread_barrier_destroy(&meeting);
}

static void *take_one(void *unused)
{
	stay_inside(expect_own_stay);
	slots[0] = etw_thread;
	return unused;
}

static int compare_pointers(const void *left, const void *right)
{
	const uintptr_t l = *(const uintptr_t *)left;
	const uintptr_t r = *(const uintptr_t *)right;

	return l < r ? -1 : l > r;
}

static void test_thread__each_has_a_slot_of_its_own_and_those_of_dead_ones_come_back(void **state)
{
	static struct etw_thread *seen[SHORT_LIVED];
	pthread_t threads[MANY];
	unsigned different = 1;

	(void)state;
	start_many(threads, MANY);
	qsort(slots, MANY, sizeof(slots[0]), compare_pointers);
	for (unsigned i = 1; i < MANY; i++)
		assert_ptr_not_equal(slots[i], slots[i - 1]);
	end_many(threads, MANY);
	for (unsigned i = 0; i < SHORT_LIVED; i++) {
		run_thread(take_one);
		seen[i] = slots[0];
	}
	qsort(seen, SHORT_LIVED, sizeof(seen[0]), compare_pointers);
	for (unsigned i = 1; i < SHORT_LIVED; i++)
		different += seen[i] != seen[i - 1];
	assert_true(different < 3 * MANY);
}

static uint32_t unlisted_threads; /* atomic */

static void note_unlisted(struct etw_entry *entry)
{
	if (!entry->is_unlisted)
		return;
	assert_int_equal(entry->thread_id, gettid());
	assert_false(is_passed());
	(void)add_relaxed(&unlisted_threads, 1u);
}

static void *write_and_hold(void *step)
{
	stay_inside(note_unlisted);
	(void)pthread_barrier_wait(step);
	(void)pthread_mutex_lock(&hold);
	(void)pthread_mutex_unlock(&hold);
	return NULL;
}

static void test_thread__without_a_slot_holds_everything_up_while_it_is_inside(void **state)
{
	pthread_t threads[2 * FIRST_CHUNK];
	pthread_barrier_t step;
	unsigned count = 0;

	(void)state;
	assert_int_equal(pthread_barrier_init(&step, NULL, 2), 0);
	(void)pthread_mutex_lock(&hold);
	is_memory_short = true;
	while (!load_relaxed(&unlisted_threads)) {
		assert_true(count < ARRAY_SIZE(threads));
		assert_int_equal(pthread_create(&threads[count++], NULL, write_and_hold, &step), 0);
		(void)pthread_barrier_wait(&step);
	}
	is_memory_short = false;
	assert_true(is_passed());
	(void)pthread_mutex_unlock(&hold);
	while (count)
		assert_int_equal(pthread_join(threads[--count], NULL), 0);
	(void)pthread_barrier_destroy(&step);
}

static uint32_t growing; /* atomic; threads that have come to take more memory */
static pthread_barrier_t overtaken;

/* The first waits until there is no slot left of what the second makes; the third gets nothing. */
static void grow_late(void)
{
	const uint32_t before = add_acq_rel(&growing, 1u);

	if (before == 0)
		(void)pthread_barrier_wait(&overtaken);
	else if (before == 2)
		is_memory_short = true;
}

static uint32_t settled; /* atomic; threads that have written */

static void *write_and_settle(void *unused)
{
	stay_inside(note_unlisted);
	(void)add_acq_rel(&settled, 1u);
	(void)pthread_mutex_lock(&hold);
	(void)pthread_mutex_unlock(&hold);
	return unused;
}

/* Threads come one by one. Returns how many, the last of them without a slot, and one that has not got over mmap(). */
static unsigned take_all(pthread_t *threads, unsigned room)
{
	unsigned count = 0;

	while (!load_relaxed(&unlisted_threads)) {
		assert_true(count < room);
		assert_int_equal(pthread_create(&threads[count++], NULL, write_and_settle, NULL),
				 0);
		while (load_acquire(&settled) + (load_acquire(&growing) > 0) < count)
			(void)usleep(100);
	}
	return count;
}

/* By the time that a thread looks for a slot in what it has made, or found made, others may have taken them all. */
static void test_thread__makes_slots_until_one_is_its_own(void **state)
{
	pthread_t threads[4 * FIRST_CHUNK];
	unsigned count;

	(void)state;
	assert_int_equal(pthread_barrier_init(&overtaken, NULL, 2), 0);
	(void)pthread_mutex_lock(&hold);
	store_relaxed(&unlisted_threads, 0u);
	store_release(&before_mmap, grow_late);
	count = take_all(threads, ARRAY_SIZE(threads));
	store_release(&before_mmap, NULL);
	is_memory_short = false;
	(void)pthread_barrier_wait(&overtaken);
	while (load_acquire(&settled) < count)
		(void)usleep(100);
	assert_int_equal(load_relaxed(&unlisted_threads), 1);
	(void)pthread_mutex_unlock(&hold);
	while (count)
		assert_int_equal(pthread_join(threads[--count], NULL), 0);
	(void)pthread_barrier_destroy(&overtaken);
}

static void *stay_for_long(void *unused)
{
	stay_inside(wait_for_cancellation);
	return unused;
}

static int look_from_child(void)
{
	etw_fork_wipe(); /* as the room's handler of fork does, which comes with the first registration */
	etw_thread_after_fork();
	if (!is_passed())
		return 1;
	stay_inside(expect_not_passed);
	stay_inside(expect_own_id);
	run_thread(take_one);
	return is_passed() ? 0 : 2;
}

static void test_thread__of_the_parent_holds_nothing_up_in_a_child(void **state)
{
	pthread_t thread;
	pid_t child;
	int status;

	(void)state;
	stay_inside(expect_own_id);
	assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, stay_for_long, NULL), 0);
	(void)pthread_barrier_wait(&meeting);
	child = fork();
	if (child == 0)
		_exit(look_from_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_false(is_passed());
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	(void)pthread_barrier_destroy(&meeting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* These two first: there is one chunk of slots yet. */
		cmocka_unit_test(
			test_thread__without_a_slot_holds_everything_up_while_it_is_inside),
		cmocka_unit_test(test_thread__makes_slots_until_one_is_its_own),
		cmocka_unit_test(test_thread__is_inside_until_it_leaves),
		cmocka_unit_test(test_thread__looks_around_once_for_each_epoch),
		cmocka_unit_test(test_thread__that_entered_later_holds_nothing_up),
		cmocka_unit_test(test_thread__a_write_inside_a_write_leaves_the_outer_mark),
		cmocka_unit_test(test_thread__a_mark_that_a_jump_left_behind_is_mended),
		cmocka_unit_test(test_thread__so_is_one_that_a_signal_handler_left_behind),
		cmocka_unit_test(
			test_thread__a_vfork_child_that_is_killed_inside_holds_up_until_the_next),
		cmocka_unit_test(test_thread__a_vfork_child_takes_no_slot),
		cmocka_unit_test(test_thread__that_ended_inside_holds_nothing_up),
		cmocka_unit_test(test_thread__its_first_write_may_be_in_a_handler),
		cmocka_unit_test(
			test_thread__each_has_a_slot_of_its_own_and_those_of_dead_ones_come_back),
		cmocka_unit_test(test_thread__of_the_parent_holds_nothing_up_in_a_child),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
