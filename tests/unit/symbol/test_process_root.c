/* SPDX-License-Identifier: MIT */
/* Files that only a process sees, and whom they tell of. Processes of other users are made here, which needs root. */
#include "symbol/process_root.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"
#include "fixture.h"

#define FIRST_USER  65533
#define SECOND_USER 65534

/* A process that lives until it is ended. */
struct child {
	pid_t pid;
	uint32_t uid;
};

/* @root: a folder of the fixture; NULL: the usual one. @flags: of unshare(), as the user. Returns whether that is allowed. */
static bool begin_child(struct child *child, const char *root, uint32_t uid, int flags)
{
	char path[PATH_BYTES], is_ready = 0;
	int ends[2];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture_folder, root ? root : "");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child->uid = uid;
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (!child->pid) {
		if ((root && chroot(path)) || setresgid(uid, uid, uid) ||
		    setresuid(uid, uid, uid) || unshare(flags) || write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	etw_file_closep(&ends[1]);
	(void)!read(ends[0], &is_ready, 1);
	etw_file_closep(&ends[0]);
	return is_ready == 'x';
}

static void end_child(const struct child *child)
{
	(void)kill(child->pid, SIGKILL);
	(void)waitpid(child->pid, NULL, 0);
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("SKIP: needs root, to have processes of other users\n");
	skip();
}

static struct etw_symbol_process_at now_of(const struct child *child)
{
	return (struct etw_symbol_process_at){(uint32_t)child->pid, etw_filetime_now()};
}

static void test_process_root__reads_what_proc_says(UNUSED_STATE)
{
	struct etw_symbol_living living;
	struct child child;

	need_root();
	assert_true(begin_child(&child, NULL, SECOND_USER, 0));
	assert_true(etw_symbol_living_read((uint32_t)child.pid, &living));
	assert_int_equal(living.uid, SECOND_USER);
	assert_int_equal(living.inner_pid, child.pid);
	end_child(&child);
	assert_false(etw_symbol_living_read((uint32_t)child.pid, &living));
}

/* A number that was used again is another process. */
static void test_process_root__knows_a_process_by_when_it_started(UNUSED_STATE)
{
	struct etw_symbol_process_at process = {(uint32_t)getpid(), etw_filetime_now()};
	int fd = etw_symbol_process_root_open(&process);

	assert_true(etw_symbol_living_is(&process));
	assert_true(fd >= 0);
	etw_file_closep(&fd);
	process.time_ft -= 3600 * ETW_FILETIME_PER_SECOND;
	assert_false(etw_symbol_living_is(&process));
	assert_int_equal(etw_symbol_process_root_open(&process), -ESRCH);
	process.time_ft = INT64_MIN;
	assert_false(etw_symbol_living_is(&process));
	process.time_ft = INT64_MAX; /* unknown */
	assert_true(etw_symbol_living_is(&process));
	process.pid = UINT32_MAX;
	assert_false(etw_symbol_living_is(&process));
	assert_int_equal(etw_symbol_process_root_open(&process), -ESRCH);
}

/* Its user may have mounted what never answers. */
static void test_process_root__is_not_looked_into_in_a_user_namespace_of_others(UNUSED_STATE)
{
	struct etw_symbol_process_at process;
	struct child child;
	int fd;

	need_root();
	if (!begin_child(&child, NULL, SECOND_USER, CLONE_NEWUSER | CLONE_NEWNS)) {
		end_child(&child);
		print_message("SKIP: this machine makes no user namespaces for users\n");
		skip();
	}
	process = now_of(&child);
	assert_int_equal(etw_symbol_process_root_open(&process), -EXDEV);
	end_child(&child);
	/* A mount namespace that root made is root's. */
	assert_true(begin_child(&child, NULL, 0, CLONE_NEWNS));
	process = now_of(&child);
	fd = etw_symbol_process_root_open(&process);
	assert_true(fd >= 0);
	etw_file_closep(&fd);
	end_child(&child);
}

static void test_process_root__believes_owners_alone(UNUSED_STATE)
{
	char path[PATH_BYTES];
	int fd;

	need_root();
	assert_true(run("touch file"));
	(void)snprintf(path, sizeof(path), "%s/file", fixture_folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(etw_symbol_is_owner(fd, SECOND_USER));
	assert_int_equal(chown(path, SECOND_USER, SECOND_USER), 0);
	assert_true(etw_symbol_is_owner(fd, SECOND_USER));
	assert_false(etw_symbol_is_owner(fd, FIRST_USER));
	etw_file_closep(&fd);
	assert_false(etw_symbol_is_owner(fd, FIRST_USER));
}

/* Two roots, "one" and "two", that have different programs with one build id at the path /program. */
static uint64_t make_roots(void)
{
	struct etw_symbols *symbols;

	need_root();
	write_text("one.c", "int honest(int x) { return x * 3; }\nint main(void) { return 0; }\n");
	write_text("two.c", "int forged(int x) { return x * 3; }\nint main(void) { return 0; }\n");
	if (!run("mkdir one two && chmod 755 . one two && for name in one two; do "
		 "%s -O1 -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 "
		 "-o $name/program $name.c 2>compiler.log || exit 1; done",
		 ETW_TEST_CC))
		skip();
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "one/program");
	if (frame_of(symbols, BASE).module->reason == ETW_SYMBOL_LEFT_OUT) {
		etw_symbols_free(symbols);
		print_message("SKIP: this build has no libdw\n");
		skip();
	}
	etw_symbols_free(symbols);
	assert_int_equal(address_of("one/program", "honest"), address_of("two/program", "forged"));
	return BASE + address_of("one/program", "honest") - first_address_of("one/program");
}

static void give(const char *root, uint32_t uid)
{
	assert_true(run("chown %u %s/program", uid, root));
}

static const uint8_t build_id[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
				     0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

static void tell_program(struct etw_symbols *symbols, uint32_t pid, int64_t time_ft)
{
	const struct etw_symbol_image image = {pid, BASE, 1 << 20, "/program"};

	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_LOAD, &image, time_ft), 0);
	assert_int_equal(etw_symbols_tell_build_id(symbols, pid, BASE, time_ft, build_id, 16), 0);
}

