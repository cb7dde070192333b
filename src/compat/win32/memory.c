/* SPDX-License-Identifier: MIT */
/* Local, Global and heap memory: all of it malloc()'s, so that any of the functions that free takes any of it. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "compat/win32/object.h"

HLOCAL LocalAlloc(UINT uFlags, SIZE_T uBytes)
{
	void *memory = uFlags & LMEM_ZEROINIT ? calloc(1, uBytes ? uBytes : 1)
					      : malloc(uBytes ? uBytes : 1);

	return memory ? memory : etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
}

HLOCAL LocalReAlloc(HLOCAL hMem, SIZE_T uBytes, UINT uFlags)
{
	const size_t before = malloc_usable_size(hMem);
	char *memory = realloc(hMem, uBytes ? uBytes : 1);
	size_t now;

	if (!memory)
		return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	now = malloc_usable_size(memory);
	if (uFlags & LMEM_ZEROINIT && now > before)
		memset(memory + before, 0, now - before);
	return memory;
}

LPVOID LocalLock(HLOCAL hMem)
{
	return hMem;
}

BOOL LocalUnlock(HLOCAL hMem)
{
	(void)hMem;
	SetLastError(ERROR_SUCCESS);
	return FALSE; /* is locked no more */
}

SIZE_T LocalSize(HLOCAL hMem)
{
	return malloc_usable_size(hMem);
}

HLOCAL LocalFree(HLOCAL hMem)
{
	free(hMem);
	return NULL;
}

HGLOBAL GlobalAlloc(UINT uFlags, SIZE_T dwBytes)
{
	return LocalAlloc(uFlags, dwBytes);
}

HGLOBAL GlobalReAlloc(HGLOBAL hMem, SIZE_T dwBytes, UINT uFlags)
{
	return LocalReAlloc(hMem, dwBytes, uFlags);
}

LPVOID GlobalLock(HGLOBAL hMem)
{
	return hMem;
}

BOOL GlobalUnlock(HGLOBAL hMem)
{
	return LocalUnlock(hMem);
}

SIZE_T GlobalSize(HGLOBAL hMem)
{
	return LocalSize(hMem);
}

HGLOBAL GlobalFree(HGLOBAL hMem)
{
	return LocalFree(hMem);
}

/* --- Heaps. A block of a heap of the program's own stands in its list, so that the heap's end frees it. */
struct block {
	struct block *next, *previous;
	size_t bytes;
	size_t padding; /* keeps the memory behind aligned to 16 */
};

struct heap {
	pthread_mutex_t lock;
	struct block first; /* of a ring */
};

static struct heap process_heap = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.first = {.next = &process_heap.first, .previous = &process_heap.first},
};

HANDLE GetProcessHeap(void)
{
	return &process_heap;
}

HANDLE HeapCreate(DWORD flOptions, SIZE_T dwInitialSize, SIZE_T dwMaximumSize)
{
	struct heap *heap = malloc(sizeof(*heap));

	(void)flOptions;
	(void)dwInitialSize;
	(void)dwMaximumSize;
	if (!heap)
		return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	(void)pthread_mutex_init(&heap->lock, NULL);
	heap->first.next = heap->first.previous = &heap->first;
	return heap;
}

BOOL HeapDestroy(HANDLE hHeap)
{
	struct heap *heap = hHeap;

	if (!heap || heap == &process_heap)
		return etw_fail(ERROR_INVALID_HANDLE);
	while (heap->first.next != &heap->first) {
		struct block *block = heap->first.next;

		heap->first.next = block->next;
		free(block);
	}
	(void)pthread_mutex_destroy(&heap->lock);
	free(heap);
	return TRUE;
}

/* The process' heap lives as long as the process: its blocks are plain memory. */
LPVOID HeapAlloc(HANDLE hHeap, DWORD dwFlags, SIZE_T dwBytes)
{
	struct heap *heap = hHeap;
	struct block *block;

	if (heap == &process_heap)
		return dwFlags & HEAP_ZERO_MEMORY ? calloc(1, dwBytes ? dwBytes : 1)
						  : malloc(dwBytes ? dwBytes : 1);
	if (!heap || dwBytes > SIZE_MAX - sizeof(*block))
		return NULL;
	block = dwFlags & HEAP_ZERO_MEMORY ? calloc(1, sizeof(*block) + dwBytes)
					   : malloc(sizeof(*block) + dwBytes);
	if (!block)
		return NULL;
	block->bytes = dwBytes;
	(void)pthread_mutex_lock(&heap->lock);
	block->next = heap->first.next;
	block->previous = &heap->first;
	block->next->previous = block;
	heap->first.next = block;
	(void)pthread_mutex_unlock(&heap->lock);
	return block + 1;
}

BOOL HeapFree(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem)
{
	struct heap *heap = hHeap;
	struct block *block;

	(void)dwFlags;
	if (!lpMem)
		return TRUE;
	if (heap == &process_heap) {
		free(lpMem);
		return TRUE;
	}
	block = (struct block *)lpMem - 1;
	(void)pthread_mutex_lock(&heap->lock);
	block->next->previous = block->previous;
	block->previous->next = block->next;
	(void)pthread_mutex_unlock(&heap->lock);
	free(block);
	return TRUE;
}

SIZE_T HeapSize(HANDLE hHeap, DWORD dwFlags, LPCVOID lpMem)
{
	(void)dwFlags;
	return hHeap == &process_heap ? malloc_usable_size((void *)(uintptr_t)lpMem)
				      : ((const struct block *)lpMem - 1)->bytes;
}

LPVOID HeapReAlloc(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem, SIZE_T dwBytes)
{
	const size_t before = lpMem ? HeapSize(hHeap, 0, lpMem) : 0;
	void *memory;

	if (!lpMem)
		return NULL;
	if (dwFlags & HEAP_REALLOC_IN_PLACE_ONLY)
		return dwBytes <= before ? lpMem : NULL;
	memory = HeapAlloc(hHeap, dwFlags, dwBytes);
	if (!memory)
		return NULL;
	memcpy(memory, lpMem, before < dwBytes ? before : dwBytes);
	(void)HeapFree(hHeap, 0, lpMem);
	return memory;
}

BOOL HeapSetInformation(HANDLE HeapHandle, HEAP_INFORMATION_CLASS HeapInformationClass,
			PVOID HeapInformation, SIZE_T HeapInformationLength)
{
	(void)HeapHandle;
	(void)HeapInformation;
	(void)HeapInformationLength;
	/* malloc() ends the process where it finds damage, as is asked for. */
	return HeapInformationClass == HeapEnableTerminationOnCorruption ||
			       HeapInformationClass == HeapCompatibilityInformation
		       ? TRUE
		       : etw_fail(ERROR_INVALID_PARAMETER);
}

BOOL ReadProcessMemory(HANDLE hProcess, LPCVOID lpBaseAddress, LPVOID lpBuffer, SIZE_T nSize,
		       SIZE_T *lpNumberOfBytesRead)
{
	const struct iovec to = {lpBuffer, nSize};
	const struct iovec from = {(void *)(uintptr_t)lpBaseAddress, nSize};
	const DWORD pid = GetProcessId(hProcess);
	ssize_t bytes;

	if (!pid)
		return FALSE;
	bytes = process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0);
	if (lpNumberOfBytesRead)
		*lpNumberOfBytesRead = bytes < 0 ? 0 : (SIZE_T)bytes;
	if (bytes == (ssize_t)nSize)
		return TRUE;
	return etw_fail(bytes < 0 && errno == EPERM ? ERROR_ACCESS_DENIED : ERROR_PARTIAL_COPY);
}
