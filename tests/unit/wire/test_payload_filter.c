/* SPDX-License-Identifier: MIT */
/*
 * Payload filters as bytes: what the check refuses, with its sentence, and what the walk makes of payloads. How
 * predicates become bytes: tests/unit/api/test_payload_program.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tdh.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/payload_filter.h"

static const GUID provider = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static union {
	uint8_t at[8192];
	uint64_t alignment;
} blob;
static size_t blob_bytes;
static size_t event_at;

static void *add(size_t bytes)
{
	void *at = blob.at + blob_bytes;

	memset(at, 0, bytes);
	blob_bytes += bytes;
	return at;
}

static struct wire_payload_filter *head(void)
{
	return (struct wire_payload_filter *)(void *)blob.at;
}

static struct wire_payload_event *last_event(void)
{
	return (struct wire_payload_event *)(void *)(blob.at + event_at);
}

static void begin(void)
{
	struct wire_payload_filter *filter;

	blob_bytes = 0;
	filter = add(sizeof(*filter));
	memcpy(filter->magic, WIRE_PAYLOAD_FILTER_MAGIC, 4);
	filter->version = le16_of(WIRE_PAYLOAD_FILTER_VERSION);
	etw_guid_write(filter->provider, &provider);
}

static void add_event(uint16_t id, uint8_t flags)
{
	struct wire_payload_event *event;

	event_at = blob_bytes;
	event = add(sizeof(*event));
	event->id = le16_of(id);
	event->version = 1;
	event->flags = flags;
	head()->filter_count = le16_of((uint16_t)(le16_get(head()->filter_count) + 1));
}

static struct wire_payload_step *add_step(uint8_t extent, uint16_t unit)
{
	struct wire_payload_step *step = add(sizeof(*step));

	step->extent = extent;
	step->unit = le16_of(unit);
	step->count = le16_of(1);
	last_event()->step_count++;
	return step;
}

static struct wire_payload_predicate *add_predicate(uint8_t operation, uint8_t kind, uint8_t step,
						    const void *operand, size_t bytes)
{
	struct wire_payload_predicate *predicate = add(sizeof(*predicate) + ALIGN_UP(bytes, 4));

	predicate->bytes = le16_of((uint16_t)(sizeof(*predicate) + ALIGN_UP(bytes, 4)));
	predicate->operation = operation;
	predicate->kind = kind;
	predicate->step = step;
	predicate->operand_bytes = le16_of((uint16_t)bytes);
	if (bytes)
		memcpy(predicate + 1, operand, bytes);
	last_event()->predicate_count++;
	return predicate;
}

static void add_number(uint8_t operation, uint8_t kind, uint8_t step, uint64_t value)
{
	uint8_t raw[8];

	etw_store64(raw, value);
	(void)add_predicate(operation, kind, step, raw, sizeof(raw));
}

static void end_event(void)
{
	last_event()->bytes = le32_of((uint32_t)(blob_bytes - event_at));
}

static void end(void)
{
	end_event();
	head()->bytes = le32_of((uint32_t)blob_bytes);
}

/* A filter with one of everything that the check looks at. */
static void make_sound(void)
{
	begin();
	add_event(7, 0);
	add_step(WIRE_PAYLOAD_FIXED, 2)->keep = 1;
	add_step(WIRE_PAYLOAD_LENGTH, 2)->length_slot = 1;
	(void)add_step(WIRE_PAYLOAD_FIXED, 4);
	add_number(PAYLOADFIELD_EQ, WIRE_PAYLOAD_UNSIGNED, 2, 5);
	(void)add_predicate(PAYLOADFIELD_IS, WIRE_PAYLOAD_UTF16, 1, "A\0B", 4);
	end();
}

static struct wire_payload_step *step_at(size_t index)
{
	return (struct wire_payload_step *)(last_event() + 1) + index;
}

static struct wire_payload_predicate *first_predicate(void)
{
	return (struct wire_payload_predicate *)(void *)(step_at(last_event()->step_count));
}

