/* SPDX-License-Identifier: MIT */
/* Critical sections, slim locks, condition variables and once: words that threads of one process wait on by futex. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/futex.h"
#include "base/time.h"
#include "compat/win32/object.h"

static void futex_wait(uint32_t *at, uint32_t expected, const struct timespec *until)
{
	(void)syscall(SYS_futex, at, FUTEX_WAIT_BITSET_PRIVATE, expected, until, NULL,
		      FUTEX_BITSET_MATCH_ANY);
}

static void futex_wake(uint32_t *at, int count)
{
	(void)syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, count);
}

/* --- A word: 0 free, 1 taken, 2 taken and perhaps waited for. */
static bool word_try(uint32_t *word)
{
	uint32_t expected = 0;

	return cas_acq_rel(word, &expected, 1U);
}

static void word_lock(uint32_t *word)
{
	if (word_try(word))
		return;
	while (exchange_acq_rel(word, 2U))
		futex_wait(word, 2, NULL);
}

static void word_unlock(uint32_t *word)
{
	if (exchange_acq_rel(word, 0U) == 2)
		futex_wake(word, 1);
}

/* --- Critical sections. LockCount is the word; the owner is a thread's number. */
static uint32_t *word_of(LPCRITICAL_SECTION section)
{
	return (uint32_t *)&section->LockCount;
}

void InitializeCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	*lpCriticalSection = (CRITICAL_SECTION){0};
}

BOOL InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount)
{
	InitializeCriticalSection(lpCriticalSection);
	lpCriticalSection->SpinCount = dwSpinCount;
	return TRUE;
}

BOOL InitializeCriticalSectionEx(LPCRITICAL_SECTION lpCriticalSection, DWORD dwSpinCount,
				 DWORD Flags)
{
	(void)Flags;
	return InitializeCriticalSectionAndSpinCount(lpCriticalSection, dwSpinCount);
}

static bool is_owner(LPCRITICAL_SECTION section)
{
	return load_relaxed(&section->OwningThread) == ULongToHandle(GetCurrentThreadId());
}

static void own(LPCRITICAL_SECTION section)
{
	store_relaxed(&section->OwningThread, ULongToHandle(GetCurrentThreadId()));
	section->RecursionCount = 1;
}

void EnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	if (is_owner(lpCriticalSection)) {
		lpCriticalSection->RecursionCount++;
		return;
	}
	word_lock(word_of(lpCriticalSection));
	own(lpCriticalSection);
}

BOOL TryEnterCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	if (is_owner(lpCriticalSection)) {
		lpCriticalSection->RecursionCount++;
		return TRUE;
	}
	if (!word_try(word_of(lpCriticalSection)))
		return FALSE;
	own(lpCriticalSection);
	return TRUE;
}

void LeaveCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	if (--lpCriticalSection->RecursionCount)
		return;
	store_relaxed(&lpCriticalSection->OwningThread, (HANDLE)NULL);
	word_unlock(word_of(lpCriticalSection));
}

void DeleteCriticalSection(LPCRITICAL_SECTION lpCriticalSection)
{
	*lpCriticalSection = (CRITICAL_SECTION){0};
}

/* --- Slim locks. The low half counts readers, SRW_WRITER means a writer; the high half counts changes, to wait on. */
#define SRW_WRITER 0x80000000U

static uint32_t *state_of(PSRWLOCK lock)
{
	return (uint32_t *)&lock->Ptr;
}

static void announce_free(PSRWLOCK lock)
{
	uint32_t *changes = state_of(lock) + 1;

	(void)add_seq_cst(changes, 1U);
	futex_wake(changes, INT_MAX);
}

void InitializeSRWLock(PSRWLOCK SRWLock)
{
	SRWLock->Ptr = NULL;
}

BOOLEAN TryAcquireSRWLockExclusive(PSRWLOCK SRWLock)
{
	uint32_t expected = 0;

	return cas_seq_cst(state_of(SRWLock), &expected, SRW_WRITER);
}

BOOLEAN TryAcquireSRWLockShared(PSRWLOCK SRWLock)
{
	uint32_t state = load_relaxed(state_of(SRWLock));

	while (!(state & SRW_WRITER)) {
		if (cas_seq_cst(state_of(SRWLock), &state, state + 1))
			return TRUE;
	}
	return FALSE;
}

static void acquire(PSRWLOCK lock, BOOLEAN (*attempt)(PSRWLOCK))
{
	for (;;) {
		const uint32_t changes = load_seq_cst(state_of(lock) + 1);

		if (attempt(lock))
			return;
		futex_wait(state_of(lock) + 1, changes, NULL);
	}
}

void AcquireSRWLockExclusive(PSRWLOCK SRWLock)
{
	acquire(SRWLock, TryAcquireSRWLockExclusive);
}

