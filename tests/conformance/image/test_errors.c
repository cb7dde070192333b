/* SPDX-License-Identifier: MIT */
/* Errors of etw/image.h, without a host. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <etw/image.h>

#define IMAGES_MAX  4096
#define SYMBOLS_MAX 1048576
#define FILE_MAX    ((off_t)256 << 20)
#define PLACE       UINT64_C(0x100000000)
#define NOBODY      65534
#define NOT_LIMITED 255 /* as an exit status */

/* A sanitizer's allocator ends the process when memory runs out, unless it is told to fail. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static const void *place(uint64_t address)
{
	const void *ret;

	memcpy(&ret, &address, sizeof(ret));
	return ret;
}

static struct libetw_image sound(void)
{
	return (struct libetw_image){.base = place(PLACE), .size = 4096, .path = "a.plugin"};
}

static int announce(const struct libetw_image *image)
{
	uint64_t number;
	int r = libetw_image_announce(image, &number);

	if (r == 0)
		assert_int_equal(libetw_image_withdraw(number), 0);
	return r;
}

static void test_errors__of_arguments(void **state)
{
	static const uint8_t build_id[21];
	struct libetw_image image = sound();
	uint64_t number = 77;

	(void)state;
	assert_int_equal(announce(&image), 0);
	assert_int_equal(libetw_image_announce(NULL, &number), -EINVAL);
	assert_int_equal(libetw_image_announce(&image, NULL), -EINVAL);
	image.base = NULL;
	assert_int_equal(announce(&image), -EINVAL);
	image = sound();
	image.size = 0;
	assert_int_equal(announce(&image), -EINVAL);
	image = sound();
	image.path = NULL;
	assert_int_equal(announce(&image), -EINVAL);
	image.path = "";
	assert_int_equal(announce(&image), -EINVAL);
	/* No program has these. */
	image = sound();
	image.base = place(UINT64_C(1) << 56);
	assert_int_equal(announce(&image), -EINVAL);
	image.base = place((UINT64_C(1) << 56) - 4096);
	assert_int_equal(announce(&image), 0);
	image.size = 4097;
	assert_int_equal(announce(&image), -EINVAL);
	image.size = UINT64_MAX;
	assert_int_equal(announce(&image), -EINVAL);
	image = sound();
	image.build_id = build_id;
	image.build_id_bytes = 20;
	assert_int_equal(announce(&image), 0);
	image.build_id_bytes = 21;
	assert_int_equal(announce(&image), -EINVAL);
	image.build_id_bytes = 20;
	image.build_id = NULL;
	assert_int_equal(announce(&image), -EINVAL);
	for (size_t i = 0; i < sizeof(image.reserved) / sizeof(image.reserved[0]); i++) {
		image = sound();
		image.reserved[i] = 1;
		assert_int_equal(announce(&image), -EINVAL);
	}
	image = sound();
	image.reserved_pad = 1;
	assert_int_equal(announce(&image), -EINVAL);
	/* A failed call gives no number. */
	assert_int_equal(libetw_image_announce(&image, &number), -EINVAL);
	assert_int_equal(number, 77);
}

static void test_errors__of_paths(void **state)
{
	char path[3074];
	struct libetw_image image = sound();

	(void)state;
	memset(path, 'a', sizeof(path));
	path[3073] = '\0';
	image.path = path;
	assert_int_equal(announce(&image), -ENAMETOOLONG);
	path[3072] = '\0';
	assert_int_equal(announce(&image), 0);
	image.path = "a\xFF";
	assert_int_equal(announce(&image), -EILSEQ);
}

/* The same of symbols that come with the image and later. */
static void check_symbol(const struct libetw_symbol *symbol, int expected)
{
	struct libetw_image image = sound();
	uint64_t number;

	assert_int_equal(libetw_image_announce(&image, &number), 0);
	assert_int_equal(libetw_image_add_symbols(number, symbol, 1), expected);
	assert_int_equal(libetw_image_withdraw(number), 0);
	image.symbols = symbol;
	image.symbol_count = 1;
	assert_int_equal(announce(&image), expected);
}

static void test_errors__of_symbols(void **state)
{
	char name[1026];
	struct libetw_symbol symbol = {.offset = 4095, .size = 1, .name = "f"};
	struct libetw_image image = sound();

	(void)state;
	check_symbol(&symbol, 0);
	symbol.size = 2;
	check_symbol(&symbol, -EINVAL);
	symbol = (struct libetw_symbol){.offset = 4096, .name = "f"};
	check_symbol(&symbol, -EINVAL);
	symbol = (struct libetw_symbol){.name = NULL};
	check_symbol(&symbol, -EINVAL);
	symbol.name = "";
	check_symbol(&symbol, -EINVAL);
	symbol = (struct libetw_symbol){.reserved_pad = 1, .name = "f"};
	check_symbol(&symbol, -EINVAL);
	symbol = (struct libetw_symbol){.name = "\xC0\x80"};
	check_symbol(&symbol, -EILSEQ);
	memset(name, 'f', sizeof(name));
	name[1025] = '\0';
	symbol.name = name;
	check_symbol(&symbol, -ENAMETOOLONG);
	name[1024] = '\0';
	check_symbol(&symbol, 0);
	/* A count without symbols, and one beyond the limit, which nobody reads. */
	image.symbol_count = 1;
	assert_int_equal(announce(&image), -EINVAL);
	image.symbols = &symbol;
	image.symbol_count = SYMBOLS_MAX + 1;
	assert_int_equal(announce(&image), -E2BIG);
}

