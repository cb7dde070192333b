# SPDX-License-Identifier: MIT
"""The table of known providers as Python objects: docs/format/known-providers.md.

read_provider() reads one file of src/schema/known/table/, write_provider() writes one. The objects
have the shape of the facts that the table was made from, see scripts/import_known_providers.
"""

import re

BARE = re.compile(r"[\w.:/+*#@-]+\Z", re.ASCII)
FIELD_NAME = re.compile(r"\w+\Z", re.ASCII)
TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"=(){}\[\],]+)|(.))')
MARKS = ("incomplete", "inferred", "doubt")
CLASSIC_KEYS = ("extension", "termination", "format", "count")


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def word(text):
    """A name as one token; digits alone are a number, so such a name is quoted."""
    return text if BARE.match(text) and not text.isdigit() else quote(text)


def rest_of_line(text):
    """A name up to the end of the line."""
    return quote(text) if text != text.strip() or not text or text[0] == '"' else text


def unquote(text):
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def out_type(name):
    """Sources mix the prefixes up, and they say nothing."""
    return name.split(":")[-1]


# Writing.

def field_text(field):
    name, kind, more = field[0], field[1], field[2] if len(field) > 2 else {}
    text = (name if FIELD_NAME.match(name) else quote(name)) + " " + kind
    if "out" in more:
        text += "/" + out_type(more["out"])
    for key, left, right in (("length", "(", ")"), ("count", "[", "]")):
        if key in more:
            value = more[key]
            text += left + (str(value) if isinstance(value, int) else
                            value if FIELD_NAME.match(value) else quote(value)) + right
    if "fields" in more:
        text += "{" + ", ".join(field_text(member) for member in more["fields"]) + "}"
    if "map" in more:
        text += "=" + word(more["map"])
    return text


def classic_field_text(field):
    more = field[2] if len(field) > 2 else {}
    return " ".join([field[0], field[1]] +
                    [f"{key}={word(str(more[key])) if key != 'count' else more[key]}"
                     for key in CLASSIC_KEYS if key in more])


def template_line(kind, label, template, one_field):
    marks = "".join(" " + mark for mark in MARKS if template.get(mark))
    return f"{kind} {label}{marks}: " + ", ".join(one_field(field) for field in template["fields"])


class Labels:
    """Gives each template the id and version of the first event that has it."""

    def __init__(self, lines, kind, templates, one_field):
        self.lines, self.kind, self.templates, self.one = lines, kind, templates, one_field
        self.by_text, self.taken = {}, set()

    def use(self, index, wish):
        template = self.templates[index]
        text = template_line("", "", template, self.one)
        if text not in self.by_text:
            label, number = wish, 1
            while label in self.taken:
                number += 1
                label = f"{wish}-{number}"
            self.taken.add(label)
            self.by_text[text] = label
            self.lines.append(template_line(self.kind, label, template, self.one))
        return "fields=" + self.by_text[text]


def names_lines(provider):
    lines = []
    for mask in sorted(provider.get("keywords", {}), key=lambda text: int(text, 16)):
        lines.append(f"keyword {mask} {rest_of_line(provider['keywords'][mask])}")
    for kind, key in (("task", "tasks"), ("level", "levels"), ("channel", "channels")):
        for value in sorted(provider.get(key, {}), key=int):
            lines.append(f"{kind} {value} {rest_of_line(provider[key][value])}")
    for value in sorted(provider.get("opcodes", {}), key=int):
        names = provider["opcodes"][value]
        if isinstance(names, str):
            lines.append(f"opcode {value} {rest_of_line(names)}")
            continue
        for name, tasks in names.items():
            lines.append(f"opcode {value} of {','.join(str(task) for task in tasks)} "
                         f"{rest_of_line(name)}")
    for name in sorted(provider.get("maps", {})):
        entries = provider["maps"][name]
        lines.append(f"map {entries['kind']} {rest_of_line(name)}")
        for entry in entries["entries"]:
            lines.append(f"  {entry[0]}" + (" " + rest_of_line(entry[1]) if len(entry) > 1 else ""))
    return lines


def where(layout):
    return [f"{key}={layout[key]}" for key in ("builds", "from") if key in layout]


