/* SPDX-License-Identifier: MIT */
/* Reads wide text as if it were of char, for the facets of char. */
#ifndef ETW_COMPAT_NARROWING_ITERATOR_H
#define ETW_COMPAT_NARROWING_ITERATOR_H

#include <cwchar>
#include <iterator>

namespace etw_compat {

/*
 * An input iterator that moves the wide iterator which it is made of, so that one sees afterwards how far
 * the text was read. What is beyond ASCII is a character that no number and no date has in it, but for the
 * decimal point and the separator of thousands, which become '.' and ','.
 */
class narrowing_iterator {
      public:
	typedef std::input_iterator_tag iterator_category;
	typedef char value_type;
	typedef std::ptrdiff_t difference_type;
	typedef const char *pointer;
	typedef char reference;

	static constexpr std::wint_t no_separator = WEOF;

	/* The end of any text. */
	narrowing_iterator() : at_(nullptr), end_(nullptr), point_(L'.'), separator_(no_separator)
	{
	}

	/* @at is moved, and lives as long as the iterator, as does @end. */
	narrowing_iterator(std::istreambuf_iterator<wchar_t> *at,
			   const std::istreambuf_iterator<wchar_t> *end, wchar_t point,
			   std::wint_t separator)
	    : at_(at), end_(end), point_(point), separator_(separator)
	{
	}

	char operator*() const
	{
		const wchar_t unit = **at_;

		if (unit == point_)
			return '.';
		if (unit == separator_)
			return ',';
		if (unit >= 0x80 || unit == L'.' || (unit == L',' && separator_ != no_separator))
			return '\x01';
		return static_cast<char>(unit);
	}

	narrowing_iterator &operator++()
	{
		++*at_;
		return *this;
	}

	/* What a copy before the step would read. */
	class before {
	      public:
		explicit before(char value) : value_(value)
		{
		}

		char operator*() const
		{
			return value_;
		}

	      private:
		char value_;
	};

	before operator++(int)
	{
		const before value(**this);

		++*this;
		return value;
	}

	bool is_at_end() const
	{
		return !at_ || *at_ == *end_;
	}

	friend bool operator==(const narrowing_iterator &left, const narrowing_iterator &right)
	{
		return left.is_at_end() == right.is_at_end();
	}

	friend bool operator!=(const narrowing_iterator &left, const narrowing_iterator &right)
	{
		return !(left == right);
	}

      private:
	std::istreambuf_iterator<wchar_t> *at_;
	const std::istreambuf_iterator<wchar_t> *end_;
	wchar_t point_;
	std::wint_t separator_;
};

} /* namespace etw_compat */

#endif
