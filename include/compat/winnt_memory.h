/* SPDX-License-Identifier: MIT */
/* Pages and heaps, in flags. */
#ifndef ETW_COMPAT_WINNT_MEMORY_H
#define ETW_COMPAT_WINNT_MEMORY_H

#define PAGE_NOACCESS          0x01
#define PAGE_READONLY          0x02
#define PAGE_READWRITE         0x04
#define PAGE_WRITECOPY         0x08
#define PAGE_EXECUTE           0x10
#define PAGE_EXECUTE_READ      0x20
#define PAGE_EXECUTE_READWRITE 0x40
#define PAGE_EXECUTE_WRITECOPY 0x80
#define PAGE_GUARD             0x100
#define MEM_COMMIT             0x00001000
#define MEM_RESERVE            0x00002000
#define MEM_DECOMMIT           0x00004000
#define MEM_RELEASE            0x00008000
#define MEM_FREE               0x00010000
#define MEM_PRIVATE            0x00020000
#define MEM_MAPPED             0x00040000
#define MEM_RESET              0x00080000
#define MEM_TOP_DOWN           0x00100000
#define MEM_LARGE_PAGES        0x20000000
#define MEM_IMAGE              0x01000000

#define HEAP_NO_SERIALIZE             0x00000001
#define HEAP_GROWABLE                 0x00000002
#define HEAP_GENERATE_EXCEPTIONS      0x00000004
#define HEAP_ZERO_MEMORY              0x00000008
#define HEAP_REALLOC_IN_PLACE_ONLY    0x00000010
#define HEAP_CREATE_ENABLE_EXECUTE    0x00040000

typedef enum _HEAP_INFORMATION_CLASS {
	HeapCompatibilityInformation = 0,
	HeapEnableTerminationOnCorruption = 1,
	HeapOptimizeResources = 3
} HEAP_INFORMATION_CLASS;

#endif
