/* SPDX-License-Identifier: MIT */
/*
 * Numbers in wide text. The facets of char do the work, on a stream of their own in the "C" locale; here
 * their text becomes wide, with the punctuation and the filling of the wide stream.
 */
#include "compat/cxx/facets.h"

#include "compat/cxx/narrowing_iterator.h"

#include <ios>
#include <iterator>
#include <string>

namespace {

/* A stream that formats as another one does, but in the "C" locale and without a width. */
class plain_stream : public std::basic_ios<char> {
      public:
	explicit plain_stream(const std::ios_base &like)
	{
		init(nullptr);
		imbue(std::locale::classic());
		flags(like.flags());
		precision(like.precision());
		width(0);
	}
};

/* Facets can be destroyed by locales alone. */
class lasting_numpunct : public std::numpunct<wchar_t> {
      public:
	lasting_numpunct() : std::numpunct<wchar_t>(1)
	{
	}
};

typedef std::ostreambuf_iterator<wchar_t> out_iterator;
typedef std::istreambuf_iterator<wchar_t> in_iterator;

const std::numpunct<wchar_t> &punctuation_of(const std::ios_base &stream)
{
	return std::use_facet<std::numpunct<wchar_t>>(stream.getloc());
}

/* Puts separators into digits, as many as @grouping says from the right. */
std::wstring grouped(const std::string &digits, const std::string &grouping, wchar_t separator)
{
	std::wstring reversed;
	std::size_t group = 0, in_group = 0;

	for (std::size_t i = digits.size(); i > 0; i--) {
		const char size = grouping[group];

		if (size > 0 && size < 127 && in_group == static_cast<std::size_t>(size)) {
			reversed += separator;
			in_group = 0;
			if (group + 1 < grouping.size())
				group++;
		}
		reversed += static_cast<wchar_t>(digits[i - 1]);
		in_group++;
	}
	return std::wstring(reversed.rbegin(), reversed.rend());
}

/* Where the digits begin: behind a sign and, in hexadecimal, behind 0x. */
std::size_t prefix_of(const std::string &text)
{
	std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+');

	if (text.size() > at + 1 && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X'))
		at += 2;
	return at;
}

out_iterator filled(out_iterator to, std::ios_base &stream, wchar_t fill, const std::wstring &text,
		    std::size_t internal)
{
	const std::size_t width = stream.width() > 0 ? static_cast<std::size_t>(stream.width()) : 0;
	const std::size_t more = width > text.size() ? width - text.size() : 0;
	const std::ios_base::fmtflags adjust = stream.flags() & std::ios_base::adjustfield;
	const std::size_t before = adjust == std::ios_base::left       ? text.size()
				   : adjust == std::ios_base::internal ? internal
								       : 0;

	for (std::size_t i = 0; i < before; i++)
		*to++ = text[i];
	for (std::size_t i = 0; i < more; i++)
		*to++ = fill;
	for (std::size_t i = before; i < text.size(); i++)
		*to++ = text[i];
	stream.width(0);
	return to;
}

template <class Number>
out_iterator put_number(out_iterator to, std::ios_base &stream, wchar_t fill, Number number)
{
	typedef std::num_put<char, std::back_insert_iterator<std::string>> narrow_facet;
	class own_facet : public narrow_facet {
	      public:
		own_facet() : narrow_facet(1)
		{
		}
	};
	const own_facet narrow_one;
	plain_stream plain(stream);
	std::string text;
	std::wstring wide;

	narrow_one.put(std::back_inserter(text), plain, ' ', number);
	const std::numpunct<wchar_t> &punctuation = punctuation_of(stream);
	const std::string grouping = punctuation.grouping();
	const std::size_t prefix = prefix_of(text);
	std::size_t digits_end = text.find_first_not_of("0123456789", prefix);

	if (prefix >= 2 || (stream.flags() & std::ios_base::basefield) == std::ios_base::hex)
		digits_end = text.find_first_not_of("0123456789abcdefABCDEF", prefix);
	if (digits_end == std::string::npos)
		digits_end = text.size();
	wide.assign(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(prefix));
	if (grouping.empty() || std::is_pointer<Number>::value)
		wide.append(text.begin() + static_cast<std::ptrdiff_t>(prefix),
			    text.begin() + static_cast<std::ptrdiff_t>(digits_end));
	else
		wide += grouped(text.substr(prefix, digits_end - prefix), grouping,
				punctuation.thousands_sep());
	for (std::size_t i = digits_end; i < text.size(); i++)
		wide += text[i] == '.' ? punctuation.decimal_point()
				       : static_cast<wchar_t>(text[i]);
	return filled(to, stream, fill, wide, prefix);
}

class num_put_facet : public std::num_put<wchar_t> {
      public:
	num_put_facet() : std::num_put<wchar_t>(1)
	{
	}

      protected:
	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    bool value) const override
	{
		if (!(stream.flags() & std::ios_base::boolalpha))
			return put_number(to, stream, fill, static_cast<long>(value));
		const std::numpunct<wchar_t> &punctuation = punctuation_of(stream);

		return filled(to, stream, fill,
			      value ? punctuation.truename() : punctuation.falsename(), 0);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    long value) const override
	{
		return put_number(to, stream, fill, value);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    unsigned long value) const override
	{
		return put_number(to, stream, fill, value);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    long long value) const override
	{
		return put_number(to, stream, fill, value);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    unsigned long long value) const override
	{
		return put_number(to, stream, fill, value);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    double value) const override
	{
		return put_number(to, stream, fill, value);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    long double value) const override
	{
		return put_number(to, stream, fill, value);
	}

	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    const void *value) const override
	{
		return put_number(to, stream, fill, value);
	}
};

