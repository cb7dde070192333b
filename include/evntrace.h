/* SPDX-License-Identifier: MIT */
#ifndef ETW_EVNTRACE_H
#define ETW_EVNTRACE_H

#include <etw/wintypes.h>
#include <evntprov.h>
#include <guiddef.h>
#include <wmistr.h>

#ifndef WMIAPI
#define WMIAPI WINAPI
#endif

ETW_EXTERN_C_BEGIN

DEFINE_GUID(EventTraceGuid,
	    0x68fdd900, 0x4a3e, 0x11d1, 0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3);
DEFINE_GUID(SystemTraceControlGuid,
	    0x9e814aad, 0x3204, 0x11d2, 0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39);
DEFINE_GUID(EventTraceConfigGuid,
	    0x01853a65, 0x418f, 0x4f36, 0xae, 0xfc, 0xdc, 0x0f, 0x1d, 0x2f, 0xd2, 0x35);
DEFINE_GUID(DefaultTraceSecurityGuid,
	    0x0811c1af, 0x7a07, 0x4a06, 0x82, 0xed, 0x86, 0x94, 0x55, 0xcd, 0xf7, 0x13);
DEFINE_GUID(PrivateLoggerNotificationGuid,
	    0x3595ab5c, 0x042a, 0x4c8e, 0xb9, 0x42, 0x2d, 0x05, 0x9b, 0xfe, 0xb1, 0xb1);
DEFINE_GUID(SystemIoFilterProviderGuid,
	    0xfbd09363, 0x9e22, 0x4661, 0xb8, 0xbf, 0xe7, 0xa3, 0x4b, 0x53, 0x5b, 0x8c);
DEFINE_GUID(SystemObjectProviderGuid,
	    0xfebd7460, 0x3d1d, 0x47eb, 0xaf, 0x49, 0xc9, 0xee, 0xb1, 0xe1, 0x46, 0xf2);
DEFINE_GUID(SystemPowerProviderGuid,
	    0xc134884a, 0x32d5, 0x4488, 0x80, 0xe5, 0x14, 0xed, 0x7a, 0xbb, 0x82, 0x69);
DEFINE_GUID(SystemHypervisorProviderGuid,
	    0xbafa072a, 0x918a, 0x4bed, 0xb6, 0x22, 0xbc, 0x15, 0x20, 0x97, 0x09, 0x8f);
DEFINE_GUID(SystemLockProviderGuid,
	    0x721ddfd3, 0xdacc, 0x4e1e, 0xb2, 0x6a, 0xa2, 0xcb, 0x31, 0xd4, 0x70, 0x5a);
DEFINE_GUID(SystemConfigProviderGuid,
	    0xfef3a8b6, 0x318d, 0x4b67, 0xa9, 0x6a, 0x3b, 0x0f, 0x6b, 0x8f, 0x18, 0xfe);
DEFINE_GUID(SystemCpuProviderGuid,
	    0xc6c5265f, 0xeae8, 0x4650, 0xaa, 0xe4, 0x9d, 0x48, 0x60, 0x3d, 0x85, 0x10);
DEFINE_GUID(SystemSchedulerProviderGuid,
	    0x599a2a76, 0x4d91, 0x4910, 0x9a, 0xc7, 0x7d, 0x33, 0xf2, 0xe9, 0x7a, 0x6c);
DEFINE_GUID(SystemProfileProviderGuid,
	    0xbfeb0324, 0x1cee, 0x496f, 0xa4, 0x09, 0x2a, 0xc2, 0xb4, 0x8a, 0x63, 0x22);
DEFINE_GUID(SystemIoProviderGuid,
	    0x3d5c43e3, 0x0f1c, 0x4202, 0xb8, 0x17, 0x17, 0x4c, 0x00, 0x70, 0xdc, 0x79);
DEFINE_GUID(SystemMemoryProviderGuid,
	    0x82958ca9, 0xb6cd, 0x47f8, 0xa3, 0xa8, 0x03, 0xae, 0x85, 0xa4, 0xbc, 0x24);
DEFINE_GUID(SystemRegistryProviderGuid,
	    0x16156bd9, 0xfab4, 0x4cfa, 0xa2, 0x32, 0x89, 0xd1, 0x09, 0x90, 0x58, 0xe3);
DEFINE_GUID(SystemProcessProviderGuid,
	    0x151f55dc, 0x467d, 0x471f, 0x83, 0xb5, 0x5f, 0x88, 0x9d, 0x46, 0xff, 0x66);
DEFINE_GUID(SystemAlpcProviderGuid,
	    0xfcb9baaf, 0xe529, 0x4980, 0x92, 0xe9, 0xce, 0xd1, 0xa6, 0xaa, 0xdf, 0xdf);
DEFINE_GUID(SystemSyscallProviderGuid,
	    0x434286f7, 0x6f1b, 0x45bb, 0xb3, 0x7e, 0x95, 0xf6, 0x23, 0x04, 0x6c, 0x7c);
DEFINE_GUID(SystemInterruptProviderGuid,
	    0xd4bbee17, 0xb545, 0x4888, 0x85, 0x8b, 0x74, 0x41, 0x69, 0x01, 0x5b, 0x25);
DEFINE_GUID(SystemTimerProviderGuid,
	    0x4f061568, 0xe215, 0x499f, 0xab, 0x2e, 0xed, 0xa0, 0xae, 0x89, 0x0a, 0x5b);
DEFINE_GUID(LastBranchRecordProviderGuid,
	    0x99134383, 0x5248, 0x43fc, 0x83, 0x4b, 0x52, 0x94, 0x54, 0xe7, 0x5d, 0xf3);

#define KERNEL_LOGGER_NAMEW ETW_WIDE_("NT Kernel Logger")
#define GLOBAL_LOGGER_NAMEW ETW_WIDE_("GlobalLogger")
#define EVENT_LOGGER_NAMEW ETW_WIDE_("EventLog")
#define DIAG_LOGGER_NAMEW ETW_WIDE_("DiagLog")
#define KERNEL_LOGGER_NAMEA "NT Kernel Logger"
#define GLOBAL_LOGGER_NAMEA "GlobalLogger"
#define EVENT_LOGGER_NAMEA "EventLog"
#define DIAG_LOGGER_NAMEA "DiagLog"

#define MAX_MOF_FIELDS 16

#ifndef _TRACEHANDLE_DEFINED
#define _TRACEHANDLE_DEFINED
typedef ULONG64 TRACEHANDLE, *PTRACEHANDLE;
#endif
#ifndef _typedef_TRACELOGGER_HANDLE
#define _typedef_TRACELOGGER_HANDLE 1
typedef ULONG64 TRACELOGGER_HANDLE;
#endif
typedef ULONG64 TRACEGUID_HANDLE;
typedef ULONG64 CONTROLTRACE_ID;
typedef ULONG64 CONTROLTRACE_HANDLE;
typedef ULONG64 PROCESSTRACE_HANDLE;

#define INVALID_PROCESSTRACE_HANDLE ((PROCESSTRACE_HANDLE)-1)

#define SYSTEM_EVENT_TYPE 1

#define EVENT_TRACE_TYPE_INFO 0x00
#define EVENT_TRACE_TYPE_START 0x01
#define EVENT_TRACE_TYPE_END 0x02
#define EVENT_TRACE_TYPE_STOP 0x02
#define EVENT_TRACE_TYPE_DC_START 0x03
#define EVENT_TRACE_TYPE_DC_END 0x04
#define EVENT_TRACE_TYPE_EXTENSION 0x05
#define EVENT_TRACE_TYPE_REPLY 0x06
#define EVENT_TRACE_TYPE_DEQUEUE 0x07
#define EVENT_TRACE_TYPE_RESUME 0x07
#define EVENT_TRACE_TYPE_CHECKPOINT 0x08
#define EVENT_TRACE_TYPE_SUSPEND 0x08
#define EVENT_TRACE_TYPE_WINEVT_SEND 0x09
#define EVENT_TRACE_TYPE_WINEVT_RECEIVE 0xF0
#define EVENT_TRACE_TYPE_LOAD 0x0A
#define EVENT_TRACE_TYPE_TERMINATE 0x0B
#define EVENT_TRACE_TYPE_IO_READ 0x0A
#define EVENT_TRACE_TYPE_IO_WRITE 0x0B
#define EVENT_TRACE_TYPE_IO_READ_INIT 0x0C
#define EVENT_TRACE_TYPE_IO_WRITE_INIT 0x0D
#define EVENT_TRACE_TYPE_IO_FLUSH 0x0E
#define EVENT_TRACE_TYPE_IO_FLUSH_INIT 0x0F
#define EVENT_TRACE_TYPE_IO_REDIRECTED_INIT 0x10
#define EVENT_TRACE_TYPE_MM_TF 0x0A
#define EVENT_TRACE_TYPE_MM_DZF 0x0B
#define EVENT_TRACE_TYPE_MM_COW 0x0C
#define EVENT_TRACE_TYPE_MM_GPF 0x0D
#define EVENT_TRACE_TYPE_MM_HPF 0x0E
#define EVENT_TRACE_TYPE_MM_AV 0x0F
#define EVENT_TRACE_TYPE_SEND 0x0A
#define EVENT_TRACE_TYPE_RECEIVE 0x0B
#define EVENT_TRACE_TYPE_CONNECT 0x0C
#define EVENT_TRACE_TYPE_DISCONNECT 0x0D
#define EVENT_TRACE_TYPE_RETRANSMIT 0x0E
#define EVENT_TRACE_TYPE_ACCEPT 0x0F
#define EVENT_TRACE_TYPE_RECONNECT 0x10
#define EVENT_TRACE_TYPE_CONNFAIL 0x11
#define EVENT_TRACE_TYPE_COPY_TCP 0x12
#define EVENT_TRACE_TYPE_COPY_ARP 0x13
#define EVENT_TRACE_TYPE_ACKFULL 0x14
#define EVENT_TRACE_TYPE_ACKPART 0x15
#define EVENT_TRACE_TYPE_ACKDUP 0x16
#define EVENT_TRACE_TYPE_GUIDMAP 0x0A
#define EVENT_TRACE_TYPE_CONFIG 0x0B
#define EVENT_TRACE_TYPE_SIDINFO 0x0C
#define EVENT_TRACE_TYPE_SECURITY 0x0D
#define EVENT_TRACE_TYPE_DBGID_RSDS 0x40
#define EVENT_TRACE_TYPE_REGCREATE 0x0A
#define EVENT_TRACE_TYPE_REGOPEN 0x0B
#define EVENT_TRACE_TYPE_REGDELETE 0x0C
#define EVENT_TRACE_TYPE_REGQUERY 0x0D
#define EVENT_TRACE_TYPE_REGSETVALUE 0x0E
#define EVENT_TRACE_TYPE_REGDELETEVALUE 0x0F
#define EVENT_TRACE_TYPE_REGQUERYVALUE 0x10
#define EVENT_TRACE_TYPE_REGENUMERATEKEY 0x11
#define EVENT_TRACE_TYPE_REGENUMERATEVALUEKEY 0x12
#define EVENT_TRACE_TYPE_REGQUERYMULTIPLEVALUE 0x13
#define EVENT_TRACE_TYPE_REGSETINFORMATION 0x14
#define EVENT_TRACE_TYPE_REGFLUSH 0x15
#define EVENT_TRACE_TYPE_REGKCBCREATE 0x16
#define EVENT_TRACE_TYPE_REGKCBDELETE 0x17
#define EVENT_TRACE_TYPE_REGKCBRUNDOWNBEGIN 0x18
#define EVENT_TRACE_TYPE_REGKCBRUNDOWNEND 0x19
#define EVENT_TRACE_TYPE_REGVIRTUALIZE 0x1A
#define EVENT_TRACE_TYPE_REGCLOSE 0x1B
#define EVENT_TRACE_TYPE_REGSETSECURITY 0x1C
#define EVENT_TRACE_TYPE_REGQUERYSECURITY 0x1D
#define EVENT_TRACE_TYPE_REGCOMMIT 0x1E
#define EVENT_TRACE_TYPE_REGPREPARE 0x1F
#define EVENT_TRACE_TYPE_REGROLLBACK 0x20
#define EVENT_TRACE_TYPE_REGMOUNTHIVE 0x21
#define EVENT_TRACE_TYPE_CONFIG_CPU 0x0A
#define EVENT_TRACE_TYPE_CONFIG_PHYSICALDISK 0x0B
#define EVENT_TRACE_TYPE_CONFIG_LOGICALDISK 0x0C
#define EVENT_TRACE_TYPE_CONFIG_NIC 0x0D
#define EVENT_TRACE_TYPE_CONFIG_VIDEO 0x0E
#define EVENT_TRACE_TYPE_CONFIG_SERVICES 0x0F
#define EVENT_TRACE_TYPE_CONFIG_POWER 0x10
#define EVENT_TRACE_TYPE_CONFIG_NETINFO 0x11
#define EVENT_TRACE_TYPE_CONFIG_OPTICALMEDIA 0x12
#define EVENT_TRACE_TYPE_CONFIG_PHYSICALDISK_EX 0x13
#define EVENT_TRACE_TYPE_CONFIG_IRQ 0x15
#define EVENT_TRACE_TYPE_CONFIG_PNP 0x16
#define EVENT_TRACE_TYPE_CONFIG_IDECHANNEL 0x17
#define EVENT_TRACE_TYPE_CONFIG_NUMANODE 0x18
#define EVENT_TRACE_TYPE_CONFIG_PLATFORM 0x19
#define EVENT_TRACE_TYPE_CONFIG_PROCESSORGROUP 0x1A
#define EVENT_TRACE_TYPE_CONFIG_PROCESSORNUMBER 0x1B
#define EVENT_TRACE_TYPE_CONFIG_DPI 0x1C
#define EVENT_TRACE_TYPE_CONFIG_CI_INFO 0x1D
#define EVENT_TRACE_TYPE_CONFIG_MACHINEID 0x1E
#define EVENT_TRACE_TYPE_CONFIG_DEFRAG 0x1F
#define EVENT_TRACE_TYPE_CONFIG_MOBILEPLATFORM 0x20
#define EVENT_TRACE_TYPE_CONFIG_DEVICEFAMILY 0x21
#define EVENT_TRACE_TYPE_CONFIG_FLIGHTID 0x22
#define EVENT_TRACE_TYPE_CONFIG_PROCESSOR 0x23
#define EVENT_TRACE_TYPE_CONFIG_VIRTUALIZATION 0x24
#define EVENT_TRACE_TYPE_CONFIG_BOOT 0x25
#define EVENT_TRACE_TYPE_OPTICAL_IO_READ 0x37
#define EVENT_TRACE_TYPE_OPTICAL_IO_WRITE 0x38
#define EVENT_TRACE_TYPE_OPTICAL_IO_FLUSH 0x39
#define EVENT_TRACE_TYPE_OPTICAL_IO_READ_INIT 0x3A
#define EVENT_TRACE_TYPE_OPTICAL_IO_WRITE_INIT 0x3B
#define EVENT_TRACE_TYPE_OPTICAL_IO_FLUSH_INIT 0x3C
#define EVENT_TRACE_TYPE_FLT_PREOP_INIT 0x60
#define EVENT_TRACE_TYPE_FLT_POSTOP_INIT 0x61
#define EVENT_TRACE_TYPE_FLT_PREOP_COMPLETION 0x62
#define EVENT_TRACE_TYPE_FLT_POSTOP_COMPLETION 0x63
#define EVENT_TRACE_TYPE_FLT_PREOP_FAILURE 0x64
#define EVENT_TRACE_TYPE_FLT_POSTOP_FAILURE 0x65

