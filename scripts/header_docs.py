# SPDX-License-Identifier: MIT
"""Reads the documentation in the comments of public headers: what belongs to which functions.

A comment that documents begins with `name() - what it is` (several names: `name() and its like -
...`), and belongs to the functions that are declared behind it, up to the next comment at the left
margin. Its paragraphs are text, tab-indented lines as they are, `@parameter: meaning`, `Returns
...` and `Context: ...`. The results of `Returns` are separated by semicolons; those that are error
codes, `-EINVAL: meaning`, are a list of their own.
"""

import dataclasses
import re

CODE = r"(?:-E[A-Z0-9]{2,}|ERROR_[A-Z_]+)"
TOKEN = re.compile(r"^/\*.*?\*/|^(?:ETW_API|EVNTPROV_PFORCEINLINE|EVNTCONS_INLINE|TDH_INLINE)\s"
                   r"[^;{]*?\)\s*(?=[;{])|^typedef [^;{]*(?:\{.*?^\}[^;]*)?;|"
                   r"^(?:struct|enum) \w+ \{.*?^\};", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^(\w+)\(\)(?: / _\w+\(\))*(?: and its like)? - (.*)", re.DOTALL)
FUNCTION = re.compile(r"^(?:\w+\s+)(.*?)\b(\w+)\((.*)\)$", re.DOTALL)
ANNOTATION = re.compile(r"\b_(In|Out|Inout|Outptr)(\w*)_(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")
CALLING = re.compile(r"\b(?:WINAPI|WMIAPI|EVNTAPI|NTAPI|APIENTRY|STDMETHODCALLTYPE)\b")
ITEM_CODES = re.compile(rf"^(?:also )?({CODE}(?:(?:,| and|, and| or|, or) {CODE})*)"
                        r"(?::\s+|\s+(?=of |when |where |also |if |for |as )|$)(.*)$", re.DOTALL)
LAST_OR = re.compile(rf"^(?!{CODE})(.*?),? or ({CODE})$", re.DOTALL)
# What a code means where the header does not say it.
MEANINGS = {"-ENOMEM": "Memory ran out.", "-EISDIR": "It is a folder.",
            "-ENAMETOOLONG": "The name is too long.",
            "ERROR_NOT_ENOUGH_MEMORY": "Memory ran out.",
            "ERROR_ACCESS_DENIED": "This user may not.",
            "ERROR_DISK_FULL": "The disk is full.",
            "ERROR_INVALID_HANDLE": "There is no such handle."}


@dataclasses.dataclass
class Function:
    name: str
    result: str         # "int", "const char *"
    parameters: list    # [(declaration without annotations, name, "in", "out, optional" or "")]


@dataclasses.dataclass
class Entry:
    """One documented group of functions."""
    title: str
    functions: list
    paragraphs: list = dataclasses.field(default_factory=list)  # str, or a list of literal lines
    parameters: dict = dataclasses.field(default_factory=dict)  # {name: meaning}
    returns: list = dataclasses.field(default_factory=list)     # sentences
    errors: list = dataclasses.field(default_factory=list)      # [(codes, meaning)]
    context: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Header:
    name: str           # "etw/reader.h"
    head: "Entry"       # the comment at its top
    entries: list
    types: dict         # {"struct libetw_stats": definition with its comment}


def sentence(text):
    text = text.strip()
    if not text:
        return text
    first = text.split()[0]
    if not first.startswith(("libetw_", "@", "`", "-", "etw")) and "_" not in first:
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?:" else text + "."


def begins_paragraph(line, current):
    """Whether a line begins anew without a blank line above: a parameter, a row of errors."""
    if line.startswith(("Returns ", "Context: ")) or re.match(r"@\w+(?:, @\w+)*: ", line):
        return True
    return "Returns " not in current and bool(re.match(rf"{CODE}(?:, {CODE})*: ", line))


def comment_paragraphs(comment):
    """The text of a comment as paragraphs; runs of tab-indented lines stay as they are."""
    lines = [re.sub(r"^ ?\*(?:/| |(?=\t)|$)", "", line)
             for line in re.sub(r"^/\*|\s*\*/$", "", comment).split("\n")]
    paragraphs = []
    current = None
    for line in lines:
        if line.startswith("\t"):
            if not (paragraphs and isinstance(paragraphs[-1], list)):
                paragraphs.append([])
            paragraphs[-1].append(line[1:])
            current = None
        elif not line.strip():
            if paragraphs and isinstance(paragraphs[-1], list) and current is None:
                paragraphs[-1].append("")
            current = None
        elif current is None or begins_paragraph(line.strip(), current):
            current = line.strip()
            paragraphs.append(current)
        else:
            current += " " + line.strip()
            paragraphs[-1] = current
    for paragraph in paragraphs:
        while isinstance(paragraph, list) and paragraph and not paragraph[-1].strip():
            paragraph.pop()
    return paragraphs


def parse_function(text):
    """A declaration as Function; None where it is none."""
    match = FUNCTION.match(re.sub(r"\s+", " ", CALLING.sub("", text)).strip())
    if not match:
        return None
    result, name, inside = match.groups()
    parameters = []
    for part in split_parameters(inside):
        direction = ""
        found = ANNOTATION.search(part)
        if found:
            direction = {"In": "in", "Inout": "in and out"}.get(found.group(1), "out")
            direction += ", optional" if "opt" in found.group(2) else ""
        plain = re.sub(r"\s+", " ", ANNOTATION.sub("", part)).strip()
        called = re.search(r"\(\*(\w+)\)\(|(\w+)(?:\[\w*\])?$", plain)
        word = (called.group(1) or called.group(2)) if called else ""
        parameters.append((plain, word, direction))
    return Function(name, result.strip(), [] if inside.strip() == "void" else parameters)


def split_parameters(text):
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return parts + [text[start:]]


def take_returns(entry, text):
    """Split what follows `Returns` into results, errors and the sentences behind them."""
    items = [item.strip() for item in text.split("; ")]
    tail = ""
    stop = re.search(r"\.(?: |$)(?=[A-Z@l`]|$)", items[-1])
    if stop:
        items[-1], tail = items[-1][:stop.start()], items[-1][stop.end():]
    plain = []
    for item in items:
        bare = item.rstrip(".")
        if bare.startswith("ERROR_SUCCESS"):
            plain.append(bare)
            continue
        last = LAST_OR.match(bare)
        codes = ITEM_CODES.match(bare)
        if codes:
            meaning = re.sub("^of talking ", "what comes of talking ", codes.group(2))
            entry.errors.append((codes.group(1), meaning))
        elif last:
            plain.append(last.group(1))
            entry.errors.append((last.group(2), ""))
        elif entry.errors:
            entry.errors.append(("", bare))
        else:
            plain.append(bare)
    if plain and plain[0].startswith("ERROR_SUCCESS") and entry.errors:
        plain.append("otherwise one of the errors below")
    if plain:
        entry.returns.append(sentence("; ".join(plain)))
    if tail.strip():
        entry.returns.append(sentence(tail))


def fill_entry(entry, paragraphs):
    """Sort the paragraphs of a comment into the parts of an entry."""
    for paragraph in paragraphs:
        if isinstance(paragraph, list):
            entry.paragraphs.append(paragraph)
            continue
        parameter = re.match(r"((?:@\w+(?:, (?=@)|: ?))+)(.*)", paragraph, re.DOTALL)
        if parameter and ":" in parameter.group(1):
            for name in re.findall(r"@(\w+)", parameter.group(1)):
                entry.parameters[name] = parameter.group(2)
            continue
        code = re.match(rf"({CODE}(?:, {CODE})*): +(.*)", paragraph, re.DOTALL)
        if code:
            entry.errors.append((code.group(1), code.group(2).rstrip(";")))
            continue
        context = re.search(r"(?:^|(?<=\. ))Context: ", paragraph)
        if context:
            entry.context.append(sentence(paragraph[context.end():]))
            paragraph = paragraph[:context.start()].strip()
        of_all = re.match(r"(?:All of these return|Each function returns) (?=0|a new)", paragraph)
        if of_all:
            text = paragraph.removesuffix(" and return one of")
            entry.returns.append(sentence(text[of_all.end():]))
            entry.paragraphs.append(sentence(text))
            continue
        returns = re.search(r"(?:^|(?<=[.)] ))Returns (?!it )", paragraph)
        if returns:
            take_returns(entry, paragraph[returns.end():])
            paragraph = paragraph[:returns.start()].strip()
        if paragraph:
            entry.paragraphs.append(sentence(paragraph))


def parse_header(path, name):
    text = path.read_text(encoding="utf-8")
    header = Header(name, Entry("", []), [], {})
    comment = None          # the one above, while nothing else came between
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith("/*"):
            if "SPDX" in token:
                continue
            comment = token
            paragraphs = comment_paragraphs(token)
            if not header.entries and not header.head.paragraphs and "#ifndef" not in \
                    text[:match.start()]:
                fill_entry(header.head, paragraphs)
                continue
            first = paragraphs[0] if paragraphs and isinstance(paragraphs[0], str) else ""
            title = TITLE.match(first)
            if title:
                # A title of several sentences goes on as text.
                one, _, rest = re.sub(r"\s+", " ", title.group(2)).partition(". ")
                if re.match(r"Returns ", one):
                    one, rest = "", title.group(2)
                entry = Entry(one.rstrip("."), [])
                entry.first = title.group(1)
                fill_entry(entry, ([rest] if rest.strip() else []) + paragraphs[1:])
                header.entries.append(entry)
            else:
                header.entries.append(None)     # a comment that documents no function
            continue
        function = None if token.startswith(("typedef", "struct", "enum")) else \
            parse_function(token)
        if function:
            header.entries = header.entries or [None]
            if header.entries[-1] is not None:
                header.entries[-1].functions.append(function)
            else:
                header.entries[-1:] = [None, Entry("", [function]), None]
        else:
            add_type(header, token, comment, text[:match.start()])
        comment = None
    header.entries = [entry for entry in header.entries if entry and entry.functions]
    return header


def add_type(header, token, comment, before):
    names = re.match(r"(struct|enum) \w+", token)
    key = names.group(0) if names else \
        (re.search(r"\(\*(\w+)\)|\}\s*(\w+)|(\w+);$", token) or [None, None])[0]
    if not names:
        found = re.search(r"\((?:\w+ )?\*(\w+)\)", token) or re.search(r"\}\s*(\w+)", token)
        key = found.group(1) if found else None
    if key:
        above = comment if comment and before.rstrip().endswith("*/") else ""
        header.types[key] = (above + "\n" if above else "") + token
