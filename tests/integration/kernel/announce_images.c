/* SPDX-License-Identifier: MIT */
/*
 * Code of a program's own: announced with one function, told of another, inherited by a child, and withdrawn.
 *
 *	announce_images [--while COMMAND...]
 *
 * With a command, it runs while the image is there.
 */
#include <etw/image.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM_BYTES 8192

static int fail(const char *what, int r)
{
	fprintf(stderr, "announce_images: %s: %s\n", what, strerror(-r));
	return 1;
}

static int run(char **command)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const struct libetw_symbol first = {.offset = 0, .size = 64, .name = "first_function"};
	const struct libetw_symbol second = {.offset = 64, .size = 64, .name = "second_function"};
	static const uint8_t build_id[] = {1, 2, 3, 4};
	struct libetw_image image = {
		.size = ROOM_BYTES,
		.path = "announced.plugin",
		.build_id = build_id,
		.build_id_bytes = sizeof(build_id),
		.symbols = &first,
		.symbol_count = 1,
	};
	int status = 0, r;
	uint64_t number;
	pid_t child;

	image.base = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	if (image.base == MAP_FAILED)
		return fail("mmap", -1);
	r = libetw_image_announce(&image, &number);
	if (r < 0)
		return fail("announce", r);
	r = libetw_image_add_symbols(number, &second, 1);
	if (r < 0)
		return fail("add symbols", r);
	if (argc > 2 && strcmp(argv[1], "--while") == 0) {
		status = run(argv + 2);
	} else {
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, &status, 0);
		printf("parent %d\nchild %d\n", (int)getpid(), (int)child);
	}
	r = libetw_image_withdraw(number);
	if (r < 0)
		return fail("withdraw", r);
	return status != 0;
}