#define TRACE_LEVEL_NONE 0
#define TRACE_LEVEL_CRITICAL 1
#define TRACE_LEVEL_FATAL 1
#define TRACE_LEVEL_ERROR 2
#define TRACE_LEVEL_WARNING 3
#define TRACE_LEVEL_INFORMATION 4
#define TRACE_LEVEL_VERBOSE 5
#define TRACE_LEVEL_RESERVED6 6
#define TRACE_LEVEL_RESERVED7 7
#define TRACE_LEVEL_RESERVED8 8
#define TRACE_LEVEL_RESERVED9 9

#define EVENT_TRACE_FLAG_PROCESS 0x00000001
#define EVENT_TRACE_FLAG_THREAD 0x00000002
#define EVENT_TRACE_FLAG_IMAGE_LOAD 0x00000004
#define EVENT_TRACE_FLAG_DISK_IO 0x00000100
#define EVENT_TRACE_FLAG_DISK_FILE_IO 0x00000200
#define EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS 0x00001000
#define EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS 0x00002000
#define EVENT_TRACE_FLAG_NETWORK_TCPIP 0x00010000
#define EVENT_TRACE_FLAG_REGISTRY 0x00020000
#define EVENT_TRACE_FLAG_DBGPRINT 0x00040000
#define EVENT_TRACE_FLAG_PROCESS_COUNTERS 0x00000008
#define EVENT_TRACE_FLAG_CSWITCH 0x00000010
#define EVENT_TRACE_FLAG_DPC 0x00000020
#define EVENT_TRACE_FLAG_INTERRUPT 0x00000040
#define EVENT_TRACE_FLAG_SYSTEMCALL 0x00000080
#define EVENT_TRACE_FLAG_DISK_IO_INIT 0x00000400
#define EVENT_TRACE_FLAG_ALPC 0x00100000
#define EVENT_TRACE_FLAG_SPLIT_IO 0x00200000
#define EVENT_TRACE_FLAG_DRIVER 0x00800000
#define EVENT_TRACE_FLAG_PROFILE 0x01000000
#define EVENT_TRACE_FLAG_FILE_IO 0x02000000
#define EVENT_TRACE_FLAG_FILE_IO_INIT 0x04000000
#define EVENT_TRACE_FLAG_DISPATCHER 0x00000800
#define EVENT_TRACE_FLAG_VIRTUAL_ALLOC 0x00004000
#define EVENT_TRACE_FLAG_VAMAP 0x00008000
#define EVENT_TRACE_FLAG_NO_SYSCONFIG 0x10000000
#define EVENT_TRACE_FLAG_JOB 0x00080000
#define EVENT_TRACE_FLAG_DEBUG_EVENTS 0x00400000
#define EVENT_TRACE_FLAG_EXTENSION 0x80000000
#define EVENT_TRACE_FLAG_FORWARD_WMI 0x40000000
#define EVENT_TRACE_FLAG_ENABLE_RESERVE 0x20000000

#define EVENT_TRACE_FILE_MODE_NONE 0x00000000
#define EVENT_TRACE_FILE_MODE_SEQUENTIAL 0x00000001
#define EVENT_TRACE_FILE_MODE_CIRCULAR 0x00000002
#define EVENT_TRACE_FILE_MODE_APPEND 0x00000004
#define EVENT_TRACE_REAL_TIME_MODE 0x00000100
#define EVENT_TRACE_DELAY_OPEN_FILE_MODE 0x00000200
#define EVENT_TRACE_BUFFERING_MODE 0x00000400
#define EVENT_TRACE_PRIVATE_LOGGER_MODE 0x00000800
#define EVENT_TRACE_ADD_HEADER_MODE 0x00001000
#define EVENT_TRACE_USE_GLOBAL_SEQUENCE 0x00004000
#define EVENT_TRACE_USE_LOCAL_SEQUENCE 0x00008000
#define EVENT_TRACE_RELOG_MODE 0x00010000
#define EVENT_TRACE_USE_PAGED_MEMORY 0x01000000
#define EVENT_TRACE_FILE_MODE_NEWFILE 0x00000008
#define EVENT_TRACE_USE_MS_FLUSH_TIMER 0x00000010
#define EVENT_TRACE_FILE_MODE_PREALLOCATE 0x00000020
#define EVENT_TRACE_NONSTOPPABLE_MODE 0x00000040
#define EVENT_TRACE_SECURE_MODE 0x00000080
#define EVENT_TRACE_USE_KBYTES_FOR_SIZE 0x00002000
#define EVENT_TRACE_PRIVATE_IN_PROC 0x00020000
#define EVENT_TRACE_MODE_RESERVED 0x00100000
#define EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING 0x10000000
#define EVENT_TRACE_SYSTEM_LOGGER_MODE 0x02000000
#define EVENT_TRACE_ADDTO_TRIAGE_DUMP 0x80000000
#define EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN 0x00400000
#define EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN 0x00800000
#define EVENT_TRACE_INDEPENDENT_SESSION_MODE 0x08000000
#define EVENT_TRACE_COMPRESSED_MODE 0x04000000

#define EVENT_TRACE_CONTROL_QUERY 0
#define EVENT_TRACE_CONTROL_STOP 1
#define EVENT_TRACE_CONTROL_UPDATE 2
#define EVENT_TRACE_CONTROL_FLUSH 3
#define EVENT_TRACE_CONTROL_INCREMENT_FILE 4
#define EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME 5

#define TRACE_MESSAGE_SEQUENCE 0x00000001
#define TRACE_MESSAGE_GUID 0x00000002
#define TRACE_MESSAGE_COMPONENTID 0x00000004
#define TRACE_MESSAGE_TIMESTAMP 0x00000008
#define TRACE_MESSAGE_PERFORMANCE_TIMESTAMP 0x00000010
#define TRACE_MESSAGE_SYSTEMINFO 0x00000020
#define TRACE_MESSAGE_POINTER32 0x00000040
#define TRACE_MESSAGE_POINTER64 0x00000080
#define TRACE_MESSAGE_FLAG_MASK 0x0000FFFF
#define TRACE_MESSAGE_MAXIMUM_SIZE 0x00010000

#define EVENT_TRACE_USE_PROCTIME 0x00000001
#define EVENT_TRACE_USE_NOCPUTIME 0x00000002

#define TRACE_HEADER_FLAG_USE_TIMESTAMP 0x00000200
#define TRACE_HEADER_FLAG_TRACED_GUID 0x00020000
#define TRACE_HEADER_FLAG_LOG_WNODE 0x00040000
#define TRACE_HEADER_FLAG_USE_GUID_PTR 0x00080000
#define TRACE_HEADER_FLAG_USE_MOF_PTR 0x00100000

#define ETW_NULL_TYPE_VALUE 0
#define ETW_OBJECT_TYPE_VALUE 1
#define ETW_STRING_TYPE_VALUE 2
#define ETW_SBYTE_TYPE_VALUE 3
#define ETW_BYTE_TYPE_VALUE 4
#define ETW_INT16_TYPE_VALUE 5
#define ETW_UINT16_TYPE_VALUE 6
#define ETW_INT32_TYPE_VALUE 7
#define ETW_UINT32_TYPE_VALUE 8
#define ETW_INT64_TYPE_VALUE 9
#define ETW_UINT64_TYPE_VALUE 10
#define ETW_CHAR_TYPE_VALUE 11
#define ETW_SINGLE_TYPE_VALUE 12
#define ETW_DOUBLE_TYPE_VALUE 13
#define ETW_BOOLEAN_TYPE_VALUE 14
#define ETW_DECIMAL_TYPE_VALUE 15
#define ETW_GUID_TYPE_VALUE 101
#define ETW_ASCIICHAR_TYPE_VALUE 102
#define ETW_ASCIISTRING_TYPE_VALUE 103
#define ETW_COUNTED_STRING_TYPE_VALUE 104
#define ETW_POINTER_TYPE_VALUE 105
#define ETW_SIZET_TYPE_VALUE 106
#define ETW_HIDDEN_TYPE_VALUE 107
#define ETW_BOOL_TYPE_VALUE 108
#define ETW_COUNTED_ANSISTRING_TYPE_VALUE 109
#define ETW_REVERSED_COUNTED_STRING_TYPE_VALUE 110
#define ETW_REVERSED_COUNTED_ANSISTRING_TYPE_VALUE 111
#define ETW_NON_NULL_TERMINATED_STRING_TYPE_VALUE 112
#define ETW_REDUCED_ANSISTRING_TYPE_VALUE 113
#define ETW_REDUCED_STRING_TYPE_VALUE 114
#define ETW_SID_TYPE_VALUE 115
#define ETW_VARIANT_TYPE_VALUE 116
#define ETW_PTVECTOR_TYPE_VALUE 117
#define ETW_WMITIME_TYPE_VALUE 118
#define ETW_DATETIME_TYPE_VALUE 119
#define ETW_REFRENCE_TYPE_VALUE 120

#define TRACE_PROVIDER_FLAG_LEGACY 0x00000001
#define TRACE_PROVIDER_FLAG_PRE_ENABLE 0x00000002

#define TRACE_LBR_EVENT_OPCODE 0x20
#define TRACE_LBR_MAXIMUM_EVENTS 4

#define EVENT_CONTROL_CODE_DISABLE_PROVIDER 0
#define EVENT_CONTROL_CODE_ENABLE_PROVIDER 1
#define EVENT_CONTROL_CODE_CAPTURE_STATE 2

#define ENABLE_TRACE_PARAMETERS_VERSION 1
#define ENABLE_TRACE_PARAMETERS_VERSION_2 2

