/* SPDX-License-Identifier: MIT */
/* Which facet a locale has for wide text: the program's own where it put one in, else ours. */
#include "compat/cxx/facets.h"
#include "compat/cxx/facet_places.h"

#include <typeinfo>

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
typedef codecvt<wchar_t, char, mbstate_t> wide_codecvt;

/* A facet is libstdc++'s own when its class is the facet's itself or the one made by a locale's name. */
#define ETW_FACET(place, ours, kind, ...)                                              \
	template <> const kind &use_facet<kind>(const locale &where)                   \
	{                                                                              \
		const size_t index = place._M_id();                                    \
		const locale::facet *found = index < where._M_impl->_M_facets_size     \
						     ? where._M_impl->_M_facets[index] \
						     : nullptr;                        \
		if (!found || typeid(*found) == typeid(kind) ||                        \
		    typeid(*found) == typeid(__VA_ARGS__))                             \
			return ours();                                                 \
		return static_cast<const kind &>(*found);                              \
	}                                                                              \
	template <> bool has_facet<kind>(const locale &) throw()                       \
	{                                                                              \
		return true;                                                           \
	}

ETW_FACET(ctype_place, etw_compat::wide_ctype, ctype<wchar_t>, ctype_byname<wchar_t>)
ETW_FACET(codecvt_place, etw_compat::wide_codecvt, wide_codecvt,
	  codecvt_byname<wchar_t, char, mbstate_t>)
ETW_FACET(collate_place, etw_compat::wide_collate, collate<wchar_t>, collate_byname<wchar_t>)
ETW_FACET(numpunct_place, etw_compat::wide_numpunct, numpunct<wchar_t>, numpunct_byname<wchar_t>)
ETW_FACET(num_put_place, etw_compat::wide_num_put, num_put<wchar_t>, num_put<wchar_t>)
ETW_FACET(num_get_place, etw_compat::wide_num_get, num_get<wchar_t>, num_get<wchar_t>)
ETW_FACET(time_put_place, etw_compat::wide_time_put, time_put<wchar_t>, time_put_byname<wchar_t>)
ETW_FACET(time_get_place, etw_compat::wide_time_get, time_get<wchar_t>, time_get_byname<wchar_t>)
_GLIBCXX_END_NAMESPACE_VERSION
} /* namespace std */

/* Hidden, so that libstdc++.so and other libraries keep its own; their namespace would export them. */
__asm__(".hidden _ZSt9has_facetINSt7__cxx117collateIwEEEbRKSt6locale");
__asm__(".hidden _ZSt9has_facetINSt7__cxx118numpunctIwEEEbRKSt6locale");
__asm__(".hidden "
	"_ZSt9has_facetINSt7__cxx118time_getIwSt19istreambuf_iteratorIwSt11char_"
	"traitsIwEEEEEbRKSt6locale");
__asm__(".hidden _ZSt9has_facetISt5ctypeIwEEbRKSt6locale");
__asm__(".hidden _ZSt9has_facetISt7codecvtIwc11__mbstate_tEEbRKSt6locale");
__asm__(".hidden "
	"_ZSt9has_facetISt7num_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEEEbRKSt6locale");
__asm__(".hidden "
	"_ZSt9has_facetISt7num_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEEEbRKSt6locale");
__asm__(".hidden "
	"_ZSt9has_facetISt8time_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEEEbRKSt6locale");
__asm__(".hidden _ZSt9use_facetINSt7__cxx117collateIwEEERKT_RKSt6locale");
__asm__(".hidden _ZSt9use_facetINSt7__cxx118numpunctIwEEERKT_RKSt6locale");
__asm__(".hidden "
	"_ZSt9use_facetINSt7__cxx118time_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEEEERKT_"
	"RKSt6locale");
__asm__(".hidden _ZSt9use_facetISt5ctypeIwEERKT_RKSt6locale");
__asm__(".hidden _ZSt9use_facetISt7codecvtIwc11__mbstate_tEERKT_RKSt6locale");
__asm__(".hidden "
	"_ZSt9use_facetISt7num_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEEERKT_RKSt6locale");
__asm__(".hidden "
	"_ZSt9use_facetISt7num_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEEERKT_RKSt6locale");
__asm__(".hidden "
	"_ZSt9use_facetISt8time_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEEERKT_"
	"RKSt6locale");