def event_words(event):
    words = [f"event {event['id']}"]
    if "version" in event:
        words[0] += f" v{event['version']}"
    for key in ("level", "task", "opcode"):
        if key in event:
            value = event[key]
            words.append(f"{key}={value if isinstance(value, int) else word(value)}")
    if "keywords" in event:
        words.append("keywords=" + event["keywords"])
    if "keywordnames" in event:
        words.append("keywordnames=" + ",".join(word(name) for name in event["keywordnames"]))
    for key in ("channel", "symbol"):
        if key in event:
            value = event[key]
            words.append(f"{key}={value if isinstance(value, int) else word(value)}")
    return words


def event_lines(lines, provider):
    labels = Labels(lines, "fields", provider.get("templates", []), field_text)
    for event in provider.get("events", []):
        wish = f"{event['id']}.{event.get('version', 0)}"
        more = []
        for layout in [event] + event.get("others", []):
            more.append([labels.use(layout["template"], wish)] if "template" in layout else [])
        lines.append(" ".join(event_words(event) + more[0] + where(event)))
        for layout, used in zip(event.get("others", []), more[1:]):
            lines.append(" ".join(["  or"] + used + where(layout)))


def classic_lines(lines, provider):
    labels = Labels(lines, "classicfields", provider.get("classictemplates", []),
                    classic_field_text)
    for event in provider.get("classic", []):
        words = [f"classic {event['class']} {event['type']}"]
        if "version" in event:
            words[0] += f" v{event['version']}"
        words.append("name=" + word(event["name"]))
        if "opcode" in event:
            words.append("opcode=" + word(event["opcode"]))
        if "template" in event:
            wish = re.sub(r"[^\w.-]", "_", event["name"], flags=re.ASCII)
            words.append(labels.use(event["template"], wish))
        lines.append(" ".join(words))


def write_provider(provider):
    """The text of a provider's file."""
    lines = ["provider " + provider["name"]]
    if provider["guid"]:
        lines.append("guid " + provider["guid"])
    lines += ["formerly " + name for name in provider.get("formerly", [])]
    if "builds" in provider:
        lines.append("builds " + provider["builds"])
    lines.append("sources " + " ".join(provider["sources"]))
    lines += names_lines(provider)
    event_lines(lines, provider)
    classic_lines(lines, provider)
    return "\n".join(lines) + "\n"


def number_templates(provider):
    """A provider of read_provider() with its templates by number, as write_provider() asks for."""
    result = dict(provider)
    for key, name in (("events", "templates"), ("classic", "classictemplates")):
        numbers, templates = {}, []

        def numbered(layout, numbers=numbers, templates=templates):
            layout = dict(layout)
            if "template" in layout:
                template = layout["template"]
                if id(template) not in numbers:
                    numbers[id(template)] = len(templates)
                    templates.append(template)
                layout["template"] = numbers[id(template)]
            if "others" in layout:
                layout["others"] = [numbered(other) for other in layout["others"]]
            return layout

        if key in provider:
            result[key] = [numbered(event) for event in provider[key]]
            result[name] = templates
    return result


# Reading.

class Scanner:
    """The tokens of one line: (text, is_quoted)."""

    def __init__(self, line):
        self.tokens = []
        for match in TOKEN.finditer(line.rstrip()):
            if match.group(1) is not None:
                self.tokens.append((re.sub(r"\\(.)", r"\1", match.group(1)), True))
            else:
                self.tokens.append((match.group(2) or match.group(3), False))
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", False)

    def take(self, wanted=None):
        text, quoted = self.peek()
        if self.at >= len(self.tokens) or (wanted and (quoted or text != wanted)):
            raise ValueError(f"expected {wanted or 'a word'}, found {text!r}")
        self.at += 1
        return text

    def skip(self, wanted):
        if self.peek() == (wanted, False):
            self.at += 1
            return True
        return False

    def value(self):
        """A number where only digits stand, else a name."""
        text, quoted = self.peek()
        self.at += 1
        return text if quoted or not text.isdigit() else int(text)

    def value_joined(self):
        """A value whose bare form may hold brackets only when quoted."""
        return self.value()