#define SYSTEM_ALPC_KW_GENERAL 0x00000001
#define SYSTEM_CONFIG_KW_SYSTEM 0x00000001
#define SYSTEM_CONFIG_KW_GRAPHICS 0x00000002
#define SYSTEM_CONFIG_KW_STORAGE 0x00000004
#define SYSTEM_CONFIG_KW_NETWORK 0x00000008
#define SYSTEM_CONFIG_KW_SERVICES 0x00000010
#define SYSTEM_CONFIG_KW_PNP 0x00000020
#define SYSTEM_CONFIG_KW_OPTICAL 0x00000040
#define SYSTEM_CPU_KW_CONFIG 0x00000001
#define SYSTEM_CPU_KW_CACHE_FLUSH 0x00000002
#define SYSTEM_CPU_KW_SPEC_CONTROL 0x00000004
#define SYSTEM_CPU_KW_DOMAIN_CHANGE 0x00000008
#define SYSTEM_HYPERVISOR_KW_PROFILE 0x00000001
#define SYSTEM_HYPERVISOR_KW_CALLOUTS 0x00000002
#define SYSTEM_HYPERVISOR_KW_VTL_CHANGE 0x00000004
#define SYSTEM_INTERRUPT_KW_GENERAL 0x00000001
#define SYSTEM_INTERRUPT_KW_CLOCK_INTERRUPT 0x00000002
#define SYSTEM_INTERRUPT_KW_DPC 0x00000004
#define SYSTEM_INTERRUPT_KW_DPC_QUEUE 0x00000008
#define SYSTEM_INTERRUPT_KW_WDF_DPC 0x00000010
#define SYSTEM_INTERRUPT_KW_WDF_INTERRUPT 0x00000020
#define SYSTEM_INTERRUPT_KW_IPI 0x00000040
#define SYSTEM_IO_KW_DISK 0x00000001
#define SYSTEM_IO_KW_DISK_INIT 0x00000002
#define SYSTEM_IO_KW_FILENAME 0x00000004
#define SYSTEM_IO_KW_SPLIT 0x00000008
#define SYSTEM_IO_KW_FILE 0x00000010
#define SYSTEM_IO_KW_OPTICAL 0x00000020
#define SYSTEM_IO_KW_OPTICAL_INIT 0x00000040
#define SYSTEM_IO_KW_DRIVERS 0x00000080
#define SYSTEM_IO_KW_CC 0x00000100
#define SYSTEM_IO_KW_NETWORK 0x00000200
#define SYSTEM_IO_KW_FILE_INIT 0x00000400
#define SYSTEM_IO_KW_TIMER 0x00000800
#define SYSTEM_IOFILTER_KW_GENERAL 0x00000001
#define SYSTEM_IOFILTER_KW_INIT 0x00000002
#define SYSTEM_IOFILTER_KW_FASTIO 0x00000004
#define SYSTEM_IOFILTER_KW_FAILURE 0x00000008
#define SYSTEM_LOCK_KW_SPINLOCK 0x00000001
#define SYSTEM_LOCK_KW_SPINLOCK_COUNTERS 0x00000002
#define SYSTEM_LOCK_KW_SYNC_OBJECTS 0x00000004
#define SYSTEM_MEMORY_KW_GENERAL 0x00000001
#define SYSTEM_MEMORY_KW_HARD_FAULTS 0x00000002
#define SYSTEM_MEMORY_KW_ALL_FAULTS 0x00000004
#define SYSTEM_MEMORY_KW_POOL 0x00000008
#define SYSTEM_MEMORY_KW_MEMINFO 0x00000010
#define SYSTEM_MEMORY_KW_PFSECTION 0x00000020
#define SYSTEM_MEMORY_KW_MEMINFO_WS 0x00000040
#define SYSTEM_MEMORY_KW_HEAP 0x00000080
#define SYSTEM_MEMORY_KW_WS 0x00000100
#define SYSTEM_MEMORY_KW_CONTMEM_GEN 0x00000200
#define SYSTEM_MEMORY_KW_VIRTUAL_ALLOC 0x00000400
#define SYSTEM_MEMORY_KW_FOOTPRINT 0x00000800
#define SYSTEM_MEMORY_KW_SESSION 0x00001000
#define SYSTEM_MEMORY_KW_REFSET 0x00002000
#define SYSTEM_MEMORY_KW_VAMAP 0x00004000
#define SYSTEM_MEMORY_KW_NONTRADEABLE 0x00008000
#define SYSTEM_OBJECT_KW_GENERAL 0x00000001
#define SYSTEM_OBJECT_KW_HANDLE 0x00000002
#define SYSTEM_POWER_KW_GENERAL 0x00000001
#define SYSTEM_POWER_KW_HIBER_RUNDOWN 0x00000002
#define SYSTEM_POWER_KW_PROCESSOR_IDLE 0x00000004
#define SYSTEM_POWER_KW_IDLE_SELECTION 0x00000008
#define SYSTEM_POWER_KW_PPM_EXIT_LATENCY 0x00000010
#define SYSTEM_PROCESS_KW_GENERAL 0x00000001
#define SYSTEM_PROCESS_KW_INSWAP 0x00000002
#define SYSTEM_PROCESS_KW_FREEZE 0x00000004
#define SYSTEM_PROCESS_KW_PERF_COUNTER 0x00000008
#define SYSTEM_PROCESS_KW_WAKE_COUNTER 0x00000010
#define SYSTEM_PROCESS_KW_WAKE_DROP 0x00000020
#define SYSTEM_PROCESS_KW_WAKE_EVENT 0x00000040
#define SYSTEM_PROCESS_KW_DEBUG_EVENTS 0x00000080
#define SYSTEM_PROCESS_KW_DBGPRINT 0x00000100
#define SYSTEM_PROCESS_KW_JOB 0x00000200
#define SYSTEM_PROCESS_KW_WORKER_THREAD 0x00000400
#define SYSTEM_PROCESS_KW_THREAD 0x00000800
#define SYSTEM_PROCESS_KW_LOADER 0x00001000
#define SYSTEM_PROFILE_KW_GENERAL 0x00000001
#define SYSTEM_PROFILE_KW_PMC_PROFILE 0x00000002
#define SYSTEM_REGISTRY_KW_GENERAL 0x00000001
#define SYSTEM_REGISTRY_KW_HIVE 0x00000002
#define SYSTEM_REGISTRY_KW_NOTIFICATION 0x00000004
#define SYSTEM_SCHEDULER_KW_XSCHEDULER 0x00000001
#define SYSTEM_SCHEDULER_KW_DISPATCHER 0x00000002
#define SYSTEM_SCHEDULER_KW_KERNEL_QUEUE 0x00000004
#define SYSTEM_SCHEDULER_KW_SHOULD_YIELD 0x00000008
#define SYSTEM_SCHEDULER_KW_ANTI_STARVATION 0x00000010
#define SYSTEM_SCHEDULER_KW_LOAD_BALANCER 0x00000020
#define SYSTEM_SCHEDULER_KW_AFFINITY 0x00000040
#define SYSTEM_SCHEDULER_KW_PRIORITY 0x00000080
#define SYSTEM_SCHEDULER_KW_IDEAL_PROCESSOR 0x00000100
#define SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH 0x00000200
#define SYSTEM_SCHEDULER_KW_COMPACT_CSWITCH 0x00000400
#define SYSTEM_SCHEDULER_KW_SCHEDULE_THREAD 0x00000800
#define SYSTEM_SCHEDULER_KW_READY_QUEUE 0x00001000
#define SYSTEM_SCHEDULER_KW_CPU_PARTITION 0x00002000
#define SYSTEM_SCHEDULER_KW_THREAD_FEEDBACK_READ 0x00004000
#define SYSTEM_SCHEDULER_KW_WORKLOAD_CLASS_UPDATE 0x00008000
#define SYSTEM_SCHEDULER_KW_AUTOBOOST 0x00010000
#define SYSTEM_SYSCALL_KW_GENERAL 0x00000001
#define SYSTEM_TIMER_KW_GENERAL 0x00000001
#define SYSTEM_TIMER_KW_CLOCK_TIMER 0x00000002
#define SYSTEM_MEMORY_POOL_FILTER_ID 1

/* --- Events as classic providers write them. */

typedef struct _EVENT_TRACE_HEADER {
	USHORT Size;
	__extension__ union {
		USHORT FieldTypeFlags;
		__extension__ struct {
			UCHAR HeaderType;
			UCHAR MarkerFlags;
		};
	};
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR Type;
			UCHAR Level;
			USHORT Version;
		} Class;
	};
	ULONG ThreadId;
	ULONG ProcessId;
	LARGE_INTEGER TimeStamp;
	__extension__ union {
		GUID Guid;
		ULONGLONG GuidPtr;
	};
	__extension__ union {
		__extension__ struct {
			ULONG KernelTime;
			ULONG UserTime;
		};
		ULONG64 ProcessorTime;
		__extension__ struct {
			ULONG ClientContext;
			ULONG Flags;
		};
	};
} EVENT_TRACE_HEADER, *PEVENT_TRACE_HEADER;

typedef struct _EVENT_INSTANCE_HEADER {
	USHORT Size;
	__extension__ union {
		USHORT FieldTypeFlags;
		__extension__ struct {
			UCHAR HeaderType;
			UCHAR MarkerFlags;
		};
	};
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR Type;
			UCHAR Level;
			USHORT Version;
		} Class;
	};
	ULONG ThreadId;
	ULONG ProcessId;
	LARGE_INTEGER TimeStamp;
	ULONGLONG RegHandle;
	ULONG InstanceId;
	ULONG ParentInstanceId;
	__extension__ union {
		__extension__ struct {
			ULONG KernelTime;
			ULONG UserTime;
		};
		ULONG64 ProcessorTime;
		__extension__ struct {
			ULONG EventId;
			ULONG Flags;
		};
	};
	ULONGLONG ParentRegHandle;
} EVENT_INSTANCE_HEADER, *PEVENT_INSTANCE_HEADER;

typedef struct _MOF_FIELD {
	ULONG64 DataPtr;
	ULONG Length;
	ULONG DataType;
} MOF_FIELD, *PMOF_FIELD;

#define DEFINE_TRACE_MOF_FIELD(MOF, ptr, length, type)                                           \
	(MOF)->DataPtr = (ULONG64)(ULONG_PTR)(ptr);                                              \
	(MOF)->Length = (ULONG)(length);                                                         \
	(MOF)->DataType = (ULONG)(type);

typedef struct EVENT_INSTANCE_INFO {
	HANDLE RegHandle;
	ULONG InstanceId;
} EVENT_INSTANCE_INFO, *PEVENT_INSTANCE_INFO;

/* --- The header of a log file. */

typedef struct _TRACE_LOGFILE_HEADER {
	ULONG BufferSize;
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR MajorVersion;
			UCHAR MinorVersion;
			UCHAR SubVersion;
			UCHAR SubMinorVersion;
		} VersionDetail;
	};
	ULONG ProviderVersion;
	ULONG NumberOfProcessors;
	LARGE_INTEGER EndTime;
	ULONG TimerResolution;
	ULONG MaximumFileSize;
	ULONG LogFileMode;
	ULONG BuffersWritten;
	__extension__ union {
		GUID LogInstanceGuid;
		__extension__ struct {
			ULONG StartBuffers;
			ULONG PointerSize;
			ULONG EventsLost;
			ULONG CpuSpeedInMHz;
		};
	};
	LPWSTR LoggerName;
	LPWSTR LogFileName;
	TIME_ZONE_INFORMATION TimeZone;
	LARGE_INTEGER BootTime;
	LARGE_INTEGER PerfFreq;
	LARGE_INTEGER StartTime;
	ULONG ReservedFlags;
	ULONG BuffersLost;
} TRACE_LOGFILE_HEADER, *PTRACE_LOGFILE_HEADER;

typedef struct _TRACE_LOGFILE_HEADER32 {
	ULONG BufferSize;
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR MajorVersion;
			UCHAR MinorVersion;
			UCHAR SubVersion;
			UCHAR SubMinorVersion;
		} VersionDetail;
	};
	ULONG ProviderVersion;
	ULONG NumberOfProcessors;
	LARGE_INTEGER EndTime;
	ULONG TimerResolution;
	ULONG MaximumFileSize;
	ULONG LogFileMode;
	ULONG BuffersWritten;
	__extension__ union {
		GUID LogInstanceGuid;
		__extension__ struct {
			ULONG StartBuffers;
			ULONG PointerSize;
			ULONG EventsLost;
			ULONG CpuSpeedInMHz;
		};
	};
	ULONG32 LoggerName;
	ULONG32 LogFileName;
	TIME_ZONE_INFORMATION TimeZone;
	LARGE_INTEGER BootTime;
	LARGE_INTEGER PerfFreq;
	LARGE_INTEGER StartTime;
	ULONG ReservedFlags;
	ULONG BuffersLost;
} TRACE_LOGFILE_HEADER32, *PTRACE_LOGFILE_HEADER32;

