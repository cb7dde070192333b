/* SPDX-License-Identifier: MIT */
/*
 * TraceLoggingValue(): the in-type and the out-type that a C type stands for, _Generic in C and a trait in C++. Not for
 * programs, which include TraceLoggingProvider.h. A type that is not here does not compile.
 */
#ifndef ETW_TRACELOGGING_VALUE_H
#define ETW_TRACELOGGING_VALUE_H

#include <etw/tracelogging.h>

/* How the value lies in the event. */
enum etw_tl_form { ETW_TL_PLAIN, ETW_TL_NARROW, ETW_TL_WIDE, ETW_TL_SID };

#define ETW_TL_INT_OF(bytes)                                                                     \
	((bytes) == 1 ? TlgInINT8 : (bytes) == 2 ? TlgInINT16 : (bytes) == 4 ? TlgInINT32 : TlgInINT64)

/* @at: of the value; of the pointer to it, for text and SIDs */
ETW_STATIC_INLINE EVENT_DATA_DESCRIPTOR *etw_tl_put_form(EVENT_DATA_DESCRIPTOR *next, int form,
						  const void *at, size_t bytes)
{
	const void *pointer;

	if (form == ETW_TL_PLAIN)
		return etw_tl_put(next, at, bytes);
	memcpy(&pointer, at, sizeof(pointer));
	if (form == ETW_TL_SID)
		return etw_tl_put_sid(next, pointer);
	return etw_tl_put_text(next, pointer, form == ETW_TL_WIDE ? 2 : 1);
}

/* (value [, name [, description [, tag]]]): the types are asked of the first. */
#define ETW_TL_AUTO(text, ...)                                                                   \
	ETW_TL_FIELD(etw_field, ETW_TL_AUTO_IN(ETW_TL_FIRST(__VA_ARGS__, )),                     \
		     ETW_TL_AUTO_OUT(ETW_TL_FIRST(__VA_ARGS__, )), , etw_auto, 1, text, , ,      \
		     __VA_ARGS__)
