/* SPDX-License-Identifier: MIT */
/* What a trace is told of the kernel's own code, on a made-up machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "fake_procfs.h"
#include "fake_source_host.h"
#include "source/kernel/tracker/own.h"
#include "source/kernel/tracker/own_live.h"
#include "wire/class_guids.h"
#include "wire/etl_event.h"
#include "wire/image_symbols.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define MODULE UINT64_C(0xffffffffa0000000)
#define MADE   UINT64_C(0xffffffffa0010000)

#define IMAGE_LOAD     0x030A
#define IMAGE_UNLOAD   0x1402
#define IMAGE_DC_START 0x1403
#define IMAGE_DC_END   0x1404
#define IMAGE_ID       1 /* of this test: no event has this hook */
#define SYMBOLS        2

#define EVENTS_MAX 64

static const char list[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 t first\n"
			   "ffffffff81000100 T second\n"
			   "ffffffff81000200 T third\n"
			   "ffffffff81002000 T _etext\n"
			   "ffffffff83000000 t at_boot\n"
			   "ffffffffa0000000 t open_file\t[my_fs]\n"
			   "ffffffffa0000200 t close_file\t[my_fs]\n"
			   "ffffffffa0010000 t bpf_prog_1\t[bpf]\n"
			   "ffffffffa0010100 t bpf_prog_2\t[bpf]\n";

struct told {
	uint16_t kind;
	uint64_t base, end;
	char path[256];
	struct etw_image_symbols_part part;
	char names[4][32];
	uint32_t sizes[4];
	uint8_t id[16];
};

static char root[] = "/tmp/etw-own-XXXXXX";
static struct fake_source_host fake;
static struct etw_kernel_out out;
static struct etw_kernel_own own;
static struct told told[EVENTS_MAX];
static unsigned told_count;

static void make_machine(void)
{
	static const uint8_t notes[] = {4,    0,    0,    0,    20,   0,    0,    0,    3,
					0,    0,    0,    'G',  'N',  'U',  0,    0xA0, 0xA1,
					0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA,
					0xAB, 0xAC, 0xAD, 0xAE, 0xAF, 0xB0, 0xB1, 0xB2, 0xB3};
	struct utsname names;
	char path[300];

	assert_int_equal(uname(&names), 0);
	fake_text(root, "proc/kallsyms", list);
	fake_text(root, "proc/modules",
		  "my_fs 65537 1 other,third, Live 0xffffffffa0000000\n"
		  "hidden 4096 0 - Live 0x0000000000000000\nnonsense\n");
	fake_file(root, "sys/kernel/notes", notes, sizeof(notes));
	fake_file(root, "sys/module/my_fs/notes/.note.gnu.build-id", notes, sizeof(notes) - 1);
	snprintf(path, sizeof(path), "usr/lib/modules/%s/modules.dep", names.release);
	fake_text(root, path,
		  "kernel/fs/my_fs2.ko: kernel/fs/my-fs.ko.xz\n"
		  "kernel/fs/my-fs.ko.xz: kernel/lib/crc.ko.xz\n");
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	make_machine();
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, NULL), 0);
	own = (struct etw_kernel_own){.root = root};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etw_kernel_own_done(&own);
	etw_kernel_out_done(&out);
	fake_end(root);
	return 0;
}

/* Paths of images are ASCII here. */
static void take_image(const uint8_t *at, uint32_t bytes, struct told *to)
{
	const uint8_t *payload = at + sizeof(struct wire_system_header);
	const uint8_t *path = payload + 56;

	to->kind = (uint16_t)(at[7] << 8 | at[6]);
	to->base = etw_load64(payload);
	to->end = to->base + etw_load64(payload + 8);
	assert_int_equal(etw_load32(payload + 16), 0);
	for (size_t i = 0; path + 2 * i < at + bytes; i++)
		to->path[i] = (char)path[2 * i];
}