typedef struct _TRACE_LOGFILE_HEADER64 {
	ULONG BufferSize;
	__extension__ union {
		ULONG Version;
		struct {
			UCHAR MajorVersion;
			UCHAR MinorVersion;
			UCHAR SubVersion;
			UCHAR SubMinorVersion;
		} VersionDetail;
	};
	ULONG ProviderVersion;
	ULONG NumberOfProcessors;
	LARGE_INTEGER EndTime;
	ULONG TimerResolution;
	ULONG MaximumFileSize;
	ULONG LogFileMode;
	ULONG BuffersWritten;
	__extension__ union {
		GUID LogInstanceGuid;
		__extension__ struct {
			ULONG StartBuffers;
			ULONG PointerSize;
			ULONG EventsLost;
			ULONG CpuSpeedInMHz;
		};
	};
	ULONG64 LoggerName;
	ULONG64 LogFileName;
	TIME_ZONE_INFORMATION TimeZone;
	LARGE_INTEGER BootTime;
	LARGE_INTEGER PerfFreq;
	LARGE_INTEGER StartTime;
	ULONG ReservedFlags;
	ULONG BuffersLost;
} TRACE_LOGFILE_HEADER64, *PTRACE_LOGFILE_HEADER64;

/* --- Sessions. */

typedef struct _EVENT_TRACE_PROPERTIES {
	WNODE_HEADER Wnode;
	ULONG BufferSize;
	ULONG MinimumBuffers;
	ULONG MaximumBuffers;
	ULONG MaximumFileSize;
	ULONG LogFileMode;
	ULONG FlushTimer;
	ULONG EnableFlags;
	__extension__ union {
		LONG AgeLimit;
		LONG FlushThreshold;
	};
	ULONG NumberOfBuffers;
	ULONG FreeBuffers;
	ULONG EventsLost;
	ULONG BuffersWritten;
	ULONG LogBuffersLost;
	ULONG RealTimeBuffersLost;
	HANDLE LoggerThreadId;
	ULONG LogFileNameOffset;
	ULONG LoggerNameOffset;
} EVENT_TRACE_PROPERTIES, *PEVENT_TRACE_PROPERTIES;

typedef struct _EVENT_TRACE_PROPERTIES_V2 {
	WNODE_HEADER Wnode;
	ULONG BufferSize;
	ULONG MinimumBuffers;
	ULONG MaximumBuffers;
	ULONG MaximumFileSize;
	ULONG LogFileMode;
	ULONG FlushTimer;
	ULONG EnableFlags;
	__extension__ union {
		LONG AgeLimit;
		LONG FlushThreshold;
	};
	ULONG NumberOfBuffers;
	ULONG FreeBuffers;
	ULONG EventsLost;
	ULONG BuffersWritten;
	ULONG LogBuffersLost;
	ULONG RealTimeBuffersLost;
	HANDLE LoggerThreadId;
	ULONG LogFileNameOffset;
	ULONG LoggerNameOffset;
	__extension__ union {
		__extension__ struct {
			ULONG VersionNumber : 8;
		};
		ULONG V2Control;
	};
	ULONG FilterDescCount;
	PEVENT_FILTER_DESCRIPTOR FilterDesc;
	__extension__ union {
		__extension__ struct {
			ULONG Wow : 1;
			ULONG QpcDeltaTracking : 1;
			ULONG LargeMdlPages : 1;
			ULONG ExcludeKernelStack : 1;
		};
		ULONG64 V2Options;
	};
} EVENT_TRACE_PROPERTIES_V2, *PEVENT_TRACE_PROPERTIES_V2;

typedef struct _TRACE_GUID_REGISTRATION {
	LPCGUID Guid;
	HANDLE RegHandle;
} TRACE_GUID_REGISTRATION, *PTRACE_GUID_REGISTRATION;

typedef struct _TRACE_GUID_PROPERTIES {
	GUID Guid;
	ULONG GuidType;
	ULONG LoggerId;
	ULONG EnableLevel;
	ULONG EnableFlags;
	BOOLEAN IsEnable;
} TRACE_GUID_PROPERTIES, *PTRACE_GUID_PROPERTIES;

#ifndef ETW_BUFFER_CONTEXT_DEF
#define ETW_BUFFER_CONTEXT_DEF
typedef struct _ETW_BUFFER_CONTEXT {
	__extension__ union {
		__extension__ struct {
			UCHAR ProcessorNumber;
			UCHAR Alignment;
		};
		USHORT ProcessorIndex;
	};
	USHORT LoggerId;
} ETW_BUFFER_CONTEXT, *PETW_BUFFER_CONTEXT;
#endif

typedef struct _TRACE_ENABLE_INFO {
	ULONG IsEnabled;
	UCHAR Level;
	UCHAR Reserved1;
	USHORT LoggerId;
	ULONG EnableProperty;
	ULONG Reserved2;
	ULONGLONG MatchAnyKeyword;
	ULONGLONG MatchAllKeyword;
} TRACE_ENABLE_INFO, *PTRACE_ENABLE_INFO;

typedef struct _TRACE_PROVIDER_INSTANCE_INFO {
	ULONG NextOffset;
	ULONG EnableCount;
	ULONG Pid;
	ULONG Flags;
} TRACE_PROVIDER_INSTANCE_INFO, *PTRACE_PROVIDER_INSTANCE_INFO;

typedef struct _TRACE_GUID_INFO {
	ULONG InstanceCount;
	ULONG Reserved;
} TRACE_GUID_INFO, *PTRACE_GUID_INFO;

typedef struct _PROFILE_SOURCE_INFO {
	ULONG NextEntryOffset;
	ULONG Source;
	ULONG MinInterval;
	ULONG MaxInterval;
	ULONG64 Reserved;
	WCHAR Description[ANYSIZE_ARRAY];
} PROFILE_SOURCE_INFO, *PPROFILE_SOURCE_INFO;

typedef enum _ETW_PMC_COUNTER_OWNER_TYPE {
	EtwPmcOwnerFree = 0,
	EtwPmcOwnerUntagged = 1,
	EtwPmcOwnerTagged = 2,
	EtwPmcOwnerTaggedWithSource = 3
} ETW_PMC_COUNTER_OWNER_TYPE;

typedef struct _ETW_PMC_COUNTER_OWNER {
	ETW_PMC_COUNTER_OWNER_TYPE OwnerType;
	ULONG ProfileSource;
	ULONG OwnerTag;
} ETW_PMC_COUNTER_OWNER, *PETW_PMC_COUNTER_OWNER;

typedef struct _ETW_PMC_COUNTER_OWNERSHIP_STATUS {
	ULONG ProcessorNumber;
	ULONG NumberOfCounters;
	ETW_PMC_COUNTER_OWNER CounterOwners[ANYSIZE_ARRAY];
} ETW_PMC_COUNTER_OWNERSHIP_STATUS, *PETW_PMC_COUNTER_OWNERSHIP_STATUS;

typedef struct _ETW_PMC_SESSION_INFO {
	ULONG NextEntryOffset;
	USHORT LoggerId;
	USHORT Reserved;
	ULONG ProfileSourceCount;
	ULONG HookIdCount;
} ETW_PMC_SESSION_INFO, *PETW_PMC_SESSION_INFO;

typedef enum {
	EtwCompressionModeRestart = 0,
	EtwCompressionModeNoDisable = 1,
	EtwCompressionModeNoRestart = 2
} ETW_COMPRESSION_RESUMPTION_MODE;

typedef enum ETW_CONTEXT_REGISTER_TYPES {
	EtwContextRegisterTypeNone = 0,
	EtwContextRegisterTypeControl = 0x00000001,
	EtwContextRegisterTypeInteger = 0x00000002
} ETW_CONTEXT_REGISTER_TYPES;

typedef enum TRACE_LBR_CONFIGURATION {
	TRACE_LBR_CONFIGURATION_NONE = 0,
	TRACE_LBR_CONFIGURATION_EXCLUDE_KERNEL = 0x00000001,
	TRACE_LBR_CONFIGURATION_EXCLUDE_USER = 0x00000002,
	TRACE_LBR_CONFIGURATION_EXCLUDE_JCC = 0x00000004,
	TRACE_LBR_CONFIGURATION_EXCLUDE_NEAR_REL_CALL = 0x00000008,
	TRACE_LBR_CONFIGURATION_EXCLUDE_NEAR_IND_CALL = 0x00000010,
	TRACE_LBR_CONFIGURATION_EXCLUDE_NEAR_RET = 0x00000020,
	TRACE_LBR_CONFIGURATION_EXCLUDE_NEAR_IND_JMP = 0x00000040,
	TRACE_LBR_CONFIGURATION_EXCLUDE_NEAR_REL_JMP = 0x00000080,
	TRACE_LBR_CONFIGURATION_EXCLUDE_FAR_BRANCH = 0x00000100,
	TRACE_LBR_CONFIGURATION_CALLSTACK_ENABLE = 0x00000200,
	TRACE_LBR_CONFIGURATION_SAMPLED = 0x00000400
} TRACE_LBR_CONFIGURATION;

/* --- Consuming. */

#ifndef ETW_EVENT_RECORD_FORWARD
#define ETW_EVENT_RECORD_FORWARD
typedef struct _EVENT_RECORD EVENT_RECORD, *PEVENT_RECORD;
#endif

typedef struct _EVENT_TRACE {
	EVENT_TRACE_HEADER Header;
	ULONG InstanceId;
	ULONG ParentInstanceId;
	GUID ParentGuid;
	PVOID MofData;
	ULONG MofLength;
	__extension__ union {
		ULONG ClientContext;
		ETW_BUFFER_CONTEXT BufferContext;
	};
} EVENT_TRACE, *PEVENT_TRACE;

typedef struct _EVENT_TRACE_LOGFILEW EVENT_TRACE_LOGFILEW, *PEVENT_TRACE_LOGFILEW;
typedef struct _EVENT_TRACE_LOGFILEA EVENT_TRACE_LOGFILEA, *PEVENT_TRACE_LOGFILEA;

typedef ULONG(WINAPI *PEVENT_TRACE_BUFFER_CALLBACKW)(PEVENT_TRACE_LOGFILEW Logfile);
typedef ULONG(WINAPI *PEVENT_TRACE_BUFFER_CALLBACKA)(PEVENT_TRACE_LOGFILEA Logfile);
typedef VOID(WINAPI *PEVENT_CALLBACK)(PEVENT_TRACE pEvent);
typedef VOID(WINAPI *PEVENT_RECORD_CALLBACK)(PEVENT_RECORD EventRecord);

/* The provider writes what it has to say of an event into Buffer. */
typedef ULONG(WINAPI *WMIDPREQUEST)(_In_ WMIDPREQUESTCODE RequestCode, _In_ PVOID RequestContext,
				    _Inout_ ULONG *BufferSize, _Inout_ PVOID Buffer);

struct _EVENT_TRACE_LOGFILEW {
	LPWSTR LogFileName;
	LPWSTR LoggerName;
	LONGLONG CurrentTime;
	ULONG BuffersRead;
	__extension__ union {
		ULONG LogFileMode;
		ULONG ProcessTraceMode;
	};
	EVENT_TRACE CurrentEvent;
	TRACE_LOGFILE_HEADER LogfileHeader;
	PEVENT_TRACE_BUFFER_CALLBACKW BufferCallback;
	ULONG BufferSize;
	ULONG Filled;
	ULONG EventsLost;
	__extension__ union {
		PEVENT_CALLBACK EventCallback;
		PEVENT_RECORD_CALLBACK EventRecordCallback;
	};
	ULONG IsKernelTrace;
	PVOID Context;
};

struct _EVENT_TRACE_LOGFILEA {
	LPSTR LogFileName;
	LPSTR LoggerName;
	LONGLONG CurrentTime;
	ULONG BuffersRead;
	__extension__ union {
		ULONG LogFileMode;
		ULONG ProcessTraceMode;
	};
	EVENT_TRACE CurrentEvent;
	TRACE_LOGFILE_HEADER LogfileHeader;
	PEVENT_TRACE_BUFFER_CALLBACKA BufferCallback;
	ULONG BufferSize;
	ULONG Filled;
	ULONG EventsLost;
	__extension__ union {
		PEVENT_CALLBACK EventCallback;
		PEVENT_RECORD_CALLBACK EventRecordCallback;
	};
	ULONG IsKernelTrace;
	PVOID Context;
};

typedef struct ETW_BUFFER_HEADER {
	ULONG Reserved1[4];
	LARGE_INTEGER TimeStamp;
	ULONG Reserved2[4];
	ETW_BUFFER_CONTEXT ClientContext;
	ULONG Reserved3;
	ULONG FilledBytes;
	ULONG Reserved4[5];
} ETW_BUFFER_HEADER;

typedef struct ETW_BUFFER_CALLBACK_INFORMATION {
	PROCESSTRACE_HANDLE TraceHandle;
	const TRACE_LOGFILE_HEADER *LogfileHeader;
	ULONG BuffersRead;
} ETW_BUFFER_CALLBACK_INFORMATION;

