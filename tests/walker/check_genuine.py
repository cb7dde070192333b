#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold every rule about .etl files against the genuine traces: none of them breaks one.

    check_genuine.py [DATA_DIR]

DATA_DIR defaults to $ETW_TEST_DATA, else to ../shared/data beside the repository.
Exit status: 0 no rule is broken, 1 one is, 77 no data (skipped, the reason is printed).
"""

import sys

from compare_reference import EXIT_SKIP, find_data_dir
from rulebook import check_trace
from tracefile import TraceFile


def main(arguments):
    folder = find_data_dir(arguments)
    traces = sorted(folder.rglob("*.etl"))
    if not traces:
        print(f"skip: no genuine traces in {folder}; set ETW_TEST_DATA")
        return EXIT_SKIP
    broken = 0
    for path in traces:
        with TraceFile(str(path)) as trace:
            for violation in check_trace(trace):
                print(violation)
                broken += 1
    print(f"{len(traces)} traces, {broken} violations")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
