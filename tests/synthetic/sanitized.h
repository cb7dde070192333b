/* SPDX-License-Identifier: MIT */
/*
 * Whether a sanitizer is built in. It has an allocator of its own, keeps what was freed, and gives each thread a
 * second stack of about 11 MiB that it fills little by little: what a process holds then says nothing of our code.
 */
#ifndef ETW_TESTS_SYNTHETIC_SANITIZED_H
#define ETW_TESTS_SYNTHETIC_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