typedef BOOL(WINAPI *PETW_BUFFER_CALLBACK)(_In_reads_bytes_(BufferSize)
						   const ETW_BUFFER_HEADER *Buffer,
					   _In_ ULONG BufferSize,
					   _In_ const ETW_BUFFER_CALLBACK_INFORMATION *ConsumerInfo,
					   _In_opt_ void *CallbackContext);

typedef void(WINAPI *PETW_BUFFER_COMPLETION_CALLBACK)(_In_ const ETW_BUFFER_HEADER *Buffer,
						      _In_opt_ void *CallbackContext);

typedef enum ETW_PROCESS_TRACE_MODES {
	ETW_PROCESS_TRACE_MODE_NONE = 0,
	ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP = 0x00000001
} ETW_PROCESS_TRACE_MODES;

typedef struct ETW_OPEN_TRACE_OPTIONS {
	ETW_PROCESS_TRACE_MODES ProcessTraceModes;
	PEVENT_RECORD_CALLBACK EventCallback;
	void *EventCallbackContext;
	PETW_BUFFER_CALLBACK BufferCallback;
	void *BufferCallbackContext;
} ETW_OPEN_TRACE_OPTIONS;

/* --- Parameters and results of the control functions. */

typedef struct _ENABLE_TRACE_PARAMETERS_V1 {
	ULONG Version;
	ULONG EnableProperty;
	ULONG ControlFlags;
	GUID SourceId;
	PEVENT_FILTER_DESCRIPTOR EnableFilterDesc;
} ENABLE_TRACE_PARAMETERS_V1, *PENABLE_TRACE_PARAMETERS_V1;

typedef struct _ENABLE_TRACE_PARAMETERS {
	ULONG Version;
	ULONG EnableProperty;
	ULONG ControlFlags;
	GUID SourceId;
	PEVENT_FILTER_DESCRIPTOR EnableFilterDesc;
	ULONG FilterDescCount;
} ENABLE_TRACE_PARAMETERS, *PENABLE_TRACE_PARAMETERS;

typedef enum _TRACE_QUERY_INFO_CLASS {
	TraceGuidQueryList = 0,
	TraceGuidQueryInfo = 1,
	TraceGuidQueryProcess = 2,
	TraceStackTracingInfo = 3,
	TraceSystemTraceEnableFlagsInfo = 4,
	TraceSampledProfileIntervalInfo = 5,
	TraceProfileSourceConfigInfo = 6,
	TraceProfileSourceListInfo = 7,
	TracePmcEventListInfo = 8,
	TracePmcCounterListInfo = 9,
	TraceSetDisallowList = 10,
	TraceVersionInfo = 11,
	TraceGroupQueryList = 12,
	TraceGroupQueryInfo = 13,
	TraceDisallowListQuery = 14,
	TraceInfoReserved15 = 15,
	TracePeriodicCaptureStateListInfo = 16,
	TracePeriodicCaptureStateInfo = 17,
	TraceProviderBinaryTracking = 18,
	TraceMaxLoggersQuery = 19,
	TraceLbrConfigurationInfo = 20,
	TraceLbrEventListInfo = 21,
	TraceMaxPmcCounterQuery = 22,
	TraceStreamCount = 23,
	TraceStackCachingInfo = 24,
	TracePmcCounterOwners = 25,
	TraceUnifiedStackCachingInfo = 26,
	TracePmcSessionInformation = 27,
	TraceContextRegisterInfo = 28,
	MaxTraceSetInfoClass = 29
} TRACE_QUERY_INFO_CLASS, TRACE_INFO_CLASS;

typedef struct _CLASSIC_EVENT_ID {
	GUID EventGuid;
	UCHAR Type;
	UCHAR Reserved[7];
} CLASSIC_EVENT_ID, *PCLASSIC_EVENT_ID;

typedef struct _TRACE_STACK_CACHING_INFO {
	BOOLEAN Enabled;
	ULONG CacheSize;
	ULONG BucketCount;
} TRACE_STACK_CACHING_INFO, *PTRACE_STACK_CACHING_INFO;

typedef struct _TRACE_PROFILE_INTERVAL {
	ULONG Source;
	ULONG Interval;
} TRACE_PROFILE_INTERVAL, *PTRACE_PROFILE_INTERVAL;

typedef struct _TRACE_VERSION_INFO {
	UINT EtwTraceProcessingVersion;
	UINT Reserved;
} TRACE_VERSION_INFO, *PTRACE_VERSION_INFO;

typedef struct _TRACE_PERIODIC_CAPTURE_STATE_INFO {
	ULONG CaptureStateFrequencyInSeconds;
	USHORT ProviderCount;
	USHORT Reserved;
} TRACE_PERIODIC_CAPTURE_STATE_INFO, *PTRACE_PERIODIC_CAPTURE_STATE_INFO;

typedef struct _TRACE_CONTEXT_REGISTER_INFO {
	ETW_CONTEXT_REGISTER_TYPES RegisterTypes;
	ULONG Reserved;
} TRACE_CONTEXT_REGISTER_INFO, *PTRACE_CONTEXT_REGISTER_INFO;

typedef enum _ETW_PROCESS_HANDLE_INFO_TYPE {
	EtwQueryPartitionInformation = 1,
	EtwQueryPartitionInformationV2 = 2,
	EtwQueryLastDroppedTimes = 3,
	EtwQueryLogFileHeader = 4,
	EtwQueryProcessHandleInfoMax
} ETW_PROCESS_HANDLE_INFO_TYPE;

typedef struct _ETW_TRACE_PARTITION_INFORMATION {
	GUID PartitionId;
	GUID ParentId;
	LONG64 QpcOffsetFromRoot;
	ULONG PartitionType;
} ETW_TRACE_PARTITION_INFORMATION, *PETW_TRACE_PARTITION_INFORMATION;

typedef struct _ETW_TRACE_PARTITION_INFORMATION_V2 {
	LONG64 QpcOffsetFromRoot;
	ULONG PartitionType;
	PWSTR PartitionId;
	PWSTR ParentId;
} ETW_TRACE_PARTITION_INFORMATION_V2, *PETW_TRACE_PARTITION_INFORMATION_V2;

/* --- Controlling. Strings of the A functions are UTF-8. */

