# SPDX-License-Identifier: MIT
"""What check_docs holds of the words of documents: names, glossary, coverage, numbers, tests."""

import ast
import fnmatch
import json
import os
import re
import subprocess

C_SUFFIXES = (".c", ".h", ".inc")
# Names of this project, wherever they stand in a document. What ends in `_` or `_*` is a family.
IDENTIFIER = re.compile(r"\b(?:(?:etwd?|libetw|wire)_\w+|(?:ETWD?|WIRE|LIBETW)_[A-Z0-9_]+)\b"
                        r"(?![*<])")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# A file with its folder, as comments name it: from the top, or from src/.
SOURCE_PATH = re.compile(r"(?<![\w/.*<-])[\w-]+(?:/[\w-]+)+\.(?:[ch]|md|py|inc|classes)\b")
GLOSSARY_PAGE = "ARCHITECTURE.md"
GLOSSARY_HEAD = "## Glossary"
SMALL_WORDS = {"a", "of", "the", "and", "in", "that", "is"}
COVERAGE_PAGE = "docs/coverage.md"
COVERAGE_ROW = re.compile(r"^\| (\w+) \| (?:built|refused|not built) \| [^|]", re.MULTILINE)
LIMITS = "scripts/doc_limits.tsv"
NUMBER = r"(\d[\d,]*(?:\^\d+)?)"     # 4,096 or 2^20
# Tests that cite numbered sections of a page as [3] or [7.4].
CITED = {"tests/conformance/tdh/": "docs/format/contract-tdh.md"}
CITATION = re.compile(r"(?<!\w)\[([1-9](?:\.\d)?)\]")
# Sections by name: of the page in front, as in docs/format/etl.md "Damage", or ("Damage") of the
# same page. A page has those of its headings, and those that begin a paragraph in * or **.
SECTION_OF = re.compile(r'([\w./-]+\.md)\)?((?:,?\s+(?:\*\s+)?(?:and\s+)?"[A-Z][^"]*")+)')
SECTION_HERE = re.compile(r'(?<=\s)\("([A-Z][\w\s]*)"\)')
SECTION = re.compile(r"^(?:#+ (.+)|\*{1,2}([A-Z][^*]*?)[.:]?\*{1,2})", re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
TEST_NAME = re.compile(r"`([a-z_]+(?:\.[a-z0-9_*]+)+)`")
FILE_SUFFIXES = (".c", ".h", ".md", ".py", ".txt", ".etl", ".man", ".cmake", ".inc",
                 ".index", ".so", ".cpp", ".classes")


def numbered(text):
    return enumerate(text.splitlines(), 1)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Claims:
    """Holds what the documents of a check_docs.Checker say."""

    def __init__(self, checker):
        self.checker = checker
        self.files = checker.files
        self.texts = {}

    def read(self, name):
        if name not in self.texts:
            self.texts[name] = self.checker.read(name)
        return self.texts[name]

    def pages(self):
        return [name for name in self.files if name.endswith(".md")
                or re.fullmatch(r"man/[^/]+\.[1-8]", name)]

    def sources(self, *prefixes):
        return [name for name in self.files if name.endswith(C_SUFFIXES)
                and name.startswith(prefixes or ("",))]

    def run(self):
        self.check_identifiers()
        self.check_paths_in_comments()
        self.check_glossary()
        self.check_coverage()
        self.check_limits()
        self.check_citations()
        self.check_sections()

    # Names.

    def check_identifiers(self):
        known = set()
        for name in self.files:
            if name.endswith(".md") or name.startswith(("man/", "fuzz/corpora/")):
                continue
            known.update(IDENTIFIER.findall(self.read(name)))
        for name in self.pages():
            for number, line in numbered(self.read(name)):
                for match in IDENTIFIER.finditer(line):
                    word = match.group()
                    if word.endswith("_"):
                        continue
                    self.checker.hold("names")
                    if word not in known:
                        self.checker.complain(name, number,
                                              f"names {word}, which no source knows")

    def check_paths_in_comments(self):
        for name in self.sources("src/", "daemon/", "tools/", "include/", "tests/", "bench/",
                                 "fuzz/", "examples/", "generate/"):
            text = self.read(name)
            for comment in COMMENT.finditer(text):
                for path in SOURCE_PATH.finditer(comment.group()):
                    self.check_path(name, line_of(text, comment.start() + path.start()),
                                    path.group())

    def check_path(self, name, number, path):
        first = path.split("/")[0]
        if first in self.checker.modules:
            places = [path, f"src/{path}", f"include/{path}"]
        elif first in self.checker.top:
            places = [path]
        else:
            return
        self.checker.hold("paths")
        if not any((self.checker.root / place).exists() for place in places):
            self.checker.complain(name, number, f"names {path}, which does not exist")

    # The glossary.

    def check_glossary(self):
        if GLOSSARY_PAGE not in self.files:
            return
        before, _, behind = self.read(GLOSSARY_PAGE).partition(GLOSSARY_HEAD + "\n")
        number = before.count("\n") + 1
        last = ""
        for offset, line in enumerate(behind.split("\n## ")[0].splitlines(), 1):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("| ") or cells[0] == "word":
                continue
            self.checker.hold("glossary")
            self.check_row(number + offset, cells[0], "|".join(cells[1:]))
            if cells[0].lower() <= last:
                self.checker.complain(GLOSSARY_PAGE, number + offset,
                                      f"{cells[0]} stands behind {last}: once, in order")
            last = cells[0].lower()

    def check_row(self, number, word, meaning):
        places = [place for quoted in re.findall(r"`([^`]+)`", meaning)
                  for place in (f"src/{quoted}", quoted) if place in self.files]
        if not places:
            self.checker.complain(GLOSSARY_PAGE, number, f"{word}: no file that has it")
        elif not any(self.has_words(place, word) for place in places):
            self.checker.complain(GLOSSARY_PAGE, number,
                                  f"{word}: not in {', '.join(places)}")

    def has_words(self, place, term):
        """Whether the file has each word of the term, or of one of several with commas between."""
        text = self.read(place).lower()
        return any(all(word in text for word in re.findall(r"\w+", one)
                       if word not in SMALL_WORDS)
                   for one in term.lower().split(","))

    # Coverage, limits, citations.

    def check_coverage(self):
        if COVERAGE_PAGE not in self.files:
            return
        tested = set()
        for name in self.files:
            if name.startswith("tests/") and name.endswith((*C_SUFFIXES, ".cpp")):
                tested.update(re.findall(r"\w+", self.read(name)))
        text = self.read(COVERAGE_PAGE)
        for match in COVERAGE_ROW.finditer(text):
            self.checker.hold("functions of the API")
            if match.group(1) not in tested:
                self.checker.complain(COVERAGE_PAGE, line_of(text, match.start()),
                                      f"{match.group(1)} is in no test")

    def check_limits(self):
        """Rows of tabs `page, sentence with {}, file, macros[, unit]`: the number is theirs."""
        if LIMITS not in self.files:
            return
        for number, line in numbered(self.read(LIMITS)):
            if not line or line.startswith("#"):
                continue
            page, sentence, header, macro, *unit = line.split("\t")
            self.checker.hold("limits")
            problem = self.limit_problem(page, sentence, header, macro, int(unit[0]) if unit else 1)
            if problem:
                self.checker.complain(LIMITS, number, problem)

    def limit_problem(self, page, sentence, header, macro, unit):
        if page not in self.files:
            return f"{page} does not exist"
        if sentence.count("{}") != 1:
            return f'"{sentence}" has no place {{}} for the number, or several'
        words = [NUMBER if word == "{}" else re.escape(word).replace(r"\{\}", NUMBER)
                 for word in sentence.split()]
        found = re.search(r"\s+".join(words), self.read(page))
        if not found:
            return f'{page} does not say "{sentence}"'
        try:
            value = self.evaluate(header, macro)
        except LookupError as error:
            return f"neither {header} nor one other file defines {error.args[0]}"
        except (SyntaxError, AttributeError, KeyError):
            return f"{macro} is no number that can be told"
        base, power, exponent = found.group(1).replace(",", "").partition("^")
        said = int(base) ** int(exponent if power else 1) * unit
        if said != value:
            return f"{page} says {said}, {macro} is {value}"
        return None

    def evaluate(self, header, text):
        """The value of an expression of numbers and the header's own macros and enumerators."""
        text = re.sub(r"U?INT(?:32|64)_C|\((?:u?int\d+|size)_t\)", "", COMMENT.sub("", text))
        text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
        text = re.sub(r"\b[A-Za-z_]\w*\b", lambda word: str(self.value_of(header, word.group())),
                      text)
        return number_of(ast.parse(text.strip(), mode="eval").body)

    def value_of(self, header, name):
        """Of a macro or enumerator that the file defines, or else exactly one other."""
        places = [header, *self.sources("src/", "daemon/", "tools/", "include/")]
        found = [(place, text) for place in places if place in self.files
                 for text in self.definitions(place, name)]
        if not found or found[0][0] != header and len(found) > 1:
            raise LookupError(name)
        return self.evaluate(*found[0])

    def definitions(self, place, name):
        if name not in self.read(place):
            return []
        return [(first or second).replace("\\\n", " ") for first, second in re.findall(
            rf"^#define {name}\s+((?:.*\\\n)*.*)$|^\s*{name} = ([^,\n]+)", self.read(place),
            re.MULTILINE)]

    def check_citations(self):
        for prefix, page in CITED.items():
            if page not in self.files:
                continue
            sections = set(re.findall(r"^#+ (\d(?:\.\d)?)[. ]", self.read(page), re.MULTILINE))
            for name in self.sources(prefix):
                text = self.read(name)
                for piece in COMMENT_OR_TEXT.finditer(text):
                    for cited in CITATION.findall(piece.group()):
                        self.checker.hold("citations")
                        if cited not in sections:
                            self.checker.complain(name, line_of(text, piece.start()),
                                                  f"cites [{cited}], which {page} does not have")

    def check_sections(self):
        for name in [*self.pages(), *self.sources()]:
            text = self.read(name)
            if ".md" not in text and not name.endswith(".md"):
                continue
            pieces = [(0, text)] if name.endswith(".md") else [
                (comment.start(), comment.group()) for comment in COMMENT.finditer(text)]
            for at, piece in pieces:
                for cited in SECTION_OF.finditer(piece):
                    for section in re.findall(r'"([^"]*)"', cited.group(2)):
                        self.check_section(name, line_of(text, at + cited.start()),
                                           cited.group(1), section)
            for cited in SECTION_HERE.finditer(text) if name.endswith(".md") else ():
                self.check_section(name, line_of(text, cited.start()), name, cited.group(1))

    def check_section(self, name, number, page, section):
        beside = os.path.normpath(os.path.join(os.path.dirname(name), page))
        places = [place for place in (page, f"docs/{page}", beside) if place in self.files]
        if not places:
            return
        section = " ".join(re.sub(r"\n\s*\*", " ", section).split()).rstrip(".,")
        self.checker.hold("sections")
        if section not in {" ".join((head or words).split())
                           for head, words in SECTION.findall(self.read(places[0]))}:
            self.checker.complain(name, number,
                                  f'cites "{section}", which {places[0]} does not have')

    # Tests.

    def check_tests(self, build):
        """Hold the names of tests that documents quote against those of a build tree."""
        output = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                                capture_output=True, text=True, check=True).stdout
        tests = [test["name"] for test in json.loads(output)["tests"]]
        suites = {test.split(".")[0] for test in tests}
        for name in self.pages():
            for number, line in numbered(self.read(name)):
                for word in TEST_NAME.findall(line):
                    if word.split(".")[0] not in suites or word.endswith(FILE_SUFFIXES):
                        continue
                    self.checker.hold("tests")
                    if not any(fnmatch.fnmatch(test, word) or test.startswith(word + ".")
                               for test in tests):
                        self.checker.complain(name, number, f"names the test {word}, which there "
                                                            "is not")


def number_of(node):
    """The value of an expression of integers."""
    if isinstance(node, ast.Constant):
        return node.value
    left, right = number_of(node.left), number_of(node.right)
    return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right,
            ast.Div: left // max(right, 1), ast.LShift: left << min(right, 64)}[type(node.op)]
