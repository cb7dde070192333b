# SPDX-License-Identifier: MIT
"""What the kernel's classic events hold, as this reader knows it: a table of its own.

Names and types of fields are facts about Windows: its kernel's MOF file and the fact sheets made of
it and of genuine traces. Nothing here was made from the C reader's tables; check_kernel_tables.py
holds this table against the MOF file and against genuine traces.

A line below a class is `VERSION: OPCODES | fields`; a layout holds from its version on until a
newer one of the same opcode. A field is `Name type`. Types:

    u8 ... u64, i8 ... i64   integer
    p                        integer of the event's pointer size
    t                        raw time of the session's clock
    ft                       FILETIME
    sid                      TOKEN_USER, as large as two pointers, and a SID; a zero instead: none
    a, w                     text of bytes, of UTF-16 units, to a NUL
    w#N                      text in N UTF-16 units, to the first NUL in them
    g                        GUID
    ip4, ip6                 address, its bytes as they are sent
    port                     16-bit integer, likewise
    TYPE#N                   N of them; N a number or the name of an earlier field
    TYPE#                    as many as there is payload
    {...}#N                  N structs, fields with semicolons
A type with ? behind it is only there when payload is left.
"""

import re

TABLE = """
EventTrace 68fdd900-4a3e-11d1-84f4-0000f80464e3 hook 00
0: 0 | BufferSize u32, Version u32, ProviderVersion u32, NumberOfProcessors u32, EndTime u64,
    TimerResolution u32, MaxFileSize u32, LogFileMode u32, BuffersWritten u32, StartBuffers u32,
    PointerSize u32, EventsLost u32, CPUSpeed u32, LoggerName p, LogFileName p,
    TimeZoneInformation u8#176, BootTime u64, PerfFreq u64, StartTime u64, ReservedFlags u32,
    BuffersLost u32, SessionNameString w, LogFileNameString w
2: 5 32 | GroupMask1 u32, GroupMask2 u32, GroupMask3 u32, GroupMask4 u32, GroupMask5 u32,
    GroupMask6 u32, GroupMask7 u32, GroupMask8 u32, KernelEventVersion u32
0: 8 |
0: 80 | EventVersion u16, Reserved u16, PartitionType u32, QpcOffsetFromRoot i64, PartitionId g,
    ParentId g

Process 3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c hook 03
0: 1 2 3 4 | ProcessId p, ParentId p, UserSID sid, ImageFileName a
1: 1 2 3 4 | PageDirectoryBase p, ProcessId u32, ParentId u32, SessionId u32, ExitStatus i32,
    UserSID sid, ImageFileName a
2: 1 2 3 4 39 | UniqueProcessKey p, ProcessId u32, ParentId u32, SessionId u32, ExitStatus i32,
    UserSID sid, ImageFileName a, CommandLine w
3: 1 2 3 4 39 | UniqueProcessKey p, ProcessId u32, ParentId u32, SessionId u32, ExitStatus i32,
    DirectoryTableBase p, UserSID sid, ImageFileName a, CommandLine w
4: 1 2 3 4 39 | UniqueProcessKey p, ProcessId u32, ParentId u32, SessionId u32, ExitStatus i32,
    DirectoryTableBase p, Flags u32, UserSID sid, ImageFileName a, CommandLine w,
    PackageFullName w, ApplicationId w
5: 39 | UniqueProcessKey p, ProcessId u32, ParentId u32, SessionId u32, ExitStatus i32,
    DirectoryTableBase p, Flags u32, UserSID sid, ImageFileName a, CommandLine w,
    PackageFullName w, ApplicationId w, ExitTime u64
2: 11 | ProcessId u32
2: 32 33 | ProcessId u32, PageFaultCount u32, HandleCount u32, Reserved u32, PeakVirtualSize p,
    PeakWorkingSetSize p, PeakPagefileUsage p, QuotaPeakPagedPoolUsage p,
    QuotaPeakNonPagedPoolUsage p, VirtualSize p, WorkingSetSize p, PagefileUsage p,
    QuotaPagedPoolUsage p, QuotaNonPagedPoolUsage p, PrivatePageCount p

Thread 3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c hook 05
0: 1 2 3 4 | TThreadId u32, ProcessId u32
2: 1 2 3 4 | ProcessId u32, TThreadId u32, StackBase p, StackLimit p, UserStackBase p,
    UserStackLimit p, StartAddr p, Win32StartAddr p, TebBase p, SubProcessTag u32
3: 1 2 3 4 | ProcessId u32, TThreadId u32, StackBase p, StackLimit p, UserStackBase p,
    UserStackLimit p, Affinity p, Win32StartAddr p, TebBase p, SubProcessTag u32, BasePriority u8,
    PagePriority u8, IoPriority u8, ThreadFlags u8, ThreadName w?
1: 36 | NewThreadId u32, OldThreadId u32, NewThreadPriority i8, OldThreadPriority i8,
    NewThreadQuantum i8, OldThreadQuantum i8, OldThreadWaitReason i8, OldThreadWaitMode i8,
    OldThreadState i8, OldThreadWaitIdealProcessor i8, NewThreadWaitTime u32
2: 36 | NewThreadId u32, OldThreadId u32, NewThreadPriority i8, OldThreadPriority i8,
    PreviousCState u8, SpareByte i8, OldThreadWaitReason i8, OldThreadWaitMode i8,
    OldThreadState i8, OldThreadWaitIdealProcessor i8, NewThreadWaitTime u32, Reserved u32
3: 48 49 51 52 | ThreadId u32, OldPriority u8, NewPriority u8, Reserved u16
2: 50 | TThreadId u32, AdjustReason i8, AdjustIncrement i8, Flag i8, Reserved i8
2: 72 | ProcessId u32, ThreadId u32, ThreadName w

Image 2cb15d1d-5fc1-11d2-abe1-00a0c911f518 hook 14
0: 10 2 3 4 | BaseAddress p, ModuleSize u32, ImageFileName w
1: 10 2 3 4 | ImageBase p, ImageSize p, ProcessId u32, FileName w
2: 10 2 3 4 | ImageBase p, ImageSize p, ProcessId u32, ImageChecksum u32, TimeDateStamp u32,
    Reserved0 u32, DefaultBase p, Reserved1 u32, Reserved2 u32, Reserved3 u32, Reserved4 u32,
    FileName w
3: 10 2 3 4 | ImageBase p, ImageSize p, ProcessId u32, ImageChecksum u32, TimeDateStamp u32,
    SignatureLevel u8, SignatureType u8, Reserved0 u16, DefaultBase p, Reserved1 u32,
    Reserved2 u32, Reserved3 u32, Reserved4 u32, FileName w
2: 33 | ImageBase p
2: 34 | HypercallPageVa p

PerfInfo ce1dbfb4-137e-4da6-87b0-3f59aa102cbc hook 0F
1: 46 | InstructionPointer p, ThreadId u32, Count u16
2: 46 | InstructionPointer p, ThreadId u32, Count u16, Flags u8, Rank u8
2: 50 | InitialTime t, Routine p, ReturnValue u8, Vector u16, Reserved u8, MessageNumber u32
2: 51 | SysCallAddress p
2: 52 | SysCallNtStatus u32
2: 58 |
1: 67 | InitialTime t, Routine p, ReturnValue u32
2: 67 | InitialTime t, Routine p, ReturnValue u8, Vector u16, Reserved u8
1: 68 69 | InitialTime t, Routine p
2: 66 68 69 | InitialTime t, Routine p
2: 72 73 74 | Source u32, NewInterval u32, OldInterval u32
3: 72 73 74 | Source u32, NewInterval u32, OldInterval u32, SourceName w

DiskIo 3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c hook 01
2: 10 11 | DiskNumber u32, IrpFlags u32, TransferSize u32, Reserved u32, ByteOffset u64,
    FileObject p, Irp p, HighResResponseTime u64
3: 10 11 | DiskNumber u32, IrpFlags u32, TransferSize u32, Reserved u32, ByteOffset u64,
    FileObject p, Irp p, HighResResponseTime u64, IssuingThreadId u32
2: 12 13 15 | Irp p
3: 12 13 15 | Irp p, IssuingThreadId u32
2: 14 | DiskNumber u32, IrpFlags u32, HighResResponseTime u64, Irp p
3: 14 | DiskNumber u32, IrpFlags u32, HighResResponseTime u64, Irp p, IssuingThreadId u32

SplitIo d837ca92-12b9-44a5-ad6a-3a65b3578aa8 hook 1B
0: 32 | ParentIrp p, ChildIrp p

FileIo 90cbdc39-4a3e-11d1-84f4-0000f80464e3 hook 04
0: 0 32 35 36 | FileObject p, FileName w
2: 37 38 39 40 | ViewBase p, FileObject p, MiscInfo u64, ViewSize p, ProcessId u32
2: 64 | IrpPtr p, TTID p, FileObject p, CreateOptions u32, FileAttributes u32, ShareAccess u32,
    OpenPath w
3: 64 | IrpPtr p, FileObject p, TTID u32, CreateOptions u32, FileAttributes u32, ShareAccess u32,
    OpenPath w
2: 65 66 73 | IrpPtr p, TTID p, FileObject p, FileKey p
3: 65 66 73 | IrpPtr p, FileObject p, FileKey p, TTID u32
2: 67 68 | Offset u64, IrpPtr p, TTID p, FileObject p, FileKey p, IoSize u32, IoFlags u32
3: 67 68 | Offset u64, IrpPtr p, FileObject p, FileKey p, TTID u32, IoSize u32, IoFlags u32,
    ExtraFlags u32?
2: 69 70 71 74 75 | IrpPtr p, TTID p, FileObject p, FileKey p, ExtraInfo p, InfoClass u32
3: 69 70 71 74 75 82 | IrpPtr p, FileObject p, FileKey p, ExtraInfo p, TTID u32, InfoClass u32
2: 72 77 | IrpPtr p, TTID p, FileObject p, FileKey p, Length u32, InfoClass u32, FileIndex u32,
    FileName w
3: 72 77 | IrpPtr p, FileObject p, FileKey p, TTID u32, Length u32, InfoClass u32, FileIndex u32,
    FileName w
2: 76 | IrpPtr p, ExtraInfo p, NtStatus u32
3: 79 80 81 | IrpPtr p, FileObject p, FileKey p, ExtraInfo p, TTID u32, InfoClass u32, FileName w

PageFault 3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c hook 02
0: 10 11 12 13 14 15 | VirtualAddress p, ProgramCounter p
2: 32 | InitialTime t, ReadOffset u64, VirtualAddress p, FileObject p, TThreadId u32, ByteCount u32
2: 98 99 128 129 | BaseAddress p, RegionSize p, ProcessId u32, Flags u32

TcpIp 9a280ac0-c8e0-11d1-84e2-00c04fb998a2 hook 06
2: 10 | PID u32, size u32, daddr ip4, saddr ip4, dport port, sport port,
    startime u32, endtime u32, seqnum u32, connid p
2: 26 | PID u32, size u32, daddr ip6, saddr ip6, dport port, sport port,
    startime u32, endtime u32, seqnum u32, connid p
2: 11 13 14 16 18 | PID u32, size u32, daddr ip4, saddr ip4, dport port, sport port,
    seqnum u32, connid p
2: 27 29 30 32 34 | PID u32, size u32, daddr ip6, saddr ip6, dport port, sport port,
    seqnum u32, connid p
2: 12 15 | PID u32, size u32, daddr ip4, saddr ip4, dport port, sport port,
    mss u16, sackopt u16, tsopt u16, wsopt u16, rcvwin u32, rcvwinscale i16,
    sndwinscale i16, seqnum u32, connid p
2: 28 31 | PID u32, size u32, daddr ip6, saddr ip6, dport port, sport port,
    mss u16, sackopt u16, tsopt u16, wsopt u16, rcvwin u32, rcvwinscale i16,
    sndwinscale i16, seqnum u32, connid p
2: 17 | Proto u16, FailureCode u16

UdpIp bf3a50c5-a9c9-4988-a005-2df0b7c80f80 hook 08
2: 10 11 | PID u32, size u32, daddr ip4, saddr ip4, dport port, sport port,
    seqnum u32, connid p
2: 26 27 | PID u32, size u32, daddr ip6, saddr ip6, dport port, sport port,
    seqnum u32, connid p
2: 17 | Proto u16, FailureCode u16

Power e43445e0-0903-48c3-b878-ff0fccebdd04 hook 12
2: 57 | State u32, Properties u16, ExpectedWakeReason u8, Reserved u8, ExpectedDuration u64
2: 58 | State u32, Status u32

StackWalk def2fe46-7bd6-4b80-bd94-f57fe20d0ce3 hook 18
0: 32 | EventTimeStamp u64, StackProcess u32, StackThread u32, Stack p#
2: 34 35 36 | Key p, StackFrame p#
2: 37 38 | EventTimeStamp u64, StackProcess u32, StackThread u32, StackKey p

SystemConfig 01853a65-418f-4f36-aefc-dc0f1d2fd235 hook 0B
2: 10 | MHz u32, NumberOfProcessors u32, MemSize u32, PageSize u32, AllocationGranularity u32,
    ComputerName w#256, DomainName w#134, HyperThreadingFlag p
3: 10 | MHz u32, NumberOfProcessors u32, MemSize u32, PageSize u32, AllocationGranularity u32,
    ComputerName w#256, DomainName w#134, HyperThreadingFlag p, HighestUserAddress p,
    ProcessorArchitecture u16, ProcessorLevel u16, ProcessorRevision u16, PaeEnabled u8,
    NxEnabled u8, MemorySpeed u32
0: 11 | DiskNumber u32, BytesPerSector u32, SectorsPerTrack u32, TracksPerCylinder u32,
    Cylinders u64, SCSIPort u32, SCSIPath u32, SCSITarget u32, SCSILun u32, Manufacturer w#256,
    PartitionCount u32, WriteCacheEnabled u8, Pad u8, BootDriveLetter w#3, Spare w#2
2: 12 | StartOffset u64, PartitionSize u64, DiskNumber u32, Size u32, DriveType u32,
    DriveLetterString w#4, Pad1 u32, PartitionNumber u32, SectorsPerCluster u32,
    BytesPerSector u32, Pad2 u32, NumberOfFreeClusters i64, TotalNumberOfClusters i64,
    FileSystem w#16, VolumeExt u32, Pad3 u32
2: 13 | PhysicalAddr u64, PhysicalAddrLen u32, Ipv4Index u32, Ipv6Index u32, NICDescription w,
    IpAddresses w, DnsServerAddresses w
0: 14 | MemorySize u32, XResolution u32, YResolution u32, BitsPerPixel u32, VRefresh u32,
    ChipType w#256, DACType w#256, AdapterString w#256, BiosString w#256, DeviceId w#256,
    StateFlags u32
2: 15 | ProcessId u32, ServiceState u32, SubProcessTag u32, ServiceName w, DisplayName w,
    ProcessName w
3: 15 | ProcessId u32, ServiceState u32, SubProcessTag u32, ServiceName w, DisplayName w,
    ProcessName w, LoadOrderGroup w, SvchostGroup w
0: 16 | S1 u8, S2 u8, S3 u8, S4 u8, S5 u8, Pad1 u8, Pad2 u8, Pad3 u8
2: 17 | TcbTablePartitions u32, MaxHashTableSize u32, MaxUserPort u32, TcpTimedWaitDelay u32
2: 21 | IRQAffinity u64, IRQNum u32, DeviceDescriptionLen u32, DeviceDescription w
3: 21 | IRQAffinity u64, IRQGroup u16, Reserved u16, IRQNum u32, DeviceDescriptionLen u32,
    DeviceDescription w
2: 22 | IDLength u32, DescriptionLength u32, FriendlyNameLength u32, DeviceID w,
    DeviceDescription w, FriendlyName w
4: 22 | ClassGuid g, UpperFiltersCount u32, LowerFiltersCount u32, DeviceID w,
    DeviceDescription w, FriendlyName w, PdoName w, ServiceName w, UpperFilters w#UpperFiltersCount,
    LowerFilters w#LowerFiltersCount
5: 22 | ClassGuid g, UpperFiltersCount u32, LowerFiltersCount u32, DevStatus u32, DevProblem u32,
    DeviceID w, DeviceDescription w, FriendlyName w, PdoName w, ServiceName w,
    UpperFilters w#UpperFiltersCount, LowerFilters w#LowerFiltersCount
2: 23 | TargetId u32, DeviceType u32, DeviceTimingMode u32, LocationInformationLen u32,
    LocationInformation w
2: 24 | NodeCount u32, NodeMap {Mask p; Group u16; Reserved u16#3}#NodeCount
2: 25 | SystemManufacturer w, SystemProductName w, BiosDate w, BiosVersion w
2: 26 | GroupCount u32, Affinity p#GroupCount
2: 27 | ProcessorCount u32, ProcessorNumber u32#ProcessorCount
2: 28 | MachineDPI u32, UserDPI u32
2: 29 | CodeIntegrityInfo u32
2: 30 | MachineId g
2: 33 | UAPInfo u64, DeviceFamily u32, DeviceForm u32
2: 34 | UpdateId w, FlightIdList w
2: 35 | ProcessorIndex u32, FeatureSet u32, ProcessorSpeed u32, ProcessorName w#64,
    ProcessorIdentifier w#128, VendorIdentifier w#16
2: 36 | VbsEnabled u8, HvciEnabled u8, HyperVisorEnabled u8, Reserved u8
2: 37 | BootFlags u64, FirmwareType u32, SecureBootEnabled u8, SecureBootCapable u8, Reserved1 u8,
    Reserved2 u8

ImageID b3e675d7-2554-4f18-830b-2762732560de
0: 0 | ImageBase p, ImageSize p, ProcessId u32, TimeDateStamp u32, OriginalFileName w
0: 32 | ImageBase p, ProcessId u32
0: 36 37 | ImageBase p, ProcessId u32, GuidSig g, Age u32, PdbFileName a
0: 64 | ImageSize u32, TimeDateStamp u32, OrigFileName w, FileDescription w, FileVersion w,
    BinFileVersion w, VerLanguage w, ProductName w, CompanyName w, ProductVersion w, FileId w,
    ProgramId w

SysConfig 9b79ee91-b5fd-41c0-a243-4248e266e9d0
0: 32 | InstallDate ft, BuildLab w, ProductName w
0: 33 | SystemDirectory w, SystemWindowsDirectory w
0: 34 | Value w
0: 35 | NtPath w, DosPath w
0: 37 | UAPInfo u64, DeviceFamily u32, DeviceForm u32
"""

