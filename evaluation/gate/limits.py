"""What a gate is asked: limits such as `worst_gap(coverage) < -0.05`, read by a grammar of one line and never evaluated.

    limit = ["now"] NAME ["(" ARGUMENT {"," ARGUMENT} ")"] ("<" | "<=" | ">" | ">=") NUMBER ["%"]

Capitals, and whether words are joined by blanks, hyphens or underscores, do not matter. An argument with a comma, a bracket or a
comparison in it stands in quotes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...config.gate import LEAST_GATED, GateSection
from ...config.recipe_file import load_section
from ...errors import DataError
from ...text.mistakes import listed
from ...text.shown import shortened

# how functions of what people would say begin
OF_PEOPLE = "people "
LONGEST = 500
ARGUMENT = r"""(?:\s*"[^"]*"\s*|\s*'[^']*'\s*|[^"'(),<>]+)"""
LIMIT = re.compile(
    rf"(?P<name>[^\W\d][\w\s-]*)(?:\((?P<arguments>{ARGUMENT}(?:,{ARGUMENT})*)\)\s*)?"
    r"(?P<sign><=|>=|<|>)\s*(?P<bound>[^\s%]+)\s*(?P<unit>%?)"
)
JOINTS = re.compile(r"[\s_]+|(?<=[^\W_])-+(?=[^\W_])")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
EXAMPLE = "worst_gap(coverage) < -0.05"
WORST, NOW = "worst ", "now "


def fold(name: str) -> str:
    """A name as names are compared; a hyphen joins words, and before a number is a minus."""
    return JOINTS.sub(" ", name.replace("'", "").replace("\u2212", "-")).strip().casefold()


@dataclass(frozen=True)
class Limit:
    """Beyond what a number must not be."""

    text: str
    # of the number, folded, without "worst"
    function: str
    arguments: tuple[str, ...]
    sign: str
    bound: float
    # whether all values or sides count, though there is a number of them together
    is_worst: bool = False
    # whether the number counts and not its change, though there is a baseline
    is_now: bool = False
    # what the profile calls it
    name: str = ""

    @property
    def place(self) -> str:
        """Where it was written, for errors."""
        return written(self.text, self.name)

    @property
    def is_upper(self) -> bool:
        """Whether larger numbers are beyond it."""
        return self.sign.startswith(">")

    def is_beyond(self, value: float, noise: float) -> bool:
        """Whether a number is; what differs by noise alone is the limit itself."""
        distance = value - self.bound if self.is_upper else self.bound - value
        return distance >= -noise if self.sign.endswith("=") else distance > noise


def written(text: str, name: str) -> str:
    """A limit as errors name it."""
    return f"limit {shortened(name)}: {shortened(text)}" if name else f"--fail-if {shortened(text)}"


def parse_limit(text: str, name: str = "", example: str = EXAMPLE) -> Limit:
    """One limit.

    Args:
        text: as it was written.
        name: what a profile calls it.
        example: of a limit, for errors.

    Raises:
        DataError: it is none; the text says how one is written.
    """
    place = written(text, name)
    match = LIMIT.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None:
        raise DataError(
            f"{place}: is not a limit; write NAME(WHAT) < NUMBER with <, <=, > or >= and at most {LONGEST} characters, "
            f'for example "{example}"; --fail-if help lists the names'
        )
    bound = float(match["bound"]) if NUMBER.fullmatch(match["bound"]) else math.nan
    if not math.isfinite(bound):
        raise DataError(f"{place}: {shortened(match['bound'])} is not a finite number, such as -0.05 or 5 %")
    function = fold(match["name"])
    is_now = function.startswith(NOW)
    function = function.removeprefix(NOW)
    arguments = re.findall(ARGUMENT, match["arguments"] or "")
    return Limit(
        text=text.strip(),
        function=function.removeprefix(WORST),
        arguments=tuple(fold(argument.strip().strip("\"'")) for argument in arguments),
        sign=match["sign"],
        bound=bound / 100 if match["unit"] else bound,
        is_worst=function.startswith(WORST),
        is_now=is_now,
        name=name,
    )


@dataclass(frozen=True)
class GateRequest:
    """Limits, and what they are held against."""

    limits: tuple[Limit, ...]
    is_strict: bool = False
    # that a number must rest on for a verdict
    least_sets: int = LEAST_GATED
    baseline: Path | None = None


def read_limits(texts: Sequence[str], profile: Path | None) -> tuple[tuple[Limit, ...], bool, int]:
    """Limits of the command line and of a profile, whether the profile is strict, and how many sets it asks for.

    Raises:
        DataError: limits are wrong; all of them are listed.
        RecipeError: the profile cannot be read, or its keys are wrong.
    """
    section = load_section(profile, GateSection, "gate") if profile else None
    limits, mistakes = [], []
    for name, text in (*(("", text) for text in texts), *(section.limits.items() if section else ())):
        try:
            limits.append(parse_limit(text, name))
        except DataError as error:
            mistakes.append(str(error))
    if mistakes:
        raise DataError(listed(mistakes))
    return tuple(limits), bool(section and section.strict), section.least_sets if section else LEAST_GATED
