#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the ids that libetw makes of names with those in genuine traces.

    check_ids.py ETW LIBETW_PROVIDER [DATA]

An id whose version is 5 was made of the name; one of another version was chosen by its author.
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import uuid

VERSION_AT = 14  # in the text; uuid knows none where the variant is not RFC 4122's, as here


def id_of(library, name):
    made = ctypes.create_string_buffer(16)
    if library.libetw_provider_id(name.encode(), made) != 0:
        sys.exit(f"no id of {name}")
    return str(uuid.UUID(bytes_le=made.raw))


def providers(etw, trace):
    """Return {name: id} of those that write TraceLogging events."""
    dump = subprocess.run([etw, "dump", "--json", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, timeout=900)
    events = [json.loads(line) for line in dump.stdout.splitlines()]
    return {event["provider"]: event["guid"] for event in events
            if event.get("channel") == 11 and event.get("schema") == "event"}


def main(arguments):
    etw, library = arguments[0], ctypes.CDLL(arguments[1])
    root = pathlib.Path(__file__).resolve().parents[2]
    data = pathlib.Path(os.environ.get("ETW_TEST_DATA", root.parent / "shared" / "data"))
    if id_of(library, "MyProvider") != "b3864c38-4273-58c5-545b-8b3608343471":
        sys.exit("the id of the format page is another one")
    traces = sorted((data / "tracelogging").glob("*.etl"))
    if not traces:
        print(f"SKIP: no genuine traces in {data}")
        return 77
    compared = 0
    for trace in traces:
        for name, genuine in providers(etw, trace).items():
            if genuine[VERSION_AT] != "5":
                continue
            compared += 1
            if id_of(library, name) != genuine:
                sys.exit(f"{name}: {id_of(library, name)}, genuine {genuine}")
    print(f"{compared} ids of names are the genuine ones")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
