/* SPDX-License-Identifier: MIT */
/*
 * How TraceLoggingProvider.h makes an event. Not for programs, which include TraceLoggingProvider.h.
 *
 * Each argument of TraceLoggingWrite() becomes a tuple, and the event is made of the list of them:
 *
 *   (options, meta, in, out, tag, name, schema, put, count, a, b, c)
 *
 * options: (level, keyword, opcode, channel, event tag); meta: how the field is described, ETW_TL_MEMBER_* and
 * ETW_TL_CODE_*, from the in-type to the custom schema; put: how its value gets into the descriptors, of which there are
 * count, ETW_TL_PUT_* of a, b and c. The metadata is one constant structure, so that the compiler lays it out.
 *
 * In that structure everything between two names is one bit-field of 8 to 64 bits: its width is a constant that depends
 * on the type and the tag, which no array's initialiser could follow. Little-endian machines only, as all of libetw.
 */
#ifndef ETW_TRACELOGGING_H
#define ETW_TRACELOGGING_H

#include <etw/each_argument.h>
#include <etw/provider_id.h>
#include <etw/winstructs.h>
#include <evntprov.h>

/* The state of a provider; TRACELOGGING_DEFINE_PROVIDER() makes it. */
struct _tlgProvider_t {
	UINT32 LevelPlus1; /* atomic, as are the next five; 0: disabled */
	UINT32 IsIdKnown;  /* 0: Id is to be made of the name */
	GUID Id;
	UINT64 KeywordAny;
	UINT64 KeywordAll;
	REGHANDLE RegHandle;
	UINT32 IsDescribed; /* the registration has the traits */
	const void *Metadata; /* u16 size, name, traits */
	PENABLECALLBACK Callback;
	PVOID Context;
};

typedef struct _tlgProvider_t const *TraceLoggingHProvider;

/* In-types, with the flags that make arrays of them. Numbers: docs/format/tracelogging.md. */
enum TlgIn_t {
	TlgInNULL = 0,
	TlgInUNICODESTRING = 1,
	TlgInANSISTRING = 2,
	TlgInINT8 = 3,
	TlgInUINT8 = 4,
	TlgInINT16 = 5,
	TlgInUINT16 = 6,
	TlgInINT32 = 7,
	TlgInUINT32 = 8,
	TlgInINT64 = 9,
	TlgInUINT64 = 10,
	TlgInFLOAT = 11,
	TlgInDOUBLE = 12,
	TlgInBOOL32 = 13,
	TlgInBINARY = 14,
	TlgInGUID = 15,
	TlgInFILETIME = 17,
	TlgInSYSTEMTIME = 18,
	TlgInSID = 19,
	TlgInHEXINT32 = 20,
	TlgInHEXINT64 = 21,
	TlgInCOUNTEDSTRING = 22,
	TlgInCOUNTEDANSISTRING = 23,
	TlgInSTRUCT = 24,
	TlgInCOUNTEDBINARY = 25,
	TlgInCcount = 0x20,
	TlgInVcount = 0x40,
	TlgInCustom = 0x60
};

/* Out-types: how a value is shown. They are not those of TDH. */
enum TlgOut_t {
	TlgOutNULL = 0,
	TlgOutNOPRINT = 1,
	TlgOutSTRING = 2,
	TlgOutBOOLEAN = 3,
	TlgOutHEX = 4,
	TlgOutPID = 5,
	TlgOutTID = 6,
	TlgOutPORT = 7,
	TlgOutIPV4 = 8,
	TlgOutIPV6 = 9,
	TlgOutSOCKETADDRESS = 10,
	TlgOutXML = 11,
	TlgOutJSON = 12,
	TlgOutWIN32ERROR = 13,
	TlgOutNTSTATUS = 14,
	TlgOutHRESULT = 15,
	TlgOutFILETIME = 16,
	TlgOutSIGNED = 17,
	TlgOutUNSIGNED = 18,
	TlgOutCULTURE_INSENSITIVE_DATETIME = 33,
	TlgOutUTF8 = 35,
	TlgOutPKCS7_WITH_TYPE_INFO = 36,
	TlgOutCODE_POINTER = 37,
	TlgOutDATETIME_UTC = 38
};

#if __SIZEOF_POINTER__ == 8
#define ETW_TL_POINTER_SIZED(in32, in64) in64
#else
#define ETW_TL_POINTER_SIZED(in32, in64) in32
#endif
#define ETW_TL_HEX_POINTER ETW_TL_POINTER_SIZED(TlgInHEXINT32, TlgInHEXINT64)
#define ETW_TL_INT_POINTER ETW_TL_POINTER_SIZED(TlgInINT32, TlgInINT64)
#define ETW_TL_UINT_POINTER ETW_TL_POINTER_SIZED(TlgInUINT32, TlgInUINT64)