static struct etw_symbol_frame ask(struct etw_symbols *symbols, uint32_t pid, uint64_t address)
{
	struct etw_symbol_frame frame;

	assert_int_equal(
		etw_symbols_resolve(symbols, pid, INT64_MAX - 1, address, false, &frame, 1), 1);
	return frame;
}

/* Whoever is asked about first: each user's process has the names of its own root. */
static void test_process_root__names_no_other_users_code(UNUSED_STATE)
{
	const uint64_t address = make_roots();
	struct child honest, forger;

	give("one", FIRST_USER);
	give("two", SECOND_USER);
	assert_true(begin_child(&honest, "one", FIRST_USER, 0));
	assert_true(begin_child(&forger, "two", SECOND_USER, 0));
	for (unsigned i = 0; i < 2; i++) {
		struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});
		const uint32_t pids[] = {(uint32_t)honest.pid, (uint32_t)forger.pid};

		tell_program(symbols, pids[0], etw_filetime_now());
		tell_program(symbols, pids[1], etw_filetime_now());
		(void)ask(symbols, pids[i], address);
		assert_string_equal(ask(symbols, pids[0], address).function, "honest");
		assert_string_equal(ask(symbols, pids[1], address).function, "forged");
		etw_symbols_free(symbols);
	}
	end_child(&honest);
	end_child(&forger);
}

static void test_process_root__has_files_of_its_user_alone(UNUSED_STATE)
{
	struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});
	const uint64_t address = make_roots();
	struct etw_symbol_frame frame;
	struct child child;

	give("two", SECOND_USER);
	assert_true(begin_child(&child, "two", FIRST_USER, 0));
	tell_program(symbols, (uint32_t)child.pid, etw_filetime_now());
	frame = ask(symbols, (uint32_t)child.pid, address);
	assert_null(frame.function);
	assert_int_equal(frame.module->reason, ETW_SYMBOL_OTHER_OWNER);
	end_child(&child);
	etw_symbols_free(symbols);
}

static bool say_first_user(const void *context, uint32_t pid, uint32_t *ret)
{
	(void)context;
	(void)pid;
	*ret = FIRST_USER;
	return true;
}

/* The process that is asked about is gone; another of its user has the file, and one that got its number since does not count. */
static void test_process_root__asks_other_processes_of_the_user(UNUSED_STATE)
{
	const struct etw_symbols_options options = {.find_uid = say_first_user};
	const int64_t long_ago_ft = etw_filetime_now() - 3600 * ETW_FILETIME_PER_SECOND;
	struct etw_symbols *symbols = fixture_symbols(&options);
	const uint64_t address = make_roots();
	struct child child, other, gone;

	assert_true(begin_child(&gone, "one", FIRST_USER, 0));
	end_child(&gone);
	assert_true(begin_child(&other, "two", FIRST_USER, 0));
	tell_program(symbols, (uint32_t)gone.pid, etw_filetime_now());
	tell_program(symbols, (uint32_t)other.pid, long_ago_ft);
	assert_null(ask(symbols, (uint32_t)gone.pid, address).function);
	assert_null(ask(symbols, (uint32_t)other.pid, address).function);
	etw_symbols_free(symbols);
	end_child(&other);

	symbols = fixture_symbols(&options);
	assert_true(begin_child(&child, "one", FIRST_USER, 0));
	tell_program(symbols, (uint32_t)gone.pid, etw_filetime_now());
	tell_program(symbols, (uint32_t)child.pid, etw_filetime_now());
	assert_string_equal(ask(symbols, (uint32_t)gone.pid, address).function, "honest");
	etw_symbols_free(symbols);
	end_child(&child);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_process_root__reads_what_proc_says),
		TEST(test_process_root__knows_a_process_by_when_it_started),
		TEST(test_process_root__is_not_looked_into_in_a_user_namespace_of_others),
		TEST(test_process_root__believes_owners_alone),
		TEST(test_process_root__names_no_other_users_code),
		TEST(test_process_root__has_files_of_its_user_alone),
		TEST(test_process_root__asks_other_processes_of_the_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
