/* SPDX-License-Identifier: MIT */
/*
 * Conversions between wide text and bytes. A wchar_t of two bytes is a unit of UTF-16 as char16_t is, for
 * which libstdc++.so has the same conversions.
 */
#include "compat/cxx/facets.h"

#include <codecvt>

namespace {

typedef std::codecvt_base::result result;

const char16_t *as_utf16(const wchar_t *text)
{
	return reinterpret_cast<const char16_t *>(text);
}

char16_t *as_utf16(wchar_t *text)
{
	return reinterpret_cast<char16_t *>(text);
}

const wchar_t *as_wide(const char16_t *text)
{
	return reinterpret_cast<const wchar_t *>(text);
}

wchar_t *as_wide(char16_t *text)
{
	return reinterpret_cast<wchar_t *>(text);
}

template <class Facet>
result convert_out(const Facet &facet, std::mbstate_t &state, const wchar_t *from,
		   const wchar_t *from_end, const wchar_t *&from_next, char *to, char *to_end,
		   char *&to_next)
{
	const char16_t *next = nullptr;
	const result got = facet.out(state, as_utf16(from), as_utf16(from_end), next, to, to_end,
				     to_next);

	from_next = as_wide(next);
	return got;
}

template <class Facet>
result convert_in(const Facet &facet, std::mbstate_t &state, const char *from, const char *from_end,
		  const char *&from_next, wchar_t *to, wchar_t *to_end, wchar_t *&to_next)
{
	char16_t *next = nullptr;
	const result got = facet.in(state, from, from_end, from_next, as_utf16(to),
				    as_utf16(to_end), next);

	to_next = as_wide(next);
	return got;
}

/* libstdc++'s conversion of char16_t with a mode that is known when the program runs. */
template <class Base> class counterpart : public Base {
      public:
	counterpart(unsigned long maximum, std::codecvt_mode mode) : Base(maximum, mode, 1)
	{
	}

	~counterpart() override
	{
	}
};

typedef std::codecvt_utf8_utf16<char16_t> utf8_utf16;
typedef std::codecvt<wchar_t, char, std::mbstate_t> wide;

/* Facets can be destroyed by locales alone. */
class lasting_codecvt : public wide {
      public:
	lasting_codecvt() : wide(1)
	{
	}
};

} /* namespace */

const std::codecvt<wchar_t, char, std::mbstate_t> &etw_compat::wide_codecvt()
{
	static const lasting_codecvt *const facet = new lasting_codecvt;

	return *facet;
}

/* The members of the three conversions that <codecvt> declares for wchar_t, each by that for char16_t. */
#define ETW_CONVERSION(name)                                                                       \
	name<wchar_t>::~name()                                                                     \
	{                                                                                          \
	}                                                                                          \
                                                                                                   \
	result name<wchar_t>::do_out(state_type &state, const wchar_t *from,                       \
				     const wchar_t *from_end, const wchar_t *&from_next, char *to, \
				     char *to_end, char *&to_next) const                           \
	{                                                                                          \
		const counterpart<name<char16_t>> converter(_M_maxcode, _M_mode);                  \
                                                                                                   \
		return convert_out(converter, state, from, from_end, from_next, to, to_end,        \
				   to_next);                                                       \
	}                                                                                          \
                                                                                                   \
	result name<wchar_t>::do_unshift(state_type &state, char *to, char *to_end,                \
					 char *&to_next) const                                     \
	{                                                                                          \
		const counterpart<name<char16_t>> converter(_M_maxcode, _M_mode);                  \
                                                                                                   \
		return converter.unshift(state, to, to_end, to_next);                              \
	}                                                                                          \
                                                                                                   \
	result name<wchar_t>::do_in(state_type &state, const char *from, const char *from_end,     \
				    const char *&from_next, wchar_t *to, wchar_t *to_end,          \
				    wchar_t *&to_next) const                                       \
	{                                                                                          \
		const counterpart<name<char16_t>> converter(_M_maxcode, _M_mode);                  \
                                                                                                   \
		return convert_in(converter, state, from, from_end, from_next, to, to_end,         \
				  to_next);                                                        \
	}                                                                                          \
                                                                                                   \
	int name<wchar_t>::do_encoding() const throw()                                             \
	{                                                                                          \
		const counterpart<name<char16_t>> converter(_M_maxcode, _M_mode);                  \
                                                                                                   \
		return converter.encoding();                                                       \
	}                                                                                          \
                                                                                                   \
	bool name<wchar_t>::do_always_noconv() const throw()                                       \
	{                                                                                          \
		return false;                                                                      \
	}                                                                                          \
                                                                                                   \
	int name<wchar_t>::do_length(state_type &state, const char *from, const char *end,         \
				     size_t most) const                                            \
	{                                                                                          \
		const counterpart<name<char16_t>> converter(_M_maxcode, _M_mode);                  \
                                                                                                   \
		return converter.length(state, from, end, most);                                   \
	}                                                                                          \
                                                                                                   \
	int name<wchar_t>::do_max_length() const throw()                                           \
	{                                                                                          \
		const counterpart<name<char16_t>> converter(_M_maxcode, _M_mode);                  \
                                                                                                   \
		return converter.max_length();                                                     \
	}

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

codecvt<wchar_t, char, mbstate_t>::codecvt(size_t references)
    : __codecvt_abstract_base<wchar_t, char, mbstate_t>(references),
      _M_c_locale_codecvt(_S_get_c_locale())
{
}

