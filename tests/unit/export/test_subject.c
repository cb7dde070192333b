/* SPDX-License-Identifier: MIT */
/* The process and thread that an event is about, in both formats. */
#include "sample.h"

static void test_subject__is_shown_in_place_of_the_header(void **state)
{
	const struct etw_export_subject subject = {70, 71, "a b.exe", "worker"};
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.event.subject = &subject;
	sample.event.raw_time = -5;
	sample.event.flags = ETW_EXPORT_PROCESS | ETW_EXPORT_HAS_RAW;
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z   3     70     71 \"a b.exe\"       "
		      "Maker/Task/Go\n");
	sample_expect(&sample, &etw_export_json,
		      "{\"time\":\"2011-01-23T22:06:37.4768585Z\",\"raw_time\":\"-5\","
		      "\"provider\":\"Maker\",\"guid\":\"00000000-0000-0000-0000-000000000000\","
		      "\"id\":12,\"version\":0,\"level\":0,\"opcode\":9,\"task\":0,\"channel\":0,"
		      "\"keywords\":\"0x0\",\"task_name\":\"Task\",\"opcode_name\":\"Go\","
		      "\"pid\":70,\"tid\":71,\"cpu\":3,\"process\":\"a b.exe\","
		      "\"thread_name\":\"worker\",\"header_pid\":7,\"header_tid\":8,"
		      "\"fields\":{},\"status\":\"complete\",\"address\":\"4:96\"}\n");
}

static void test_subject__names_are_harmless(void **state)
{
	const struct etw_export_subject subject = {70, UINT32_MAX, "\033[2Jx", NULL};
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.event.subject = &subject;
	sample.event.flags = ETW_EXPORT_PROCESS;
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z   3     70      - \\x1b[2Jx        "
		      "Maker/Task/Go\n");
}

static void test_subject__without_a_name_keeps_the_column(void **state)
{
	const struct etw_export_subject subject = {70, 71, NULL, NULL};
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.event.subject = &subject;
	sample.event.flags = ETW_EXPORT_PROCESS;
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z   3     70     71 -               "
		      "Maker/Task/Go\n");
}

static void test_subject__ids_in_fields_are_decimal(void **state)
{
	uint8_t payload[16] = {0x10, 0, 0, 0, 0xFF, 0, 0, 0, 0x20};
	struct sample sample;

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "TThreadId", TDH_INTYPE_HEXINT32, 0, 4);
	sample_add(&sample, "Flags", TDH_INTYPE_HEXINT32, 4, 4);
	sample_add(&sample, "ProcessId", TDH_INTYPE_POINTER, 8, 8);
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z   3      7      8 Maker/Task/Go TThreadId=16 "
		      "Flags=0xFF ProcessId=32\n");
}

/* Names that end like those of ids, and values that are addresses. */
static void regress_subject__what_is_no_id_stays_hexadecimal(void **state)
{
	uint8_t payload[24] = {0x10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0x30};
	struct sample sample;

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "ManagedThreadID", TDH_INTYPE_HEXINT64, 0, 8);
	sample_add(&sample, "ReJITID", TDH_INTYPE_HEXINT64, 8, 8);
	sample_add(&sample, "OS_TID", TDH_INTYPE_HEXINT64, 16, 8);
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z   3      7      8 Maker/Task/Go "
		      "ManagedThreadID=0x10 ReJITID=0x20 OS_TID=48\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subject__is_shown_in_place_of_the_header),
		cmocka_unit_test(test_subject__names_are_harmless),
		cmocka_unit_test(test_subject__without_a_name_keeps_the_column),
		cmocka_unit_test(test_subject__ids_in_fields_are_decimal),
		cmocka_unit_test(regress_subject__what_is_no_id_stays_hexadecimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
