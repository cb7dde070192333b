/* SPDX-License-Identifier: MIT */
/*
 * The facets for wchar_t of two bytes, which stand in for those of libstdc++.so.
 *
 * There is one of each, made when it is first asked for, and never given back: a stream may use it while
 * the program ends. A locale's name has no influence on them: they are those of the "C" locale, but for
 * characters beyond ASCII, which are UTF-8 outside and have their classes by Unicode.
 */
#ifndef ETW_COMPAT_FACETS_H
#define ETW_COMPAT_FACETS_H

#include <locale>

namespace etw_compat {
const std::ctype<wchar_t> &wide_ctype();
const std::codecvt<wchar_t, char, std::mbstate_t> &wide_codecvt();
const std::collate<wchar_t> &wide_collate();
const std::numpunct<wchar_t> &wide_numpunct();
const std::num_put<wchar_t> &wide_num_put();
const std::num_get<wchar_t> &wide_num_get();
const std::time_put<wchar_t> &wide_time_put();
const std::time_get<wchar_t> &wide_time_get();
} /* namespace etw_compat */

#endif