#ifdef __cplusplus
#define ETW_TL_CHAR16 char16_t
#define ETW_TL_UNSIGNED : UINT32
#define ETW_TL_CHECK(condition, text) static_assert(condition, text)
#else
#define ETW_TL_CHAR16 __CHAR16_TYPE__
#define ETW_TL_UNSIGNED
#define ETW_TL_CHECK(condition, text) _Static_assert(condition, text)
#endif

/* --- Tuples. */
#define ETW_TL_NO_OPTIONS (0, 0, 0, 0, 0)
#define ETW_TL_OPTION(...)                                                                       \
	((__VA_ARGS__), etw_none, 0, 0, 0, "", , etw_nothing, 0, , , )
#define ETW_TL_IGNORED ETW_TL_OPTION(0, 0, 0, 0, 0)

#define ETW_TL_COUNT4(...) ETW_TL_COUNT4_(__VA_ARGS__, 4, 3, 2, 1, 0)
#define ETW_TL_COUNT4_(a, b, c, d, count, ...) count

/*
 * A field. @text: its name, unless one is among the last arguments, which are: c [, name [, description [, tag]]]. The
 * text is made of the program's words where they have not been expanded yet, so by the outermost macro.
 */
#define ETW_TL_FIELD(meta, in, out, schema, put, count, text, a, b, ...)                         \
	ETW_JOIN(ETW_TL_FIELD_, ETW_TL_COUNT4(__VA_ARGS__))                                      \
	(meta, in, out, schema, put, count, text, a, b, __VA_ARGS__)
#define ETW_TL_FIELD_1(meta, in, out, schema, put, count, text, a, b, c)                         \
	(ETW_TL_NO_OPTIONS, meta, in, out, 0, text, schema, put, count, a, b, c)
#define ETW_TL_FIELD_2(meta, in, out, schema, put, count, text, a, b, c, name)                   \
	(ETW_TL_NO_OPTIONS, meta, in, out, 0, name, schema, put, count, a, b, c)
#define ETW_TL_FIELD_3(meta, in, out, schema, put, count, text, a, b, c, name, description)      \
	(ETW_TL_NO_OPTIONS, meta, in, out, 0, name, schema, put, count, a, b, c)
#define ETW_TL_FIELD_4(meta, in, out, schema, put, count, text, a, b, c, name, description, tag) \
	(ETW_TL_NO_OPTIONS, meta, in, out, tag, name, schema, put, count, a, b, c)

#define ETW_TL_SCALAR(in, out, type, text, ...)                                                  \
	ETW_TL_FIELD(etw_field, in, out, , etw_value, 1, text, type, , __VA_ARGS__)
#define ETW_TL_ARRAY(in, out, type, text, values, ...)                                           \
	ETW_TL_FIELD(etw_field, (in) | TlgInVcount, out, , etw_array, 2, text, type, values,     \
		     __VA_ARGS__)
#define ETW_TL_FIXED(in, out, type, text, values, ...)                                           \
	ETW_TL_FIELD(etw_fixed, (in) | TlgInCcount, out, , etw_elements, 1, text, type, values,  \
		     __VA_ARGS__)
#define ETW_TL_TEXT(in, out, type, text, ...)                                                    \
	ETW_TL_FIELD(etw_field, in, out, , etw_text, 1, text, type, , __VA_ARGS__)
#define ETW_TL_COUNTED(in, out, type, text, chars, ...)                                          \
	ETW_TL_FIELD(etw_field, in, out, , etw_counted, 2, text, type, chars, __VA_ARGS__)
/* The last arguments begin with the size, the structure's type or the in-type, before the name. */
#define ETW_TL_BINARY(out, text, pointer, ...)                                                   \
	ETW_TL_FIELD(etw_field, TlgInBINARY, out, , etw_bytes, 2, text, pointer, , __VA_ARGS__)
#define ETW_TL_BINARY_EX(text, pointer, bytes, ...)                                              \
	ETW_JOIN(ETW_TL_BINARY_EX_, ETW_TL_COUNT4(__VA_ARGS__))(text, pointer, bytes, __VA_ARGS__)
#define ETW_TL_BINARY_EX_1(text, pointer, bytes, out) ETW_TL_BINARY(out, text, pointer, bytes)
#define ETW_TL_BINARY_EX_2(text, pointer, bytes, out, name)                                      \
	ETW_TL_BINARY(out, text, pointer, bytes, name)
