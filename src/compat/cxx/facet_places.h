/* SPDX-License-Identifier: MIT */
/*
 * The places of wide facets in a locale, which libstdc++.so owns. By their symbols, as the compiler would
 * else make others where the templates are not libstdc++.so's.
 */
#ifndef ETW_COMPAT_FACET_PLACES_H
#define ETW_COMPAT_FACET_PLACES_H

#include <locale>

extern "C" {
extern std::locale::id ctype_place __asm__("_ZNSt5ctypeIwE2idE");
extern std::locale::id codecvt_place __asm__("_ZNSt7codecvtIwc11__mbstate_tE2idE");
extern std::locale::id collate_place __asm__("_ZNSt7__cxx117collateIwE2idE");
extern std::locale::id numpunct_place __asm__("_ZNSt7__cxx118numpunctIwE2idE");
extern std::locale::id num_put_place __asm__(
	"_ZNSt7num_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEE2idE");
extern std::locale::id num_get_place __asm__(
	"_ZNSt7num_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEE2idE");
extern std::locale::id time_put_place __asm__(
	"_ZNSt8time_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEE2idE");
extern std::locale::id time_get_place __asm__(
	"_ZNSt7__cxx118time_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEE2idE");
}

#endif