IMAGE_LOAD_HOOK = (0x03, 10)        # of the class Image, though its group is Process'

_FIELD = re.compile(r"(\w+) (\{[^}]*\}|\w+)(#\w*)?(\?)?$")


class Field:
    """One field: its name, its type, how many (None: one; "": to the end), whether it may lack."""

    __slots__ = ("name", "type", "count", "is_optional")

    def __init__(self, text):
        name, self.type, count, optional = _FIELD.match(text.strip()).groups()
        self.name = name
        self.count = None if count is None else count[1:]
        self.is_optional = bool(optional)
        if self.type.startswith("{"):
            self.type = [Field(member) for member in self.type[1:-1].split(";")]


def _read_table():
    """{class GUID: {opcode: [(version, fields), newest first]}}, {group: class GUID}, names."""
    classes, groups, names = {}, {}, {}
    logical = re.sub(r"\n    +", " ", TABLE)
    for line in filter(None, logical.splitlines()):
        head = re.match(r"(\w+) ([0-9a-f-]{36})(?: hook (\w\w))?$", line)
        if head:
            name, guid, group = head.groups()
            layouts = classes[guid] = {}
            names[guid] = name
            if group:
                groups[int(group, 16)] = guid
            continue
        key, text = line.split("|")
        version, opcodes = key.split(":")
        fields = [Field(field) for field in text.split(",")] if text.strip() else []
        for opcode in opcodes.split():
            layouts.setdefault(int(opcode), []).append((int(version), fields))
    for layouts in classes.values():
        for versions in layouts.values():
            versions.sort(key=lambda layout: -layout[0])
    return classes, groups, names


CLASSES, GROUPS, NAMES = _read_table()


def class_of(event):
    """The class GUID of a classic event; None: of a group that no class here has."""
    if event.hook is None:
        return event.fields.get("guid")
    group, opcode = event.fields["group"], event.fields["op"]
    return GROUPS[0x14] if (group, opcode) == IMAGE_LOAD_HOOK else GROUPS.get(group)


def layout_of(guid, opcode, version):
    """The fields of an event, or None when the table has no such event."""
    for first, fields in CLASSES.get(guid, {}).get(opcode, ()):
        if first <= version:
            return fields
    return None
