#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare two event streams line by line as JSON objects.

    compare_streams.py A.jsonl B.jsonl

Each argument is a file, an .xz file, or `-` for standard input. The order of keys does not matter,
but both objects must have the same set of keys, and equal values of equal types. The first
differences are printed with line number and keys. Exit status: 0 equal, 1 different, 2 unreadable.
"""

import contextlib
import itertools
import json
import lzma
import sys

MAX_REPORTED = 10
_MISSING = object()


@contextlib.contextmanager
def open_lines(name):
    """Text lines of a file, an .xz file or standard input."""
    if name == "-":
        yield sys.stdin
        return
    opener = lzma.open if str(name).endswith(".xz") else open
    with opener(name, "rt", encoding="utf-8") as lines:
        yield lines


def parse_line(line):
    """(object, None) or (None, why not)."""
    try:
        value = json.loads(line)
    except ValueError as error:
        return None, f"no JSON ({error})"
    if not isinstance(value, dict):
        return None, f"no JSON object but {type(value).__name__}"
    return value, None


def is_same(left, right):
    """Equality that also tells 1 from true and from 1.0, at every depth."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(is_same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    return left == right


def describe_difference(left, right):
    """Text naming the keys in which two objects differ, or None when they are the same."""
    parts = []
    for key in left:
        if key not in right:
            parts.append(f"{key}: {left[key]!r} only in the first")
        elif not is_same(left[key], right[key]):
            parts.append(f"{key}: {left[key]!r} != {right[key]!r}")
    parts += [f"{key}: {right[key]!r} only in the second" for key in right if key not in left]
    return "; ".join(parts) or None


def iter_differences(left_items, right_items):
    """Yield (line number, text) for two iterables of objects or of JSON lines."""
    pairs = itertools.zip_longest(left_items, right_items, fillvalue=_MISSING)
    for number, (left, right) in enumerate(pairs, 1):
        if left is _MISSING or right is _MISSING:
            yield number, f"the {'first' if left is _MISSING else 'second'} stream ends here"
            return
        if left == right and isinstance(left, str) and left.startswith("{"):
            continue
        problems = []
        values = []
        for which, item in (("first", left), ("second", right)):
            value, problem = (item, None) if isinstance(item, dict) else parse_line(item)
            values.append(value)
            if problem:
                problems.append(f"{which}: {problem}")
        text = "; ".join(problems) if problems else describe_difference(*values)
        if text:
            yield number, text


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 2 or arguments == ["-", "-"]:
        print("usage: compare_streams.py A.jsonl B.jsonl   (one of them may be -)", file=sys.stderr)
        return 2
    reported = 0
    try:
        with open_lines(arguments[0]) as left, open_lines(arguments[1]) as right:
            for number, text in iter_differences(left, right):
                print(f"line {number}: {text}")
                reported += 1
                if reported == MAX_REPORTED:
                    print("further differences are not shown")
                    break
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        print(f"unreadable: {error}", file=sys.stderr)
        return 2
    return 1 if reported else 0


if __name__ == "__main__":
    sys.exit(main())
