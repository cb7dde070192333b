/* SPDX-License-Identifier: MIT */
/*
 * Code of a program's own: announced with one function, told of another, inherited by a child, and withdrawn.
 *
 *	announce_images [--while COMMAND...]
 *	announce_images --keep SYMBOLS CHILDREN
 *
 * With a command, it runs while the image is there. With --keep, an image with that many symbols is announced, inherited by
 * so many children, and withdrawn while they live: over and over, until a host keeps no more. Then it says "kept N".
 */
#include <etw/image.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM_BYTES 8192
#define KEEP_BYTES (1 << 24)
#define KEEP_MAX   64 /* images; a host keeps far less */
#define NAME_BYTES 64
#define HEARD_US   500000

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

/* Children that end with the pipe's other end. */
static int have_children(const int ends[2], int count)
{
	char byte;

	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			return -errno;
		if (child > 0)
			continue;
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	return 0;
}

/* One image: announced, inherited, and withdrawn. Of a busy host the answer comes with a later call. */
static int keep_one(const struct libetw_image *image, const int ends[2], int children)
{
	uint64_t number;
	int r = libetw_image_announce(image, &number);

	if (r < 0)
		return r;
	usleep(HEARD_US);
	r = libetw_image_add_symbols(number, image->symbols, 1);
	if (r < 0)
		return r;
	r = have_children(ends, children);
	return r < 0 ? r : libetw_image_withdraw(number);
}

static int keep(size_t symbol_count, int children)
{
	struct libetw_symbol *symbols = calloc(symbol_count, sizeof(*symbols));
	struct libetw_image image = {.size = KEEP_BYTES, .path = "announced.plugin"};
	char(*names)[NAME_BYTES] = calloc(symbol_count, sizeof(*names));
	int ends[2], r = 0, kept = 0;

	if (!symbols || !names || pipe(ends) < 0)
		return fail("room", -ENOMEM);
	for (size_t i = 0; i < symbol_count; i++) {
		snprintf(names[i], sizeof(names[i]), "kept_function_%040zu", i);
		symbols[i].offset = i * 16;
		symbols[i].size = 16;
		symbols[i].name = names[i];
	}
	image.base = mmap(NULL, KEEP_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	image.symbols = symbols;
	image.symbol_count = symbol_count;
	while (kept < KEEP_MAX && !(r = keep_one(&image, ends, children)))
		kept++;
	printf("kept %d\n", kept);
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	free(symbols);
	free(names);
	return r == -ENOSPC ? 0 : fail("keep", r);
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

	if (argc > 3 && strcmp(argv[1], "--keep") == 0)
		return keep(strtoul(argv[2], NULL, 10), atoi(argv[3]));
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