static void take_symbols(const uint8_t *at, uint32_t bytes, struct told *to)
{
	const uint8_t *item = at + sizeof(struct wire_event_header);
	struct etw_image_symbols_cursor cursor;
	struct etw_image_symbol symbol;
	struct etw_bytes schema, payload;

	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	schema = (struct etw_bytes){item + 8, etw_load16(item + 6)};
	item += etw_load16(item);
	payload = (struct etw_bytes){item, bytes - (size_t)(item - at)};
	to->kind = SYMBOLS;
	assert_true(etw_image_symbols_parse(schema, payload, &to->part, &cursor));
	to->base = to->part.image_base;
	for (size_t i = 0; i < 4 && etw_image_symbols_next(&to->part, &cursor, &symbol); i++) {
		snprintf(to->names[i], sizeof(to->names[i]), "%s", symbol.name);
		to->sizes[i] = symbol.byte_count;
	}
}

static void take_told(void)
{
	struct etw_source_event event;
	struct etw_source_mark mark;

	memset(told, 0, sizeof(told));
	for (told_count = 0; etw_kernel_out_peek(&out, 0, &event); told_count++) {
		struct told *to = &told[told_count];

		assert_true(told_count < EVENTS_MAX);
		if (event.bytes[2] == WIRE_HEADER_FULL64) {
			to->kind = IMAGE_ID;
			to->base = etw_load64(event.bytes + 0x30);
			memcpy(to->id, event.bytes + 0x3C, sizeof(to->id));
		} else if (event.bytes[2] == WIRE_HEADER_EVENT64) {
			take_symbols(event.bytes, event.byte_count, to);
		} else {
			take_image(event.bytes, event.byte_count, to);
		}
		etw_kernel_out_pop(&out, 0, &mark);
	}
}

static void describe(enum etw_kernel_own_kind kind)
{
	etw_kernel_out_begin(&out, 100, 0, NULL);
	assert_int_equal(etw_kernel_own_describe(&own, &out, kind), 0);
	take_told();
}

static void expect_image(const struct told *one, uint16_t kind, uint64_t base, uint64_t end,
			 const char *path)
{
	assert_int_equal(one->kind, kind);
	assert_int_equal(one->base, base);
	assert_int_equal(one->end, end);
	assert_string_equal(one->path, path);
}

static void test_own__images_with_their_identities(void **state)
{
	struct utsname names;
	char path[300];

	(void)state;
	assert_int_equal(uname(&names), 0);
	describe(ETW_KERNEL_OWN_START);
	assert_int_equal(told_count, 4);
	expect_image(&told[0], IMAGE_DC_START, KERNEL, KERNEL + 0x2000, "vmlinux");
	assert_int_equal(told[1].kind, IMAGE_ID);
	assert_int_equal(told[1].base, KERNEL);
	assert_int_equal(told[1].id[0], 0xA0);
	assert_int_equal(told[1].id[15], 0xAF);
	/* A module's size has what lies elsewhere; it ends where the next one begins. */
	snprintf(path, sizeof(path), "/usr/lib/modules/%s/kernel/fs/my-fs.ko.xz", names.release);
	expect_image(&told[2], IMAGE_DC_START, MODULE, MADE, path);
	/* Its note is cut. */
	expect_image(&told[3], IMAGE_DC_START, MADE, MADE + 0x1000, "[bpf]");
}

static void test_own__what_came_and_went(void **state)
{
	(void)state;
	describe(ETW_KERNEL_OWN_LEARN);
	assert_int_equal(told_count, 0);
	fake_text(root, "proc/modules", "other 4096 0 - Live 0xffffffffa0008000\n");
	describe(ETW_KERNEL_OWN_COPY);
	assert_int_equal(told[0].kind, IMAGE_DC_END);
	describe(ETW_KERNEL_OWN_END);
	expect_image(&told[0], IMAGE_UNLOAD, MODULE, MADE, told[0].path);
	assert_int_equal(told[1].kind, IMAGE_LOAD);
	for (unsigned i = 0; i < told_count; i++)
		assert_int_not_equal(told[i].kind, SYMBOLS);
}

