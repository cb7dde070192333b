/* SPDX-License-Identifier: MIT */
/* What is told, and what is answered: images over time, symbols of the trace, the kernel. */
#include "symbol/symbols.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fixture.h"

#define KERNEL UINT64_C(0xFFFFFFFF81000000)

static void tell(struct etw_symbols *symbols, enum etw_symbol_image_told told, uint64_t base,
		 const char *path, int64_t time_raw)
{
	const struct etw_symbol_image image = {PID, base, 0x1000, path};

	assert_int_equal(etw_symbols_tell_image(symbols, told, &image, time_raw), 0);
}

/* The module of an address at a time; "" for none. */
static const char *module_at(struct etw_symbols *symbols, uint64_t address, int64_t time_raw)
{
	struct etw_symbol_frame frame;

	assert_int_equal(etw_symbols_resolve(symbols, PID, time_raw, address, false, &frame, 1), 1);
	return frame.module ? frame.module->name : "";
}

static struct etw_symbols *elsewhere(void)
{
	return fixture_symbols(
		&(struct etw_symbols_options){.is_elsewhere = true, .search_path = ""});
}

static void test_symbols__finds_images_by_time(UNUSED_STATE)
{
	struct etw_symbols *symbols = elsewhere();

	/* In another order than that of time. */
	tell(symbols, ETW_SYMBOL_LOAD, BASE, "/lib/second.so", 300);
	tell(symbols, ETW_SYMBOL_UNLOAD, BASE, "/lib/first.so", 200);
	tell(symbols, ETW_SYMBOL_LOAD, BASE, "/lib/first.so", 100);
	assert_string_equal(module_at(symbols, BASE, 99), "");
	assert_string_equal(module_at(symbols, BASE, 100), "first.so");
	assert_string_equal(module_at(symbols, BASE + 0xfff, 199), "first.so");
	assert_string_equal(module_at(symbols, BASE + 0x1000, 199), "");
	/* The stack of the unload itself is of that moment. */
	assert_string_equal(module_at(symbols, BASE, 200), "first.so");
	assert_string_equal(module_at(symbols, BASE, 201), "");
	assert_string_equal(module_at(symbols, BASE, 1000), "second.so");
	/* What is told later counts from then on. */
	tell(symbols, ETW_SYMBOL_UNLOAD, BASE, "/lib/second.so", 400);
	assert_string_equal(module_at(symbols, BASE, 1000), "");
	/* Of two at the moment of the change the later. */
	tell(symbols, ETW_SYMBOL_LOAD, BASE, "/lib/third.so", 400);
	assert_string_equal(module_at(symbols, BASE, 400), "third.so");
	assert_string_equal(module_at(symbols, BASE, 399), "second.so");
	etw_symbols_free(symbols);
}

static void test_symbols__takes_rundowns_for_what_was_there_before(UNUSED_STATE)
{
	struct etw_symbols *symbols = elsewhere();

	tell(symbols, ETW_SYMBOL_WAS_LOADED, BASE, "/lib/was.so", 50);
	tell(symbols, ETW_SYMBOL_IS_LOADED, BASE, "/lib/was.so", 500);
	tell(symbols, ETW_SYMBOL_IS_LOADED, 2 * BASE, "/lib/is.so", 500);
	tell(symbols, ETW_SYMBOL_UNLOAD, 3 * BASE / 2, "/lib/gone.so", 300);
	assert_string_equal(module_at(symbols, BASE, -5), "was.so");
	assert_string_equal(module_at(symbols, BASE, 900), "was.so");
	assert_string_equal(module_at(symbols, 2 * BASE, 1), "is.so");
	assert_string_equal(module_at(symbols, 3 * BASE / 2, 1), "gone.so");
	assert_string_equal(module_at(symbols, 3 * BASE / 2, 301), "");
	etw_symbols_free(symbols);
}