#define ETW_TL_BINARY_EX_3(text, pointer, bytes, out, name, description)                         \
	ETW_TL_BINARY(out, text, pointer, bytes, name)
#define ETW_TL_BINARY_EX_4(text, pointer, bytes, out, name, description, tag)                    \
	ETW_TL_BINARY(out, text, pointer, bytes, name, description, tag)
#define ETW_TL_BINARY_BUFFER(out, text, pointer, ...)                                            \
	ETW_TL_FIELD(etw_field, TlgInBINARY, out, , etw_structure, 2, text, pointer, , __VA_ARGS__)
#define ETW_TL_BINARY_BUFFER_EX(text, pointer, type, ...)                                        \
	ETW_JOIN(ETW_TL_BINARY_BUFFER_EX_, ETW_TL_COUNT4(__VA_ARGS__))                           \
	(text, pointer, type, __VA_ARGS__)
#define ETW_TL_BINARY_BUFFER_EX_1(text, pointer, type, out)                                      \
	ETW_TL_BINARY_BUFFER(out, text, pointer, type)
#define ETW_TL_BINARY_BUFFER_EX_2(text, pointer, type, out, name)                                \
	ETW_TL_BINARY_BUFFER(out, text, pointer, type, name)
#define ETW_TL_BINARY_BUFFER_EX_3(text, pointer, type, out, name, description)                   \
	ETW_TL_BINARY_BUFFER(out, text, pointer, type, name)
#define ETW_TL_BINARY_BUFFER_EX_4(text, pointer, type, out, name, description, tag)              \
	ETW_TL_BINARY_BUFFER(out, text, pointer, type, name, description, tag)
#define ETW_TL_PACKED(text, pointer, bytes, ...)                                                 \
	ETW_JOIN(ETW_TL_PACKED_, ETW_TL_COUNT4(__VA_ARGS__))(text, pointer, bytes, __VA_ARGS__)
#define ETW_TL_PACKED_1(text, pointer, bytes, in)                                                \
	ETW_TL_PACKED_EX(text, pointer, bytes, in, 0)
#define ETW_TL_PACKED_2(text, pointer, bytes, in, name)                                          \
	ETW_TL_PACKED_EX(text, pointer, bytes, in, 0, name)
#define ETW_TL_PACKED_3(text, pointer, bytes, in, name, description)                             \
	ETW_TL_PACKED_EX(text, pointer, bytes, in, 0, name)
#define ETW_TL_PACKED_4(text, pointer, bytes, in, name, description, tag)                        \
	ETW_TL_PACKED_EX(text, pointer, bytes, in, 0, name, description, tag)
#define ETW_TL_PACKED_EX(text, pointer, bytes, in, ...)                                          \
	ETW_JOIN(ETW_TL_PACKED_EX_, ETW_TL_COUNT4(__VA_ARGS__))                                  \
	(text, pointer, bytes, in, __VA_ARGS__)
#define ETW_TL_PACKED_EX_1(text, pointer, bytes, in, out)                                        \
	ETW_TL_FIELD(etw_field, in, out, , etw_packed, 1, text, bytes, pointer, 0)
#define ETW_TL_PACKED_EX_2(text, pointer, bytes, in, out, name)                                  \
	ETW_TL_FIELD(etw_field, in, out, , etw_packed, 1, text, bytes, pointer, 0, name)
#define ETW_TL_PACKED_EX_3(text, pointer, bytes, in, out, name, description)                     \
	ETW_TL_FIELD(etw_field, in, out, , etw_packed, 1, text, bytes, pointer, 0, name)
#define ETW_TL_PACKED_EX_4(text, pointer, bytes, in, out, name, description, tag)                \
	ETW_TL_FIELD(etw_field, in, out, , etw_packed, 1, text, bytes, pointer, 0, name,         \
		     description, tag)
#define ETW_TL_STRUCT(meta, in, members, put, count, elements, ...)                              \
	ETW_TL_FIELD(meta, in, members, , put, count, "", , , elements, __VA_ARGS__)

/* --- What each tuple is asked for. ETW_EACH() gives them a number, of which names are made. */
#define ETW_TL_OPEN(...) __VA_ARGS__
#define ETW_TL_APPLY(operation, arguments) operation arguments
#define ETW_TL_OPTIONS_OF(options, ...) options