static void test_own__symbols_of_what_was_seen(void **state)
{
	unsigned at = 0;

	(void)state;
	etw_kernel_seen_add(&own.seen, KERNEL + 0x150);
	etw_kernel_seen_add(&own.seen, KERNEL + 0x1ff);
	etw_kernel_seen_add(&own.seen, KERNEL + 0x300000); /* in no image */
	etw_kernel_seen_add(&own.seen, MADE + 0x100); /* behind a call at the end of the first */
	etw_kernel_seen_add(&own.seen, MODULE + 0x10);
	describe(ETW_KERNEL_OWN_START);
	assert_int_equal(told[told_count - 1].kind, IMAGE_DC_START);
	describe(ETW_KERNEL_OWN_END);
	while (told[at].kind != SYMBOLS)
		at++;
	assert_int_equal(told_count, at + 3);
	assert_int_equal(told[at].base, KERNEL);
	assert_int_equal(told[at].part.total, 1);
	assert_string_equal(told[at].names[0], "second");
	assert_int_equal(told[at].sizes[0], 0x100);
	assert_int_equal(told[at + 1].base, MODULE);
	assert_string_equal(told[at + 1].names[0], "open_file");
	assert_int_equal(told[at + 1].sizes[0], 0x200);
	assert_int_equal(told[at + 2].part.total, 2);
	assert_string_equal(told[at + 2].names[0], "bpf_prog_1");
	assert_string_equal(told[at + 2].names[1], "bpf_prog_2");
	assert_int_not_equal(told[at].part.table, told[at + 1].part.table);
}

static void test_own__all_symbols_when_more_was_seen(void **state)
{
	unsigned tables = 0;

	(void)state;
	own.seen.is_all = own.seen.is_used = true;
	describe(ETW_KERNEL_OWN_END);
	for (unsigned i = 0; i < told_count; i++) {
		if (told[i].kind != SYMBOLS)
			continue;
		assert_int_equal(told[i].part.total, tables == 0 ? 3 : 2);
		assert_int_equal(told[i].part.count, told[i].part.total);
		tables++;
	}
	assert_int_equal(tables, 3);
}

static void test_own__hidden_addresses_and_no_list(void **state)
{
	(void)state;
	fake_text(root, "proc/modules", "my_fs 65537 1 - Live 0x0000000000000000\n");
	fake_text(root, "proc/kallsyms", "0000000000000000 T _stext\n");
	assert_true(etw_kernel_own_is_hidden(&own));
	etw_kernel_seen_add(&own.seen, KERNEL);
	describe(ETW_KERNEL_OWN_END);
	assert_int_equal(told_count, 0);
	own.root = "/nonexistent";
	assert_false(etw_kernel_own_is_hidden(&own));
	describe(ETW_KERNEL_OWN_END);
	assert_int_equal(told_count, 0);
	own.root = NULL;
	describe(ETW_KERNEL_OWN_END);
	assert_int_equal(told_count, 0);
}

/* A record of a module, as the kernel tells it. */
static void tell_module(const char *name, uint64_t base, bool is_loaded)
{
	struct etw_kernel_module record = {
		.head = {.kind = ETW_KERNEL_MODULE, .tid = 7, .pid = 6},
		.base = base,
		.byte_count = 0x3000,
		.is_loaded = is_loaded,
	};

	memcpy(record.name, name, strlen(name));
	etw_kernel_out_begin(&out, 101, 0, NULL);
	etw_kernel_own_module(&own, &out, &record);
	take_told();
}

