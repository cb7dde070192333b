/* SPDX-License-Identifier: MIT */
/* Classes of wide characters, their order, and their encoding outside, which is UTF-8. */
#include "compat/cxx/facets.h"

#include <cwchar>
#include <wctype.h>

namespace {

typedef std::ctype<wchar_t> wide;
typedef std::ctype_base::mask mask;

/* Classes and case are by Unicode, as on Windows, whatever the program's locale is. */
locale_t make_unicode()
{
	const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);

	return made ? made : newlocale(LC_CTYPE_MASK, "C", nullptr);
}

locale_t unicode()
{
	static const locale_t made = make_unicode();

	return made;
}

mask classes_of(wchar_t unit)
{
	const locale_t where = unicode();
	const std::wint_t code = unit;

	return static_cast<mask>((iswupper_l(code, where) ? +wide::upper : 0) |
				 (iswlower_l(code, where) ? +wide::lower : 0) |
				 (iswalpha_l(code, where) ? +wide::alpha : 0) |
				 (iswdigit_l(code, where) ? +wide::digit : 0) |
				 (iswxdigit_l(code, where) ? +wide::xdigit : 0) |
				 (iswspace_l(code, where) ? +wide::space : 0) |
				 (iswprint_l(code, where) ? +wide::print : 0) |
				 (iswgraph_l(code, where) ? +wide::graph : 0) |
				 (iswcntrl_l(code, where) ? +wide::cntrl : 0) |
				 (iswpunct_l(code, where) ? +wide::punct : 0) |
				 (iswblank_l(code, where) ? +wide::blank : 0));
}

/* Facets can be destroyed by locales alone. */
class lasting_ctype : public wide {
      public:
	lasting_ctype() : wide(1)
	{
	}
};

class collate_facet : public std::collate<wchar_t> {
      public:
	collate_facet() : std::collate<wchar_t>(1)
	{
	}

      protected:
	int do_compare(const wchar_t *left, const wchar_t *left_end, const wchar_t *right,
		       const wchar_t *right_end) const override
	{
		while (left < left_end && right < right_end && *left == *right) {
			left++;
			right++;
		}
		if (left < left_end && right < right_end)
			return *left < *right ? -1 : 1;
		return (left < left_end) - (right < right_end);
	}

	string_type do_transform(const wchar_t *at, const wchar_t *end) const override
	{
		return string_type(at, end);
	}

	/* FNV-1a, over units. */
	long do_hash(const wchar_t *at, const wchar_t *end) const override
	{
		unsigned long hash = 0xCBF29CE484222325;

		for (; at < end; at++)
			hash = (hash ^ *at) * 0x100000001B3;
		return static_cast<long>(hash);
	}
};

} /* namespace */

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

ctype<wchar_t>::ctype(size_t references)
    : __ctype_abstract_base<wchar_t>(references), _M_c_locale_ctype(_S_get_c_locale()),
      _M_narrow_ok(false)
{
}

ctype<wchar_t>::ctype(__c_locale, size_t references) : ctype(references)
{
}

ctype<wchar_t>::~ctype()
{
}

bool ctype<wchar_t>::do_is(mask wanted, wchar_t unit) const
{
	return classes_of(unit) & wanted;
}

const wchar_t *ctype<wchar_t>::do_is(const wchar_t *at, const wchar_t *end, mask *to) const
{
	while (at < end)
		*to++ = classes_of(*at++);
	return end;
}

const wchar_t *ctype<wchar_t>::do_scan_is(mask wanted, const wchar_t *at, const wchar_t *end) const
{
	while (at < end && !(classes_of(*at) & wanted))
		at++;
	return at;
}

const wchar_t *ctype<wchar_t>::do_scan_not(mask unwanted, const wchar_t *at,
					   const wchar_t *end) const
{
	while (at < end && classes_of(*at) & unwanted)
		at++;
	return at;
}

wchar_t ctype<wchar_t>::do_toupper(wchar_t unit) const
{
	return static_cast<wchar_t>(towupper_l(unit, unicode()));
}

const wchar_t *ctype<wchar_t>::do_toupper(wchar_t *at, const wchar_t *end) const
{
	for (; at < end; at++)
		*at = do_toupper(*at);
	return end;
}

wchar_t ctype<wchar_t>::do_tolower(wchar_t unit) const
{
	return static_cast<wchar_t>(towlower_l(unit, unicode()));
}

const wchar_t *ctype<wchar_t>::do_tolower(wchar_t *at, const wchar_t *end) const
{
	for (; at < end; at++)
		*at = do_tolower(*at);
	return end;
}

wchar_t ctype<wchar_t>::do_widen(char byte) const
{
	return static_cast<unsigned char>(byte);
}

const char *ctype<wchar_t>::do_widen(const char *at, const char *end, wchar_t *to) const
{
	while (at < end)
		*to++ = do_widen(*at++);
	return end;
}

char ctype<wchar_t>::do_narrow(wchar_t unit, char otherwise) const
{
	return unit < 0x80 ? static_cast<char>(unit) : otherwise;
}

const wchar_t *ctype<wchar_t>::do_narrow(const wchar_t *at, const wchar_t *end, char otherwise,
					 char *to) const
{
	while (at < end)
		*to++ = do_narrow(*at++, otherwise);
	return end;
}

_GLIBCXX_END_NAMESPACE_VERSION
} /* namespace std */

const std::ctype<wchar_t> &etw_compat::wide_ctype()
{
	static const lasting_ctype *const facet = new lasting_ctype;

	return *facet;
}

const std::collate<wchar_t> &etw_compat::wide_collate()
{
	static const collate_facet *const facet = new collate_facet;

	return *facet;
}

/* Hidden, so that libstdc++.so and other libraries keep its own; their namespace would export them. */
__asm__(".hidden _ZNKSt5ctypeIwE10do_scan_isEtPKwS2_");
__asm__(".hidden _ZNKSt5ctypeIwE10do_tolowerEPwPKw");
__asm__(".hidden _ZNKSt5ctypeIwE10do_tolowerEw");
__asm__(".hidden _ZNKSt5ctypeIwE10do_toupperEPwPKw");
__asm__(".hidden _ZNKSt5ctypeIwE10do_toupperEw");
__asm__(".hidden _ZNKSt5ctypeIwE11do_scan_notEtPKwS2_");
__asm__(".hidden _ZNKSt5ctypeIwE5do_isEPKwS2_Pt");
__asm__(".hidden _ZNKSt5ctypeIwE5do_isEtw");
__asm__(".hidden _ZNKSt5ctypeIwE8do_widenEPKcS2_Pw");
__asm__(".hidden _ZNKSt5ctypeIwE8do_widenEc");
__asm__(".hidden _ZNKSt5ctypeIwE9do_narrowEPKwS2_cPc");
__asm__(".hidden _ZNKSt5ctypeIwE9do_narrowEwc");
__asm__(".hidden _ZNSt5ctypeIwEC1EP15__locale_structm");
__asm__(".hidden _ZNSt5ctypeIwEC1Em");
__asm__(".hidden _ZNSt5ctypeIwEC2EP15__locale_structm");
__asm__(".hidden _ZNSt5ctypeIwEC2Em");
__asm__(".hidden _ZNSt5ctypeIwED0Ev");
__asm__(".hidden _ZNSt5ctypeIwED1Ev");
__asm__(".hidden _ZNSt5ctypeIwED2Ev");
__asm__(".hidden _ZTVSt5ctypeIwE");
