/* SPDX-License-Identifier: MIT */
/* Events and files of WPP for tests: a record to put a payload into, genuine TMF files, comparing messages. */
#ifndef ETW_TESTS_SYNTHETIC_WPP_MESSAGES_H
#define ETW_TESTS_SYNTHETIC_WPP_MESSAGES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <evntcons.h>

#include "base/file.h"
#include "schema/wpp/wpp.h"

/* wpp_event() - a message of processor 3, process 0xA5C and thread 0xB10, without arguments. */
static inline EVENT_RECORD wpp_event(const GUID *guid, USHORT number)
{
	return (EVENT_RECORD){
		.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE |
					 EVENT_HEADER_FLAG_64_BIT_HEADER,
				.ProviderId = *guid,
				.EventDescriptor = {.Id = number},
				.ThreadId = 0xB10,
				.ProcessId = 0xA5C,
				.TimeStamp = {.QuadPart = 127028425534560000}},
		.BufferContext = {.ProcessorNumber = 3},
	};
}

/* wpp_read_tmf() - a file of the folder "tmf" of the genuine data; owned by the caller. */
static inline char *wpp_read_tmf(const char *data, const char *name, size_t *ret_bytes)
{
	char path[4096];
	char *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/tmf/%s", data, name);
	assert_int_equal(etw_file_read(path, (size_t)1 << 20, &text, ret_bytes), 0);
	return text;
}

static inline void wpp_check_text(const char *left, const char *right)
{
	assert_int_equal(!left, !right);
	if (left)
		assert_string_equal(left, right);
}

static inline void wpp_check_argument(const struct etw_wpp_argument *left,
				      const struct etw_wpp_argument *right)
{
	wpp_check_text(left->expression, right->expression);
	wpp_check_text(left->item_name, right->item_name);
	wpp_check_text(left->list, right->list);
	assert_int_equal(left->item, right->item);
	assert_int_equal(left->number, right->number);
	assert_int_equal(!left->names, !right->names);
	if (left->names)
		assert_int_equal(left->names->count, right->names->count);
}

/* wpp_check_same() - the messages agree in everything that a file says of them. */
static inline void wpp_check_same(const struct etw_wpp_message *left,
				  const struct etw_wpp_message *right)
{
	assert_memory_equal(&left->guid, &right->guid, sizeof(GUID));
	assert_int_equal(left->number, right->number);
	assert_int_equal(left->line, right->line);
	wpp_check_text(left->module, right->module);
	wpp_check_text(left->type_name, right->type_name);
	wpp_check_text(left->source_file, right->source_file);
	wpp_check_text(left->component, right->component);
	wpp_check_text(left->subcomponent, right->subcomponent);
	wpp_check_text(left->level, right->level);
	wpp_check_text(left->flags, right->flags);
	wpp_check_text(left->function, right->function);
	wpp_check_text(left->text, right->text);
	assert_int_equal(left->argument_count, right->argument_count);
	for (size_t i = 0; i < left->argument_count; i++)
		wpp_check_argument(&left->arguments[i], &right->arguments[i]);
}

#endif