#define ETW_TL_FIRST(first, ...) first
#define ETW_TL_PUT_etw_auto(i, a, b, value)                                                      \
	ETW_TL_CHECK_TEXT(WCHAR, value)                                                          \
	ETW_TL_AUTO_VARIABLE etw_tl_v##i = (value);                                              \
	etw_tl_next = etw_tl_put_form(etw_tl_next, ETW_TL_AUTO_FORM(value), &etw_tl_v##i,        \
				      sizeof(etw_tl_v##i));

#ifdef __cplusplus

#include <type_traits>

#define ETW_TL_AUTO_VARIABLE const auto
#define ETW_TL_AUTO_OF(value) etw_tl_type<typename std::decay<decltype(value)>::type>
#define ETW_TL_AUTO_IN(value) (ETW_TL_AUTO_OF(value)::in)
#define ETW_TL_AUTO_OUT(value) (ETW_TL_AUTO_OF(value)::out)
#define ETW_TL_AUTO_FORM(value) (ETW_TL_AUTO_OF(value)::form)

template <int InType, int OutType = TlgOutNULL, int Form = ETW_TL_PLAIN>
struct etw_tl_type_of {
	enum { in = InType, out = OutType, form = Form };
};

/* Enumerations are what lies under them. */
template <typename T, bool IsEnum = std::is_enum<T>::value>
struct etw_tl_type;
template <typename T>
struct etw_tl_type<T, true> : etw_tl_type<typename std::underlying_type<T>::type> {};

template <> struct etw_tl_type<bool> : etw_tl_type_of<TlgInUINT8, TlgOutBOOLEAN> {};
template <> struct etw_tl_type<char> : etw_tl_type_of<TlgInUINT8, TlgOutSTRING> {};
template <> struct etw_tl_type<char16_t> : etw_tl_type_of<TlgInUINT16, TlgOutSTRING> {};
template <> struct etw_tl_type<signed char> : etw_tl_type_of<TlgInINT8> {};
template <> struct etw_tl_type<unsigned char> : etw_tl_type_of<TlgInUINT8> {};
template <> struct etw_tl_type<short> : etw_tl_type_of<TlgInINT16> {};
template <> struct etw_tl_type<unsigned short> : etw_tl_type_of<TlgInUINT16> {};
template <> struct etw_tl_type<int> : etw_tl_type_of<TlgInINT32> {};
template <> struct etw_tl_type<unsigned> : etw_tl_type_of<TlgInUINT32> {};
template <> struct etw_tl_type<long> : etw_tl_type_of<ETW_TL_INT_OF(sizeof(long))> {};
template <> struct etw_tl_type<unsigned long> : etw_tl_type_of<ETW_TL_INT_OF(sizeof(long)) + 1> {};
template <> struct etw_tl_type<LONGLONG> : etw_tl_type_of<TlgInINT64> {};
template <> struct etw_tl_type<ULONGLONG> : etw_tl_type_of<TlgInUINT64> {};
template <> struct etw_tl_type<float> : etw_tl_type_of<TlgInFLOAT> {};
template <> struct etw_tl_type<double> : etw_tl_type_of<TlgInDOUBLE> {};
template <> struct etw_tl_type<GUID> : etw_tl_type_of<TlgInGUID> {};
template <> struct etw_tl_type<FILETIME> : etw_tl_type_of<TlgInFILETIME> {};
template <> struct etw_tl_type<SYSTEMTIME> : etw_tl_type_of<TlgInSYSTEMTIME> {};
template <> struct etw_tl_type<std::nullptr_t> : etw_tl_type_of<ETW_TL_HEX_POINTER> {};

/* Pointers: to what, const or not. */
template <typename T> struct etw_tl_pointer;
template <> struct etw_tl_pointer<void> : etw_tl_type_of<ETW_TL_HEX_POINTER> {};
template <> struct etw_tl_pointer<char>
	: etw_tl_type_of<TlgInANSISTRING, TlgOutNULL, ETW_TL_NARROW> {};
template <> struct etw_tl_pointer<char16_t>
	: etw_tl_type_of<TlgInUNICODESTRING, TlgOutNULL, ETW_TL_WIDE> {};
template <> struct etw_tl_pointer<SID> : etw_tl_type_of<TlgInSID, TlgOutNULL, ETW_TL_SID> {};
template <typename T>
struct etw_tl_type<T *, false> : etw_tl_pointer<typename std::remove_const<T>::type> {};

#if ETW_WCHAR_IS_WCHAR_T
template <> struct etw_tl_type<wchar_t> : etw_tl_type_of<TlgInUINT16, TlgOutSTRING> {};
template <> struct etw_tl_pointer<wchar_t>
	: etw_tl_type_of<TlgInUNICODESTRING, TlgOutNULL, ETW_TL_WIDE> {};
#endif

#else

#define ETW_TL_AUTO_VARIABLE __extension__ __auto_type const
/* Not of four bytes; it is here so that ETW_TL_CHECK_TEXT() says what is wrong with it. */
#if ETW_WCHAR_IS_WCHAR_T
#define ETW_TL_AUTO_WCHAR_T
#else
#define ETW_TL_AUTO_WCHAR_T                                                                      \
	__WCHAR_TYPE__ *: TlgInUNICODESTRING, const __WCHAR_TYPE__ *: TlgInUNICODESTRING,
#endif
#define ETW_TL_AUTO_IN(value)                                                                    \
	_Generic((value), ETW_TL_AUTO_WCHAR_T                                                    \
		 _Bool: TlgInUINT8, char: TlgInUINT8, signed char: TlgInINT8,                    \
		 unsigned char: TlgInUINT8, short: TlgInINT16, unsigned short: TlgInUINT16,      \
		 int: TlgInINT32, unsigned: TlgInUINT32, long: ETW_TL_INT_OF(sizeof(long)),      \
		 unsigned long: ETW_TL_INT_OF(sizeof(long)) + 1, LONGLONG: TlgInINT64,           \
		 ULONGLONG: TlgInUINT64, float: TlgInFLOAT, double: TlgInDOUBLE,                 \
		 void *: ETW_TL_HEX_POINTER, const void *: ETW_TL_HEX_POINTER,                   \
		 char *: TlgInANSISTRING, const char *: TlgInANSISTRING,                         \
		 WCHAR *: TlgInUNICODESTRING, const WCHAR *: TlgInUNICODESTRING,                 \
		 GUID: TlgInGUID, FILETIME: TlgInFILETIME, SYSTEMTIME: TlgInSYSTEMTIME,          \
		 SID *: TlgInSID, const SID *: TlgInSID)
#define ETW_TL_AUTO_OUT(value)                                                                   \
	_Generic((value), _Bool: TlgOutBOOLEAN, char: TlgOutSTRING, default: TlgOutNULL)
#define ETW_TL_AUTO_FORM(value)                                                                  \
	_Generic((value), char *: ETW_TL_NARROW, const char *: ETW_TL_NARROW,                    \
		 WCHAR *: ETW_TL_WIDE, const WCHAR *: ETW_TL_WIDE, SID *: ETW_TL_SID,            \
		 const SID *: ETW_TL_SID, default: ETW_TL_PLAIN)

#endif

#endif /* ETW_TRACELOGGING_VALUE_H */
