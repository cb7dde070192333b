/* SPDX-License-Identifier: MIT */
/* C++ forms of the _s functions for arrays: the size is the array's. */
#ifndef ETW_COMPAT_OVERLOADS_HPP
#define ETW_COMPAT_OVERLOADS_HPP

#define ETW_CRT_COPY_FORMS(unit, copy, append, copy_some, append_some)                             \
	template <size_t N> inline errno_t copy(unit(&to)[N], const unit *from)                    \
	{                                                                                          \
		return copy(to, N, from);                                                          \
	}                                                                                          \
	template <size_t N> inline errno_t append(unit(&to)[N], const unit *from)                  \
	{                                                                                          \
		return append(to, N, from);                                                        \
	}                                                                                          \
	template <size_t N> inline errno_t copy_some(unit(&to)[N], const unit *from, size_t count) \
	{                                                                                          \
		return copy_some(to, N, from, count);                                              \
	}                                                                                          \
	template <size_t N>                                                                        \
	inline errno_t append_some(unit(&to)[N], const unit *from, size_t count)                   \
	{                                                                                          \
		return append_some(to, N, from, count);                                            \
	}

/* Functions with a format: one with a list, and the one with variable arguments that uses it. */
#define ETW_CRT_PRINT_FORMS(unit, print, list_print, some_print, list_some_print)                 \
	template <size_t N> inline int list_print(unit(&to)[N], const unit *format, va_list list) \
	{                                                                                         \
		return list_print(to, N, format, list);                                           \
	}                                                                                         \
	template <size_t N> inline int print(unit(&to)[N], const unit *format, ...)               \
	{                                                                                         \
		va_list list;                                                                     \
		va_start(list, format);                                                           \
		int result = list_print(to, N, format, list);                                     \
		va_end(list);                                                                     \
		return result;                                                                    \
	}                                                                                         \
	template <size_t N>                                                                       \
	inline int list_some_print(unit(&to)[N], size_t count, const unit *format, va_list list)  \
	{                                                                                         \
		return list_some_print(to, N, count, format, list);                               \
	}                                                                                         \
	template <size_t N>                                                                       \
	inline int some_print(unit(&to)[N], size_t count, const unit *format, ...)                \
	{                                                                                         \
		va_list list;                                                                     \
		va_start(list, format);                                                           \
		int result = list_some_print(to, N, count, format, list);                         \
		va_end(list);                                                                     \
		return result;                                                                    \
	}

#endif