/* The punctuation of a wide stream as that of char: its characters are narrowed to those two. */
class narrow_punctuation : public std::numpunct<char> {
      public:
	explicit narrow_punctuation(const std::string &groups) : groups_(groups)
	{
	}

      protected:
	char do_decimal_point() const override
	{
		return '.';
	}

	char do_thousands_sep() const override
	{
		return ',';
	}

	std::string do_grouping() const override
	{
		return groups_;
	}

      private:
	const std::string groups_;
};

template <class Number>
in_iterator get_number(in_iterator at, in_iterator end, std::ios_base &stream,
		       std::ios_base::iostate &error, Number &value)
{
	typedef etw_compat::narrowing_iterator narrowing;
	typedef std::num_get<char, narrowing> narrow_facet;
	class own_facet : public narrow_facet {
	      public:
		own_facet() : narrow_facet(1)
		{
		}
	};
	const own_facet narrow_one;
	const std::numpunct<wchar_t> &punctuation = punctuation_of(stream);
	const std::string grouping = punctuation.grouping();
	plain_stream plain(stream);
	narrowing narrow(&at, &end, punctuation.decimal_point(),
			 grouping.empty() ? narrowing::no_separator
					  : static_cast<std::wint_t>(punctuation.thousands_sep()));

	if (!grouping.empty())
		plain.imbue(std::locale(std::locale::classic(), new narrow_punctuation(grouping)));
	narrow_one.get(narrow, narrowing(), plain, error, value);
	return at;
}

/* The longer of the names that the text is, read as far as it may still be one of them. */
in_iterator get_name(in_iterator at, in_iterator end, const std::ios_base &stream,
		     std::ios_base::iostate &error, bool &value)
{
	const std::wstring names[] = {punctuation_of(stream).falsename(),
				      punctuation_of(stream).truename()};
	bool possible[] = {true, true};
	std::size_t read = 0;
	int whole = -1;

	error = std::ios_base::goodbit;
	for (; at != end; ++at, read++) {
		bool any = false;

		for (int i = 0; i < 2; i++) {
			possible[i] = possible[i] && read < names[i].size() &&
				      names[i][read] == *at;
			any = any || possible[i];
		}
		if (!any)
			break;
		for (int i = 0; i < 2; i++)
			if (possible[i] && names[i].size() == read + 1)
				whole = i;
	}
	if (at == end)
		error |= std::ios_base::eofbit;
	value = whole == 1;
	if (whole < 0 || names[whole].size() != read)
		error |= std::ios_base::failbit;
	return at;
}

class num_get_facet : public std::num_get<wchar_t> {
      public:
	num_get_facet() : std::num_get<wchar_t>(1)
	{
	}

      protected:
	in_iterator do_get(in_iterator at, in_iterator end, std::ios_base &stream,
			   std::ios_base::iostate &error, bool &value) const override
	{
		if (stream.flags() & std::ios_base::boolalpha)
			return get_name(at, end, stream, error, value);
		return get_number(at, end, stream, error, value);
	}

#define ETW_GET(type)                                                                 \
	in_iterator do_get(in_iterator at, in_iterator end, std::ios_base &stream,    \
			   std::ios_base::iostate &error, type &value) const override \
	{                                                                             \
		return get_number(at, end, stream, error, value);                     \
	}

	ETW_GET(long)
	ETW_GET(unsigned short)
	ETW_GET(unsigned int)
	ETW_GET(unsigned long)
	ETW_GET(long long)
	ETW_GET(unsigned long long)
	ETW_GET(float)
	ETW_GET(double)
	ETW_GET(long double)
	ETW_GET(void *)
#undef ETW_GET
};

} /* namespace */

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

template <> void numpunct<wchar_t>::_M_initialize_numpunct(__c_locale)
{
	static const wchar_t truename[] = L"true", falsename[] = L"false";

	if (!_M_data)
		_M_data = new __numpunct_cache<wchar_t>;
	_M_data->_M_grouping = "";
	_M_data->_M_decimal_point = L'.';
	_M_data->_M_thousands_sep = L',';
	_M_data->_M_truename = truename;
	_M_data->_M_truename_size = sizeof(truename) / sizeof(*truename) - 1;
	_M_data->_M_falsename = falsename;
	_M_data->_M_falsename_size = sizeof(falsename) / sizeof(*falsename) - 1;
}

template <> numpunct<wchar_t>::~numpunct()
{
	if (_M_data->_M_grouping_size)
		delete[] _M_data->_M_grouping;
	delete _M_data;
}

_GLIBCXX_END_NAMESPACE_VERSION
} /* namespace std */

const std::numpunct<wchar_t> &etw_compat::wide_numpunct()
{
	static const lasting_numpunct *const facet = new lasting_numpunct;

	return *facet;
}

const std::num_put<wchar_t> &etw_compat::wide_num_put()
{
	static const num_put_facet *const facet = new num_put_facet;

	return *facet;
}

const std::num_get<wchar_t> &etw_compat::wide_num_get()
{
	static const num_get_facet *const facet = new num_get_facet;

	return *facet;
}

/* Hidden, so that libstdc++.so and other libraries keep its own; their namespace would export them. */
__asm__(".hidden _ZNSt7__cxx118numpunctIwE22_M_initialize_numpunctEP15__locale_struct");
__asm__(".hidden _ZNSt7__cxx118numpunctIwED0Ev");
__asm__(".hidden _ZNSt7__cxx118numpunctIwED1Ev");
__asm__(".hidden _ZNSt7__cxx118numpunctIwED2Ev");
