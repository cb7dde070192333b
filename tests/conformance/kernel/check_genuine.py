#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kernel and classic event of the genuine traces decodes, with every byte in a field.

    check_genuine.py DUMP_PAYLOAD

Payloads come from tests/walker, which reads the files independently of the C reader; equal ones are
decoded once. Kinds whose layout nobody knows must be listed below, and must stay undecodable.
Exit status: 0 all hold, 1 one does not, 77 no data.
"""

import collections
import sys

from kernel_common import classic_events, decode, find_data_dir

NO_LAYOUT = {
    "0b13": "system configuration 19, 8 bytes, in TraceLoggingTester.etl only",
}
REPORT_MAX = 20


def main():
    data_dir = find_data_dir()
    requests = collections.Counter()
    for path in sorted(data_dir.glob("*/*.etl")):
        requests.update(request for _, request in classic_events(path))
    kinds = set()
    failures = events = 0
    answers = decode(sys.argv[1], requests)
    for (request, count), answer in zip(requests.items(), answers, strict=True):
        kinds.add(request[:4])
        events += count
        expected = "no schema" if request[0] in NO_LAYOUT else "complete"
        if answer["status"] != expected:
            failures += count
            if failures <= REPORT_MAX:
                print(f"{request[:4]}: {answer['status']}: {answer['reason']}: "
                      f"{request[4][:64].hex()}")
    print(f"{events - failures} of {events} events hold, "
          f"{len(requests)} distinct, {len(kinds)} kinds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