codecvt<wchar_t, char, mbstate_t>::codecvt(__c_locale, size_t references) : codecvt(references)
{
}

codecvt<wchar_t, char, mbstate_t>::~codecvt()
{
}

result codecvt<wchar_t, char, mbstate_t>::do_out(mbstate_t &state, const wchar_t *from,
						 const wchar_t *from_end, const wchar_t *&from_next,
						 char *to, char *to_end, char *&to_next) const
{
	const utf8_utf16 converter;

	return convert_out(converter, state, from, from_end, from_next, to, to_end, to_next);
}

result codecvt<wchar_t, char, mbstate_t>::do_unshift(mbstate_t &state, char *to, char *to_end,
						     char *&to_next) const
{
	const utf8_utf16 converter;

	return converter.unshift(state, to, to_end, to_next);
}

result codecvt<wchar_t, char, mbstate_t>::do_in(mbstate_t &state, const char *from,
						const char *from_end, const char *&from_next,
						wchar_t *to, wchar_t *to_end,
						wchar_t *&to_next) const
{
	const utf8_utf16 converter;

	return convert_in(converter, state, from, from_end, from_next, to, to_end, to_next);
}

int codecvt<wchar_t, char, mbstate_t>::do_encoding() const throw()
{
	return 0;
}

bool codecvt<wchar_t, char, mbstate_t>::do_always_noconv() const throw()
{
	return false;
}

int codecvt<wchar_t, char, mbstate_t>::do_length(mbstate_t &state, const char *from,
						 const char *end, size_t most) const
{
	const utf8_utf16 converter;

	return converter.length(state, from, end, most);
}

int codecvt<wchar_t, char, mbstate_t>::do_max_length() const throw()
{
	return 4;
}

ETW_CONVERSION(__codecvt_utf8_base)
ETW_CONVERSION(__codecvt_utf16_base)
ETW_CONVERSION(__codecvt_utf8_utf16_base)
_GLIBCXX_END_NAMESPACE_VERSION
} /* namespace std */

/* Hidden, so that libstdc++.so and other libraries keep its own; their namespace would export them. */
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE10do_unshiftER11__mbstate_tPcS3_RS3_");
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE11do_encodingEv");
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE13do_max_lengthEv");
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE16do_always_noconvEv");
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE5do_inER11__mbstate_tPKcS4_RS4_PwS6_RS6_");
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE6do_outER11__mbstate_tPKwS4_RS4_PcS6_RS6_");
__asm__(".hidden _ZNKSt19__codecvt_utf8_baseIwE9do_lengthER11__mbstate_tPKcS4_m");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE10do_unshiftER11__mbstate_tPcS3_RS3_");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE11do_encodingEv");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE13do_max_lengthEv");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE16do_always_noconvEv");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE5do_inER11__mbstate_tPKcS4_RS4_PwS6_RS6_");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE6do_outER11__mbstate_tPKwS4_RS4_PcS6_RS6_");
__asm__(".hidden _ZNKSt20__codecvt_utf16_baseIwE9do_lengthER11__mbstate_tPKcS4_m");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE10do_unshiftER11__mbstate_tPcS3_RS3_");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE11do_encodingEv");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE13do_max_lengthEv");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE16do_always_noconvEv");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE5do_inER11__mbstate_tPKcS4_RS4_PwS6_RS6_");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE6do_outER11__mbstate_tPKwS4_RS4_PcS6_RS6_");
__asm__(".hidden _ZNKSt25__codecvt_utf8_utf16_baseIwE9do_lengthER11__mbstate_tPKcS4_m");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE10do_unshiftERS0_PcS3_RS3_");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE11do_encodingEv");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE13do_max_lengthEv");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE16do_always_noconvEv");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE5do_inERS0_PKcS4_RS4_PwS6_RS6_");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE6do_outERS0_PKwS4_RS4_PcS6_RS6_");
__asm__(".hidden _ZNKSt7codecvtIwc11__mbstate_tE9do_lengthERS0_PKcS4_m");
__asm__(".hidden _ZNSt19__codecvt_utf8_baseIwED0Ev");
__asm__(".hidden _ZNSt19__codecvt_utf8_baseIwED1Ev");
__asm__(".hidden _ZNSt19__codecvt_utf8_baseIwED2Ev");
__asm__(".hidden _ZNSt20__codecvt_utf16_baseIwED0Ev");
__asm__(".hidden _ZNSt20__codecvt_utf16_baseIwED1Ev");
__asm__(".hidden _ZNSt20__codecvt_utf16_baseIwED2Ev");
__asm__(".hidden _ZNSt25__codecvt_utf8_utf16_baseIwED0Ev");
__asm__(".hidden _ZNSt25__codecvt_utf8_utf16_baseIwED1Ev");
__asm__(".hidden _ZNSt25__codecvt_utf8_utf16_baseIwED2Ev");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tEC1EP15__locale_structm");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tEC1Em");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tEC2EP15__locale_structm");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tEC2Em");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tED0Ev");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tED1Ev");
__asm__(".hidden _ZNSt7codecvtIwc11__mbstate_tED2Ev");
__asm__(".hidden _ZTVSt19__codecvt_utf8_baseIwE");
__asm__(".hidden _ZTVSt20__codecvt_utf16_baseIwE");
__asm__(".hidden _ZTVSt25__codecvt_utf8_utf16_baseIwE");
__asm__(".hidden _ZTVSt7codecvtIwc11__mbstate_tE");
