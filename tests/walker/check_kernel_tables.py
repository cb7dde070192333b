#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold this reader's tables of kernel events against Windows: its MOF file and genuine traces.

    check_kernel_tables.py ETW [DATA_DIR]

Of each class of the MOF file that the table has, versions, opcodes, names and types of fields are
equal, but for NEWER. Of each genuine trace every event that the table has is decoded to its last
byte, with the values that `etw dump` shows; of the classes that Linux records none is left out.

DATA_DIR defaults to $ETW_TEST_DATA, else to ../shared/data beside the repository.
Exit status: 0 all hold, 1 one does not, 77 no data (skipped, the reason is printed).
"""

import re
import sys

from compare_decoded import compare_file
from compare_reference import EXIT_SKIP, find_data_dir
from kernel_classes import CLASSES, layout_of

MOF = "mof/kerneltraceeventparser.mof"
UNVERSIONED = 2                 # what Windows Vista wrote of classes without EventVersion
# Where newer versions of Windows, and so the table, spell the same bytes in another way: the MOF
# file has Count as 32 bits, Vector in one byte, frames one by one.
NEWER = {"SampledProfile", "ISR", "StackWalk_Event"}
# Mended: of the first the MOF file makes a pointer, and no trace has one there; of the other none,
# and traces have one.
MENDED = {("PointerSize", "p"): ("PointerSize", "u32"), ("connid", "u32"): ("connid", "p")}
# Not in the table: only Windows Vista had them, or Linux has nothing alike.
LEFT_OUT = re.compile(r"Thread_V1_|CompCS|WorkerThread|Reserve|SystemConfig_V[01]_|MSNT|ISR_V1|"
                      r"Driver|(Tcp|Udp)Ip_V[01]_|PageFault_(HeapRange|ImageLoad)")
NOT_OF_LINUX = {("SystemConfig", 18), ("SystemConfig", 19), ("SystemConfig", 31),
                ("EventTrace", 82), ("PerfInfo", 34), ("SysConfig", 36), ("ImageID", 34),
                ("ImageID", 38), ("ImageID", 39), ("ImageID", 40), ("ImageID", 41)}
EXTENSIONS = {"Sid": "sid", "SizeT": "p", "WmiTime": "t", "Guid": "g", "NoPrint": "u8",
              "IPAddr": "ip4", "IPAddrV4": "ip4", "IPAddrV6": "ip6", "Port": "port"}
_CLASS = re.compile(r"\[([^][]*(?:\[[^][]*\][^][]*)*)\]\s*class (\w+)\s*:\s*(\w+)\s*\{(.*?)\n\}",
                    re.S)
_FIELD = re.compile(r"\[([^]]*)\]\s*(\w+)\s+(\w+)(?:\[(\d+)\])?\s*;", re.S)


def numbers_of(qualifiers, name):
    """The numbers of EventType(1) or EventType{1, 2}."""
    found = re.search(name + r"\s*[({]([^)}]*)[)}]", qualifiers)
    return [int(number) for number in found[1].split(",")] if found else []


def type_of(qualifiers, mof_type, size):
    """A field's type as the table would have it."""
    extension = re.search(r'extension\("(\w+)"\)', qualifiers, re.I)
    if re.search(r"\bpointer\b", qualifiers, re.I):
        kind = "p"
    elif extension:
        kind = EXTENSIONS.get(extension[1], extension[1])
    elif mof_type == "string":
        kind = "w" if re.search(r'format\("w"\)', qualifiers) else "a"
    elif mof_type == "char16":
        kind = "w"
    else:
        kind = mof_type.lower().replace("uint", "u").replace("sint", "i")
    return kind + (f"#{size}" if size else "")


def fields_of_mof(body):
    """[(name, type)] in the order of WmiDataId."""
    fields = []
    for qualifiers, mof_type, name, size in _FIELD.findall(body):
        order = numbers_of(qualifiers, "WmiDataId")
        fields.append((order[0], name, type_of(qualifiers, mof_type, size)))
    return [(name, kind) for _, name, kind in sorted(fields)]


def fields_of_table(fields):
    """The same of a layout of the table."""
    return [(field.name, field.type + (f"#{field.count}" if field.count else ""))
            for field in fields]


def check_mof(path):
    """Problems, and how many layouts were compared."""
    problems, compared, bases = [], 0, {}
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8-sig", errors="replace"))
    for qualifiers, name, base, body in _CLASS.findall(text):
        guid = re.search(r'Guid\s*\(\s*"\{?([0-9A-Fa-f-]{36})', qualifiers)
        if guid:
            bases[name] = (guid[1].lower(),
                           (numbers_of(qualifiers, "EventVersion") or [UNVERSIONED])[0])
            continue
        guid, version = bases.get(base, (None, 0))
        if guid not in CLASSES or LEFT_OUT.match(name):
            continue
        wanted = [MENDED.get(field, field) for field in fields_of_mof(body)]
        for opcode in numbers_of(qualifiers, "EventType"):
            fields = layout_of(guid, opcode, version)
            if fields is None:
                problems.append(f"{name}, opcode {opcode}: not in the table")
            elif name not in NEWER and fields_of_table(fields) != wanted:
                problems.append(f"{name}, opcode {opcode}: {fields_of_table(fields)}, "
                                f"the MOF has {wanted}")
            compared += name not in NEWER
    return problems, compared


def pointers_of(path):
    """Of traces that were made by hand: their FULL headers are of 32 bits, whatever they hold."""
    return 8 if path.parent.name == "classic-32bit" and "_64_" in path.name else None


def main():
    etw, *arguments = sys.argv[1:]
    folder = find_data_dir(arguments)
    traces = sorted(folder.rglob("*.etl"))
    if not traces:
        print(f"skip: no genuine traces in {folder}; set ETW_TEST_DATA")
        return EXIT_SKIP
    problems, layouts = check_mof(folder / MOF)
    compared, kinds = 0, set()
    for path in traces:
        found = compare_file(etw, str(path), pointer_bytes=pointers_of(path))
        compared += found.compared
        kinds.update(kind for kind in found.kinds if isinstance(kind, tuple))
        problems += [f"{path.name}: {count} times {text}"
                     for text, count in found.problems.items()]
        problems += [f"{path.name}: {kind} is not in the table, {count} times"
                     for kind, count in found.unknown.items() if kind[:2] not in NOT_OF_LINUX]
    for problem in problems[:40]:
        print(problem)
    print(f"{layouts} layouts of the MOF file, {compared} events of {len(kinds)} kinds in "
          f"{len(traces)} traces: {len(problems)} problems")
    return 1 if problems or not layouts else 0


if __name__ == "__main__":
    sys.exit(main())
