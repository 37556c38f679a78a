"""Command lines: an option that has one value stands there once.

Parsers let the last of several values win. What came before would be left out without a word: of two attributes an audit would
be about one, and a gate over both be green because the first was never looked at.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ..text import some_of
from ..text.mistakes import listed
from ..text.shown import shortened
from .keywords import shown_override


def repeated_options(values: Mapping[str, Sequence[str]]) -> str:
    """What is wrong with options of one value; "" where each stands at most once.

    Args:
        values: option -> all values that a command line has of it, in their order, as an error shows them.
    """
    return listed(
        [
            f"{name} is given {'twice' if len(shown) == 2 else f'{len(shown)} times'} ({some_of(shown)}), and it has one value; "
            "give it once, or run the command once for each"
            for name, shown in values.items()
            if len(shown) > 1
        ]
    )


def repeated_keys(option: str, entries: Sequence[str]) -> str:
    """What is wrong with an option that is given as KEY=VALUE for several keys; "" where no value replaces another.

    The value of "a" replaces that of "a.b" before it.
    """
    values: dict[str, dict[str, None]] = {}
    for place, entry in enumerate(entries):
        key = entry.partition("=")[0]
        replaced = (
            earlier_entry
            for earlier_entry in entries[:place]
            if f"{earlier_entry.partition('=')[0]}.".startswith(f"{key}.")
        )
        values[f"{option} {key}"] = dict.fromkeys(map(shown_override, (*replaced, entry)))
    return repeated_options({name: list(shown) for name, shown in values.items()})


class SingleValues(argparse.ArgumentParser):
    """A parser that refuses a repeated option of one value."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for action in (None, "store"):
            self.register("action", action, _StoreOnce)

    @property
    def option_strings(self) -> set[str]:
        """Its options as they are written: {"--set", "--help", "-h"}."""
        return {option for action in self._actions for option in action.option_strings}

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """What `argparse.ArgumentParser.parse_known_args` gives; a repeated option of one value ends the program with code 2."""
        values: dict[str, list[str]] = {}
        for action in self._actions:
            if isinstance(action, _StoreOnce):
                action.values = values.setdefault(_name(action), [])
        parsed_args = super().parse_known_args(args, namespace)
        if mistake := repeated_options(values):
            self.error(mistake)
        return parsed_args


class _StoreOnce(argparse.Action):
    """Stores a value as argparse does, and keeps all that it was given."""

    # as errors show them
    values: list[str]

    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, values)
        if option_string is not None:
            self.values.append(shortened(values if isinstance(values, list) else str(values)))


def _name(action: argparse.Action) -> str:
    return max(action.option_strings, key=len, default=action.dest)
