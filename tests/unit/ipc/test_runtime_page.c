/* SPDX-License-Identifier: MIT */
/* The runtime directory that a host makes, who may own what, and the discovery page. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "unit/ipc/runtime_test.h"

static void test_runtime_page__prepare_makes_directory_and_page(void **state)
{
	struct wire_discovery_page *page, *second;
	struct stat info;
	mode_t mask = umask(0777);

	(void)state;
	page = prepare();
	(void)umask(mask);
	assert_int_equal(page->magic, WIRE_DISCOVERY_PAGE_MAGIC);
	assert_int_equal(page->epoch, 0);
	assert_int_equal(stat(directory, &info), 0);
	assert_int_equal(info.st_mode & 07777, geteuid() == 0 ? 0755 : 0700);
	assert_int_equal(stat(in_directory(ETW_RUNTIME_PAGE), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_int_equal(info.st_size, WIRE_DISCOVERY_PAGE_BYTES);
	etw_runtime_announce(page, true);
	second = prepare(); /* the next host finds it as it is */
	assert_int_equal(second->epoch, 1);
	etw_runtime_page_unmap(page);
	etw_runtime_page_unmap(second);
	etw_runtime_page_unmap(NULL);
}

/* A service's user often has a home that is not there. */
static void test_runtime_page__prepare_takes_a_directory_that_is_there_without_a_home(void **state)
{
	CLEANUP(freep) char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
	struct wire_discovery_page *page = prepare();
	int r;

	(void)state;
	etw_runtime_page_unmap(page);
	(void)setenv("HOME", in_directory("none"), 1);
	r = etw_runtime_prepare(directory, &page);
	(void)(home ? setenv("HOME", home, 1) : unsetenv("HOME"));
	assert_int_equal(r, 0);
	etw_runtime_page_unmap(page);
}

static void test_runtime_page__prepare_makes_no_foreign_parents(void **state)
{
	struct wire_discovery_page *page;

	(void)state;
	strcat(directory, "/deeper");
	assert_int_equal(etw_runtime_prepare(directory, &page), -ENOENT);
}

