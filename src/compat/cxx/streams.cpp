/* SPDX-License-Identifier: MIT */
/*
 * wcout, wcerr, wclog and wcin for wchar_t of two bytes: UTF-8 on the streams of C, in step with what is
 * written and read there.
 *
 * <iostream> is not included, as it would declare them with another type; their symbols are defined here.
 */
#include <cstdio>
#include <istream>
#include <new>
#include <ostream>
#include <streambuf>

extern "C" {
#include "base/utf.h"
}

namespace {

typedef std::char_traits<wchar_t> traits;

constexpr bool is_high_surrogate(wchar_t unit)
{
	return (unit & 0xFC00) == 0xD800;
}

constexpr bool is_low_surrogate(wchar_t unit)
{
	return (unit & 0xFC00) == 0xDC00;
}

/* The buffer of a stream of C. Not owned: it is open as long as the program. */
class c_stream_buffer : public std::wstreambuf {
      public:
	explicit c_stream_buffer(std::FILE *file) : file_(file), high_(0), given_(0), held_(0)
	{
	}

      protected:
	int_type overflow(int_type unit) override
	{
		if (traits::eq_int_type(unit, traits::eof()))
			return sync() ? traits::eof() : traits::not_eof(unit);
		return put(traits::to_char_type(unit)) ? unit : traits::eof();
	}

	std::streamsize xsputn(const wchar_t *text, std::streamsize units) override
	{
		std::streamsize put_units = 0;

		while (put_units < units && put(text[put_units]))
			put_units++;
		return put_units;
	}

	int sync() override
	{
		return std::fflush(file_) ? -1 : 0;
	}

	int_type underflow() override
	{
		if (held_ == given_ && !fill())
			return traits::eof();
		return traits::to_int_type(units_[given_]);
	}

	int_type uflow() override
	{
		const int_type unit = underflow();

		if (!traits::eq_int_type(unit, traits::eof()))
			given_++;
		return unit;
	}

	int_type pbackfail(int_type unit) override
	{
		if (given_ == 0)
			return traits::eof();
		given_--;
		if (!traits::eq_int_type(unit, traits::eof()))
			units_[given_] = traits::to_char_type(unit);
		return traits::not_eof(unit);
	}

      private:
	bool write(std::uint32_t point)
	{
		char bytes[4];
		const std::size_t count = etw_utf8_encode(point, bytes);

		return std::fwrite(bytes, 1, count, file_) == count;
	}

	/* The first half of a pair waits for the second; a half alone is written as U+FFFD. */
	bool put(wchar_t unit)
	{
		const wchar_t high = high_;

		high_ = 0;
		if (high && is_low_surrogate(unit))
			return write(0x10000 + ((high - 0xD800U) << 10) + (unit - 0xDC00U));
		if (high && !write(0xFFFD))
			return false;
		if (is_high_surrogate(unit)) {
			high_ = unit;
			return true;
		}
		return write(is_low_surrogate(unit) ? 0xFFFDU : unit);
	}

	/* Reads the bytes of one character; what is no UTF-8 is U+FFFD, a byte at a time. */
	bool fill()
	{
		std::uint8_t bytes[4];
		std::size_t count = 0, used = 0, wanted = 1;
		std::uint32_t point = UINT32_MAX;

		while (count < wanted) {
			const int byte = std::getc(file_);

			if (byte == EOF)
				break;
			if (count > 0 && (byte & 0xC0) != 0x80) {
				std::ungetc(byte, file_);
				break;
			}
			bytes[count++] = static_cast<std::uint8_t>(byte);
			if (count == 1)
				wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
		}
		if (count == 0)
			return false;
		if (count == wanted)
			point = etw_utf8_decode(bytes, count, &used);
		if (point == UINT32_MAX)
			point = 0xFFFD;
		given_ = 0;
		held_ = 0;
		if (point >= 0x10000) {
			units_[held_++] = static_cast<wchar_t>(0xD800 + ((point - 0x10000) >> 10));
			point = 0xDC00 + ((point - 0x10000) & 0x3FF);
		}
		units_[held_++] = static_cast<wchar_t>(point);
		return true;
	}

	std::FILE *const file_;
	wchar_t high_;             /* written, and its second half not yet */
	wchar_t units_[2];         /* of the character last read */
	std::size_t given_, held_; /* of units_ */
};

/* Room for an object that is made before the program's own and never ends. */
template <class Object> struct room {
	alignas(Object) char bytes[sizeof(Object)];
};

} /* namespace */

extern "C" {
#define ETW_STREAM(name, symbol, type)                                                    \
	__attribute__((__visibility__("hidden"))) extern room<type> name __asm__(symbol); \
	room<type> name
ETW_STREAM(etw_compat_wcout, "_ZSt5wcout", std::wostream);
ETW_STREAM(etw_compat_wcerr, "_ZSt5wcerr", std::wostream);
ETW_STREAM(etw_compat_wclog, "_ZSt5wclog", std::wostream);
ETW_STREAM(etw_compat_wcin, "_ZSt4wcin", std::wistream);
}

namespace {

template <class Stream> Stream *make(room<Stream> &where, std::FILE *file)
{
	return new (where.bytes) Stream(new c_stream_buffer(file));
}

/* Before constructors of the program, which may write. */
__attribute__((__constructor__(101))) void make_streams()
{
	static const std::ios_base::Init narrow_streams;
	std::wostream *const out = make(etw_compat_wcout, stdout);
	std::wostream *const error = make(etw_compat_wcerr, stderr);

	make(etw_compat_wclog, stderr);
	make(etw_compat_wcin, stdin)->tie(out);
	error->setf(std::ios_base::unitbuf);
	error->tie(out);
}

} /* namespace */