void AcquireSRWLockShared(PSRWLOCK SRWLock)
{
	acquire(SRWLock, TryAcquireSRWLockShared);
}

void ReleaseSRWLockExclusive(PSRWLOCK SRWLock)
{
	store_seq_cst(state_of(SRWLock), 0U);
	announce_free(SRWLock);
}

void ReleaseSRWLockShared(PSRWLOCK SRWLock)
{
	if (add_seq_cst(state_of(SRWLock), (uint32_t)-1) == 1)
		announce_free(SRWLock);
}

/* --- Condition variables count wakes. */
void InitializeConditionVariable(PCONDITION_VARIABLE ConditionVariable)
{
	ConditionVariable->Ptr = NULL;
}

/* Returns whether the count changed in time. */
static bool wait_for_wake(PCONDITION_VARIABLE variable, uint32_t seen, DWORD timeout_ms)
{
	uint32_t *wakes = (uint32_t *)&variable->Ptr;
	const struct timespec until =
		etw_timespec_of_ns(etw_monotonic_ns() + timeout_ms * ETW_NS_PER_MS);

	futex_wait(wakes, seen, timeout_ms == INFINITE ? NULL : &until);
	return load_seq_cst(wakes) != seen || timeout_ms == INFINITE ||
	       etw_monotonic_ns() < (uint64_t)until.tv_sec * ETW_NS_PER_S + (uint64_t)until.tv_nsec;
}

BOOL SleepConditionVariableCS(PCONDITION_VARIABLE ConditionVariable,
			      PCRITICAL_SECTION CriticalSection, DWORD dwMilliseconds)
{
	const uint32_t seen = load_seq_cst((uint32_t *)&ConditionVariable->Ptr);
	bool is_woken;

	LeaveCriticalSection(CriticalSection);
	is_woken = wait_for_wake(ConditionVariable, seen, dwMilliseconds);
	EnterCriticalSection(CriticalSection);
	return is_woken ? TRUE : etw_fail(ERROR_TIMEOUT);
}

BOOL SleepConditionVariableSRW(PCONDITION_VARIABLE ConditionVariable, PSRWLOCK SRWLock,
			       DWORD dwMilliseconds, ULONG Flags)
{
	const uint32_t seen = load_seq_cst((uint32_t *)&ConditionVariable->Ptr);
	const bool is_shared = Flags & CONDITION_VARIABLE_LOCKMODE_SHARED;
	bool is_woken;

	(is_shared ? ReleaseSRWLockShared : ReleaseSRWLockExclusive)(SRWLock);
	is_woken = wait_for_wake(ConditionVariable, seen, dwMilliseconds);
	(is_shared ? AcquireSRWLockShared : AcquireSRWLockExclusive)(SRWLock);
	return is_woken ? TRUE : etw_fail(ERROR_TIMEOUT);
}

static void wake(PCONDITION_VARIABLE variable, int count)
{
	uint32_t *wakes = (uint32_t *)&variable->Ptr;

	(void)add_seq_cst(wakes, 1U);
	futex_wake(wakes, count);
}

void WakeConditionVariable(PCONDITION_VARIABLE ConditionVariable)
{
	wake(ConditionVariable, 1);
}

void WakeAllConditionVariable(PCONDITION_VARIABLE ConditionVariable)
{
	wake(ConditionVariable, INT_MAX);
}

/* --- Once: 0 not yet, ONCE_BUSY, or the context with ONCE_DONE. */
void InitOnceInitialize(PINIT_ONCE InitOnce)
{
	InitOnce->Ptr = NULL;
}

#define ONCE_BUSY 1
#define ONCE_DONE 2

/* A context's two low bits are free by contract (INIT_ONCE_CTX_RESERVED_BITS). */
BOOL InitOnceExecuteOnce(PINIT_ONCE InitOnce, PINIT_ONCE_FN InitFn, PVOID Parameter,
			 LPVOID *Context)
{
	uintptr_t *word = (uintptr_t *)&InitOnce->Ptr;
	void *context = NULL;

	for (;;) {
		uintptr_t seen = load_acquire(word);

		if (seen & ONCE_DONE) {
			if (Context)
				*Context = (void *)(seen & ~(uintptr_t)3);
			return TRUE;
		}
		if (seen == 0 && cas_acq_rel(word, &seen, (uintptr_t)ONCE_BUSY))
			break;
		futex_wait((uint32_t *)word, ONCE_BUSY, NULL);
	}
	if (InitFn(InitOnce, Parameter, &context)) {
		store_release(word, (uintptr_t)context | ONCE_DONE);
		futex_wake((uint32_t *)word, INT_MAX);
		if (Context)
			*Context = context;
		return TRUE;
	}
	store_release(word, (uintptr_t)0);
	futex_wake((uint32_t *)word, INT_MAX);
	return FALSE;
}
