/* SPDX-License-Identifier: MIT */
/* Atomic operations, each a full barrier. Increment and Decrement return the new value, the others the old one. */
#ifndef ETW_COMPAT_WINNT_INTERLOCKED_H
#define ETW_COMPAT_WINNT_INTERLOCKED_H

#include <minwindef.h>

/* C++ programs pass volatile unsigned long * and their like; so that all four-byte integers do, these are macros there. */
#define ETW_INTERLOCKED(name, suffix, type)                                                               \
	static inline __attribute__((__unused__)) type name##Increment##suffix(type volatile *at)         \
	{                                                                                                 \
		return __atomic_add_fetch(at, 1, __ATOMIC_SEQ_CST);                                       \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##Decrement##suffix(type volatile *at)         \
	{                                                                                                 \
		return __atomic_sub_fetch(at, 1, __ATOMIC_SEQ_CST);                                       \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##Exchange##suffix(type volatile *at, type value) \
	{                                                                                                 \
		return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                  \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##ExchangeAdd##suffix(type volatile *at, type value) \
	{                                                                                                 \
		return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                   \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##And##suffix(type volatile *at, type value)   \
	{                                                                                                 \
		return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);                                   \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##Or##suffix(type volatile *at, type value)    \
	{                                                                                                 \
		return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);                                    \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##Xor##suffix(type volatile *at, type value)   \
	{                                                                                                 \
		return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);                                   \
	}                                                                                                 \
	static inline __attribute__((__unused__)) type name##CompareExchange##suffix(type volatile *at,   \
										     type value, type comparand) \
	{                                                                                                 \
		(void)__atomic_compare_exchange_n(at, &comparand, value, 0, __ATOMIC_SEQ_CST,             \
						  __ATOMIC_SEQ_CST);                                      \
		return comparand;                                                                         \
	}

ETW_INTERLOCKED(Interlocked, , LONG)
ETW_INTERLOCKED(Interlocked, 8, char)
ETW_INTERLOCKED(Interlocked, 16, SHORT)
ETW_INTERLOCKED(Interlocked, 64, LONG64)
#ifdef __cplusplus
extern "C++" {
ETW_INTERLOCKED(Interlocked, , ULONG)
ETW_INTERLOCKED(Interlocked, , ULONG64)
}
#endif

static inline __attribute__((__unused__)) PVOID InterlockedExchangePointer(PVOID volatile *at,
									    PVOID value)
{
	return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

static inline __attribute__((__unused__)) PVOID
InterlockedCompareExchangePointer(PVOID volatile *at, PVOID value, PVOID comparand)
{
	(void)__atomic_compare_exchange_n(at, &comparand, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return comparand;
}

static inline __attribute__((__unused__)) BOOLEAN InterlockedBitTestAndSet(LONG volatile *at, LONG bit)
{
	const LONG mask = (LONG)(1U << (bit & 31));

	return (__atomic_fetch_or(at + bit / 32, mask, __ATOMIC_SEQ_CST) & mask) != 0;
}

static inline __attribute__((__unused__)) BOOLEAN InterlockedBitTestAndReset(LONG volatile *at, LONG bit)
{
	const LONG mask = (LONG)(1U << (bit & 31));

	return (__atomic_fetch_and(at + bit / 32, ~mask, __ATOMIC_SEQ_CST) & mask) != 0;
}

#define InterlockedAdd(at, value)   (InterlockedExchangeAdd((at), (value)) + (value))
#define InterlockedAdd64(at, value) (InterlockedExchangeAdd64((at), (value)) + (value))
#define InterlockedExchangeSubtract(at, value) \
	((ULONG)InterlockedExchangeAdd((LONG volatile *)(at), -(LONG)(value)))

/* The weaker forms are as strong. */
#define InterlockedIncrementAcquire         InterlockedIncrement
#define InterlockedIncrementRelease         InterlockedIncrement
#define InterlockedIncrementNoFence         InterlockedIncrement
#define InterlockedDecrementAcquire         InterlockedDecrement
#define InterlockedDecrementRelease         InterlockedDecrement
#define InterlockedDecrementNoFence         InterlockedDecrement
#define InterlockedExchangeAcquire          InterlockedExchange
#define InterlockedExchangeNoFence          InterlockedExchange
#define InterlockedExchangeAddAcquire       InterlockedExchangeAdd
#define InterlockedExchangeAddRelease       InterlockedExchangeAdd
#define InterlockedExchangeAddNoFence       InterlockedExchangeAdd
#define InterlockedCompareExchangeAcquire   InterlockedCompareExchange
#define InterlockedCompareExchangeRelease   InterlockedCompareExchange
#define InterlockedCompareExchangeNoFence   InterlockedCompareExchange
#define _InterlockedIncrement               InterlockedIncrement
#define _InterlockedDecrement               InterlockedDecrement
#define _InterlockedExchange                InterlockedExchange
#define _InterlockedExchangeAdd             InterlockedExchangeAdd
#define _InterlockedCompareExchange         InterlockedCompareExchange
#define _InterlockedAnd                     InterlockedAnd
#define _InterlockedOr                      InterlockedOr
#define _InterlockedXor                     InterlockedXor
#define _InterlockedIncrement64             InterlockedIncrement64
#define _InterlockedDecrement64             InterlockedDecrement64
#define _InterlockedExchange64              InterlockedExchange64
#define _InterlockedExchangeAdd64           InterlockedExchangeAdd64
#define _InterlockedCompareExchange64       InterlockedCompareExchange64
#define _InterlockedExchangePointer         InterlockedExchangePointer
#define _InterlockedCompareExchangePointer  InterlockedCompareExchangePointer

#define MemoryBarrier()     __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define _ReadWriteBarrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define _ReadBarrier()      __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define _WriteBarrier()     __atomic_signal_fence(__ATOMIC_SEQ_CST)
#if defined(__x86_64__) || defined(__i386__)
#define YieldProcessor() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define YieldProcessor() __asm__ volatile("yield")
#else
#define YieldProcessor() _ReadWriteBarrier()
#endif
#define ReadAcquire(at)          __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define ReadNoFence(at)          __atomic_load_n((at), __ATOMIC_RELAXED)
#define WriteRelease(at, value)  __atomic_store_n((at), (value), __ATOMIC_RELEASE)
#define WriteNoFence(at, value)  __atomic_store_n((at), (value), __ATOMIC_RELAXED)

#endif