#define ETW_TL_LEVEL(i, tuple) ETW_TL_APPLY(ETW_TL_LEVEL_OF, ETW_TL_OPTIONS_OF tuple)
#define ETW_TL_LEVEL_OF(level, keyword, opcode, channel, tag) +(level)
#define ETW_TL_KEYWORD(i, tuple) ETW_TL_APPLY(ETW_TL_KEYWORD_OF, ETW_TL_OPTIONS_OF tuple)
#define ETW_TL_KEYWORD_OF(level, keyword, opcode, channel, tag) | (UINT64)(keyword)
#define ETW_TL_OPCODE(i, tuple) ETW_TL_APPLY(ETW_TL_OPCODE_OF, ETW_TL_OPTIONS_OF tuple)
#define ETW_TL_OPCODE_OF(level, keyword, opcode, channel, tag) +(opcode)
#define ETW_TL_CHANNEL(i, tuple) ETW_TL_APPLY(ETW_TL_CHANNEL_OF, ETW_TL_OPTIONS_OF tuple)
#define ETW_TL_CHANNEL_OF(level, keyword, opcode, channel, tag) +(channel)
#define ETW_TL_EVENT_TAG(i, tuple) ETW_TL_APPLY(ETW_TL_EVENT_TAG_OF, ETW_TL_OPTIONS_OF tuple)
#define ETW_TL_EVENT_TAG_OF(level, keyword, opcode, channel, tag) | (UINT32)(tag)

/* An option that may be left out is given as 256 and its value. */
#define ETW_TL_GIVEN(value) (256 + ((value) & 0xFF))
#define ETW_TL_OR(sum, otherwise) ((UCHAR)((sum) ? (sum) & 0xFF : (otherwise)))

#define ETW_TL_DESCRIPTORS(i, tuple) ETW_TL_APPLY(ETW_TL_DESCRIPTORS_OF, tuple)
#define ETW_TL_DESCRIPTORS_OF(options, meta, in, out, tag, name, schema, put, count, a, b, c) +count

#define ETW_TL_MEMBER(i, tuple) ETW_TL_APPLY(ETW_TL_MEMBER_OF, (i, ETW_TL_OPEN tuple))
#define ETW_TL_MEMBER_OF(...) ETW_TL_MEMBER_OF_(__VA_ARGS__)
#define ETW_TL_MEMBER_OF_(i, options, meta, in, out, tag, name, schema, put, count, a, b, c)     \
	ETW_TL_MEMBER_##meta(i, in, out, tag, name, c)
#define ETW_TL_CODE(i, tuple) ETW_TL_APPLY(ETW_TL_CODE_OF, (i, ETW_TL_OPEN tuple))
#define ETW_TL_CODE_OF(...) ETW_TL_CODE_OF_(__VA_ARGS__)
#define ETW_TL_CODE_OF_(i, options, meta, in, out, tag, name, schema, put, count, a, b, c)       \
	ETW_TL_CODE_##meta(in, out, tag, name, schema, c)
#define ETW_TL_PUT(i, tuple) ETW_TL_APPLY(ETW_TL_PUT_OF, (i, ETW_TL_OPEN tuple))
#define ETW_TL_PUT_OF(...) ETW_TL_PUT_OF_(__VA_ARGS__)
#define ETW_TL_PUT_OF_(i, options, meta, in, out, tag, name, schema, put, count, a, b, c)        \
	ETW_TL_PUT_##put(i, a, b, c)

/* --- Tags: 28 bits, seven in a byte, the highest first; zeros at the end are left out. */
#define ETW_TL_TAG_PART(tag, shift) ((UINT64)(UINT32)(tag) >> (shift) & 0x7F)
#define ETW_TL_TAG_BYTES(tag)                                                                    \
	((tag) & 0x1FFFFF ? (tag) & 0x3FFF ? (tag) & 0x7F ? 4 : 3 : 2 : 1)
#define ETW_TL_TAG_BITS(tag) (8 * ETW_TL_TAG_BYTES(tag))
#define ETW_TL_TAG_CODE(tag)                                                                     \
	(ETW_TL_TAG_PART(tag, 21) |                                                              \
	 ((tag) & 0x1FFFFF ? 0x80 | ETW_TL_TAG_PART(tag, 14) << 8 : 0) |                         \
	 ((tag) & 0x3FFF ? 0x8000 | ETW_TL_TAG_PART(tag, 7) << 16 : 0) |                         \
	 ((tag) & 0x7F ? 0x800000 | ETW_TL_TAG_PART(tag, 0) << 24 : 0))

/* --- A field's types and tag: in-type, out-type if it or a tag is there, tag, count if it is constant. */
#define ETW_TL_HAS_OUT(out, tag) ((out) != 0 || (tag) != 0)
#define ETW_TL_BITS(out, tag)                                                                    \
	(8 + (ETW_TL_HAS_OUT(out, tag) ? 8 : 0) + ((tag) != 0 ? ETW_TL_TAG_BITS(tag) : 0))
