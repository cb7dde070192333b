/* SPDX-License-Identifier: MIT */
/*
 * A plug-in loader: code in a form of its own is put into memory and called. Nobody else could know what lies there, so
 * the program says it.
 *
 *	sudo etw record --kernel process,thread,loader -o plugin.etl -- ./announce_image
 *	etw dump plugin.etl --filter 'FileName ends "greet.plugin"'
 */
#include <etw/image.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM_BYTES 4096

/* What the plug-in's file would hold: int greet(void) { return 42; } */
#if defined(__x86_64__)
static const unsigned char plugin[] = {0xB8, 42, 0, 0, 0, 0xC3};
#elif defined(__aarch64__)
static const unsigned char plugin[] = {0x40, 0x05, 0x80, 0x52, 0xC0, 0x03, 0x5F, 0xD6};
#endif

int main(void)
{
	static const unsigned char build_id[] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct libetw_symbol symbols[] = {
		{.offset = 0, .size = sizeof(plugin), .name = "greet"}};
	struct libetw_image image = {
		.size = ROOM_BYTES,
		.path = "greet.plugin",
		.build_id = build_id,
		.build_id_bytes = sizeof(build_id),
		.symbols = symbols,
		.symbol_count = 1,
	};
	int (*greet)(void);
	uint64_t number;
	void *code;
	int r;

	code = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	memcpy(code, plugin, sizeof(plugin));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(plugin));
	if (mprotect(code, ROOM_BYTES, PROT_READ | PROT_EXEC))
		return 1;

	image.base = code;
	r = libetw_image_announce(&image, &number);
	if (r < 0) {
		fprintf(stderr, "announce: %s\n", strerror(-r));
		return 1;
	}
	memcpy(&greet, &code, sizeof(greet));
	printf("the plug-in says %d\n", greet());
	r = libetw_image_withdraw(number);
	munmap(code, ROOM_BYTES);
	return r < 0;
}
