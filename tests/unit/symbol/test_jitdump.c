/* SPDX-License-Identifier: MIT */
#include "symbol/jitdump.h"

#include <byteswap.h>

#include "fixture.h"

#define ROOM 4096

/* A jitdump that is made here. */
struct made {
	uint8_t bytes[ROOM];
	size_t count;
	bool is_swapped;
};

static void put32(struct made *made, uint32_t value)
{
	value = made->is_swapped ? bswap_32(value) : value;
	memcpy(made->bytes + made->count, &value, sizeof(value));
	made->count += sizeof(value);
}

static void put64(struct made *made, uint64_t value)
{
	value = made->is_swapped ? bswap_64(value) : value;
	memcpy(made->bytes + made->count, &value, sizeof(value));
	made->count += sizeof(value);
}

static void put_text(struct made *made, const char *text)
{
	memcpy(made->bytes + made->count, text, strlen(text) + 1);
	made->count += strlen(text) + 1;
}

static void put_header(struct made *made, uint64_t flags)
{
	put32(made, 0x4A695444);
	put32(made, 1);
	put32(made, 40);
	put32(made, 62);
	put32(made, 0);
	put32(made, PID);
	put64(made, 1000);
	put64(made, flags);
}

static void put_record(struct made *made, uint32_t kind, uint32_t body_bytes, uint64_t time_ns)
{
	put32(made, kind);
	put32(made, 16 + body_bytes);
	put64(made, time_ns);
}

static void put_load(struct made *made, uint64_t time_ns, uint64_t start, uint64_t bytes,
		     uint64_t index, const char *name)
{
	put_record(made, 0, (uint32_t)(40 + strlen(name) + 1 + bytes), time_ns);
	put32(made, PID);
	put32(made, PID);
	put64(made, start);
	put64(made, start);
	put64(made, bytes);
	put64(made, index);
	put_text(made, name);
	made->count += bytes; /* the code */
}

static void put_move(struct made *made, uint64_t time_ns, uint64_t from, uint64_t to,
		     uint64_t bytes, uint64_t index)
{
	put_record(made, 1, 48, time_ns);
	put32(made, PID);
	put32(made, PID);
	put64(made, from);
	put64(made, from);
	put64(made, to);
	put64(made, bytes);
	put64(made, index);
}

static size_t read_made(void *context, uint64_t offset, void *to, size_t bytes)
{
	const struct made *made = context;

	if (offset >= made->count)
		return 0;
	if (bytes > made->count - offset)
		bytes = made->count - offset;
	memcpy(to, made->bytes + offset, bytes);
	return bytes;
}

struct parsed {
	struct etw_symbol_strings strings;
	struct etw_symbol_jitdump dump;
};

static int parse(struct made *made, struct parsed *ret)
{
	etw_symbol_strings_init(&ret->strings);
	return etw_symbol_jitdump_parse(read_made, made, &ret->strings, &ret->dump, NULL);
}

static void parsed_done(struct parsed *parsed)
{
	etw_symbol_jitdump_done(&parsed->dump);
	etw_symbol_strings_done(&parsed->strings);
}

static const char *name_at(const struct parsed *parsed, uint64_t address, uint64_t time_ns)
{
	const struct etw_symbol_jit_function *function = etw_symbol_jitdump_find(&parsed->dump,
										 address, time_ns);

	return function ? function->name : "";
}

static void test_jitdump__tells_what_was_at_an_address_at_a_time(UNUSED_STATE)
{
	struct made made = {0};
	struct parsed parsed;

	put_header(&made, 0);
	put_load(&made, 100, 0x1000, 0x20, 1, "first");
	put_load(&made, 200, 0x1000, 0x40, 2, "second");
	put_load(&made, 300, 0x1010, 0x10, 3, "third");
	put_record(&made, 3, 0, 400);
	assert_int_equal(parse(&made, &parsed), 0);
	assert_int_equal(parsed.dump.count, 3);
	assert_false(parsed.dump.is_cut);
	assert_true(parsed.dump.has_monotonic_time);
	assert_string_equal(name_at(&parsed, 0x1018, 150), "first");
	assert_string_equal(name_at(&parsed, 0x1018, 200), "second");
	assert_string_equal(name_at(&parsed, 0x1018, 350), "third");
	assert_string_equal(name_at(&parsed, 0x1018, ETW_SYMBOL_JIT_LATEST), "third");
	assert_string_equal(name_at(&parsed, 0x1030, 150), "second");
	assert_string_equal(name_at(&parsed, 0x1018, 50), "first"); /* told of late */
	assert_string_equal(name_at(&parsed, 0x1040, 350), "");
	assert_string_equal(name_at(&parsed, 0xfff, 350), "");
	parsed_done(&parsed);
}