/*
 * StartTraceW() and its like - starts a session, and its host when there is none.
 *
 * @TraceHandle: gets the session's handle; 0 when there is no session
 * @InstanceName: the session's name, of at most 1024 characters; "NT Kernel Logger" records the kernel
 * @Properties: Wnode.BufferSize is the size of the whole block: the structure, and behind it the room for the two
 *   names at LoggerNameOffset and LogFileNameOffset; Wnode.Flags has WNODE_FLAG_TRACED_GUID. The names are filled
 *   in
 *
 * CIRCULAR, NEWFILE and PREALLOCATE need a MaximumFileSize, which is in MB; NEWFILE one `%d` in the file's name.
 * APPEND needs ClientContext 2, the system's time, and a file of a session like this one, or none: times of the other
 * clocks have no meaning beside those of another session. BUFFERING has no file: it keeps the last MinimumBuffers
 * buffers until FlushTraceW() names one. COMPRESSED goes with neither CIRCULAR nor PREALLOCATE.
 *
 * A private session, EVENT_TRACE_PRIVATE_LOGGER_MODE, has the GUID of its provider in Wnode.Guid. Its events stay in the
 * processes of that provider, each of which writes a file with its own rights, up to its end or the session's. With
 * EVENT_TRACE_PRIVATE_IN_PROC the session is in this process alone, and needs no host; a process has at most 3 of these.
 * Without, it is in every process of this user (a session of root's: of any user) that has registered the provider, or
 * registers it later, at most 8 in each; the process's number stands behind the file's name, `NAME_PID`.
 *
 * Any other session lives until it is stopped, also beyond the program, or until its file has reached MaximumFileSize, if
 * events go nowhere else and the file is neither circular nor one of a series. docs/refused.md lists the modes, flags and
 * filters that are not built; what is not built is refused, never left out silently. Events of the kernel that this
 * machine does not allow are told by the session, see etw-sessions(1).
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: a pointer is NULL, an offset is outside of the block or the names
 * overlap, Wnode.Flags or the modes contradict each other, a mode lacks what it needs, or one of name and GUID is the
 * kernel logger's alone; ERROR_INVALID_NAME: there is no name, or a new-file mode without `%d` in the file's name; ERROR_BAD_LENGTH: the
 * block is too small for the structure or the name; ERROR_BAD_PATHNAME: neither real time nor a file, or another
 * session writes to the file; ERROR_ALREADY_EXISTS: a session of that name or GUID runs; ERROR_FILE_CORRUPT: what to
 * append to is no trace; ERROR_NOT_SUPPORTED: what is asked for is not built, or a private session in a program that has
 * this library more than once, in versions that do not understand each other; ERROR_ACCESS_DENIED: only the system's host could, and this user may not; ERROR_PATH_NOT_FOUND: the folder of the file is not there;
 * ERROR_FILENAME_EXCED_RANGE: its path is too long; ERROR_DISK_FULL; ERROR_NO_SYSTEM_RESOURCES: 64 sessions run;
 * ERROR_WMI_SERVER_UNAVAILABLE: there is no etwd, or it cannot stay up; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT,
 * ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died; what making the file fails with.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI StartTraceW(_Out_ PTRACEHANDLE TraceHandle, _In_ LPCWSTR InstanceName,
				 _Inout_ PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI StartTraceA(_Out_ PTRACEHANDLE TraceHandle, _In_ LPCSTR InstanceName,
				 _Inout_ PEVENT_TRACE_PROPERTIES Properties);

/*
 * StopTraceW() and its like - ends a session.
 *
 * @TraceHandle: of StartTraceW(); 0: InstanceName says which
 * @InstanceName: of the session, in any case; used when TraceHandle is 0
 * @Properties: in: its sizes and offsets, see StartTraceW(); out: the numbers, and the names where there is room
 *
 * Everything that was written before the call is in the file, or with the consumers, when it returns.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no Properties, neither handle nor name, or offsets outside of the
 * block; ERROR_BAD_LENGTH: Wnode.BufferSize is smaller than the structure; ERROR_WMI_INSTANCE_NOT_FOUND: no such
 * session, or none that this user may control; ERROR_ACCESS_DENIED: the host's folder is another user's;
 * ERROR_MORE_DATA: a name does not fit, everything else is there; ERROR_ACTIVE_CONNECTIONS: another is just stopping
 * it; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died;
 * ERROR_FILE_NOT_FOUND: the session has ended, but somebody deleted its file.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI StopTraceW(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCWSTR InstanceName,
				_Inout_ PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI StopTraceA(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCSTR InstanceName,
				_Inout_ PEVENT_TRACE_PROPERTIES Properties);

/*
 * QueryTraceW() and its like - how a session is: its buffers, losses and names.
 *
 * @TraceHandle: of StartTraceW(); 0: InstanceName says which
 * @InstanceName: of the session, in any case; used when TraceHandle is 0
 * @Properties: in: its sizes and offsets, see StartTraceW(); out: the numbers, and the names where there is room
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no Properties, neither handle nor name, or offsets outside of the
 * block; ERROR_BAD_LENGTH: Wnode.BufferSize is smaller than the structure; ERROR_WMI_INSTANCE_NOT_FOUND: no such
 * session, or none that this user may control; ERROR_ACCESS_DENIED: the host's folder is another user's;
 * ERROR_MORE_DATA: a name does not fit, everything else is there; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT,
 * ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI QueryTraceW(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCWSTR InstanceName,
				 _Inout_ PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI QueryTraceA(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCSTR InstanceName,
				 _Inout_ PEVENT_TRACE_PROPERTIES Properties);

/*
 * UpdateTraceW() and its like - changes a running session.
 *
 * @TraceHandle: of StartTraceW(); 0: InstanceName says which
 * @InstanceName: of the session, in any case; used when TraceHandle is 0
 * @Properties: in: the new values; out: the session's numbers, and the names where there is room
 *
 * Of the block FlushTimer and MaximumBuffers are taken, where they are not 0, and of LogFileMode the bit
 * EVENT_TRACE_REAL_TIME_MODE, which the session has afterwards or has not. EnableFlags of a system logger become what
 * the block has; 0 ends the collection of the kernel's events. A block that QueryTraceW() filled has both as they are;
 * its LogFileNameOffset has to be 0 for the file to stay. When LogFileNameOffset leads to a name, the session's file
 * ends with what was written before the call, and the session goes on in the file of that name (of a session in
 * new-file mode: a new series, from 1). All else is left as it is. When the real-time mode ends, consumers get what
 * was written before, and their ProcessTrace() returns.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER as QueryTraceW() has it, and when the session would be left without
 * file and consumers, or has a mode that excludes the real-time one, or has no file that another could follow, or is
 * no system logger and EnableFlags are not 0; ERROR_ALREADY_EXISTS: the file has that name; what making a file fails
 * with, and then the present one goes on; ERROR_NOT_SUPPORTED: another file of a session that appends, or EnableFlags
 * of which none is built; ERROR_BAD_LENGTH: likewise; ERROR_WMI_INSTANCE_NOT_FOUND: no such session, or none that this
 * user may control; ERROR_ACCESS_DENIED: the host's folder is another user's; ERROR_MORE_DATA: a name does not fit,
 * and the session is changed; ERROR_ACTIVE_CONNECTIONS: another is just stopping it; ERROR_NOT_ENOUGH_MEMORY;
 * ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI UpdateTraceW(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCWSTR InstanceName,
				  _Inout_ PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI UpdateTraceA(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCSTR InstanceName,
				  _Inout_ PEVENT_TRACE_PROPERTIES Properties);

/*
 * FlushTraceW() and its like - writes what the buffers of a session hold now.
 *
 * @TraceHandle: of StartTraceW(); 0: InstanceName says which
 * @InstanceName: of the session, in any case; used when TraceHandle is 0
 * @Properties: in: its sizes and offsets, see StartTraceW(); out: the numbers, and the names where there is room
 *
 * A session in buffering mode has no file: all that it keeps, the last MinimumBuffers buffers, goes into a new one of the
 * name that the block has at LogFileNameOffset. A file of that name is replaced. The session keeps on as before.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no Properties, neither handle nor name, offsets outside of the block,
 * or no file name for a session in buffering mode; ERROR_BAD_LENGTH: Wnode.BufferSize is smaller than the structure;
 * ERROR_WMI_INSTANCE_NOT_FOUND: no such session, or none that this user may control; ERROR_ACCESS_DENIED: the host's
 * folder is another user's; ERROR_MORE_DATA: a name does not fit, everything else is there; ERROR_ACTIVE_CONNECTIONS:
 * another is just stopping it; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host
 * hangs or died; what writing the file fails with;
 * ERROR_PATH_NOT_FOUND: there is no folder for that.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI FlushTraceW(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCWSTR InstanceName,
				 _Inout_ PEVENT_TRACE_PROPERTIES Properties);
ETW_API ULONG WMIAPI FlushTraceA(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCSTR InstanceName,
				 _Inout_ PEVENT_TRACE_PROPERTIES Properties);

/*
 * ControlTraceW() and its like - stops, queries, updates or flushes a session by a control code.
 *
 * @TraceHandle: of StartTraceW(); 0: InstanceName says which
 * @InstanceName: of the session, in any case; used when TraceHandle is 0
 * @Properties: in: its sizes and offsets, see StartTraceW(); out: the numbers, and the names where there is room
 * @ControlCode: EVENT_TRACE_CONTROL_STOP, _QUERY, _UPDATE, _FLUSH, _INCREMENT_FILE or _CONVERT_TO_REALTIME
 *
 * With EVENT_TRACE_CONTROL_INCREMENT_FILE a session in new-file mode ends its file with what was written before the call,
 * and goes on in the next one; others refuse it with ERROR_INVALID_PARAMETER. When the next one cannot be made the
 * present one goes on.
 *
 * StopTraceW(), QueryTraceW(), UpdateTraceW() and FlushTraceW() are this function with one code each.
 *
 * A private session that is in several processes counts what all of them count; a process that does not answer within 10
 * seconds is left out. Of an update its FlushTimer and LogFileName alone have an effect.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no Properties, neither handle nor name, or offsets outside of the
 * block; ERROR_BAD_LENGTH: Wnode.BufferSize is smaller than the structure; ERROR_WMI_INSTANCE_NOT_FOUND: no such session,
 * or none that this user may control; ERROR_ACCESS_DENIED: the host's folder is another user's; ERROR_MORE_DATA: a name
 * does not fit, everything else is there; ERROR_ACTIVE_CONNECTIONS: another is just stopping it; ERROR_NOT_ENOUGH_MEMORY;
 * ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died; ERROR_NOT_SUPPORTED: the code is not
 * built; ERROR_FILE_NOT_FOUND: the session has ended, but somebody deleted its file.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI ControlTraceW(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCWSTR InstanceName,
				   _Inout_ PEVENT_TRACE_PROPERTIES Properties,
				   _In_ ULONG ControlCode);
ETW_API ULONG WMIAPI ControlTraceA(_In_ TRACEHANDLE TraceHandle, _In_opt_ LPCSTR InstanceName,
				   _Inout_ PEVENT_TRACE_PROPERTIES Properties,
				   _In_ ULONG ControlCode);

/*
 * QueryAllTracesW() and its like - how every session is that this user may see, but for private ones.
 *
 * @PropertyArray: blocks as for QueryTraceW(), one for each session
 * @PropertyArrayCount: of blocks, 1 to 256
 * @LoggerCount: gets the number of sessions, also of those without a block
 *
 * Returns ERROR_SUCCESS; ERROR_MORE_DATA: there are more sessions than blocks, which are filled;
 * ERROR_INVALID_PARAMETER: a pointer is NULL, or there are no blocks or more than 256; ERROR_BAD_LENGTH: a block is
 * smaller than the structure; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: a host
 * hangs or died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI QueryAllTracesW(
	_Out_writes_(PropertyArrayCount) PEVENT_TRACE_PROPERTIES *PropertyArray,
	_In_ ULONG PropertyArrayCount, _Out_ PULONG LoggerCount);
ETW_API ULONG WMIAPI QueryAllTracesA(
	_Out_writes_(PropertyArrayCount) PEVENT_TRACE_PROPERTIES *PropertyArray,
	_In_ ULONG PropertyArrayCount, _Out_ PULONG LoggerCount);

/*
 * EnableTrace() and its like - enables or disables a provider in a session.
 *
 * @Enable, @IsEnabled: TRUE or FALSE
 * @ControlCode: EVENT_CONTROL_CODE_ENABLE_PROVIDER, _DISABLE_PROVIDER, or _CAPTURE_STATE: the provider's callback
 *   is asked to write its state
 * @EnableFlag, @MatchAnyKeyword: events that have one of these bits; 0: all
 * @EnableLevel, @Level: events of this level and graver ones; 0: all
 * @MatchAllKeyword: of those, events that have all of these bits
 * @ControlGuid, @ProviderId: the provider; it need not be registered yet
 * @SourceId: what the callback is told of who enabled it; NULL: nothing
 * @EnableProperty: what each event is to carry besides; EVENT_ENABLE_PROPERTY_PROVIDER_GROUP: ProviderId is that of a
 *   group, whose members are enabled, now and later. docs/refused.md lists what is built
 * @EnableFilterDesc: a filter, or data for the provider's callback; NULL: none
 * @Timeout: how many milliseconds to wait for the provider's callbacks; 0: not at all
 * @EnableParameters: properties and up to MAX_EVENT_FILTERS_COUNT filters, one of a type; NULL: none
 *
 * EnableTrace() and EnableTraceEx() are older forms of EnableTraceEx2(). A provider stays enabled when its programs
 * end, and for those that start later. A session that has enabled both a provider and its group gets what either call asked
 * for, and each is taken back by itself. A private session enables any provider of its process, no group, and takes no
 * filters but those for callbacks.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no session or provider, there is no such code, a level above 255,
 * parameters of an unknown version, more filters than there may be, or one that is twice there, cut off or larger than
 * its type may be; ERROR_NOT_SUPPORTED: a property or filter that is not built; ERROR_WMI_INSTANCE_NOT_FOUND: no such
 * session, or none that this user may control;
 * ERROR_NO_SYSTEM_RESOURCES: 8 sessions have the provider already; ERROR_TIMEOUT: it is enabled, but a callback did not
 * return in time, or the host hangs; ERROR_ACCESS_DENIED: the host's folder is another user's; ERROR_ACTIVE_CONNECTIONS:
 * the session is just stopping; ERROR_NOT_ENOUGH_MEMORY; ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI EnableTrace(_In_ ULONG Enable, _In_ ULONG EnableFlag, _In_ ULONG EnableLevel,
				 _In_ LPCGUID ControlGuid, _In_ TRACEHANDLE TraceHandle);
ETW_API ULONG WMIAPI EnableTraceEx(_In_ LPCGUID ProviderId, _In_opt_ LPCGUID SourceId,
				   _In_ TRACEHANDLE TraceHandle, _In_ ULONG IsEnabled,
				   _In_ UCHAR Level, _In_ ULONGLONG MatchAnyKeyword,
				   _In_ ULONGLONG MatchAllKeyword, _In_ ULONG EnableProperty,
				   _In_opt_ PEVENT_FILTER_DESCRIPTOR EnableFilterDesc);
ETW_API ULONG WMIAPI EnableTraceEx2(_In_ TRACEHANDLE TraceHandle, _In_ LPCGUID ProviderId,
				    _In_ ULONG ControlCode, _In_ UCHAR Level,
				    _In_ ULONGLONG MatchAnyKeyword,
				    _In_ ULONGLONG MatchAllKeyword, _In_ ULONG Timeout,
				    _In_opt_ PENABLE_TRACE_PARAMETERS EnableParameters);

/*
 * EnumerateTraceGuids() - the providers that processes have registered.
 *
 * @GuidPropertiesArray: pointers to structures that are filled: IsEnable, and LoggerId, EnableLevel and EnableFlags of the
 *   session that enabled the provider last
 * @PropertyArrayCount: of pointers
 * @GuidCount: gets the number of providers, which may be larger
 *
 * A user sees what its own processes have registered, and what WMIGUID_QUERY of a provider's descriptor grants; root and
 * the group etwlog see all. Providers that only a session knows are not listed.
 *
 * Returns ERROR_SUCCESS; ERROR_MORE_DATA: there are more than pointers; ERROR_INVALID_PARAMETER: a pointer is NULL, or
 * the count 0; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI EnumerateTraceGuids(
	_Inout_updates_(PropertyArrayCount) PTRACE_GUID_PROPERTIES *GuidPropertiesArray,
	_In_ ULONG PropertyArrayCount, _Out_ PULONG GuidCount);
/*
 * EnumerateTraceGuidsEx() - providers, groups, and who has enabled them.
 *
 * @TraceQueryInfoClass: TraceGuidQueryList, TraceGuidQueryProcess, TraceGroupQueryList: an array of GUIDs;
 *   TraceGuidQueryInfo: TRACE_GUID_INFO, and behind it each TRACE_PROVIDER_INSTANCE_INFO with its TRACE_ENABLE_INFOs;
 *   TraceGroupQueryInfo: ULONG, TRACE_ENABLE_INFOs, ULONG, GUIDs of the members; TraceMaxLoggersQuery: ULONG
 * @InBuffer: of the two Info classes the GUID of the provider or group
 * @ReturnLength: gets the size of what there is
 *
 * What a user sees is said at EnumerateTraceGuids().
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: OutBufferSize is too small; ERROR_WMI_GUID_NOT_FOUND: nobody has
 * registered or enabled it, or nobody that this user sees; ERROR_INVALID_PARAMETER: another class, or a pointer is NULL
 * that must not be; otherwise as EnumerateTraceGuids().
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI EnumerateTraceGuidsEx(_In_ TRACE_QUERY_INFO_CLASS TraceQueryInfoClass,
					   _In_reads_bytes_opt_(InBufferSize) PVOID InBuffer,
					   _In_ ULONG InBufferSize,
					   _Out_writes_bytes_opt_(OutBufferSize) PVOID OutBuffer,
					   _In_ ULONG OutBufferSize, _Out_ PULONG ReturnLength);
/*
 * TraceSetInformation() - changes a setting of a session.
 *
 * @InformationClass: TracePeriodicCaptureStateListInfo: TRACE_PERIODIC_CAPTURE_STATE_INFO and the GUIDs of providers
 *   whose callbacks get EVENT_CONTROL_CODE_CAPTURE_STATE again and again, as far as the session has enabled them; without
 *   bytes none does. TraceSetDisallowList: the GUIDs of providers, at most 1024, that the session does not enable with
 *   their group, from now on; without bytes it enables all. Of system loggers: TraceStackTracingInfo: CLASSIC_EVENT_ID of
 *   each event that is to have a stack, at most 256; the last list counts. TraceSystemTraceEnableFlagsInfo: 1 to 8 ULONGs,
 *   the group masks. TraceSampledProfileIntervalInfo: TRACE_PROFILE_INTERVAL of source 0, 1221 to 10000000; without a
 *   handle that of all sessions that have none of their own; or of another source, for the session.
 *   TraceProfileSourceConfigInfo: ULONGs, the sources that PMC_PROFILE samples by; source 0 is that of PROFILE anyway
 *
 * The settings outlive a death of the session's host. Kernel events and stacks that there are none of are accepted, and told
 * by the session. docs/refused.md lists the classes that are not built.
 *
 * Returns ERROR_SUCCESS; ERROR_NOT_SUPPORTED: another class, or a profile source that there is none of; ERROR_INVALID_PARAMETER: no handle, no bytes where a size is given, a frequency or number of providers outside of what TraceQueryInformation() says, an event of no kernel class, an interval out of range, or no system logger; ERROR_INCORRECT_SIZE,
 * ERROR_BAD_LENGTH: the wrong number of bytes; ERROR_WMI_INSTANCE_NOT_FOUND: no such session; ERROR_ACCESS_DENIED: this
 * user may not; ERROR_NO_SYSTEM_RESOURCES: too many providers; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT,
 * ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI TraceSetInformation(_In_ TRACEHANDLE SessionHandle,
					 _In_ TRACE_INFO_CLASS InformationClass,
					 _In_reads_bytes_(InformationLength) PVOID TraceInformation,
					 _In_ ULONG InformationLength);
/*
 * TraceQueryInformation() - asks for a setting of a session or of the machine.
 *
 * @SessionHandle: of a session for TraceDisallowListQuery (GUIDs) and TraceStreamCount (ULONG); 0 for TraceVersionInfo;
 *   not looked at for TraceMaxLoggersQuery, TraceMaxPmcCounterQuery (ULONGs), TracePeriodicCaptureStateInfo and
 *   TraceProfileSourceListInfo (PROFILE_SOURCE_INFO of what can be sampled by on this machine); of a system logger for TraceStackTracingInfo and
 *   TraceSystemTraceEnableFlagsInfo, as TraceSetInformation() has them; of one or 0 for TraceSampledProfileIntervalInfo,
 *   whose Source the caller sets
 * @ReturnLength: may be NULL; gets the size of what there is
 *
 * Returns ERROR_SUCCESS; ERROR_BAD_LENGTH: InformationLength is too small; ERROR_NOT_SUPPORTED: another class or source;
 * ERROR_INVALID_PARAMETER: the handle is not as the class wants it, or there is no TraceInformation;
 * ERROR_WMI_INSTANCE_NOT_FOUND: no such session; ERROR_ACCESS_DENIED: this user may not; ERROR_NOT_ENOUGH_MEMORY;
 * ERROR_TIMEOUT, ERROR_BROKEN_PIPE, ERROR_INVALID_DATA: the host hangs or died.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI TraceQueryInformation(
	_In_ TRACEHANDLE SessionHandle, _In_ TRACE_INFO_CLASS InformationClass,
	_Out_writes_bytes_(InformationLength) PVOID TraceInformation,
	_In_ ULONG InformationLength, _Out_opt_ PULONG ReturnLength);
/*
 * TraceConfigureLastBranchRecord() - would record the processor's last branches; answers as where a processor has none.
 *
 * Returns ERROR_NOT_SUPPORTED; ERROR_INVALID_PARAMETER: no handle, or a wrong number of events.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI TraceConfigureLastBranchRecord(
	_In_ TRACEHANDLE TraceHandle, _In_ TRACE_LBR_CONFIGURATION LbrConfiguration,
	_In_reads_(EventCount) const CLASSIC_EVENT_ID *Events, _In_ ULONG EventCount);

/* --- Writing, classic. */