static bool passes_event(uint16_t id, const void *payload, uint32_t bytes)
{
	EVENT_DATA_DESCRIPTOR pieces[2 * MAX_EVENT_DATA_DESCRIPTORS];
	struct wire_payload_subject subject = {provider, id, 1, 8, false, 1, pieces};
	bool passes;

	assert_int_equal(wire_payload_filter_check(blob.at, blob_bytes, NULL), 0);
	EventDataDescCreate(&pieces[0], payload, bytes);
	passes = wire_payload_filter_passes(blob.at, &subject);
	if (bytes > MAX_EVENT_DATA_DESCRIPTORS)
		return passes;
	/* The same from pieces of one byte, with others between them that are no payload. */
	subject.is_typed = true;
	subject.data_count = 2 * bytes;
	for (uint32_t i = 0; i < bytes; i++) {
		EventDataDescCreate(&pieces[2 * i], "metadata", 8);
		pieces[2 * i].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
		EventDataDescCreate(&pieces[2 * i + 1], (const uint8_t *)payload + i, 1);
	}
	assert_int_equal(wire_payload_filter_passes(blob.at, &subject), passes);
	return passes;
}

#define PASSES(literal) passes_event(7, literal, sizeof(literal) - 1)

static void assert_refused(const char *sentence)
{
	struct etw_fault fault = {0};

	assert_int_equal(wire_payload_filter_check(blob.at, blob_bytes, &fault), -EBADMSG);
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(wire_payload_filter_check(blob.at, blob_bytes, NULL), -EBADMSG);
}

static void test_payload_filter__sound(void **state)
{
	(void)state;
	make_sound();
	assert_true(PASSES("\2\0a\0B\0\5\0\0\0"));
	assert_false(PASSES("\2\0a\0c\0\5\0\0\0"));
	assert_false(PASSES("\2\0a\0B\0\6\0\0\0"));
	/* Extra data is nobody's business; a payload that ends too early holds nothing. */
	assert_true(PASSES("\2\0a\0B\0\5\0\0\0more"));
	assert_false(PASSES("\2\0a\0B\0\5\0\0"));
	assert_false(PASSES(""));
	/* Other events pass. */
	assert_true(passes_event(8, "", 0));
}

static void test_payload_filter__refuses_heads(void **state)
{
	(void)state;
	make_sound();
	blob_bytes = 31;
	assert_refused("it is cut off");
	make_sound();
	head()->magic[0] = 'X';
	assert_refused("it is of another kind");
	make_sound();
	head()->version = le16_of(2);
	assert_refused("it is of another kind");
	make_sound();
	blob_bytes--;
	assert_refused("the size is not that of the blob");
	make_sound();
	(void)add(WIRE_PAYLOAD_FILTER_BYTES_MAX);
	head()->bytes = le32_of((uint32_t)blob_bytes);
	assert_refused("the size is not that of the blob");
	make_sound();
	head()->filter_count = le16_of(0);
	assert_refused("there are no filters");
	make_sound();
	head()->filter_count = le16_of(2);
	assert_refused("it is cut off");
	make_sound();
	(void)add(4);
	head()->bytes = le32_of((uint32_t)blob_bytes);
	assert_refused("something follows the filters");
}

static void test_payload_filter__refuses_events(void **state)
{
	(void)state;
	make_sound();
	last_event()->bytes = le32_of(UINT32_MAX);
	assert_refused("it does not fit the blob");
	make_sound();
	last_event()->bytes = le32_of(8);
	assert_refused("it does not fit the blob");
	make_sound();
	last_event()->predicate_count = 0;
	assert_refused("there are no predicates, or too many");
	make_sound();
	last_event()->predicate_count = 9;
	assert_refused("there are no predicates, or too many");
	make_sound();
	last_event()->step_count = 255;
	assert_refused("the steps are cut off");
	make_sound();
	last_event()->predicate_count = 1;
	assert_refused("something follows the predicates");
}

static void test_payload_filter__refuses_steps(void **state)
{
	(void)state;
	make_sound();
	step_at(0)->extent = 0;
	assert_refused("the extent is unknown");
	make_sound();
	step_at(0)->extent = WIRE_PAYLOAD_SID + 1;
	assert_refused("the extent is unknown");
	make_sound();
	step_at(0)->keep = WIRE_PAYLOAD_SLOTS + 1;
	assert_refused("there is no such slot");
	make_sound();
	step_at(1)->length_slot = 200;
	assert_refused("there is no such slot");
	make_sound();
	step_at(1)->count_slot = 200;
	assert_refused("there is no such slot");
	make_sound();
	step_at(1)->unit = le16_of(0);
	assert_refused("a unit has no bytes");
	make_sound();
	step_at(0)->unit = le16_of(3);
	assert_refused("what is remembered is no number");
	make_sound();
	step_at(0)->count = le16_of(2);
	assert_refused("what is remembered is no number");
}