static void test_symbols__takes_the_youngest_of_images_that_overlap(UNUSED_STATE)
{
	struct etw_symbols *symbols = elsewhere();

	tell(symbols, ETW_SYMBOL_LOAD, BASE + 0x800, "/lib/old.so", 100);
	tell(symbols, ETW_SYMBOL_LOAD, BASE, "/lib/young.so", 200);
	assert_string_equal(module_at(symbols, BASE + 0x900, 150), "old.so");
	assert_string_equal(module_at(symbols, BASE + 0x900, 250), "young.so");
	assert_string_equal(module_at(symbols, BASE + 0x1100, 250), "old.so");
	/* An unload that was lost. */
	tell(symbols, ETW_SYMBOL_LOAD, BASE, "/lib/again.so", 300);
	assert_string_equal(module_at(symbols, BASE, 299), "young.so");
	assert_string_equal(module_at(symbols, BASE, 300), "again.so");
	etw_symbols_free(symbols);
}

static void test_symbols__keeps_builds_of_one_path_apart(UNUSED_STATE)
{
	static const uint8_t one[16] = {1}, other[16] = {2};
	struct etw_symbols *symbols = elsewhere();

	tell(symbols, ETW_SYMBOL_LOAD, BASE, "/lib/a.so", 100);
	tell(symbols, ETW_SYMBOL_LOAD, 2 * BASE, "/lib/a.so", 100);
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, BASE, 100, one, 16), 0);
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, 2 * BASE, 100, other, 16), 0);
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, BASE, 100, one, 0), -EINVAL);
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, BASE, 100, one, 21), -EINVAL);
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, 3 * BASE, 100, one, 16), 0);
	(void)module_at(symbols, BASE, 100);
	(void)module_at(symbols, 2 * BASE, 100);
	assert_int_equal(etw_symbols_module_count(symbols), 2);
	assert_int_equal(etw_symbols_module_at(symbols, 1)->build_id[0], 2);
	assert_null(etw_symbols_module_at(symbols, 2));
	assert_int_equal(etw_symbols_dropped(symbols), 0);
	etw_symbols_free(symbols);
}

static void test_symbols__names_by_what_the_trace_announces(UNUSED_STATE)
{
	static const struct etw_symbol_told first = {0x10, 0x10, "First", 5, NULL};
	static const struct etw_symbol_told second = {0x40, 0, "Second", 6, NULL};
	struct etw_symbols *symbols = elsewhere();
	struct etw_symbol_frame frame;

	tell(symbols, ETW_SYMBOL_LOAD, BASE, "made code", 10);
	assert_int_equal(etw_symbols_tell_symbols(symbols, PID, BASE, 11, &first, 1), 0);
	frame = frame_of(symbols, BASE + 0x1f);
	assert_string_equal(frame.function, "First");
	assert_int_equal(frame.offset, 0xf);
	/* Told in parts, between questions. */
	assert_int_equal(etw_symbols_tell_symbols(symbols, PID, BASE, 12, &second, 1), 0);
	assert_int_equal(etw_symbols_tell_symbols(symbols, PID, BASE, 12, &second, 1), 0);
	assert_string_equal(frame_of(symbols, BASE + 0x45).function, "Second");
	assert_string_equal(frame_of(symbols, BASE + 0x15).function, "First");
	frame = frame_of(symbols, BASE + 0x25);
	assert_null(frame.function);
	assert_int_equal(frame.offset, 0x25);
	assert_string_equal(frame.module->name, "made code");
	etw_symbols_free(symbols);
}

static void tell_of(struct etw_symbols *symbols, uint32_t pid, enum etw_symbol_image_told told,
		    const char *path, int64_t time_raw)
{
	const struct etw_symbol_image image = {pid, BASE, 0x1000, path};

	assert_int_equal(etw_symbols_tell_image(symbols, told, &image, time_raw), 0);
}