static void tell_made(uint64_t base, uint32_t byte_count, bool is_loaded, const char *name)
{
	const struct etw_kernel_actor actor = {.tid = 7, .pid = 6};
	const struct etw_kernel_made made = {
		.base = base,
		.byte_count = byte_count,
		.is_bpf = strncmp(name, "bpf", 3) == 0,
		.is_loaded = is_loaded,
		.name = name,
	};

	etw_kernel_out_begin(&out, 102, 0, NULL);
	etw_kernel_own_made(&own, &out, actor, &made);
	take_told();
}

static void test_own__a_module_comes_and_goes(void **state)
{
	struct utsname names;
	char path[300];

	(void)state;
	assert_int_equal(uname(&names), 0);
	tell_module("my_fs", MADE + 0x10000, true);
	assert_int_equal(told_count, 0); /* nothing is told in front of the start */
	describe(ETW_KERNEL_OWN_START);
	tell_module("my_fs2", MADE + 0x10000, true);
	assert_int_equal(told_count, 1);
	snprintf(path, sizeof(path), "/usr/lib/modules/%s/kernel/fs/my_fs2.ko", names.release);
	expect_image(&told[0], IMAGE_LOAD, MADE + 0x10000, MADE + 0x13000, path);
	tell_module("my_fs2", MADE + 0x10000, true); /* known */
	assert_int_equal(told_count, 0);
	tell_module("my_fs2", MADE + 0x10000, false);
	assert_int_equal(told_count, 1);
	expect_image(&told[0], IMAGE_UNLOAD, MADE + 0x10000, MADE + 0x13000, path);
	tell_module("my_fs2", MADE + 0x10000, false);
	assert_int_equal(told_count, 0);
	/* One that was there at the start goes, and is not told to have gone at the end once more. */
	tell_module("my_fs", MODULE, false);
	assert_int_equal(told_count, 1);
	assert_int_equal(told[0].kind, IMAGE_UNLOAD);
	fake_text(root, "proc/modules", "");
	describe(ETW_KERNEL_OWN_END);
	for (unsigned i = 0; i < told_count; i++)
		assert_int_not_equal(told[i].kind, IMAGE_UNLOAD);
}

static void test_own__a_module_with_its_identity(void **state)
{
	(void)state;
	describe(ETW_KERNEL_OWN_START);
	fake_file(root, "sys/module/late/notes/.note.gnu.build-id",
		  "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0abcdefghijklmnopqrst", 36);
	tell_module("late", MADE + 0x10000, true);
	assert_int_equal(told_count, 2);
	expect_image(&told[0], IMAGE_LOAD, MADE + 0x10000, MADE + 0x13000, "late.ko");
	assert_int_equal(told[1].kind, IMAGE_ID);
	assert_memory_equal(told[1].id, "abcdefghijklmnop", 16);
	/* /proc/modules counts in another way: it is the same module. */
	fake_text(root, "proc/modules",
		  "my_fs 65537 1 - Live 0xffffffffa0000000\n"
		  "late 8192 0 - Live 0xffffffffa0020000\n");
	describe(ETW_KERNEL_OWN_END);
	for (unsigned i = 0; i < told_count; i++) {
		assert_int_not_equal(told[i].kind, IMAGE_LOAD);
		assert_int_not_equal(told[i].kind, IMAGE_UNLOAD);
	}
}