static void test_runtime_page__prepare_refuses_what_others_can_write(void **state)
{
	struct wire_discovery_page *page = prepare();

	(void)state;
	etw_runtime_page_unmap(page);
	assert_int_equal(chmod(in_directory(ETW_RUNTIME_PAGE), 0666), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(chmod(in_directory(ETW_RUNTIME_PAGE), 0644), 0);
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(chmod(directory, 0720), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
}

static void test_runtime_page__prepare_follows_no_links(void **state)
{
	struct wire_discovery_page *page = prepare();

	(void)state;
	etw_runtime_page_unmap(page);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(symlink("elsewhere", in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(mkdir(in_directory(ETW_RUNTIME_PAGE), 0755), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	(void)snprintf(path, sizeof(path), "%s/link", base);
	assert_int_equal(symlink(directory, path), 0);
	assert_int_equal(etw_runtime_prepare(path, &page), -EPERM);
	(void)snprintf(path, sizeof(path), "%s/file", base);
	(void)close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(etw_runtime_prepare(path, &page), -EPERM);
}

static void test_runtime_page__prepare_refuses_another_users(void **state)
{
	struct wire_discovery_page *page;

	(void)state;
	need_root();
	page = prepare();
	etw_runtime_page_unmap(page);
	assert_int_equal(chown(in_directory(ETW_RUNTIME_PAGE), 65534, 65534), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(chown(in_directory(ETW_RUNTIME_PAGE), 0, 0), 0);
	assert_int_equal(chown(directory, 65534, 65534), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
}

static void test_runtime_page__a_page_of_another_version(void **state)
{
	struct wire_discovery_page *page = prepare();
	const struct wire_discovery_page *seen;

	(void)state;
	page->version++;
	assert_int_equal(etw_runtime_page(directory, &seen), -EPROTO);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPROTO);
	page->version--;
	page->magic++;
	assert_int_equal(etw_runtime_page(directory, &seen), -EPROTO);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPROTO);
	etw_runtime_page_unmap(page);
	assert_int_equal(truncate(in_directory(ETW_RUNTIME_PAGE), 16), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPROTO);
}

static void test_runtime_page__announce_counts_up(void **state)
{
	struct wire_discovery_page *page = prepare();
	static const struct {
		bool is_hosted;
		uint32_t epoch;
	} rows[] = {{true, 1}, {false, 2}, {false, 2}, {true, 3}, {true, 5}, {false, 6}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		etw_runtime_announce(page, rows[i].is_hosted);
		assert_int_equal(page->epoch, rows[i].epoch);
	}
	etw_runtime_page_unmap(page);
}

static void test_runtime_page__no_page_is_enoent(void **state)
{
	const struct wire_discovery_page *page;

	(void)state;
	assert_int_equal(etw_runtime_page(directory, &page), -ENOENT);
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_int_equal(etw_runtime_page(directory, &page), -ENOENT);
}

static void test_runtime_page__a_page_of_doubtful_owners(void **state)
{
	struct wire_discovery_page *page = prepare();
	const struct wire_discovery_page *seen;

	(void)state;
	etw_runtime_page_unmap(page);
	assert_int_equal(chmod(in_directory(ETW_RUNTIME_PAGE), 0646), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(symlink("/dev/zero", in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(mkfifo(in_directory(ETW_RUNTIME_PAGE), 0600), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	if (geteuid() == 0) {
		assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
		etw_runtime_page_unmap(prepare());
		assert_int_equal(chown(in_directory(ETW_RUNTIME_PAGE), 65534, 65534), 0);
		assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	}
}

static void test_runtime_page__wait_ends_with_the_time(void **state)
{
	const struct wire_discovery_page *seen;

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_page(directory, &seen), 0);
	assert_int_equal(etw_runtime_wait(seen, 0, 1), -ETIMEDOUT);
	assert_int_equal(etw_runtime_wait(seen, 0, 0), -ETIMEDOUT);
	assert_int_equal(etw_runtime_wait(seen, 4, UINT32_MAX), 0);
	etw_runtime_page_unmap(seen);
}

static void *announce(void *page)
{
	(void)usleep(20000);
	etw_runtime_announce(page, true);
	return NULL;
}

static void test_runtime_page__wait_ends_with_a_host(void **state)
{
	struct wire_discovery_page *page = prepare();
	const struct wire_discovery_page *seen;
	pthread_t thread;

	(void)state;
	assert_int_equal(etw_runtime_page(directory, &seen), 0);
	assert_int_equal(pthread_create(&thread, NULL, announce, page), 0);
	assert_int_equal(etw_runtime_wait(seen, 0, 60000), 0);
	assert_int_equal(load_relaxed(&seen->epoch), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	etw_runtime_page_unmap(seen);
	etw_runtime_page_unmap(page);
}

static void on_alarm(int number)
{
	(void)number;
}

static void test_runtime_page__wait_ends_with_a_signal(void **state)
{
	struct sigaction action = {.sa_handler = on_alarm}, before;
	struct itimerspec soon = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
	const struct wire_discovery_page *seen;
	timer_t timer;

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_page(directory, &seen), 0);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
	assert_int_equal(etw_runtime_wait(seen, 0, 60000), -EINTR);
	(void)timer_delete(timer);
	(void)sigaction(SIGALRM, &before, NULL);
	etw_runtime_page_unmap(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_runtime_page__prepare_makes_directory_and_page),
		CASE(test_runtime_page__prepare_takes_a_directory_that_is_there_without_a_home),
		CASE(test_runtime_page__prepare_makes_no_foreign_parents),
		CASE(test_runtime_page__prepare_refuses_what_others_can_write),
		CASE(test_runtime_page__prepare_follows_no_links),
		CASE(test_runtime_page__prepare_refuses_another_users),
		CASE(test_runtime_page__a_page_of_another_version),
		CASE(test_runtime_page__announce_counts_up),
		CASE(test_runtime_page__no_page_is_enoent),
		CASE(test_runtime_page__a_page_of_doubtful_owners),
		CASE(test_runtime_page__wait_ends_with_the_time),
		CASE(test_runtime_page__wait_ends_with_a_host),
		CASE(test_runtime_page__wait_ends_with_a_signal),
	};

	(void)unsetenv("ETW_RUNTIME_DIR");
	(void)unsetenv("XDG_RUNTIME_DIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
