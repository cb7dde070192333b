# SPDX-License-Identifier: MIT
"""What the CMake files of the repository link, for scripts/check_layers.

Reads as much of CMake's language as these files use: variables, lists, loops, and functions that
are defined in one of them. Both branches of an if() count, and a variable has every value that it
was given before. What a target links is what target_link_libraries() names, and the sources of
other folders that it takes in.
"""

import collections
import itertools
import posixpath
import re

TOKEN = re.compile(r'\#\[(=*)\[.*?\]\1\]|\#[^\n]*|"(?:\\.|[^"\\])*"|'
                   r'[()]|[^\s()"#]+|\n|[ \t\r]+', re.DOTALL)
VARIABLE = re.compile(r"\$\{(\w+)\}")
SCOPES = {"PUBLIC", "PRIVATE", "INTERFACE", "LINK_PUBLIC", "LINK_PRIVATE"}
ROOT = "/root"  # what CMAKE_SOURCE_DIR stands for
DEPTH_MAX = 8   # functions within functions
VALUES_MAX = 256  # of a word with several variables

Word = collections.namedtuple("Word", "text path line")
Command = collections.namedtuple("Command", "name words path line")
Link = collections.namedtuple("Link", "target folder item")
Target = collections.namedtuple("Target", "folder sources is_shared")


def parse(text, path):
    """The commands of a CMake file, with their words."""
    commands = []
    line, name, words, depth = 1, None, [], 0
    start = 1
    for match in TOKEN.finditer(text):
        token = match.group()
        if depth == 0:
            if re.fullmatch(r"\w+", token):
                name, start = token, line
            elif token == "(":
                depth, words = 1, []
        elif token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
            if depth == 0:
                commands.append(Command(name.lower(), words, path, start))
        elif token.strip() and token[0] != "#":
            plain = token[1:-1] if token[0] == '"' else token
            words += [Word(part, path, line) for part in plain.split(";") if part or token == '""']
        line += token.count("\n")
    return commands


class Build:
    """Interprets the CMake files of a tree; afterwards its lists have what they say."""

    def __init__(self, files):
        """files: {path relative to the root: text}"""
        self.links = []
        self.targets = {}
        self.unknown = []  # calls of functions that no file defines
        self.functions = {}
        parsed = {path: self.take_functions(parse(text, path)) for path, text in files.items()}
        for path, commands in parsed.items():
            folder = posixpath.dirname(path)
            self.run(commands, folder, self.first_variables(path, folder), 0)

    @staticmethod
    def first_variables(path, folder):
        return {"CMAKE_SOURCE_DIR": [Word(ROOT, path, 1)],
                "CMAKE_CURRENT_SOURCE_DIR": [Word(posixpath.join(ROOT, folder), path, 1)]}

    def take_functions(self, commands):
        """Keeps the functions; returns the commands outside them."""
        outside, body, head = [], [], None
        for command in commands:
            if command.name in ("function", "macro"):
                head, body = command, []
            elif command.name in ("endfunction", "endmacro"):
                self.functions[head.words[0].text.lower()] = (
                    [word.text for word in head.words[1:]], body)
                head = None
            else:
                (outside if head is None else body).append(command)
        return outside

    def expand(self, words, variables):
        return [one for word in words for one in self.expand_word(word, variables)]

    def expand_word(self, word, variables):
        """A word with every value of its variables; it stands where the value was written."""
        names = [name for name in VARIABLE.findall(word.text) if name in variables]
        if not names:
            return [word]
        if word.text == f"${{{names[0]}}}":
            return variables[names[0]]
        result = []
        every = itertools.product(*(variables[name] for name in names))
        for values in itertools.islice(every, VALUES_MAX):
            text, place = word.text, word
            for name, value in zip(names, values):
                text = text.replace(f"${{{name}}}", value.text, 1)
                place = value if name not in self.first_variables("", "") else place
            result.append(Word(text, place.path, place.line))
        return result

    def run(self, commands, folder, variables, depth):
        for command in commands:
            words = self.expand(command.words, variables)
            if command.name in self.functions:
                if depth < DEPTH_MAX:
                    self.call(command.name, words, folder, variables, depth)
            elif command.name == "cmake_parse_arguments":
                self.parse_arguments([word.text for word in command.words], variables)
            elif command.name.startswith("etw_"):
                self.unknown.append(Word(command.name, command.path, command.line))
            elif words:
                self.run_one(command.name, words, folder, variables)

    def call(self, name, words, folder, variables, depth):
        parameters, body = self.functions[name]
        inner = dict(variables)
        inner.update((parameter, [word]) for parameter, word in zip(parameters, words))
        inner["ARGN"] = words[len(parameters):]
        self.run(body, folder, inner, depth + 1)

    def run_one(self, name, words, folder, variables):
        first, rest = words[0].text, words[1:]
        if name in ("set", "foreach"):
            known = [] if name == "foreach" else variables.get(first, [])
            variables[first] = known + self.listed(rest, variables)
        elif name == "list" and first == "APPEND" and rest:
            variables[rest[0].text] = variables.get(rest[0].text, []) + rest[1:]
        elif name == "file" and first in ("GLOB", "GLOB_RECURSE") and rest:
            variables[rest[0].text] = rest[1:]
        elif name in ("add_library", "add_executable"):
            self.targets.setdefault(first, Target(folder, [], "SHARED" in [w.text for w in rest]))
            self.targets[first].sources.extend(rest)
            self.links += [Link(first, folder, word) for word in rest]
        elif name == "target_sources":
            self.links += [Link(first, folder, word) for word in rest]
        elif name == "target_link_libraries":
            self.links += [Link(first, folder, word) for word in rest if word.text not in SCOPES]

    @staticmethod
    def listed(words, variables):
        """The words of set(), and of foreach() in its two forms."""
        if words and words[0].text == "IN":
            result = []
            for word in words[1:]:
                is_keyword = word.text in ("LISTS", "ITEMS")
                result += variables.get(word.text, [] if is_keyword else [word])
            return result
        return words

    @staticmethod
    def parse_arguments(words, variables):
        """cmake_parse_arguments(prefix ... ${ARGN}); every keyword takes a list here."""
        prefix, keywords = words[0], words[1:]
        current = None
        for keyword in keywords:
            variables[f"{prefix}_{keyword}"] = []
        for word in variables.get("ARGN", []):
            if word.text in keywords:
                current = f"{prefix}_{word.text}"
            elif current:
                variables[current] = variables[current] + [word]


def source_path(word, folder):
    """The path of a source, relative to the root; None when it is no source or lies elsewhere."""
    if "." not in posixpath.basename(word.text) and "*" not in word.text:
        return None
    path = posixpath.normpath(posixpath.join(ROOT, folder, word.text))
    return posixpath.relpath(path, ROOT) if path.startswith(ROOT + "/") else None