/*
 * RegisterTraceGuidsW() and its like - registers a classic provider.
 *
 * @RequestAddress: the control callback. It gets WMI_ENABLE_EVENTS, WMI_DISABLE_EVENTS or, when the session asks for the
 *   provider's state, WMI_CAPTURE_STATE, and a WNODE_HEADER, of which GetTraceLoggerHandle() gives the session; it runs on
 *   a thread of the library's, possibly before this returns
 * @TraceGuidReg: the classes of the provider's events; each gets a handle for CreateTraceInstanceId()
 * @MofImagePath, @MofResourceName: not used, as on Windows
 *
 * One session has a classic provider: the last that enabled it, and the one before hears nothing of that. Where a host is
 * there, returns after it has said which session that is, but waits 200 ms at most. The handle is none for EventWrite()
 * and its like, which refuse it.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: RequestAddress, ControlGuid or RegistrationHandle is NULL, or a class
 * is; ERROR_ACCESS_DENIED: the GUID is the kernel's, or this user may not register it; ERROR_NOT_ENOUGH_MEMORY: also for
 * more than 2047 registrations or 16383 classes in a process; ERROR_FILENAME_EXCED_RANGE and ERROR_REVISION_MISMATCH: as
 * EventRegister(). Where a session has enabled the provider before: what the
 * callback returned to WMI_ENABLE_EVENTS; the provider is registered then, whatever that is.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI RegisterTraceGuidsW(
	_In_ WMIDPREQUEST RequestAddress, _In_opt_ PVOID RequestContext, _In_ LPCGUID ControlGuid,
	_In_ ULONG GuidCount, _In_reads_opt_(GuidCount) PTRACE_GUID_REGISTRATION TraceGuidReg,
	_In_opt_ LPCWSTR MofImagePath, _In_opt_ LPCWSTR MofResourceName,
	_Out_ PTRACEHANDLE RegistrationHandle);
ETW_API ULONG WMIAPI RegisterTraceGuidsA(
	_In_ WMIDPREQUEST RequestAddress, _In_opt_ PVOID RequestContext, _In_ LPCGUID ControlGuid,
	_In_ ULONG GuidCount, _In_reads_opt_(GuidCount) PTRACE_GUID_REGISTRATION TraceGuidReg,
	_In_opt_ LPCSTR MofImagePath, _In_opt_ LPCSTR MofResourceName,
	_Out_ PTRACEHANDLE RegistrationHandle);

/*
 * UnregisterTraceGuids() - ends a registration, and the handles of its classes.
 *
 * Waits until a callback that runs has returned, unless the caller is that callback. The callback does not hear of it.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no such registration, or one of EventRegister().
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI UnregisterTraceGuids(_In_ TRACEHANDLE RegistrationHandle);

/*
 * GetTraceLoggerHandle() and its like - what a control callback was told.
 *
 * @Buffer: what the callback got
 * @TraceHandle: what GetTraceLoggerHandle() gave
 *
 * Returns the handle of the session; the level and the flags that EnableTrace() gave. INVALID_HANDLE_VALUE or 0 on
 * failure, with GetLastError(): ERROR_INVALID_PARAMETER: no buffer, or none of a session; ERROR_BAD_LENGTH: it is
 * smaller than a WNODE_HEADER; ERROR_INVALID_HANDLE. Functions that succeed leave the last error as it was.
 *
 * Context: any thread, signal handlers.
 */
ETW_API TRACEHANDLE WMIAPI GetTraceLoggerHandle(_In_ PVOID Buffer);
ETW_API UCHAR WMIAPI GetTraceEnableLevel(_In_ TRACEHANDLE TraceHandle);
ETW_API ULONG WMIAPI GetTraceEnableFlags(_In_ TRACEHANDLE TraceHandle);

/*
 * CreateTraceInstanceId() - the next instance of a class: ids count from 1.
 *
 * @RegHandle: of a class, as RegisterTraceGuids() gave it
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: a pointer is NULL, or the handle is no class's.
 *
 * Context: any thread, signal handlers.
 */
ETW_API ULONG WMIAPI CreateTraceInstanceId(_In_ HANDLE RegHandle,
					   _Inout_ PEVENT_INSTANCE_INFO InstInfo);

/*
 * TraceEvent() and its like - writes a classic event into one session.
 *
 * @TraceHandle: what GetTraceLoggerHandle() gave in the control callback
 * @EventTrace: the header, and behind it the payload; Size is that of both. Flags have WNODE_FLAG_TRACED_GUID. With
 *   WNODE_FLAG_USE_MOF_PTR up to 16 MOF_FIELDs lie there instead, and with WNODE_FLAG_USE_GUID_PTR GuidPtr leads to the
 *   class. Nothing is written there. TraceEventInstance() takes the class from InstInfo
 * @InstInfo, @ParentInstInfo: as CreateTraceInstanceId() filled them
 *
 * Thread, process and time are those of the call: WNODE_FLAG_USE_TIMESTAMP has no effect.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: a pointer or the handle is NULL, a field's or the class's address is
 * below 4096, where nothing can be read, Size does not fit, more than 16 fields, a handle that is no class's, an instance
 * 0; ERROR_INVALID_FLAG_NUMBER, of TraceEventInstance() ERROR_INVALID_FLAGS: no WNODE_FLAG_TRACED_GUID; ERROR_INVALID_HANDLE: the NT Kernel Logger, or no session that has enabled a classic provider of
 * this process; ERROR_NOT_ENOUGH_MEMORY: the buffers are full, the event is lost and counted; ERROR_MORE_DATA: it is
 * larger than a buffer.
 *
 * Context: any thread, signal handlers.
 */
ETW_API ULONG WMIAPI TraceEvent(_In_ TRACEHANDLE TraceHandle,
				_In_ PEVENT_TRACE_HEADER EventTrace);
ETW_API ULONG WMIAPI TraceEventInstance(_In_ TRACEHANDLE TraceHandle,
					_In_ PEVENT_INSTANCE_HEADER EventTrace,
					_In_ PEVENT_INSTANCE_INFO InstInfo,
					_In_opt_ PEVENT_INSTANCE_INFO ParentInstInfo);

/*
 * TraceMessage() and its like - writes a message, as programs with WPP do.
 *
 * @LoggerHandle: as TraceEvent() takes it
 * @MessageFlags: TRACE_MESSAGE_SEQUENCE: a number from 1, in sessions with EVENT_TRACE_USE_LOCAL_SEQUENCE or
 *   EVENT_TRACE_USE_GLOBAL_SEQUENCE, 0 in others; TRACE_MESSAGE_GUID or TRACE_MESSAGE_COMPONENTID, which goes before;
 *   TRACE_MESSAGE_POINTER32 or 64, without either that of the program. TRACE_MESSAGE_TIMESTAMP and
 *   TRACE_MESSAGE_SYSTEMINFO hold always: without them the host could not tell whose a message is
 * @MessageGuid: the message's GUID; its first four bytes are a component's id
 *
 * What follows are pairs of an address and a SIZE_T, up to a NULL address. The host gives the numbers, in the order in
 * which it takes messages in: across processors that may differ from the order of time.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_HANDLE: 0, the NT Kernel Logger, or as TraceEvent(); ERROR_INVALID_PARAMETER:
 * flags that are none, no GUID where one is asked for, or an address below 4096; ERROR_NOT_ENOUGH_MEMORY and
 * ERROR_MORE_DATA: as TraceEvent().
 *
 * Context: any thread, signal handlers.
 */
ETW_API ULONG WINAPIV TraceMessage(_In_ TRACEHANDLE LoggerHandle, _In_ ULONG MessageFlags,
				   _In_opt_ LPCGUID MessageGuid, _In_ USHORT MessageNumber, ...);
ETW_API ULONG WMIAPI TraceMessageVa(_In_ TRACEHANDLE LoggerHandle, _In_ ULONG MessageFlags,
				    _In_opt_ LPCGUID MessageGuid, _In_ USHORT MessageNumber,
				    _In_ va_list MessageArgList);

/* --- Reading. */

/*
 * OpenTraceW() and its like - opens a log file or a real-time session, to be read by ProcessTrace().
 *
 * @Logfile: LogFileName (a path of Linux, or one of Windows below the folder that ETW_DRIVE_C names) or LoggerName
 *   with PROCESS_TRACE_MODE_REAL_TIME; the callbacks; PROCESS_TRACE_MODE_EVENT_RECORD for callbacks that take an
 *   EVENT_RECORD. LogfileHeader and the counts are filled in
 *
 * A session that is not there is an error of ProcessTrace(), as on Windows. One that is keeps its events for this
 * consumer from now on.
 *
 * Returns a handle, for CloseTrace(); INVALID_PROCESSTRACE_HANDLE on failure, and GetLastError() says why.
 *
 * ERROR_INVALID_PARAMETER: Logfile is NULL, there is no callback, it names neither or both of file and session, or
 * a session without the real-time mode
 * ERROR_BAD_PATHNAME: the file's name is empty
 * ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND: the file, or its folder, is not there
 * ERROR_ACCESS_DENIED: the file cannot be read, or the folder of the host's socket is another user's
 * ERROR_FILE_CORRUPT: it is no log file
 * ERROR_NOT_ENOUGH_MEMORY: memory ran out
 *
 * Context: any thread.
 */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceW(_Inout_ PEVENT_TRACE_LOGFILEW Logfile);
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceA(_Inout_ PEVENT_TRACE_LOGFILEA Logfile);