static const char *function_of(struct etw_symbols *symbols, uint32_t pid, int64_t time_raw,
			       uint64_t offset)
{
	struct etw_symbol_frame frame;

	assert_int_equal(
		etw_symbols_resolve(symbols, pid, time_raw, BASE + offset, false, &frame, 1), 1);
	return frame.function ? frame.function : "";
}

/* A child's child has the names that were told of the first, also of one that is gone by then, and its own come first. */
static void test_symbols__names_what_was_inherited(UNUSED_STATE)
{
	static const struct etw_symbol_told first = {0x10, 0x10, "First", 5, NULL};
	static const struct etw_symbol_told other = {0x10, 0x10, "Other", 5, NULL};
	struct etw_symbols *symbols = elsewhere();

	tell_of(symbols, 41, ETW_SYMBOL_LOAD, "made code", 20);
	assert_int_equal(etw_symbols_tell_inherited(symbols, 41, BASE, 20, PID), 0);
	tell_of(symbols, 42, ETW_SYMBOL_LOAD, "made code", 30);
	assert_int_equal(etw_symbols_tell_inherited(symbols, 42, BASE, 30, 41), 0);
	tell_of(symbols, 41, ETW_SYMBOL_UNLOAD, "made code", 35);
	assert_string_equal(function_of(symbols, 42, 40, 0x15), "");
	tell_of(symbols, PID, ETW_SYMBOL_LOAD, "made code", 10);
	assert_int_equal(etw_symbols_tell_symbols(symbols, PID, BASE, 10, &first, 1), 0);
	tell_of(symbols, PID, ETW_SYMBOL_UNLOAD, "made code", 25);
	/* Another one at that place, later. */
	tell_of(symbols, PID, ETW_SYMBOL_LOAD, "other code", 26);
	assert_int_equal(etw_symbols_tell_symbols(symbols, PID, BASE, 26, &other, 1), 0);
	assert_string_equal(function_of(symbols, 41, 30, 0x15), "First");
	assert_string_equal(function_of(symbols, 42, 40, 0x15), "First");
	assert_string_equal(function_of(symbols, PID, 40, 0x15), "Other");
	assert_string_equal(function_of(symbols, 42, 40, 0x25), "");
	assert_int_equal(etw_symbols_tell_symbols(symbols, 42, BASE, 31, &other, 1), 0);
	assert_string_equal(function_of(symbols, 42, 40, 0x15), "Other");
	assert_string_equal(function_of(symbols, 41, 30, 0x15), "First");
	assert_int_equal(etw_symbols_keeps_frame(symbols, 41, 30, BASE + 0x15, false), -ENOENT);
	etw_symbols_free(symbols);
}

/* Damaged traces say anything. */
static void test_symbols__inherited_in_a_circle(UNUSED_STATE)
{
	struct etw_symbols *symbols = elsewhere();

	for (uint32_t pid = 41; pid <= 42; pid++) {
		tell_of(symbols, pid, ETW_SYMBOL_LOAD, "made code", 10);
		assert_int_equal(etw_symbols_tell_inherited(symbols, pid, BASE, 10, 83 - pid), 0);
	}
	tell_of(symbols, 43, ETW_SYMBOL_LOAD, "made code", 10);
	assert_int_equal(etw_symbols_tell_inherited(symbols, 43, BASE, 10, 43), 0);
	tell_of(symbols, 44, ETW_SYMBOL_LOAD, "other code", 10);
	assert_int_equal(etw_symbols_tell_inherited(symbols, 44, BASE, 10, 41), 0);
	for (uint32_t pid = 41; pid <= 44; pid++)
		assert_string_equal(function_of(symbols, pid, 11, 0x15), "");
	etw_symbols_free(symbols);
}

