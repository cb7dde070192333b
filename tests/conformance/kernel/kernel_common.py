# SPDX-License-Identifier: MIT
"""What the checks of kernel events share: the data, the C decoder, values in comparable form."""

import ipaddress
import json
import os
import pathlib
import subprocess
import sys
import tempfile

EXIT_SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[3]

sys.path.insert(0, str(ROOT / "tests" / "walker"))
sys.dont_write_bytecode = True

from tracefile import TraceFile  # noqa: E402 (found through the path above)


def readme_says(sentence):
    """Whether README.md has the sentence, wherever its lines end; says so if not."""
    page = pathlib.Path(__file__).resolve().parents[3] / "README.md"
    if " ".join(sentence.split()) in " ".join(page.read_text(encoding="utf-8").split()):
        return True
    print(f'README.md does not say "{sentence}"')
    return False


def find_data_dir():
    """The genuine files; ends the program with the skip code when they are not at hand."""
    path = pathlib.Path(os.environ.get("ETW_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (path / "reference").is_dir():
        print(f"skipped: no genuine traces at {path} (set ETW_TEST_DATA)")
        sys.exit(EXIT_SKIP)
    return path


def decode(program, requests):
    """Yields the decoder's answer to each (class, opcode, version, pointer bytes, payload).

    A class is a GUID, or a hook id as 4 hex digits.
    """
    with tempfile.TemporaryFile("w+") as lines:
        for name, opcode, version, pointer, payload in requests:
            lines.write(f"{name} {opcode} {version} {pointer} {payload.hex() or '-'}\n")
        lines.seek(0)
        with subprocess.Popen([program], stdin=lines, stdout=subprocess.PIPE, text=True,
                              encoding="utf-8") as process:
            for line in process.stdout:
                yield json.loads(line)
        if process.returncode:
            sys.exit(f"{program} ended with status {process.returncode}")


def fields_of(answer):
    """Field values by name, as the decoder's JSON has them."""
    return {name: value for name, value, _ in answer["fields"]}


def as_number(value):
    """A JSON value as an integer: numbers in whatever form, addresses as little-endian."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if not isinstance(value, str):
        return None
    try:
        return int(value, 16 if value.lower().startswith("0x") else 10)
    except ValueError:
        pass
    try:
        return int.from_bytes(ipaddress.ip_address(value).packed, "little")
    except ValueError:
        return None


def swap16(number):
    return (number & 0xFF) << 8 | number >> 8


def classic_events(path):
    """Yields (FILETIME, request as decode() takes it) of each kernel and classic event."""
    with TraceFile(path) as trace:
        for buffer in trace.buffers():
            for event in buffer.events():
                fields = event.fields
                if "group" in fields:
                    name = f"{fields['group']:02x}{fields['op']:02x}"
                elif event.kind in ("FULL32", "FULL64"):
                    name = fields["guid"]
                else:
                    continue
                payload = bytes(buffer.body[event.payload_pos:event.pos + event.size])
                yield (trace.clock.to_filetime(event.ts),
                       (name, fields["op"], fields["ver"], pointer_bytes(path, event), payload))


def pointer_bytes(path, event):
    """Some test files hold 64-bit payloads in 32-bit events; their names say so."""
    if "_data_64_" in path.name:
        return 8
    return 8 if event.kind.endswith("64") else 4
