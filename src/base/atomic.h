/* SPDX-License-Identifier: MIT */
/*
 * Atomic access, with the order in the name. Everything that two threads or two processes share goes
 * through here. They work on plain integers, because much of it lies in shared memory whose layout is a
 * struct of src/wire.
 */
#ifndef ETW_BASE_ATOMIC_H
#define ETW_BASE_ATOMIC_H

#define load_relaxed(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define load_acquire(at)         __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define load_seq_cst(at)         __atomic_load_n((at), __ATOMIC_SEQ_CST)
#define store_relaxed(at, value) __atomic_store_n((at), (value), __ATOMIC_RELAXED)
#define store_release(at, value) __atomic_store_n((at), (value), __ATOMIC_RELEASE)
#define store_seq_cst(at, value) __atomic_store_n((at), (value), __ATOMIC_SEQ_CST)

#define add_relaxed(at, value)      __atomic_fetch_add((at), (value), __ATOMIC_RELAXED)
#define add_acq_rel(at, value)      __atomic_fetch_add((at), (value), __ATOMIC_ACQ_REL)
#define add_seq_cst(at, value)      __atomic_fetch_add((at), (value), __ATOMIC_SEQ_CST)
#define or_acq_rel(at, value)       __atomic_fetch_or((at), (value), __ATOMIC_ACQ_REL)
#define and_acq_rel(at, value)      __atomic_fetch_and((at), (value), __ATOMIC_ACQ_REL)
#define exchange_acq_rel(at, value) __atomic_exchange_n((at), (value), __ATOMIC_ACQ_REL)
#define exchange_seq_cst(at, value) __atomic_exchange_n((at), (value), __ATOMIC_SEQ_CST)

/* cas_*(at, expected, value): true when *at was *expected; else *expected is what was there. */
#define cas_relaxed(at, expected, value)                                            \
	__atomic_compare_exchange_n((at), (expected), (value), 0, __ATOMIC_RELAXED, \
				    __ATOMIC_RELAXED)
#define cas_acq_rel(at, expected, value)                                            \
	__atomic_compare_exchange_n((at), (expected), (value), 0, __ATOMIC_ACQ_REL, \
				    __ATOMIC_ACQUIRE)
#define cas_seq_cst(at, expected, value)                                            \
	__atomic_compare_exchange_n((at), (expected), (value), 0, __ATOMIC_SEQ_CST, \
				    __ATOMIC_SEQ_CST)

#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#define fence_seq_cst() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* fence_signal() - order towards a signal handler of the same thread; costs nothing at run time. */
#define fence_signal() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#endif