static void test_errors__of_numbers(void **state)
{
	static uint64_t numbers[IMAGES_MAX];
	const struct libetw_symbol symbol = {.name = "f"};
	struct libetw_image image = sound();
	uint64_t number;

	(void)state;
	for (size_t i = 0; i < IMAGES_MAX; i++) {
		image.base = place(PLACE + i * 4096);
		assert_int_equal(libetw_image_announce(&image, &numbers[i]), 0);
	}
	image.base = place(PLACE + (uint64_t)IMAGES_MAX * 4096);
	assert_int_equal(libetw_image_announce(&image, &number), -E2BIG);
	for (size_t i = 0; i < IMAGES_MAX; i++)
		assert_int_equal(libetw_image_withdraw(numbers[i]), 0);
	assert_int_equal(libetw_image_withdraw(numbers[0]), -ENOENT);
	assert_int_equal(libetw_image_withdraw(UINT64_MAX), -ENOENT);
	assert_int_equal(libetw_image_add_symbols(numbers[0], &symbol, 1), -ENOENT);
	assert_int_equal(libetw_image_add_symbol_file(numbers[0], "/dev/null", LIBETW_SYMBOLS_ELF),
			 -ENOENT);
}

static void write_file(const char *path, const char *text, off_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	if (bytes)
		assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static void test_errors__of_files(void **state)
{
	char folder[] = "/tmp/etw-image-XXXXXX", path[64];
	struct libetw_image image = sound();
	uint64_t number;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/symbols", folder);
	assert_int_equal(libetw_image_announce(&image, &number), 0);
	assert_int_equal(libetw_image_add_symbol_file(number, NULL, LIBETW_SYMBOLS_ELF), -EINVAL);
	assert_int_equal(libetw_image_add_symbol_file(number, path, LIBETW_SYMBOLS_ELF), -ENOENT);
	assert_int_equal(libetw_image_add_symbol_file(number, folder, LIBETW_SYMBOLS_ELF),
			 -EBADMSG);
	write_file(path, "100000000 10 function\n", 0);
	assert_int_equal(libetw_image_add_symbol_file(number, path, LIBETW_SYMBOLS_PERF_MAP), 0);
	assert_int_equal(libetw_image_add_symbol_file(number, path, LIBETW_SYMBOLS_ELF), -EBADMSG);
	assert_int_equal(libetw_image_add_symbol_file(number, path, LIBETW_SYMBOLS_JITDUMP),
			 -EBADMSG);
	write_file(path, "x", FILE_MAX + 1);
	assert_int_equal(libetw_image_add_symbol_file(number, path, LIBETW_SYMBOLS_ELF), -EFBIG);
	assert_int_equal(libetw_image_withdraw(number), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* What @announce_limited, in a process of its own, which it limits, ends with. */
static void check_limited(int (*announce_limited)(void), int expected)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(announce_limited());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_not_equal(WEXITSTATUS(status), NOT_LIMITED);
	assert_int_equal(WEXITSTATUS(status), expected);
}

static int announce_without_memory(void)
{
	struct libetw_symbol *symbols = calloc(SYMBOLS_MAX, sizeof(*symbols));
	const struct rlimit no_more = {0, 0};
	struct libetw_image image = sound();

	if (!symbols)
		return NOT_LIMITED;
	for (size_t i = 0; i < SYMBOLS_MAX; i++)
		symbols[i].name = "f";
	image.symbols = symbols;
	image.symbol_count = SYMBOLS_MAX;
	if (setrlimit(RLIMIT_AS, &no_more))
		return NOT_LIMITED;
	return -announce(&image);
}

/* Root may make threads beyond any limit. */
static int announce_without_threads(void)
{
	const struct rlimit none = {0, 0};
	struct libetw_image image = sound();

	if (setrlimit(RLIMIT_NPROC, &none) || (geteuid() == 0 && setuid(NOBODY)))
		return NOT_LIMITED;
	return -announce(&image);
}

/* The library looks for hosts when a process announces something first. */
static int announce_far_away(void)
{
	char path[PATH_MAX + 1];
	struct libetw_image image = sound();

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	return setenv("ETW_RUNTIME_DIR", path, 1) ? NOT_LIMITED : -announce(&image);
}

/* First of all: children begin as processes that have announced nothing. */
static void test_errors__of_limits(void **state)
{
	(void)state;
	check_limited(announce_far_away, ENAMETOOLONG);
	check_limited(announce_without_memory, ENOMEM);
	check_limited(announce_without_threads, EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors__of_limits),
		cmocka_unit_test(test_errors__of_arguments),
		cmocka_unit_test(test_errors__of_paths),
		cmocka_unit_test(test_errors__of_symbols),
		cmocka_unit_test(test_errors__of_numbers),
		cmocka_unit_test(test_errors__of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