static void test_symbols__names_the_kernel_in_every_process(UNUSED_STATE)
{
	static const struct etw_symbol_told told[] = {
		{KERNEL + 0x100, 0, "do_work", 7, NULL},
		{KERNEL + 0x200, 0, "do_more", 7, NULL},
		{KERNEL + 0x900000, 0x100, "ext4_read", 9, "[ext4]"},
	};
	struct etw_symbols *symbols = elsewhere();
	struct etw_symbol_frame frame = frame_of(symbols, KERNEL);

	assert_null(frame.function);
	assert_string_equal(frame.module->name, "[kernel]");
	assert_int_equal(frame.module->reason, ETW_SYMBOL_NO_SYMBOLS);
	assert_int_equal(etw_symbols_tell_kernel(symbols, told, 3), 0);
	frame = frame_of(symbols, KERNEL + 0x123);
	assert_string_equal(frame.function, "do_work");
	assert_string_equal(frame.module->name, "[kernel]");
	assert_int_equal(frame.module->reason, ETW_SYMBOL_OK);
	assert_string_equal(frame_of(symbols, KERNEL + 0x900001).module->name, "[ext4]");
	etw_symbols_free(symbols);
}

static void test_symbols__names_the_kernel_by_its_images(UNUSED_STATE)
{
	static const struct etw_symbol_image kernel = {0, KERNEL, 0x10000, "vmlinux"};
	static const struct etw_symbol_told told = {0x100, 0x100, "do_work", 7, NULL};
	struct etw_symbols *symbols = elsewhere();
	struct etw_symbol_frame frame;

	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_WAS_LOADED, &kernel, 1), 0);
	assert_int_equal(etw_symbols_tell_symbols(symbols, 0, KERNEL, 900, &told, 1), 0);
	frame = frame_of(symbols, KERNEL + 0x104);
	assert_string_equal(frame.function, "do_work");
	assert_int_equal(frame.offset, 4);
	assert_string_equal(frame.module->name, "vmlinux");
	assert_int_equal(frame.module->reason, ETW_SYMBOL_OK);
	frame = frame_of(symbols, KERNEL + 0x200);
	assert_null(frame.function);
	assert_int_equal(frame.offset, 0x200);
	etw_symbols_free(symbols);
}

static void test_symbols__says_a_bare_address_where_nothing_is_known(UNUSED_STATE)
{
	struct etw_symbols *symbols = elsewhere();
	struct etw_symbol_frame frame = frame_of(symbols, 0x1234);

	assert_null(frame.module);
	assert_null(frame.function);
	assert_int_equal(frame.offset, 0x1234);
	assert_int_equal(etw_symbols_resolve(symbols, PID, 20, 0, true, &frame, 1), 1);
	assert_int_equal(frame.offset, 0);
	etw_symbols_free(symbols);
}

static void test_symbols__reads_kallsyms(UNUSED_STATE)
{
	struct etw_symbols *symbols = elsewhere();
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/kallsyms", fixture_folder);
	write_text("kallsyms", "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 t helper\n"
			       "ffffffff81000180 d data\n"
			       "ffffffffc0000000 t driver_probe\t[driver]\n");
	assert_int_equal(etw_symbols_read_kallsyms(symbols, path), 0);
	assert_string_equal(frame_of(symbols, KERNEL + 0x190).function, "helper");
	assert_string_equal(frame_of(symbols, UINT64_C(0xffffffffc0000004)).module->name,
			    "[driver]");
	write_text("kallsyms", "0000000000000000 T _text\n");
	assert_int_equal(etw_symbols_read_kallsyms(symbols, path), -EACCES);
	write_text("kallsyms", "no symbol\n");
	assert_int_equal(etw_symbols_read_kallsyms(symbols, path), -EBADMSG);
	write_text("kallsyms", "");
	assert_int_equal(etw_symbols_read_kallsyms(symbols, path), -EBADMSG);
	assert_int_equal(etw_symbols_read_kallsyms(symbols, "/nowhere"), -ENOENT);
	etw_symbols_free(symbols);

	symbols = elsewhere();
	write_text("kallsyms", "0000000000000000 T _text\n");
	assert_int_equal(etw_symbols_read_kallsyms(symbols, path), -EACCES);
	assert_int_equal(frame_of(symbols, KERNEL).module->reason, ETW_SYMBOL_HIDDEN);
	etw_symbols_free(symbols);
}

