/* SPDX-License-Identifier: MIT */
/* Dates and times in wide text, by the facets of char in the "C" locale. */
#include "compat/cxx/facets.h"

#include "compat/cxx/narrowing_iterator.h"

#include <ctime>
#include <iterator>
#include <string>

namespace {

typedef std::ostreambuf_iterator<wchar_t> out_iterator;
typedef std::istreambuf_iterator<wchar_t> in_iterator;
typedef etw_compat::narrowing_iterator narrowing;

class time_put_facet : public std::time_put<wchar_t> {
      public:
	time_put_facet() : std::time_put<wchar_t>(1)
	{
	}

      protected:
	out_iterator do_put(out_iterator to, std::ios_base &stream, wchar_t fill,
			    const std::tm *time, char format, char modifier) const override
	{
		typedef std::time_put<char, std::back_insert_iterator<std::string>> narrow_facet;
		class own_facet : public narrow_facet {
		      public:
			own_facet() : narrow_facet(1)
			{
			}
		};
		const own_facet narrow_one;
		std::string text;

		(void)fill;
		narrow_one.put(std::back_inserter(text), stream, ' ', time, format, modifier);
		for (const char byte : text)
			*to++ = static_cast<unsigned char>(byte);
		return to;
	}
};

class time_get_facet : public std::time_get<wchar_t> {
      public:
	time_get_facet() : std::time_get<wchar_t>(1)
	{
	}

      protected:
	dateorder do_date_order() const override
	{
		return std::time_base::no_order;
	}

#define ETW_GET_TIME(what)                                                                     \
	in_iterator do_get_##what(in_iterator at, in_iterator end, std::ios_base &stream,      \
				  std::ios_base::iostate &error, std::tm *time) const override \
	{                                                                                      \
		const narrow_facet narrow_one;                                                 \
                                                                                               \
		narrow_one.get_##what(narrow(at, end), narrowing(), stream, error, time);      \
		return at;                                                                     \
	}

	ETW_GET_TIME(time)
	ETW_GET_TIME(date)
	ETW_GET_TIME(weekday)
	ETW_GET_TIME(monthname)
	ETW_GET_TIME(year)
#undef ETW_GET_TIME

	in_iterator do_get(in_iterator at, in_iterator end, std::ios_base &stream,
			   std::ios_base::iostate &error, std::tm *time, char format,
			   char modifier) const override
	{
		const narrow_facet narrow_one;

		narrow_one.get(narrow(at, end), narrowing(), stream, error, time, format, modifier);
		return at;
	}

      private:
	class narrow_facet : public std::time_get<char, narrowing> {
	      public:
		narrow_facet() : std::time_get<char, narrowing>(1)
		{
		}
	};

	static narrowing narrow(in_iterator &at, const in_iterator &end)
	{
		return narrowing(&at, &end, L'.', narrowing::no_separator);
	}
};

} /* namespace */

const std::time_put<wchar_t> &etw_compat::wide_time_put()
{
	static const time_put_facet *const facet = new time_put_facet;

	return *facet;
}

const std::time_get<wchar_t> &etw_compat::wide_time_get()
{
	static const time_get_facet *const facet = new time_get_facet;

	return *facet;
}