static void test_payload_filter__refuses_predicates(void **state)
{
	(void)state;
	make_sound();
	first_predicate()->bytes = le16_of(0);
	assert_refused("it does not fit its filter");
	make_sound();
	first_predicate()->bytes = le16_of(4000);
	assert_refused("it does not fit its filter");
	make_sound();
	first_predicate()->operand_bytes = le16_of(9);
	assert_refused("the operands do not fit the predicate");
	make_sound();
	first_predicate()->step = 3;
	assert_refused("there is no such step");
	make_sound();
	first_predicate()->kind = 0;
	assert_refused("the kind is unknown");
	make_sound();
	first_predicate()->operation = PAYLOADFIELD_IS;
	assert_refused("the operator is not one of numbers");
	make_sound();
	first_predicate()->operation = PAYLOADFIELD_BETWEEN;
	assert_refused("a number's operands have another size");
	make_sound();
	first_predicate()->operation = PAYLOADFIELD_MODULO;
	memset(first_predicate() + 1, 0, 8);
	assert_refused("a divisor is 0");
	make_sound();
	first_predicate()->step = 1;
	assert_refused("the field is not of this kind");
	make_sound();
	last_event()->predicate_count = 3;
	assert_refused("it is cut off");
}

static void test_payload_filter__refuses_kinds(void **state)
{
	static const struct {
		uint8_t operation, kind;
		size_t bytes;
		const char *sentence;
	} rows[] = {
		{PAYLOADFIELD_EQ, WIRE_PAYLOAD_UTF16, 2, "the operator is not one of strings"},
		{PAYLOADFIELD_IS, WIRE_PAYLOAD_UTF16, 3, "UTF-16 text has half a character"},
		{PAYLOADFIELD_INVALID, WIRE_PAYLOAD_ANSI, 3, "the operator is not one of strings"},
		{PAYLOADFIELD_CONTAINS, WIRE_PAYLOAD_GUID, 16, "the operator is not one of GUIDs"},
		{PAYLOADFIELD_IS, WIRE_PAYLOAD_GUID, 15, "a GUID has another size than 16 bytes"},
		{PAYLOADFIELD_IS, WIRE_PAYLOAD_GUID, 16, "the field is not of this kind"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		add_event(7, 0);
		(void)add_step(WIRE_PAYLOAD_NUL16, 0);
		(void)add_predicate(rows[i].operation, rows[i].kind, 0, "0123456789abcdef",
				    rows[i].bytes);
		end();
		assert_refused(rows[i].sentence);
	}
}

/* Every change of one byte is refused, or gives a filter that can be applied. */
static void test_payload_filter__damage_is_harmless(void **state)
{
	unsigned accepted = 0;

	(void)state;
	make_sound();
	for (size_t at = 0; at < blob_bytes; at++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t was = blob.at[at];

			blob.at[at] = (uint8_t)value;
			if (wire_payload_filter_check(blob.at, blob_bytes, NULL) == 0) {
				(void)PASSES("\2\0a\0B\0\5\0\0\0");
				accepted++;
			}
			blob.at[at] = was;
		}
	}
	assert_true(accepted > blob_bytes);
	for (size_t bytes = 0; bytes < blob_bytes; bytes++)
		assert_int_equal(wire_payload_filter_check(blob.at, bytes, NULL), -EBADMSG);
}

