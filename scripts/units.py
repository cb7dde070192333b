# SPDX-License-Identifier: MIT
"""Units of sources and circles between them, for scripts/check_layers.

A unit is a header with its sources: x.h, x_internal.h, x.c, and the sources without a header of
their own that define what x.h declares, or are called x_more.c. A unit uses another when a file of
the one includes a file of the other, and when its header declares what the other defines: who
includes that header calls the other unit. Two units that use each other, by themselves or by way of
others, are one thing under two names.
"""

import collections
import os
import re

INTERNAL = "_internal"
SOURCES = {".c", ".cpp"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# At the beginning of a line: what is indented is within a function, a struct or a macro.
FUNCTION = re.compile(r"^(?!typedef\b|else\b|return\b)[A-Za-z_][\w \t\n*]*?[ \t\n*](\w+)"
                      r"\(((?:[^;{}()]|\([^;{}()]*\))*)\)"
                      r"(?:\s*(?:__attribute__\s*\(\(.*?\)\)\)*|[A-Z][A-Z_]+(?:\([^()]*\))?))*"
                      r"\s*([;{])", re.MULTILINE)
OBJECT = re.compile(r"^(?!typedef\b|return\b)[A-Za-z_][\w \t*()\"]*?[ *](\w+)(?:\[[^\]\n]*\])*"
                    r"(?:\s*__attribute__\s*\(\(.*?\)\)\)*)*\s*(=|;)", re.MULTILINE)
EXTERN = re.compile(r"^[ \t]*extern\b(?!\s*\{)[^;{]*", re.MULTILINE)
NOT_SHARED = re.compile(r"\b(struct|union|enum)\s*$|\bstatic\b")
NOT_NAMES = {"__attribute__", "static_assert", "_Static_assert", "main"}

Place = collections.namedtuple("Place", "path line what")


def blank_noise(text):
    """The text with comments and literals emptied and its lines kept."""
    return NOISE.sub(lambda match: "\n" * match.group().count("\n"), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def stem_of(name):
    """x of x.c, x.h, x_internal.h."""
    return name.split(".")[0].removesuffix(INTERNAL)


class Source:
    """What one file includes, declares and defines; places are lines."""

    def __init__(self, path, text):
        self.path = path
        self.is_header = path.suffix not in SOURCES
        self.includes = [(line_of(text, match.start()), match.group(1))
                         for match in INCLUDE.finditer(text)]
        self.declares = {}
        self.defines = {}
        blank = blank_noise(text)
        self.take(blank, FUNCTION, "{")
        self.take(blank, OBJECT, "=")
        self.externs = [] if self.is_header else \
            [line_of(blank, match.start()) for match in EXTERN.finditer(blank)]

    def take(self, text, pattern, defines):
        for match in pattern.finditer(text):
            head = text[match.start():match.start(1)]
            name = match.group(1)
            if name in NOT_NAMES or NOT_SHARED.search(head) or name.startswith("LLVMFuzzer"):
                continue
            is_defined = match.group(match.lastindex) == defines or \
                pattern is OBJECT and not re.search(r"\bextern\b", head)
            kind = self.defines if is_defined else self.declares
            kind.setdefault(name, line_of(text, match.start(1)))


class Units:
    """The sources of one module, by unit."""

    def __init__(self, sources, resolve):
        """sources: {path: Source}; resolve(path, name): where an #include leads, or None."""
        self.sources = sources
        self.resolve = resolve
        self.uses = {}
        self.declared_in = collections.defaultdict(list)
        for source in sources.values():
            for name in source.declares if source.is_header else ():
                self.declared_in[name].append(source.path)
        self.unit = {path: self.unit_of(source) for path, source in sources.items()}
        self.link()

    def has_header(self, path, stem):
        return any(path.with_name(stem + end) in self.sources for end in (".h", INTERNAL + ".h"))

    def declaring(self, source, name):
        """The headers that declare what `source` defines; those that it includes count first."""
        paths = self.declared_in.get(name, [])
        included = {self.resolve(source.path, target) for _, target in source.includes}
        return [path for path in paths if path in included] or \
            [path for path in paths if path.parent == source.path.parent]

    def unit_of(self, source):
        path = source.path
        stem = stem_of(path.name)
        if source.is_header or self.has_header(path, stem):
            return path.with_name(stem)
        votes = collections.Counter()
        for name in source.defines:
            for header in self.declaring(source, name):
                votes[header.with_name(stem_of(header.name))] += 1
        if votes:
            return max(sorted(votes), key=lambda unit: votes[unit])
        words = stem.split("_")
        for count in range(len(words) - 1, 0, -1):
            if self.has_header(path, "_".join(words[:count])):
                return path.with_name("_".join(words[:count]))
        return path.with_name(stem)

    def link(self):
        for path, source in self.sources.items():
            unit = self.unit[path]
            for line, name in source.includes:
                target = self.resolve(path, name)
                if target in self.sources:
                    self.add(unit, self.unit[target], Place(path, line, f"includes {name}"))
            for name in () if source.is_header else source.defines:
                headers = self.declaring(source, name)
                if unit in (self.unit[header] for header in headers):
                    continue
                for header in headers:
                    self.add(self.unit[header], unit,
                             Place(header, self.sources[header].declares[name],
                                   f"declares {name} of {path.name}"))

    def add(self, user, used, place):
        if user != used:
            self.uses.setdefault(user, {}).setdefault(used, place)

    def sources_of(self):
        """{unit: its sources without headers}"""
        result = {}
        for path, unit in self.unit.items():
            if not self.sources[path].is_header:
                result.setdefault(unit, []).append(path)
        return result

    def folders(self):
        """The same graph between the folders of the module."""
        uses = {}
        for user, others in self.uses.items():
            for used, place in others.items():
                if user.parent != used.parent:
                    uses.setdefault(user.parent, {}).setdefault(used.parent, place)
        return uses


def circles(uses):
    """Circles of a graph {user: {used: place}} without a common edge, the shortest first."""
    left = {user: set(used) for user, used in uses.items()}
    found = []
    while circle := shortest_circle(left):
        found.append(circle)
        for i, user in enumerate(circle):
            left[user].discard(circle[(i + 1) % len(circle)])
    return found


def shortest_circle(uses):
    best = None
    for start in sorted(uses):
        path = shortest_way_back(uses, start)
        if path and (best is None or len(path) < len(best)):
            best = path
    return best


def shortest_way_back(uses, start):
    before = {start: None}
    queue = collections.deque([start])
    while queue:
        unit = queue.popleft()
        for other in sorted(uses.get(unit, ())):
            if other == start:
                path = [unit]
                while before[path[-1]] is not None:
                    path.append(before[path[-1]])
                return path[::-1]
            if other not in before:
                before[other] = unit
                queue.append(other)
    return None


def tell(uses, circle, top):
    """A circle in words: its members, then where each uses the next."""
    ring = [*circle, circle[0]]
    names = " -> ".join(os.path.relpath(unit, top) for unit in ring)
    places = [uses[user][used] for user, used in zip(circle, ring[1:])]
    return places[0], f"circle {names}: " + ", ".join(
        f"{place.path}:{place.line} {place.what}" for place in places)