static void test_symbols__knows_this_boot(UNUSED_STATE)
{
	int64_t boot_ft = etw_filetime_now() -
			  (int64_t)(etw_time_read_ns(CLOCK_BOOTTIME) / ETW_NS_PER_FT);

	assert_true(etw_symbols_is_this_boot(boot_ft));
	assert_false(etw_symbols_is_this_boot(boot_ft - 3600 * ETW_FILETIME_PER_SECOND));
	assert_false(etw_symbols_is_this_boot(0));
	assert_false(etw_symbols_is_this_boot(INT64_MIN));
	assert_false(etw_symbols_is_this_boot(INT64_MAX));
}

/* The build id in the notes of this process' vDSO. */
static size_t find_vdso(struct dl_phdr_info *info, uint8_t *build_id)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr);
		const uint8_t *end = at + segment->p_memsz;

		while (segment->p_type == PT_NOTE && end - at > 16) {
			uint32_t head[3];

			memcpy(head, at, sizeof(head));
			if (head[2] == NT_GNU_BUILD_ID && head[1] >= 16) {
				memcpy(build_id, at + 16, 16);
				return 16;
			}
			at += 12 + ((head[0] + 3) & ~3U) + ((head[1] + 3) & ~3U);
		}
	}
	return 0;
}

static int take_vdso(struct dl_phdr_info *info, size_t bytes, void *build_id)
{
	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    info->dlpi_addr + info->dlpi_phdr[i].p_vaddr == getauxval(AT_SYSINFO_EHDR))
			return (int)find_vdso(info, build_id);
	return 0;
}

static void test_symbols__names_the_vdso(UNUSED_STATE)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	const struct etw_symbol_image image = {PID, base, 0x2000, "[vdso]"};
	struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});
	struct etw_symbol_frame frame = {0};
	uint8_t build_id[16];
	unsigned named = 0;

	if (!base || !dl_iterate_phdr(take_vdso, build_id)) {
		print_message("SKIP: the kernel gives no vDSO with a build id\n");
		etw_symbols_free(symbols);
		skip();
	}
	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_LOAD, &image, 1), 0);
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, base, 1, build_id, 16), 0);
	for (uint64_t offset = 0; offset < 0x2000; offset += 8) {
		frame = frame_of(symbols, base + offset);
		named += frame.function && strstr(frame.function, "gettime") != NULL;
	}
	if (frame.module->reason == ETW_SYMBOL_LEFT_OUT) {
		print_message("SKIP: this build has no libdw\n");
		etw_symbols_free(symbols);
		skip();
	}
	assert_true(named > 0);
	etw_symbols_free(symbols);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols__finds_images_by_time),
		cmocka_unit_test(test_symbols__takes_rundowns_for_what_was_there_before),
		cmocka_unit_test(test_symbols__takes_the_youngest_of_images_that_overlap),
		cmocka_unit_test(test_symbols__keeps_builds_of_one_path_apart),
		cmocka_unit_test(test_symbols__names_by_what_the_trace_announces),
		cmocka_unit_test(test_symbols__names_what_was_inherited),
		cmocka_unit_test(test_symbols__inherited_in_a_circle),
		cmocka_unit_test(test_symbols__names_the_kernel_in_every_process),
		cmocka_unit_test(test_symbols__names_the_kernel_by_its_images),
		cmocka_unit_test(test_symbols__says_a_bare_address_where_nothing_is_known),
		IN_FOLDER(test_symbols__reads_kallsyms),
		cmocka_unit_test(test_symbols__knows_this_boot),
		cmocka_unit_test(test_symbols__names_the_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
