/* SPDX-License-Identifier: MIT */
/*
 * Functions of wide streams that libstdc++ declares apart for wchar_t and holds in libstdc++.so, where they
 * are for four bytes.
 */
#include <istream>
#include <limits>
#include <ostream>
#include <streambuf>
#include <string>

namespace {

typedef std::char_traits<wchar_t> traits;
typedef std::ios_base ios;

/* What reading leaves behind when a buffer throws: badbit, and the exception where the stream wants it. */
void note_exception(std::wistream &stream)
{
	try {
		stream.setstate(ios::badbit);
	} catch (...) {
	}
	if (stream.exceptions() & ios::badbit)
		throw;
}

/*
 * Takes characters up to @most or to @stop, which is taken too; @take is given each of the others and says
 * whether it has room for it. Returns how many were taken.
 */
template <class Take>
std::streamsize take_until(std::wistream &stream, std::streamsize most, traits::int_type stop,
			   ios::iostate &state, Take take)
{
	std::wstreambuf *const buffer = stream.rdbuf();
	const bool endless = most == std::numeric_limits<std::streamsize>::max();
	std::streamsize taken = 0;

	for (traits::int_type unit = buffer->sgetc(); endless || taken < most;
	     unit = buffer->snextc()) {
		if (traits::eq_int_type(unit, traits::eof())) {
			state |= ios::eofbit;
			return taken;
		}
		if (traits::eq_int_type(unit, stop)) {
			buffer->sbumpc();
			return taken + 1;
		}
		if (!take(traits::to_char_type(unit))) {
			state |= ios::failbit;
			return taken;
		}
		taken += taken < std::numeric_limits<std::streamsize>::max();
	}
	return taken;
}

} /* namespace */

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

template <> wistream &getline(wistream &stream, wstring &line, wchar_t stop)
{
	wistream::sentry ready(stream, true);
	ios::iostate state = ios::goodbit;

	if (!ready)
		return stream;
	try {
		line.clear();
		const streamsize taken = take_until(stream, line.max_size(),
						    traits::to_int_type(stop), state,
						    [&line](wchar_t unit) {
							    line += unit;
							    return true;
						    });

		if (taken == 0)
			state |= ios::failbit;
	} catch (...) {
		note_exception(stream);
	}
	if (state)
		stream.setstate(state);
	return stream;
}

template <> wistream &wistream::getline(wchar_t *to, streamsize room, wchar_t stop)
{
	ios::iostate state = ios::goodbit;
	wchar_t *const last = to + (room > 0 ? room - 1 : 0);
	wchar_t *at = to;

	_M_gcount = 0;
	sentry ready(*this, true);
	if (ready) {
		try {
			_M_gcount = take_until(*this, numeric_limits<streamsize>::max(),
					       traits::to_int_type(stop), state,
					       [&at, last](wchar_t unit) {
						       if (at == last)
							       return false;
						       *at++ = unit;
						       return true;
					       });
		} catch (...) {
			note_exception(*this);
		}
	}
	if (room > 0)
		*at = 0;
	if (_M_gcount == 0)
		state |= ios::failbit;
	if (state)
		setstate(state);
	return *this;
}

template <> wistream &wistream::ignore(streamsize most, traits::int_type stop)
{
	ios::iostate state = ios::goodbit;

	_M_gcount = 0;
	sentry ready(*this, true);
	if (!ready || most <= 0)
		return *this;
	try {
		_M_gcount = take_until(*this, most, stop, state, [](wchar_t) { return true; });
	} catch (...) {
		note_exception(*this);
	}
	if (state)
		setstate(state);
	return *this;
}

template <> wistream &wistream::ignore(streamsize most)
{
	return ignore(most, traits::eof());
}

template <> wistream &wistream::ignore()
{
	return ignore(1, traits::eof());
}

template <> streamsize __copy_streambufs_eof(wstreambuf *from, wstreambuf *to, bool &ends)
{
	streamsize copied = 0;

	for (traits::int_type unit = from->sgetc(); !traits::eq_int_type(unit, traits::eof());
	     unit = from->snextc(), copied++) {
		if (traits::eq_int_type(to->sputc(traits::to_char_type(unit)), traits::eof())) {
			ends = false;
			return copied;
		}
	}
	ends = true;
	return copied;
}

_GLIBCXX_END_NAMESPACE_VERSION
} /* namespace std */

/* Hidden, so that libstdc++.so and other libraries keep its own; their namespace would export them. */
__asm__(".hidden _ZNSt13basic_istreamIwSt11char_traitsIwEE6ignoreEl");
__asm__(".hidden _ZNSt13basic_istreamIwSt11char_traitsIwEE6ignoreElj");
__asm__(".hidden _ZNSt13basic_istreamIwSt11char_traitsIwEE6ignoreEv");
__asm__(".hidden _ZNSt13basic_istreamIwSt11char_traitsIwEE7getlineEPwlw");
__asm__(".hidden "
	"_ZSt21__copy_streambufs_eofIwSt11char_traitsIwEElPSt15basic_streambufIT_T0_ES6_Rb");
__asm__(".hidden "
	"_ZSt7getlineIwSt11char_traitsIwESaIwEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_"
	"stringIS4_S5_T1_EES4_");
