/* SPDX-License-Identifier: MIT */
/*
 * A locale's facets of libstdc++.so are for wchar_t of four bytes. Whoever asks for one of them here gets
 * that of libetw-compat, of two bytes; a facet of the program's own is handed out as it is.
 */
#include_next <bits/localefwd.h>

#ifndef ETW_COMPAT_BITS_LOCALEFWD_H
#define ETW_COMPAT_BITS_LOCALEFWD_H

#if defined(__SIZEOF_WCHAR_T__) && __SIZEOF_WCHAR_T__ == 2

#include <bits/c++config.h>

#define ETW_COMPAT_FACET(...)                                                                    \
	template <>                                                                              \
	const __VA_ARGS__ &use_facet<__VA_ARGS__>(const locale &);                               \
	template <>                                                                              \
	bool has_facet<__VA_ARGS__>(const locale &) throw()

namespace std
{
_GLIBCXX_BEGIN_NAMESPACE_VERSION
ETW_COMPAT_FACET(ctype<wchar_t>);
ETW_COMPAT_FACET(codecvt<wchar_t, char, mbstate_t>);
ETW_COMPAT_FACET(collate<wchar_t>);
ETW_COMPAT_FACET(numpunct<wchar_t>);
ETW_COMPAT_FACET(num_put<wchar_t>);
ETW_COMPAT_FACET(num_get<wchar_t>);
ETW_COMPAT_FACET(time_put<wchar_t>);
ETW_COMPAT_FACET(time_get<wchar_t>);

#ifdef __clang__
#define ETW_COMPAT_ABSENT(sentence) __attribute__((__unavailable__(sentence)))
#else
#define ETW_COMPAT_ABSENT(sentence) __attribute__((__error__(sentence)))
#endif
#define ETW_COMPAT_NO_FACET(what, ...)                                                           \
	template <>                                                                              \
	ETW_COMPAT_ABSENT(what " of wide text is not in libetw-compat: use the facet of char, "  \
			       "and widen its text")                                            \
	const __VA_ARGS__ &use_facet<__VA_ARGS__>(const locale &)
ETW_COMPAT_NO_FACET("money", moneypunct<wchar_t, false>);
ETW_COMPAT_NO_FACET("money", moneypunct<wchar_t, true>);
ETW_COMPAT_NO_FACET("money", money_put<wchar_t>);
ETW_COMPAT_NO_FACET("money", money_get<wchar_t>);
ETW_COMPAT_NO_FACET("messages", messages<wchar_t>);
_GLIBCXX_END_NAMESPACE_VERSION
} /* namespace std */

#undef ETW_COMPAT_FACET
#undef ETW_COMPAT_NO_FACET
#undef ETW_COMPAT_ABSENT

#endif
#endif