def read_fields(scan):
    fields = []
    while True:
        name, more = scan.take(), {}
        kind, _, out = scan.take().partition("/")
        if out:
            more["out"] = out
        for key, left, right in (("length", "(", ")"), ("count", "[", "]")):
            if scan.skip(left):
                more[key] = scan.value()
                scan.take(right)
        if scan.skip("{"):
            more["fields"] = read_fields(scan)
            scan.take("}")
        if scan.skip("="):
            more["map"] = scan.take()
        fields.append([name, kind, more] if more else [name, kind])
        if not scan.skip(","):
            return fields


def read_classic_fields(scan):
    fields = []
    while True:
        field, more = [scan.take(), scan.take()], {}
        while scan.peek()[0] in CLASSIC_KEYS:
            key = scan.take()
            scan.take("=")
            more[key] = int(scan.take()) if key == "count" else scan.take()
        fields.append(field + [more] if more else field)
        if not scan.skip(","):
            return fields


def read_template(rest, one):
    head, text = rest.split(": ", 1)
    label, *marks = head.split()
    template = {"fields": one(Scanner(text))}
    template.update({mark: True for mark in marks})
    return label, template


def read_words(scan, into):
    while scan.at < len(scan.tokens):
        key = scan.take()
        scan.take("=")
        if key == "keywordnames":
            names = [scan.take()]
            while scan.skip(","):
                names.append(scan.take())
            into[key] = names
        elif key == "builds":
            text = scan.take()
            while scan.skip(","):
                text += "," + scan.take()
            into[key] = text
        elif key in ("keywords", "fields", "from"):
            into[key] = scan.take()
        else:
            into[key] = scan.value()
    return into


def numbered(scan, key):
    into = {key: int(scan.take())}
    text, quoted = scan.peek()
    if not quoted and re.fullmatch(r"v\d+", text):
        into["version"] = int(scan.take()[1:])
    return into


def read_opcode(provider, rest):
    value, rest = rest.split(" ", 1)
    if rest.startswith("of "):
        _, tasks, name = rest.split(" ", 2)
        names = provider.setdefault("opcodes", {}).setdefault(value, {})
        names[unquote(name)] = [int(task) for task in tasks.split(",")]
    else:
        provider.setdefault("opcodes", {})[value] = unquote(rest)


def read_provider(text):
    """The provider that a file describes; templates are in place, not by number."""
    provider, labels, current = {"guid": None}, {}, None

    def resolve(layout):
        if "fields" in layout:
            layout["template"] = labels[layout.pop("fields")]
        return layout

    for line in text.splitlines():
        kind, _, rest = line.strip().partition(" ")
        if not kind or kind.startswith("#"):
            continue
        if line.startswith("  or"):
            others = current.setdefault("others", [])
            others.append(resolve(read_words(Scanner(rest), {})))
        elif line.startswith("  "):
            value, _, label = line[2:].partition(" ")
            current.append([int(value)] + ([unquote(label)] if label else []))
        elif kind == "provider":
            provider["name"] = rest
        elif kind in ("guid", "builds"):
            provider[kind] = rest
        elif kind == "formerly":
            provider.setdefault(kind, []).append(rest)
        elif kind == "sources":
            provider[kind] = rest.split()
        elif kind in ("keyword", "task", "level", "channel"):
            value, name = rest.split(" ", 1)
            provider.setdefault(kind + "s", {})[value] = unquote(name)
        elif kind == "opcode":
            read_opcode(provider, rest)
        elif kind == "map":
            how, name = rest.split(" ", 1)
            current = []
            provider.setdefault("maps", {})[unquote(name)] = {"kind": how, "entries": current}
        elif kind in ("fields", "classicfields"):
            one = read_fields if kind == "fields" else read_classic_fields
            label, labels[label] = read_template(rest, one)[0], read_template(rest, one)[1]
        elif kind == "event":
            scan = Scanner(rest)
            current = resolve(read_words(scan, numbered(scan, "id")))
            provider.setdefault("events", []).append(current)
        elif kind == "classic":
            scan = Scanner(rest)
            guid = scan.take()
            event = resolve(read_words(scan, {"class": guid, **numbered(scan, "type")}))
            provider.setdefault("classic", []).append(event)
        else:
            raise ValueError(f"no such line: {line!r}")
    return provider
