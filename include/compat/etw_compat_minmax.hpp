/* SPDX-License-Identifier: MIT */
/*
 * min and max of windows.h for C++: functions of any two types, as the macros are. Macros of these names would break the
 * standard library's headers that come after, and std::min of the program.
 */
#ifndef ETW_COMPAT_MINMAX_HPP
#define ETW_COMPAT_MINMAX_HPP

template <class Left, class Right>
constexpr auto max(const Left &left, const Right &right) -> decltype(left > right ? left : right)
{
	return left > right ? left : right;
}

template <class Left, class Right>
constexpr auto min(const Left &left, const Right &right) -> decltype(left < right ? left : right)
{
	return left < right ? left : right;
}

#endif
