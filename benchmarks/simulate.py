"""What the simulations share: what their command lines ask, and tables that are printed row by row."""

import argparse

from ..config.command_line import SingleValues
from .report import Option, count


def asked(
    about: str | None, trials: tuple[int, str], sets: tuple[list[int], str] | None = None, **more: Option
) -> argparse.Namespace:
    """What a simulation's command line says.

    Args:
        about: what --help begins with, up to the first blank line.
        trials: how many where --trials does not say, and of what.
        sets: how many document sets where --sets does not say, and of what; None has no such option.
        more: further options.
    """
    parser = SingleValues(description=(about or "").split("\n\n")[0])
    numbers = {"trials": count(*trials)} | ({"sets": count(*sets)} if sets else {})
    for option, how in (numbers | more).items():
        parser.add_argument(f"--{option}", **how)
    return parser.parse_args()


def print_heads(*heads: str) -> None:
    """Print the head of a table."""
    print_row(*heads)
    print(f"|{' --- |' * len(heads)}", flush=True)


def print_row(*cells: object) -> None:
    """Print a row, at once: the next one can take minutes."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