/* A text behind values of each extent: it is found only if all of them are measured rightly. */
static void test_payload_filter__extents(void **state)
{
	(void)state;
	begin();
	add_event(7, 0);
	add_step(WIRE_PAYLOAD_FIXED, 1)->keep = 1;
	add_step(WIRE_PAYLOAD_FIXED, 8)->keep = 2;
	(void)add_step(WIRE_PAYLOAD_POINTER, 0);
	(void)add_step(WIRE_PAYLOAD_NUL8, 0);
	(void)add_step(WIRE_PAYLOAD_NUL16, 0);
	(void)add_step(WIRE_PAYLOAD_COUNT16, 0);
	(void)add_step(WIRE_PAYLOAD_SID, 0);
	add_step(WIRE_PAYLOAD_LENGTH, 2)->length = le16_of(3);
	add_step(WIRE_PAYLOAD_LENGTH, 1)->length_slot = 1;
	add_step(WIRE_PAYLOAD_FIXED, 2)->count_slot = 2;
	add_step(WIRE_PAYLOAD_NUL8, 0)->count = le16_of(2);
	(void)add_step(WIRE_PAYLOAD_NUL8, 0);
	(void)add_predicate(PAYLOADFIELD_IS, WIRE_PAYLOAD_ANSI, 11, "END", 3);
	end();
	assert_true(PASSES("\3"
			   "\2\0\0\0\0\0\0\0"
			   "pointer8"
			   "x\0"
			   "y\0z\0\0\0"
			   "\1\0q"
			   "\1\1\0\0\0\0\0\5\1\0\0\0"
			   "abcdef"
			   "ghi"
			   "1122"
			   "s\0t\0"
			   "end\0"));
	/* No end, and the NUL missing. */
	assert_true(PASSES("\0"
			   "\0\0\0\0\0\0\0\0"
			   "pointer8"
			   "\0"
			   "\0\0"
			   "\0\0"
			   "\1\0\0\0\0\0\0\5"
			   "abcdef"
			   "\0\0"
			   "End"));
	/* A SID, a count or a length that goes beyond the end. */
	assert_false(PASSES("\0"
			    "\0\0\0\0\0\0\0\0"
			    "pointer8"
			    "\0"
			    "\0\0"
			    "\377\377end"));
	assert_false(PASSES("\0"
			    "\0\0\0\0\0\0\0\0"
			    "pointer8"
			    "\0"
			    "\0\0"
			    "\0\0"
			    "\1\377end"));
	assert_false(PASSES("\0"
			    "\377\377\377\377\377\377\377\377"
			    "pointer8"
			    "\0"
			    "\0\0"
			    "\0\0"
			    "\1\0\0\0\0\0\0\5"
			    "abcdef"
			    "\0\0"
			    "End"));
}

static void test_payload_filter__pointers_of_the_event(void **state)
{
	const EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t) "1234\7", .Size = 5};
	struct wire_payload_subject subject = {provider, 7, 1, 4, false, 1, &data};

	(void)state;
	begin();
	add_event(7, 0);
	(void)add_step(WIRE_PAYLOAD_POINTER, 0);
	(void)add_step(WIRE_PAYLOAD_FIXED, 1);
	add_number(PAYLOADFIELD_EQ, WIRE_PAYLOAD_UNSIGNED, 1, 7);
	end();
	assert_true(wire_payload_filter_passes(blob.at, &subject));
	subject.pointer_bytes = 8;
	assert_false(wire_payload_filter_passes(blob.at, &subject));
	subject.provider.Data1++;
	assert_true(wire_payload_filter_passes(blob.at, &subject));
	subject.provider.Data1--;
	subject.version = 2;
	assert_true(wire_payload_filter_passes(blob.at, &subject));
}

/* Two filters of one event and one of another. */
static void make_two(uint8_t flags)
{
	begin();
	add_event(7, flags);
	(void)add_step(WIRE_PAYLOAD_FIXED, 1);
	add_number(PAYLOADFIELD_GE, WIRE_PAYLOAD_UNSIGNED, 0, 10);
	end_event();
	add_event(8, 0);
	(void)add_step(WIRE_PAYLOAD_FIXED, 1);
	add_number(PAYLOADFIELD_EQ, WIRE_PAYLOAD_UNSIGNED, 0, 1);
	end_event();
	add_event(7, flags);
	(void)add_step(WIRE_PAYLOAD_FIXED, 1);
	add_number(PAYLOADFIELD_LT, WIRE_PAYLOAD_UNSIGNED, 0, 20);
	end();
}

static void test_payload_filter__filters_of_one_event(void **state)
{
	(void)state;
	make_two(0);
	assert_true(PASSES("\5"));
	assert_true(PASSES("\17"));
	assert_true(PASSES("\40"));
	make_two(WIRE_PAYLOAD_ALL);
	assert_false(PASSES("\5"));
	assert_true(PASSES("\17"));
	assert_false(PASSES("\40"));
	assert_true(passes_event(8, "\1", 1));
	assert_false(passes_event(8, "\2", 1));
}