static void test_own__code_made_at_run_time(void **state)
{
	(void)state;
	describe(ETW_KERNEL_OWN_START);
	/* In the image that the start made of several functions, whose end was not known. */
	tell_made(MADE + 0x200, 0x40, true, "bpf_prog_3");
	assert_int_equal(told_count, 2);
	expect_image(&told[0], IMAGE_LOAD, MADE + 0x200, MADE + 0x240, "[bpf]");
	assert_int_equal(told[1].kind, SYMBOLS);
	assert_int_equal(told[1].base, MADE + 0x200);
	assert_string_equal(told[1].names[0], "bpf_prog_3");
	assert_int_equal(told[1].sizes[0], 0x40);
	tell_made(MADE + 0x200, 0x40, false, "bpf_prog_3");
	assert_int_equal(told_count, 1);
	expect_image(&told[0], IMAGE_UNLOAD, MADE + 0x200, MADE + 0x240, "[bpf]");
	/* The first function of that image goes; others of it may still be there. */
	tell_made(MADE, 0x40, false, "bpf_prog_1");
	assert_int_equal(told_count, 0);
	/* Another takes its place, and one the room in front. */
	tell_made(MADE, 0x60, true, "bpf_prog_5");
	expect_image(&told[0], IMAGE_LOAD, MADE, MADE + 0x60, "[bpf]");
	tell_made(MADE, 0x60, false, "bpf_prog_5");
	expect_image(&told[0], IMAGE_UNLOAD, MADE, MADE + 0x60, "[bpf]");
	tell_made(MADE - 0x20, 0x40, true, "bpf_prog_6");
	expect_image(&told[0], IMAGE_LOAD, MADE - 0x20, MADE + 0x20, "[bpf]");
	tell_made(MADE - 0x20, 0x40, false, "bpf_prog_6");
	expect_image(&told[0], IMAGE_UNLOAD, MADE - 0x20, MADE + 0x20, "[bpf]");
	tell_made(MADE + 0x20000, 0x1000, true, "ftrace_trampoline");
	expect_image(&told[0], IMAGE_LOAD, MADE + 0x20000, MADE + 0x21000, "[__builtin__ftrace]");
	tell_made(MADE + 0x30000, 0x1000, true, "kprobe_insn_page");
	expect_image(&told[0], IMAGE_LOAD, MADE + 0x30000, MADE + 0x31000, "[__builtin__kprobes]");
	/* Sizes and places that cannot be are counted. */
	tell_made(0, 0x1000, true, "bpf_nowhere");
	tell_made(UINT64_MAX - 5, 0x1000, true, "bpf_over_the_end");
	tell_made(MADE + 0x40000, 0, true, "bpf_nothing");
	assert_int_equal(told_count, 0);
	assert_int_equal(out.no_memory, 3);
	/* What is still there at the end did not come there; what is not, went. */
	tell_made(MADE + 0x300, 0x40, true, "bpf_prog_4");
	describe(ETW_KERNEL_OWN_END);
	assert_int_equal(told[0].kind, IMAGE_UNLOAD);
	assert_int_equal(told[0].base, MADE + 0x20000);
	assert_int_equal(told[1].kind, IMAGE_UNLOAD);
	assert_int_equal(told[1].base, MADE + 0x30000);
	for (unsigned i = 2; i < told_count; i++)
		assert_int_equal(told[i].kind == IMAGE_DC_END || told[i].kind == IMAGE_ID, 1);
}

/* The list is read before the programs are loaded that tell what comes then. */
static void test_own__made_between_the_list_and_the_start(void **state)
{
	(void)state;
	etw_kernel_own_prepare(&own);
	tell_made(MADE + 0x200, 0x40, true, "bpf_prog_3");
	tell_made(MADE, 0x60, true, "bpf_prog_5");
	describe(ETW_KERNEL_OWN_START);
	assert_int_equal(told_count, 7);
	expect_image(&told[3], IMAGE_DC_START, MADE, MADE + 0x60, "[bpf]");
	expect_image(&told[4], IMAGE_DC_START, MADE + 0x60, MADE + 0x200, "[bpf]");
	expect_image(&told[5], IMAGE_DC_START, MADE + 0x200, MADE + 0x240, "[bpf]");
	expect_image(&told[6], IMAGE_DC_START, MADE + 0x240, MADE + 0x1000, "[bpf]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own__images_with_their_identities, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_own__what_came_and_went, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own__symbols_of_what_was_seen, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_own__all_symbols_when_more_was_seen, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_own__hidden_addresses_and_no_list, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_own__a_module_comes_and_goes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_own__a_module_with_its_identity, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_own__code_made_at_run_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own__made_between_the_list_and_the_start,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