#define ETW_TL_TYPES(in, out, tag)                                                               \
	((UINT64)((in) & 0x7F) |                                                                 \
	 (ETW_TL_HAS_OUT(out, tag) ? 0x80 | (UINT64)((out) & 0x7F) << 8 : 0) |                   \
	 ((tag) != 0 ? 0x8000 | ETW_TL_TAG_CODE(tag) << 16 : 0))

#define ETW_TL_MEMBER_etw_none(i, in, out, tag, name, count)
#define ETW_TL_MEMBER_etw_field(i, in, out, tag, text, count)                                    \
	char name##i[sizeof(text)];                                                              \
	UINT64 types##i : ETW_TL_BITS(out, tag);
#define ETW_TL_MEMBER_etw_fixed(i, in, out, tag, text, count)                                    \
	char name##i[sizeof(text)];                                                              \
	UINT64 types##i : ETW_TL_BITS(out, tag) + 16;
#define ETW_TL_MEMBER_etw_custom(i, in, out, tag, text, count)                                   \
	ETW_TL_MEMBER_etw_fixed(i, in, out, tag, text, count) UINT8 schema##i[count];

#define ETW_TL_CODE_etw_none(in, out, tag, name, schema, count)
#define ETW_TL_CODE_etw_field(in, out, tag, name, schema, count) name, ETW_TL_TYPES(in, out, tag),
#define ETW_TL_CODE_etw_fixed(in, out, tag, name, schema, count)                                 \
	name,                                                                                    \
		ETW_TL_TYPES(in, out, tag) | (UINT64)((count) & 0xFFFF) << ETW_TL_BITS(out, tag),
#define ETW_TL_CODE_etw_custom(in, out, tag, name, schema, count)                                \
	ETW_TL_CODE_etw_fixed(in, out, tag, name, , count) {ETW_TL_OPEN schema},

/*
 * wchar_t of four bytes is no UTF-16: an error, where C would only warn of the pointer. C++ converts no such pointer anyway.
 */
#if defined(__cplusplus) || __SIZEOF_WCHAR_T__ == 2
#define ETW_TL_CHECK_TEXT(type, value)
#else
#define ETW_TL_IS_WIDE(value)                                                                    \
	_Generic((value), __WCHAR_TYPE__ *: 1, const __WCHAR_TYPE__ *: 1, default: 0)
#define ETW_TL_CHECK_TEXT(type, value)                                                           \
	ETW_TL_CHECK(sizeof(type) != 2 || !ETW_TL_IS_WIDE(value), ETW_TL_NOT_UTF16);
#define ETW_TL_NOT_UTF16                                                                         \
	"wchar_t has four bytes, wide text is UTF-16: write u\"text\", or use -fshort-wchar"
#endif