/* Predicates of one event: all of them, or one. */
static void test_payload_filter__predicates_of_one_filter(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags <= WIRE_PAYLOAD_ANY; flags++) {
		begin();
		add_event(7, (uint8_t)flags);
		(void)add_step(WIRE_PAYLOAD_FIXED, 1);
		(void)add_step(WIRE_PAYLOAD_FIXED, 1);
		add_number(PAYLOADFIELD_EQ, WIRE_PAYLOAD_UNSIGNED, 0, 1);
		add_number(PAYLOADFIELD_EQ, WIRE_PAYLOAD_UNSIGNED, 1, 2);
		end();
		assert_true(PASSES("\1\2"));
		assert_int_equal(PASSES("\1\3"), flags == WIRE_PAYLOAD_ANY);
		assert_int_equal(PASSES("\3\2"), flags == WIRE_PAYLOAD_ANY);
		assert_false(PASSES("\3\3"));
		/* The second field is not there. */
		assert_int_equal(PASSES("\1"), flags == WIRE_PAYLOAD_ANY);
	}
}

static void test_payload_filter__letters(void **state)
{
	static const struct {
		uint16_t small, capital;
	} rows[] = {
		{'a', 'A'},       {'z', 'Z'},       {'A', 'A'},       {'[', '['},
		{'{', '{'},       {0x00E4, 0x00C4}, {0x00F7, 0x00F7}, {0x00FF, 0x0178},
		{0x0101, 0x0100}, {0x0131, 0x0131}, {0x013A, 0x0139}, {0x0139, 0x0139},
		{0x0142, 0x0141}, {0x017E, 0x017D}, {0x03AC, 0x0386}, {0x03C9, 0x03A9},
		{0x03CE, 0x038F}, {0x0436, 0x0416}, {0x0451, 0x0401}, {0x0561, 0x0531},
		{0x1E01, 0x1E00}, {0xFF41, 0xFF21}, {0x4E00, 0x4E00}, {0xFFFF, 0xFFFF},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(wire_payload_upper16(rows[i].small), rows[i].capital);
	for (uint32_t unit = 0; unit <= UINT16_MAX; unit++) {
		uint16_t upper = wire_payload_upper16((uint16_t)unit);

		assert_int_equal(wire_payload_upper16(upper), upper);
	}
	assert_int_equal(wire_payload_upper8('q'), 'Q');
	assert_int_equal(wire_payload_upper8(0xE4), 0xE4);
}

/* The search finds what begins within a match that fails. */
static void test_payload_filter__substrings(void **state)
{
	(void)state;
	begin();
	add_event(7, 0);
	(void)add_step(WIRE_PAYLOAD_NUL8, 0);
	(void)add_predicate(PAYLOADFIELD_CONTAINS, WIRE_PAYLOAD_ANSI, 0, "AABAAC", 6);
	end();
	assert_true(PASSES("xxaabaabaac"));
	assert_true(PASSES("AaBaAc"));
	assert_false(PASSES("aabaabaab"));
	assert_false(PASSES("aabaa"));
	assert_false(PASSES("aabaa\0c"));
	begin();
	add_event(7, 0);
	(void)add_step(WIRE_PAYLOAD_NUL8, 0);
	(void)add_predicate(PAYLOADFIELD_CONTAINS, WIRE_PAYLOAD_ANSI, 0, "", 0);
	end();
	assert_true(PASSES("\0"));
	assert_true(PASSES("x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_payload_filter__sound),
		cmocka_unit_test(test_payload_filter__refuses_heads),
		cmocka_unit_test(test_payload_filter__refuses_events),
		cmocka_unit_test(test_payload_filter__refuses_steps),
		cmocka_unit_test(test_payload_filter__refuses_predicates),
		cmocka_unit_test(test_payload_filter__refuses_kinds),
		cmocka_unit_test(test_payload_filter__damage_is_harmless),
		cmocka_unit_test(test_payload_filter__extents),
		cmocka_unit_test(test_payload_filter__pointers_of_the_event),
		cmocka_unit_test(test_payload_filter__filters_of_one_event),
		cmocka_unit_test(test_payload_filter__predicates_of_one_filter),
		cmocka_unit_test(test_payload_filter__letters),
		cmocka_unit_test(test_payload_filter__substrings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
