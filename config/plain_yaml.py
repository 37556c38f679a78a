"""YAML as people write it for evenhand: plain data of bounded size, and every mistake with its line.

Texts, numbers, true, false, null, lists, and mappings with texts as keys; a date is a text, as in JSON. Aliases and merge keys
work. Refused are other tags, keys written twice, and what no recipe needs: values within each other beyond `MOST_NESTED` levels,
and more than `MOST_VALUES` of them, an alias counting as all that it stands for.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ..errors import RecipeError
from ..storage import read_text
from ..text.json_text import MOST_NESTED
from ..text.shown import cut, shortened

# a number such as 5e-6 or 1e3, which YAML 1.1 takes for a text because it has no point
POINTLESS_FLOAT = re.compile(r"[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$")
# what ends a line in YAML 1.1 besides the usual; written as it is, it would be read back as a blank
LINE_ENDS = re.compile("[\x85\u2028\u2029]")
# of a file
MOST_CHARACTERS = 1_000_000
MOST_VALUES = 10_000
# whole numbers of more bits are no number of anything, and cannot be shown once they have thousands of digits
MOST_BITS = 64

TAG = "tag:yaml.org,2002:"
FLOAT = f"{TAG}float"
FIRST_OF_FLOAT = list("-+0123456789")
KEY_TAGS = (f"{TAG}str", f"{TAG}merge")
PLAIN_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")


class NotYamlError(RecipeError):
    """A text is not YAML that can be used; `line` is where it breaks."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(f"cannot be read as YAML: {cut(text)}")
        self.line = line


class _PlainLoader(yaml.SafeLoader):
    """A safe loader of plain data, which counts what it reads."""

    yaml_constructors = {  # noqa: RUF012 (PyYAML's own name and form)
        **{f"{TAG}{name}": yaml.SafeLoader.yaml_constructors[f"{TAG}{name}"] for name in PLAIN_TAGS},
        None: yaml.SafeLoader.yaml_constructors[None],
    }
    yaml_implicit_resolvers = {  # noqa: RUF012 (PyYAML's own name and form)
        first: [(tag, pattern) for tag, pattern in resolvers if tag != f"{TAG}timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._n_values = 0
        # what the node with an anchor comes to, itself included; absent while it is still being read
        self._values_of: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        anchor, mark, before = event.anchor, event.start_mark, self._n_values
        if isinstance(event, yaml.AliasEvent):
            if anchor in self.anchors and anchor not in self._values_of:
                raise _refusal(
                    f"alias {shortened(anchor)} refers to a value that contains it; write the value out", mark
                )
            self._n_values += self._values_of.get(anchor, 0)
        else:
            self._n_values += 1
        if self._depth > MOST_NESTED:
            raise _refusal(f"values are nested deeper than {MOST_NESTED} levels", mark)
        if self._n_values > MOST_VALUES:
            raise _refusal(f"comes to more than {MOST_VALUES:,} values, aliases written out", mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if anchor is not None:
            self._values_of.setdefault(anchor, self._n_values - before)
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refusal("a key must be a plain name", key.start_mark)
            if key.tag not in KEY_TAGS:
                raise _refusal(f"key {shortened(key.value)} is not a text; put it in quotes", key.start_mark)
            if key.value in seen:
                raise _refusal(f"key {shortened(key.value)} is written twice; take one out", key.start_mark)
            seen.add(key.value)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, str):
                value.encode()
                if "\0" in value:
                    raise _refusal("holds the character \\0, which neither names nor texts have", node.start_mark)
        except UnicodeEncodeError as error:
            raise _refusal("holds half a character, which no text can hold; take it out", node.start_mark) from error
        except (ValueError, KeyError, IndexError) as error:
            kind = node.tag.removeprefix(TAG)
            raise _refusal(f"{shortened(node.value)} is not of the type {kind!r}", node.start_mark) from error
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise _refusal(f"a whole number of more than {MOST_BITS} bits", node.start_mark)
        return value


_PlainLoader.add_implicit_resolver(FLOAT, POINTLESS_FLOAT, FIRST_OF_FLOAT)


def _refusal(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def parse_yaml(text: str) -> Any:
    """The plain data that a YAML text holds; 5e-6 is a number.

    Raises:
        NotYamlError: the text is not YAML, or holds what the module refuses.
    """
    return _parse(text)[0]


def read_yaml(path: Path) -> Any:
    """The plain data of a YAML file.

    Raises:
        StorageError: the file cannot be read.
        RecipeError: it is not YAML, or holds what the module refuses; file and line are named.
    """
    return read_yaml_lines(path)[0]


def read_yaml_lines(path: Path) -> tuple[Any, dict[str, int]]:
    """The plain data of a YAML file, and the line of each dotted key; errors as of `read_yaml`.

    What an alias or a merge key brings has the line where it is written out.
    """
    try:
        return _parse(read_text(path, 4 * MOST_CHARACTERS))
    except NotYamlError as error:
        raise RecipeError(f"{path}:{error.line}: {error}") from error


def _parse(text: str) -> tuple[Any, dict[str, int]]:
    if len(text) > MOST_CHARACTERS:
        raise NotYamlError(f"has {len(text):,} characters, and {MOST_CHARACTERS:,} are read", 1)
    loader = None
    try:
        loader = _PlainLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        # before the lines, because this puts the keys of merge keys in their place
        values = loader.construct_document(node)
        return values, dict(_lines(node))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotYamlError(f"unacceptable character #x{error.character:04x}", line) from error
    except yaml.MarkedYAMLError as error:
        raise NotYamlError(str(error.problem), error.problem_mark.line + 1 if error.problem_mark else 1) from error
    except ValueError as error:
        # an escape such as "\U00110000", which PyYAML gives to chr
        raise NotYamlError("holds an escape that is not a character", loader.line + 1 if loader else 1) from error


def _lines(node: yaml.Node, within: str = "") -> Iterator[tuple[str, int]]:
    """Each dotted key below a node, and its line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield f"{within}{key.value}", key.start_mark.line + 1
            yield from _lines(value, f"{within}{key.value}.")
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield f"{within}{place}", value.start_mark.line + 1
            yield from _lines(value, f"{within}{place}.")


class _PlainDumper(yaml.SafeDumper):
    """Quotes what the loader would otherwise read as a number, or as a line's end."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        return self.represent_scalar(f"{TAG}str", data, style='"' if LINE_ENDS.search(data) else None)


_PlainDumper.add_representer(str, _PlainDumper.represent_str)
_PlainDumper.add_implicit_resolver(FLOAT, POINTLESS_FLOAT, FIRST_OF_FLOAT)


def dump_yaml(values: Any, *, compact: bool = False) -> str:
    """Plain data as YAML that `parse_yaml` reads back as it is; `compact` writes innermost lists and mappings in one line."""
    style = None if compact else False
    text: str = yaml.dump(
        values, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=style
    )
    return text