/*
 * ProcessTrace() - delivers the events of traces to their callbacks, in the order of their time.
 *
 * @HandleArray: of OpenTraceW(); files, or sessions, not both
 * @HandleCount: 1 to 64
 * @StartTime, @EndTime: only events of this time, ends included; NULL: no limit
 *
 * Files that are damaged are read as far as they can be: what cannot be read is skipped. The function returns when
 * the files end, when the sessions end, when a buffer callback returns FALSE, or after CloseTrace(). Several sessions are
 * merged by time, which Windows refuses; one that stands still holds the others for 2 seconds at most, and what it has to
 * say then comes late.
 *
 * Returns ERROR_SUCCESS; ERROR_CANCELLED: a buffer callback or CloseTrace() ended it; ERROR_BAD_LENGTH: no handle,
 * or more than 64; ERROR_INVALID_PARAMETER: HandleArray is NULL, files and sessions together, or a trace without any
 * callback;
 * ERROR_INVALID_TIME: StartTime is behind EndTime; ERROR_INVALID_HANDLE: also of a trace that is being processed;
 * ERROR_WMI_INSTANCE_NOT_FOUND: there is no such session, or it is no real-time one; ERROR_NOT_ENOUGH_MEMORY; what
 * reading fails with.
 *
 * Context: any thread; callbacks run on it.
 */
ETW_API ULONG WMIAPI ProcessTrace(_In_reads_(HandleCount) PTRACEHANDLE HandleArray,
				  _In_ ULONG HandleCount, _In_opt_ LPFILETIME StartTime,
				  _In_opt_ LPFILETIME EndTime);

/*
 * CloseTrace() - closes what OpenTraceW() opened.
 *
 * Returns ERROR_SUCCESS; ERROR_CTX_CLOSE_PENDING: the trace is being processed, which ends after the present event, of a
 * session when all that it has sent by now is delivered; ERROR_INVALID_HANDLE.
 *
 * Context: any thread, also within a callback.
 */
ETW_API ULONG WMIAPI CloseTrace(_In_ TRACEHANDLE TraceHandle);

/*
 * QueryTraceProcessingHandle() - what an opened trace says of itself.
 *
 * @InformationClass: EtwQueryPartitionInformation and EtwQueryPartitionInformationV2 (all zero but for a trace of a
 *   guest), EtwQueryLogFileHeader; EtwQueryLastDroppedTimes: a ULONG, the number of processors, and behind 8 bytes a
 *   LARGE_INTEGER for each: when it lost events last, by the session's clock, or 0. Of a file as its header says, of a
 *   session since this consumer reads it
 * @InBuffer: NULL: no class takes input
 * @ReturnLength: gets the size of the answer, also when there is no room for it
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: ReturnLength says how much it takes; ERROR_INVALID_PARAMETER:
 * there is no such class, input, or no ReturnLength; ERROR_NOT_FOUND: the trace does not have it;
 * ERROR_INVALID_HANDLE.
 */
ETW_API ULONG WMIAPI QueryTraceProcessingHandle(
	_In_ PROCESSTRACE_HANDLE ProcessingHandle,
	_In_ ETW_PROCESS_HANDLE_INFO_TYPE InformationClass,
	_In_reads_bytes_opt_(InBufferSize) PVOID InBuffer, _In_ ULONG InBufferSize,
	_Out_writes_bytes_opt_(OutBufferSize) PVOID OutBuffer, _In_ ULONG OutBufferSize,
	_Out_ PULONG ReturnLength);

/*
 * SetTraceCallback() - a callback for classic events of one class, besides that of the trace.
 *
 * @pGuid: the class of the events
 * @EventCallback: is called with the events in their older form, in every pass of the process
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: something is NULL; ERROR_NOT_ENOUGH_MEMORY.
 */
ETW_API ULONG WMIAPI SetTraceCallback(_In_ LPCGUID pGuid, _In_ PEVENT_CALLBACK EventCallback);

/*
 * RemoveTraceCallback() - takes the callback of a class away.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: pGuid is NULL; ERROR_WMI_GUID_NOT_FOUND: the class has none.
 */
ETW_API ULONG WMIAPI RemoveTraceCallback(_In_ LPCGUID pGuid);

/*
 * OpenTraceFromFile() - opens a log file, with callbacks for events and for whole buffers.
 *
 * @LogFileName: as that of OpenTraceW()
 * @Options: the callbacks, with a context for each. EventCallback gets events in the order of their time; without it they
 *   are not looked at. BufferCallback gets each buffer when it is done, in the order in which they were flushed; what it
 *   gets is valid until it returns, see ProcessTraceBufferIncrementReference(). FALSE from it ends ProcessTrace(). Of
 *   ProcessTraceModes there is ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP
 * @LogFileHeader: filled in; NULL: not wanted
 *
 * Returns a handle, for CloseTrace(); INVALID_PROCESSTRACE_HANDLE on failure, and GetLastError() says why.
 *
 * ERROR_INVALID_PARAMETER: LogFileName or Options is NULL, or a mode does not exist
 * ERROR_BAD_PATHNAME: the name is empty
 * ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND: the file, or its folder, is not there
 * ERROR_ACCESS_DENIED: the file cannot be read
 * ERROR_FILE_CORRUPT: it is no log file
 * ERROR_NOT_ENOUGH_MEMORY: memory ran out
 *
 * Context: any thread.
 */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromFile(_In_ LPCWSTR LogFileName,
						     _In_ const ETW_OPEN_TRACE_OPTIONS *Options,
						     _Out_opt_ TRACE_LOGFILE_HEADER *LogFileHeader);

/*
 * OpenTraceFromRealTimeLogger() - opens a real-time session, with callbacks for events and for whole buffers.
 *
 * @LoggerName: the session's. One that is not there is no error before ProcessTrace()
 * @Options: as of OpenTraceFromFile(). The first buffer that BufferCallback gets has the session's header
 * @LogFileHeader: filled in when the session is there; NULL: not wanted
 *
 * The second form says how much memory the session keeps for buffers that are on their way to this consumer.
 *
 * @AllocationSize: bytes; raised to what the session's own buffers take; 0: the session chooses
 * @MemoryPartitionHandle: NULL: Linux has none
 *
 * Returns a handle, for CloseTrace(); INVALID_PROCESSTRACE_HANDLE on failure, and GetLastError() says why.
 *
 * ERROR_INVALID_PARAMETER: LoggerName or Options is NULL, the name is empty, or a mode does not exist
 * ERROR_NOT_SUPPORTED: there is a MemoryPartitionHandle
 * ERROR_ACCESS_DENIED: this user may not, or the folder of the host's socket is another user's
 * ERROR_NOT_ENOUGH_MEMORY: memory ran out
 *
 * Context: any thread.
 */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromRealTimeLogger(
	_In_ LPCWSTR LoggerName, _In_ const ETW_OPEN_TRACE_OPTIONS *Options,
	_Out_opt_ TRACE_LOGFILE_HEADER *LogFileHeader);
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromRealTimeLoggerWithAllocationOptions(
	_In_ LPCWSTR LoggerName, _In_ const ETW_OPEN_TRACE_OPTIONS *Options,
	_In_ ULONG_PTR AllocationSize, _In_opt_ HANDLE MemoryPartitionHandle,
	_Out_opt_ TRACE_LOGFILE_HEADER *LogFileHeader);

/*
 * OpenTraceFromBufferStream() - a trace whose buffers the program adds by ProcessTraceAddBufferToBufferStream().
 *
 * @Options: as of OpenTraceFromFile()
 * @BufferCompletionCallback: is called with each buffer that was added and is not needed any more; by ProcessTrace(),
 *   or by CloseTrace() for those that it did not come to
 * @BufferCompletionContext: for that callback
 *
 * The buffers are those that another trace gives its BufferCallback, for example on another machine. ProcessTrace() waits
 * for more of them until CloseTrace() is called; then it delivers what was added, and succeeds. The events of the header
 * buffer are not delivered.
 *
 * Returns a handle; INVALID_PROCESSTRACE_HANDLE on failure, and GetLastError() says why: ERROR_INVALID_PARAMETER for no
 * Options, a mode that does not exist, or no callback; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API PROCESSTRACE_HANDLE WMIAPI OpenTraceFromBufferStream(
	_In_ const ETW_OPEN_TRACE_OPTIONS *Options,
	_In_ PETW_BUFFER_COMPLETION_CALLBACK BufferCompletionCallback,
	_In_opt_ void *BufferCompletionContext);

/*
 * ProcessTraceAddBufferToBufferStream() - adds a buffer to a trace of OpenTraceFromBufferStream().
 *
 * @Buffer: the program's until this returns, and again when the completion callback gets it; not copied. The first one
 *   has the header; the others come in the order in which a BufferCallback got them
 * @BufferSize: bytes that are there
 *
 * Events are delivered when it is known that none before them is to come: at the end of each batch of a live session, and
 * of other buffers when every processor has had a later one. They wait 2 seconds at most, or until 64 MiB wait.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: Buffer is NULL, or smaller than its header; ERROR_INVALID_DATA: it is
 * no sound buffer, or the first one and without a header; ERROR_INVALID_TIME: it begins before the end of the one before
 * it, of the same processor; ERROR_INVALID_HANDLE: also of another kind of trace; ERROR_NOT_ENOUGH_MEMORY. A buffer that
 * was not added is not completed either.
 *
 * Context: any thread, also within a callback.
 */
ETW_API ULONG WMIAPI ProcessTraceAddBufferToBufferStream(
	_In_ PROCESSTRACE_HANDLE TraceHandle,
	_In_reads_bytes_(BufferSize) const ETW_BUFFER_HEADER *Buffer, _In_ ULONG BufferSize);

/*
 * ProcessTraceBufferIncrementReference() - keeps a buffer beyond the BufferCallback that got it.
 *
 * @TraceHandle: the trace of the callback
 * @Buffer: as the callback got it. It stays where it is: nothing is copied
 *
 * ProcessTrace() does not return before all references to its buffers are given back.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: the trace's callback has not got this buffer, or not now, or it is one
 * that the program added itself; ERROR_OUTOFMEMORY.
 *
 * Context: within the callback; any thread while there is another reference.
 */
ETW_API ULONG WMIAPI ProcessTraceBufferIncrementReference(_In_ PROCESSTRACE_HANDLE TraceHandle,
							  _In_ const ETW_BUFFER_HEADER *Buffer);

/*
 * ProcessTraceBufferDecrementReference() - gives a reference to a buffer back.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no reference to it.
 *
 * Context: any thread.
 */
ETW_API ULONG WMIAPI ProcessTraceBufferDecrementReference(_In_ const ETW_BUFFER_HEADER *Buffer);

#ifdef UNICODE
#define KERNEL_LOGGER_NAME KERNEL_LOGGER_NAMEW
#define GLOBAL_LOGGER_NAME GLOBAL_LOGGER_NAMEW
#define EVENT_LOGGER_NAME EVENT_LOGGER_NAMEW
#define DIAG_LOGGER_NAME DIAG_LOGGER_NAMEW
#define EVENT_TRACE_LOGFILE EVENT_TRACE_LOGFILEW
#define PEVENT_TRACE_LOGFILE PEVENT_TRACE_LOGFILEW
#define PEVENT_TRACE_BUFFER_CALLBACK PEVENT_TRACE_BUFFER_CALLBACKW
#define StartTrace StartTraceW
#define StopTrace StopTraceW
#define QueryTrace QueryTraceW
#define UpdateTrace UpdateTraceW
#define FlushTrace FlushTraceW
#define ControlTrace ControlTraceW
#define QueryAllTraces QueryAllTracesW
#define RegisterTraceGuids RegisterTraceGuidsW
#define OpenTrace OpenTraceW
#else
#define KERNEL_LOGGER_NAME KERNEL_LOGGER_NAMEA
#define GLOBAL_LOGGER_NAME GLOBAL_LOGGER_NAMEA
#define EVENT_LOGGER_NAME EVENT_LOGGER_NAMEA
#define DIAG_LOGGER_NAME DIAG_LOGGER_NAMEA
#define EVENT_TRACE_LOGFILE EVENT_TRACE_LOGFILEA
#define PEVENT_TRACE_LOGFILE PEVENT_TRACE_LOGFILEA
#define PEVENT_TRACE_BUFFER_CALLBACK PEVENT_TRACE_BUFFER_CALLBACKA
#define StartTrace StartTraceA
#define StopTrace StopTraceA
#define QueryTrace QueryTraceA
#define UpdateTrace UpdateTraceA
#define FlushTrace FlushTraceA
#define ControlTrace ControlTraceA
#define QueryAllTraces QueryAllTracesA
#define RegisterTraceGuids RegisterTraceGuidsA
#define OpenTrace OpenTraceA
#endif

ETW_EXTERN_C_END

/* On Windows a consumer includes this too; here evntrace.h is enough. */
#include <evntcons.h>

#endif /* ETW_EVNTRACE_H */