/* --- Values. What a descriptor leads to stays until the event is written: constants of the event's block. */
#define ETW_TL_PUT_etw_nothing(i, a, b, c)
#define ETW_TL_PUT_etw_value(i, type, b, value)                                                  \
	const type etw_tl_v##i = (value);                                                        \
	etw_tl_next = etw_tl_put(etw_tl_next, &etw_tl_v##i, sizeof(etw_tl_v##i));
#define ETW_TL_PUT_etw_code_pointer(i, a, b, value)                                              \
	const UINT_PTR etw_tl_v##i = (UINT_PTR)(value);                                          \
	etw_tl_next = etw_tl_put(etw_tl_next, &etw_tl_v##i, sizeof(etw_tl_v##i));
#define ETW_TL_PUT_etw_text(i, type, b, value)                                                   \
	ETW_TL_CHECK_TEXT(type, value)                                                           \
	const type *const etw_tl_v##i = (value);                                                 \
	etw_tl_next = etw_tl_put_text(etw_tl_next, etw_tl_v##i, sizeof(type));
#define ETW_TL_PUT_etw_counted(i, type, values, count)                                           \
	ETW_TL_CHECK_TEXT(type, values)                                                          \
	const type *const etw_tl_v##i = (values);                                                \
	const UINT16 etw_tl_c##i = (UINT16)((count) * sizeof(type));                             \
	etw_tl_next = etw_tl_put_two(etw_tl_next, &etw_tl_c##i, etw_tl_v##i, etw_tl_c##i);
#define ETW_TL_PUT_etw_array(i, type, values, count)                                             \
	const type *const etw_tl_v##i = (values);                                                \
	const UINT16 etw_tl_c##i = (UINT16)(count);                                              \
	etw_tl_next = etw_tl_put_two(etw_tl_next, &etw_tl_c##i, etw_tl_v##i,                     \
				     etw_tl_c##i * sizeof(type));
#define ETW_TL_PUT_etw_elements(i, type, values, count)                                          \
	const type *const etw_tl_v##i = (values);                                                \
	etw_tl_next = etw_tl_put(etw_tl_next, etw_tl_v##i, (count) * sizeof(type));
#define ETW_TL_PUT_etw_binary(i, bytes, values, c)                                               \
	const void *const etw_tl_v##i = (values);                                                \
	const UINT16 etw_tl_c##i = (UINT16)(bytes);                                              \
	etw_tl_next = etw_tl_put_two(etw_tl_next, &etw_tl_c##i, etw_tl_v##i, etw_tl_c##i);
#define ETW_TL_PUT_etw_bytes(i, values, b, bytes) ETW_TL_PUT_etw_binary(i, bytes, values, )
#define ETW_TL_PUT_etw_address(i, a, b, value) ETW_TL_PUT_etw_binary(i, 16, value, )
#define ETW_TL_PUT_etw_structure(i, value, b, type) ETW_TL_PUT_etw_buffer(i, type, , value)
#define ETW_TL_PUT_etw_buffer(i, type, b, value)                                                 \
	const type *const etw_tl_v##i = (value);                                                 \
	const UINT16 etw_tl_c##i = (UINT16)etw_tl_v##i->Length;                                  \
	etw_tl_next =                                                                            \
		etw_tl_put_two(etw_tl_next, &etw_tl_c##i, etw_tl_v##i->Buffer, etw_tl_c##i);
#define ETW_TL_PUT_etw_sid(i, a, b, value) etw_tl_next = etw_tl_put_sid(etw_tl_next, (value));
#define ETW_TL_PUT_etw_count(i, a, b, value)                                                     \
	const UINT16 etw_tl_c##i = (UINT16)(value);                                              \
	etw_tl_next = etw_tl_put(etw_tl_next, &etw_tl_c##i, sizeof(etw_tl_c##i));
#define ETW_TL_PUT_etw_packed(i, bytes, values, type)                                            \
	etw_tl_next = etw_tl_put(etw_tl_next, (values), (bytes));                                \
	etw_tl_next[-1].Type = (UCHAR)(type);

/* --- The event. A provider that nobody has enabled costs a load and a comparison. */
#define ETW_TL_EMIT(provider, level, keyword, opcode, activity, related, text, ...)              \
	ETW_TL_EMIT_AS(provider, level, keyword, opcode, EventWriteTransfer,                     \
		       (activity, related), char name[sizeof(text)], text, __VA_ARGS__)

/*
 * send, where: the function that takes the event, and what it takes between descriptor and data. name_member: declares
 * the name of the event, of as many bytes as it has; name_value: what is in it, a constant.
 */
#define ETW_TL_EMIT_AS(provider, level, keyword, opcode, send, where, name_member, name_value,   \
		       ...)                                                                      \
	do {                                                                                     \
		static const EVENT_DESCRIPTOR etw_tl_event = {                                   \
			0,                                                                       \
			0,                                                                       \
			ETW_TL_OR(0 ETW_EACH(ETW_TL_CHANNEL, __VA_ARGS__), 11),                  \
			ETW_TL_OR(0 ETW_EACH(ETW_TL_LEVEL, __VA_ARGS__), level),                 \
			ETW_TL_OR(0 ETW_EACH(ETW_TL_OPCODE, __VA_ARGS__), opcode),               \
			0,                                                                       \
			(keyword)ETW_EACH(ETW_TL_KEYWORD, __VA_ARGS__)};                         \
		enum ETW_TL_UNSIGNED { etw_tl_event_tag = 0 ETW_EACH(ETW_TL_EVENT_TAG, __VA_ARGS__) };           \
		__extension__ static const struct {                                              \
			UINT16 bytes;                                                            \
			UINT64 tag : ETW_TL_TAG_BITS(etw_tl_event_tag);                          \
			name_member;                                                             \
			ETW_EACH(ETW_TL_MEMBER, __VA_ARGS__)                                     \
		} __attribute__((__packed__)) etw_tl_metadata = {                                \
			(UINT16)sizeof(etw_tl_metadata), ETW_TL_TAG_CODE(etw_tl_event_tag),     \
			name_value, ETW_EACH(ETW_TL_CODE, __VA_ARGS__)};                         \
		const TraceLoggingHProvider etw_tl_provider = (provider);                        \
		ETW_TL_CHECK((0 ETW_EACH(ETW_TL_LEVEL, __VA_ARGS__)) < 512,                      \
			     "an event has one TraceLoggingLevel at most");                      \
		ETW_TL_CHECK(2 ETW_EACH(ETW_TL_DESCRIPTORS, __VA_ARGS__) <=                      \
				     MAX_EVENT_DATA_DESCRIPTORS,                                 \
			     "the fields need more than 128 descriptors");                       \
		if (etw_tl_is_wanted(etw_tl_provider, etw_tl_event.Level,                        \
				     etw_tl_event.Keyword)) {                                    \
			EVENT_DATA_DESCRIPTOR                                                    \
			etw_tl_data[2 ETW_EACH(ETW_TL_DESCRIPTORS, __VA_ARGS__)];                \
			EVENT_DATA_DESCRIPTOR *etw_tl_next =                                     \
				etw_tl_begin(etw_tl_data, etw_tl_provider, &etw_tl_metadata,     \
					     sizeof(etw_tl_metadata));                           \
			ETW_EACH(ETW_TL_PUT, __VA_ARGS__)                                        \
			(void)send(etw_tl_handle(etw_tl_provider), &etw_tl_event,                \
				   ETW_TL_OPEN where, (ULONG)(etw_tl_next - etw_tl_data),        \
				   etw_tl_data);                                                 \
		}                                                                                \
	} while (0)

/* The list has a last tuple that adds nothing, so that it is never empty. */
#define ETW_TL_WRITE(provider, activity, related, ...)                                           \
	ETW_TL_WRITE_(provider, activity, related, __VA_ARGS__, ETW_TL_IGNORED)
#define ETW_TL_WRITE_(provider, activity, related, ...)                                          \
	ETW_TL_EMIT(provider, 5, 0, 0, activity, related, __VA_ARGS__)
#define ETW_TL_WRITE_ACTIVITY(provider, text, activity, ...)                                     \
	ETW_TL_WRITE_ACTIVITY_(provider, text, activity, __VA_ARGS__, ETW_TL_IGNORED)
#define ETW_TL_WRITE_ACTIVITY_(provider, text, activity, related, ...)                           \
	ETW_TL_EMIT(provider, 5, 0, 0, activity, related, text, __VA_ARGS__)
#define ETW_TL_WRITE_EX(provider, text, filter, flags, activity, ...)                            \
	ETW_TL_WRITE_EX_(provider, text, filter, flags, activity, __VA_ARGS__, ETW_TL_IGNORED)
#define ETW_TL_WRITE_EX_(provider, text, filter, flags, activity, related, ...)                  \
	ETW_TL_EMIT_AS(provider, 5, 0, 0, EventWriteEx, (filter, flags, activity, related),      \
		       char name[sizeof(text)], text, __VA_ARGS__)

/* --- A provider's constants. Arguments behind the name: nothing, eleven numbers, (etw_group, (eleven numbers)). */
#define ETW_TL_NUMBERS(...) ETW_TL_NUMBERS_(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ETW_TL_NUMBERS_(a, b, c, d, e, f, g, h, i, j, k, count, ...) count
#define ETW_TL_GUID(l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                                   \
	{                                                                                        \
		l, w1, w2, {                                                                     \
			b1, b2, b3, b4, b5, b6, b7, b8                                           \
		}                                                                                \
	}

/* Without parentheses behind it, ETW_TL_NUMBERS stays what it is: the argument is empty. */
#define ETW_TL_TRAIT_MEMBER(i, argument)                                                         \
	ETW_JOIN(ETW_TL_TRAIT_MEMBER_, ETW_TL_NUMBERS argument)(i)
#define ETW_TL_TRAIT_MEMBER_ETW_TL_NUMBERS(i)
#define ETW_TL_TRAIT_MEMBER_11(i)
#define ETW_TL_TRAIT_MEMBER_2(i)                                                                 \
	UINT16 bytes##i;                                                                         \
	UINT8 type##i;                                                                           \
	GUID group##i;
#define ETW_TL_TRAIT(i, argument) ETW_JOIN(ETW_TL_TRAIT_, ETW_TL_NUMBERS argument)(argument)
#define ETW_TL_TRAIT_ETW_TL_NUMBERS(argument)
#define ETW_TL_TRAIT_11(argument)
#define ETW_TL_TRAIT_2(argument) , 19, 1, ETW_TL_APPLY(ETW_TL_TRAIT_GUID, argument)
#define ETW_TL_TRAIT_GUID(type, numbers) ETW_TL_GUID numbers
#define ETW_TL_ID(...) ETW_TL_ID_(__VA_ARGS__, )
#define ETW_TL_ID_(argument, ...) ETW_JOIN(ETW_TL_ID_, ETW_TL_NUMBERS argument)(argument)
#define ETW_TL_ID_ETW_TL_NUMBERS(argument) 0, {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}}
#define ETW_TL_ID_2(argument) ETW_TL_ID_ETW_TL_NUMBERS()
#define ETW_TL_ID_11(argument) 1, ETW_TL_GUID argument

#define ETW_TL_STORAGE(variable, ...) ETW_TL_STORAGE_(variable, __VA_ARGS__, )
#define ETW_TL_STORAGE_(variable, text, ...)                                                     \
	__extension__ static const struct {                                                      \
		UINT16 bytes;                                                                    \
		char name[sizeof(text)];                                                         \
		ETW_EACH(ETW_TL_TRAIT_MEMBER, __VA_ARGS__)                                       \
	} __attribute__((__packed__)) ETW_JOIN(variable, _metadata) = {                          \
		(UINT16)sizeof(ETW_JOIN(variable, _metadata)),                                   \
		text ETW_EACH(ETW_TL_TRAIT, __VA_ARGS__)};                                       \
	static struct _tlgProvider_t variable __attribute__((__unused__)) = {                    \
		0, ETW_TL_ID(__VA_ARGS__), 0, 0, 0, 0, &ETW_JOIN(variable, _metadata), NULL, NULL}

/* --- Functions. */
ETW_STATIC_INLINE int etw_tl_is_wanted(TraceLoggingHProvider provider, UCHAR level, UINT64 keyword)
{
	/* Pairs with the release in the enable callback: what registered the provider has been seen. */
	if (__builtin_expect(level >= __atomic_load_n(&provider->LevelPlus1, __ATOMIC_ACQUIRE), 1))
		return 0;
	if (keyword == 0)
		return 1;
	return (keyword & __atomic_load_n(&provider->KeywordAny, __ATOMIC_RELAXED)) != 0 &&
	       (~keyword & __atomic_load_n(&provider->KeywordAll, __ATOMIC_RELAXED)) == 0;
}

/* Another thread may be about to unregister the provider: then the handle is none's, or of before. */
ETW_STATIC_INLINE REGHANDLE etw_tl_handle(TraceLoggingHProvider provider)
{
	return __atomic_load_n(&provider->RegHandle, __ATOMIC_RELAXED);
}

ETW_STATIC_INLINE EVENT_DATA_DESCRIPTOR *etw_tl_put(EVENT_DATA_DESCRIPTOR *next, const void *at,
					     size_t bytes)
{
	EventDataDescCreate(next, at, (ULONG)bytes);
	return next + 1;
}

/* A count of 16 bits, and what it counts. */
ETW_STATIC_INLINE EVENT_DATA_DESCRIPTOR *etw_tl_put_two(EVENT_DATA_DESCRIPTOR *next, const UINT16 *count,
						 const void *at, size_t bytes)
{
	return etw_tl_put(etw_tl_put(next, count, sizeof(*count)), at, bytes);
}

/* Text with its NUL, in units of one or two bytes; NULL is the empty text. */
ETW_STATIC_INLINE EVENT_DATA_DESCRIPTOR *etw_tl_put_text(EVENT_DATA_DESCRIPTOR *next, const void *text,
						  size_t unit_bytes)
{
	typedef UINT16 __attribute__((__may_alias__)) unit;
	size_t units = 0;

	if (!text)
		return etw_tl_put(next, "\0", unit_bytes);
	if (unit_bytes == 1)
		return etw_tl_put(next, text, strlen((const char *)text) + 1);
	while (((const unit *)text)[units])
		units++;
	return etw_tl_put(next, text, (units + 1) * unit_bytes);
}

/* NULL is a SID without authorities. */
ETW_STATIC_INLINE EVENT_DATA_DESCRIPTOR *etw_tl_put_sid(EVENT_DATA_DESCRIPTOR *next, const void *sid)
{
	static const UINT8 none[8] = {1, 0, 0, 0, 0, 0, 0, 0};
	const UINT8 *at = sid ? (const UINT8 *)sid : none;

	return etw_tl_put(next, at, 8 + (size_t)at[1] * 4);
}

ETW_STATIC_INLINE EVENT_DATA_DESCRIPTOR *etw_tl_begin(EVENT_DATA_DESCRIPTOR *data,
					       TraceLoggingHProvider provider, const void *metadata,
					       size_t bytes)
{
	const UINT8 *traits = (const UINT8 *)provider->Metadata;

	EventDataDescCreate(&data[0], traits, (ULONG)(traits[0] | traits[1] << 8));
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
	EventDataDescCreate(&data[1], metadata, (ULONG)bytes);
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	return data + 2;
}

#endif /* ETW_TRACELOGGING_H */