static void test_jitdump__follows_code_that_is_moved(UNUSED_STATE)
{
	struct made made = {.is_swapped = true};
	struct parsed parsed;

	put_header(&made, 1);
	put_load(&made, 100, 0x1000, 0x20, 7, "moved");
	put_move(&made, 200, 0x1000, 0x9000, 0x20, 7);
	put_move(&made, 200, 0x1000, 0x9000, 0x20, 8); /* of nothing */
	put_load(&made, 300, 0x1000, 0x20, 9, "after");
	assert_int_equal(parse(&made, &parsed), 0);
	assert_false(parsed.dump.has_monotonic_time);
	assert_string_equal(name_at(&parsed, 0x1000, 150), "moved");
	assert_string_equal(name_at(&parsed, 0x9000, 250), "moved");
	assert_string_equal(name_at(&parsed, 0x1000, 350), "after");
	parsed_done(&parsed);
}

static void test_jitdump__tells_lines(UNUSED_STATE)
{
	const struct etw_symbol_jit_function *function;
	struct made made = {0};
	struct parsed parsed;

	put_header(&made, 0);
	put_record(&made, 2, 16 + 2 * 16 + 5 + 2, 90);
	put64(&made, 0x1000);
	put64(&made, 2);
	put64(&made, 0x1000);
	put32(&made, 10);
	put32(&made, 0);
	put_text(&made, "a.js");
	put64(&made, 0x1010);
	put32(&made, 11);
	put32(&made, 0);
	put_text(&made, "\xff");
	put_load(&made, 100, 0x1000, 0x20, 1, "function");
	put_load(&made, 100, 0x2000, 0x20, 2, "without");
	put_move(&made, 200, 0x1000, 0x5000, 0x20, 1);
	assert_int_equal(parse(&made, &parsed), 0);
	function = etw_symbol_jitdump_find(&parsed.dump, 0x1004, 100);
	assert_int_equal(etw_symbol_jitdump_line(&parsed.dump, function, 0x1004)->line, 10);
	assert_int_equal(etw_symbol_jitdump_line(&parsed.dump, function, 0x101f)->line, 11);
	assert_string_equal(etw_symbol_jitdump_line(&parsed.dump, function, 0x101f)->file, "a.js");
	function = etw_symbol_jitdump_find(&parsed.dump, 0x5014, 300);
	assert_int_equal(etw_symbol_jitdump_line(&parsed.dump, function, 0x5014)->line, 11);
	function = etw_symbol_jitdump_find(&parsed.dump, 0x2004, 100);
	assert_null(etw_symbol_jitdump_line(&parsed.dump, function, 0x2004));
	parsed_done(&parsed);
}

static void test_jitdump__refuses_what_has_no_header(UNUSED_STATE)
{
	static const size_t places[] = {0, 4, 8};
	struct etw_fault fault;
	struct parsed parsed;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct made made = {0};

		put_header(&made, 0);
		made.bytes[places[i]] ^= 0x20;
		etw_symbol_strings_init(&parsed.strings);
		assert_int_equal(etw_symbol_jitdump_parse(read_made, &made, &parsed.strings,
							  &parsed.dump, &fault),
				 -EBADMSG);
		assert_int_equal(fault.offset, places[i]);
		parsed_done(&parsed);
	}
}

static void test_jitdump__survives_a_cut_anywhere(UNUSED_STATE)
{
	struct made whole = {0};
	struct parsed parsed;

	put_header(&whole, 0);
	put_load(&whole, 100, 0x1000, 0x20, 1, "first");
	put_move(&whole, 200, 0x1000, 0x9000, 0x20, 1);
	for (size_t bytes = 0; bytes <= whole.count; bytes++) {
		struct made made = whole;

		made.count = bytes;
		assert_int_equal(parse(&made, &parsed), bytes < 40 ? -EBADMSG : 0);
		if (bytes == whole.count)
			assert_int_equal(parsed.dump.count, 2);
		parsed_done(&parsed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jitdump__tells_what_was_at_an_address_at_a_time),
		cmocka_unit_test(test_jitdump__follows_code_that_is_moved),
		cmocka_unit_test(test_jitdump__tells_lines),
		cmocka_unit_test(test_jitdump__refuses_what_has_no_header),
		cmocka_unit_test(test_jitdump__survives_a_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
