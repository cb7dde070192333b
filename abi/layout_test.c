/* SPDX-License-Identifier: MIT */
/*
 * The ABI of the public headers: every row of layout.csv, constants.csv and vtables.csv. What a
 * compiler can decide is a static assertion; the rest (values of GUIDs, places of bit-fields, slots
 * of C++ vtables) is checked when the program runs. It prints how many rows it holds.
 * layout_test.cpp compiles this same text as C++11.
 */
#define INITGUID
#define ETW_DEFINE_COM_GUIDS

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <etw/winstructs.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <relogger.h>
#include <tdh.h>
#include <winmeta.h>
#include <wmistr.h>

#ifdef __cplusplus
#define ALIGN_OF(type) alignof(type)
#else
#define static_assert _Static_assert
#define ALIGN_OF(type) _Alignof(type)
#endif

/* --- Pass one: what the compiler decides. */

#define ROW_NOT_HELD(row, why)
#define ROW_SIZE(type, bytes)  static_assert(sizeof(type) == (bytes), #type);
#define ROW_ALIGN(type, bytes) static_assert(ALIGN_OF(type) == (bytes), #type);
#define ROW_FIELD(type, field, at, bytes)                               \
	static_assert(offsetof(type, field) == (at), #type "." #field); \
	static_assert(sizeof(((type *)0)->field) == (bytes), #type "." #field);
#define ROW_BITFIELD(type, field) \
	static_assert(sizeof(((type *)0)->field + 0) > 0, #type "." #field);
/* wchar_t has the size of Windows where the program is built with -fshort-wchar. */
#define ROW_WCHAR_T_SIZE(bytes)  static_assert(sizeof(WIDE_CHARACTER) == (bytes), "wchar_t");
#define ROW_WCHAR_T_ALIGN(bytes) static_assert(ALIGN_OF(WIDE_CHARACTER) == (bytes), "wchar_t");
#if ETW_WCHAR_IS_WCHAR_T
#define WIDE_CHARACTER wchar_t
#else
#define WIDE_CHARACTER WCHAR
#endif

#define ROW_DEFINE(name, value)  static_assert((unsigned long long)(name) == (value), #name);
#define ROW_ENUM(name, value)    static_assert((unsigned long long)(name) == (value), #name);
#define ROW_STRINGA(name, value) static_assert(sizeof(name) == sizeof(value), #name);
#define ROW_STRINGW(name, value) static_assert(sizeof(name) == 2 * sizeof(value), #name);
#define ROW_GUID(name, a, b, c, d0, d1, d2, d3, d4, d5, d6, d7)

#ifdef __cplusplus
#define ROW_SLOT(interface, method, slot, at) static_assert((at) == 8 * (slot), #interface);
#else
#define ROW_SLOT(interface, method, slot, at) \
	static_assert(offsetof(interface##Vtbl, method) == (at) && (at) == 8 * (slot), #interface);
#endif

#include "constant_checks.inc"
#include "layout_checks.inc"
#include "vtable_checks.inc"

/* --- Pass two: how many rows there are. */

#undef ROW_NOT_HELD
#undef ROW_SIZE
#undef ROW_ALIGN
#undef ROW_FIELD
#undef ROW_BITFIELD
#undef ROW_WCHAR_T_SIZE
#undef ROW_WCHAR_T_ALIGN
#undef ROW_DEFINE
#undef ROW_ENUM
#undef ROW_STRINGA
#undef ROW_STRINGW
#undef ROW_GUID
#undef ROW_SLOT
#define ROW_NOT_HELD(row, why)            +NOT_HELD
#define ROW_SIZE(type, bytes)             +1
#define ROW_ALIGN(type, bytes)            +1
#define ROW_FIELD(type, field, at, bytes) +1
#define ROW_BITFIELD(type, field)         +1
#define ROW_WCHAR_T_SIZE(bytes)           +1
#define ROW_WCHAR_T_ALIGN(bytes)          +1

enum {
	NOT_HELD = 0
};
static const int layout_rows = 0
#include "layout_checks.inc"
	;
#undef ROW_NOT_HELD
#define ROW_NOT_HELD(row, why) row ": " why "\n"
#undef ROW_SIZE
#undef ROW_ALIGN
#undef ROW_FIELD
#undef ROW_BITFIELD
#undef ROW_WCHAR_T_SIZE
#undef ROW_WCHAR_T_ALIGN
#define ROW_SIZE(type, bytes)
#define ROW_ALIGN(type, bytes)
#define ROW_FIELD(type, field, at, bytes)
#define ROW_BITFIELD(type, field)
#define ROW_WCHAR_T_SIZE(bytes)
#define ROW_WCHAR_T_ALIGN(bytes)
static const char not_held[] = ""
#include "layout_checks.inc"
	;

/* --- Pass three: what only a running program can see. */

static int failures;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("FAILED: %s\n", what);
		failures++;
	}
}

#define ROW_DEFINE(name, value) rows++;
#define ROW_ENUM(name, value)   rows++;
#define ROW_STRINGA(name, value) \
	rows++;                  \
	expect(strcmp(name, value) == 0, #name);
#define ROW_STRINGW(name, value) \
	rows++;                  \
	expect(wide_is(name, value) != 0, #name);
#define ROW_GUID(name, a, b, c, d0, d1, d2, d3, d4, d5, d6, d7)                           \
	do {                                                                              \
		static const GUID expected = {a, b, c, {d0, d1, d2, d3, d4, d5, d6, d7}}; \
		rows++;                                                                   \
		expect(memcmp(&name, &expected, sizeof(GUID)) == 0, #name);               \
	} while (0);

static int wide_is(const WCHAR *wide, const char *text)
{
	while (*text && *wide == (WCHAR)*text) {
		wide++;
		text++;
	}
	return *wide == (WCHAR)*text;
}

static int check_constants(void)
{
	int rows = 0;

#include "constant_checks.inc"
	return rows;
}

#ifdef __cplusplus
/* A pointer to a virtual member holds the byte offset in the vtable (Itanium C++ ABI). */
template <typename Method> static int vtable_offset(Method method)
{
	ptrdiff_t parts[2];

	static_assert(sizeof(method) == sizeof(parts), "Itanium pointer to member");
	memcpy(parts, &method, sizeof(parts));
#if defined(__aarch64__) || defined(__arm__)
	return (int)parts[0];
#else
	return (int)(parts[0] - 1);
#endif
}
#define ROW_SLOT(interface, method, slot, at) \
	rows++;                               \
	expect(vtable_offset(&interface::method) == (at), #interface "::" #method);
#else
#define ROW_SLOT(interface, method, slot, at) rows++;
#endif

static int check_vtables(void)
{
	int rows = 0;

#include "vtable_checks.inc"
	return rows;
}

/* Sets one bit-field to all ones and compares the @bytes at @at with the bits it must cover. */
#define BITS(type, field, at, bytes, mask)                            \
	do {                                                          \
		type object;                                          \
		unsigned long long word = 0;                          \
                                                                      \
		memset(&object, 0, sizeof(object));                   \
		object.field--;                                       \
		memcpy(&word, (const char *)&object + (at), (bytes)); \
		expect(word == (mask), #type "." #field);             \
	} while (0)

static void check_bitfields(void)
{
	BITS(EVENT_HEADER_EXTENDED_DATA_ITEM, Linkage, 4, 2, 0x0001);
	BITS(EVENT_HEADER_EXTENDED_DATA_ITEM, Reserved2, 4, 2, 0xfffe);
	BITS(EVENT_TRACE_PROPERTIES_V2, VersionNumber, 120, 4, 0xff);
	BITS(EVENT_TRACE_PROPERTIES_V2, Wow, 136, 8, 1);
	BITS(EVENT_TRACE_PROPERTIES_V2, QpcDeltaTracking, 136, 8, 2);
	BITS(EVENT_TRACE_PROPERTIES_V2, LargeMdlPages, 136, 8, 4);
	BITS(EVENT_TRACE_PROPERTIES_V2, ExcludeKernelStack, 136, 8, 8);
	BITS(EVENT_PROPERTY_INFO, Tags, 20, 4, 0x0fffffff);
	BITS(TRACE_EVENT_INFO, Reserved, 108, 4, 0x0000000f);
	BITS(TRACE_EVENT_INFO, Tags, 108, 4, 0xfffffff0);
}

int main(void)
{
	const int constants = check_constants();
	const int slots = check_vtables();

	check_bitfields();
	printf("layout: %d rows held\nconstants: %d rows held\nvtables: %d rows held\n",
	       layout_rows, constants, slots);
	if (not_held[0])
		printf("not held here:\n%s", not_held);
	printf("%d failed\n", failures);
	return failures != 0;
}
