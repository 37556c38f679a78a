"""What the verbs print with: lines, tables, and the plan of a run."""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ..extras import verbosity
from ..text import some_of
from ..text.controls import visible
from ..text.secrets import redacted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from ..config import Recipe
    from ..evaluation.pages.blocks import Block, Page
    from ..loop import PlannedStep
    from ..runfolder.stages import Receipt


# letters of a line that nothing wraps
UNWRAPPED = 100_000


def say(text: str) -> None:
    """Print a line as it is: names and paths are data, not markup."""
    console().print(visible(text), highlight=False)


def complain(text: str) -> None:
    """Print a message to stderr as it is but for keys, not wrapped."""
    print(visible(redacted(text)), file=sys.stderr)


def relay(output: str) -> None:
    """Print what a process of a step has written, whose bars begin their line again."""
    sys.stderr.write("\r".join(map(visible, output.split("\r"))))


def console() -> "Console":
    """The terminal; long lines are wrapped by it and not by us."""
    from .consoles import Terminal

    return Terminal(soft_wrap=True)


def show(renderable: "RenderableType") -> None:
    """Print a table and what stands around it, wrapped at a terminal's width; in a file or a pipe a sentence is a line."""
    from io import StringIO

    from .consoles import Terminal

    if Terminal().is_terminal:
        Terminal().print(renderable)
        return
    unwrapped = StringIO()
    Terminal(file=unwrapped, width=UNWRAPPED).print(renderable)
    for line in unwrapped.getvalue().splitlines():
        say(line.rstrip())


def show_page(page: "Page", more: "Iterable[Block]" = ()) -> None:
    """Print a page's overview and `more` of its blocks, or with -v all of it."""
    from ..evaluation.pages.terminal import fragment, render

    is_whole = verbosity() == "verbose"
    show(render(page, whole=is_whole))
    if not is_whole:
        show(fragment(more))


def plain_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str | None = None,
    *,
    words: Collection[str] = (),
    numbers: Collection[str] = (),
) -> "Table":
    """A table without lines, whose names and numbers are neither broken nor cut.

    Args:
        columns: their headings.
        rows: cells of each; the last may be left out.
        title: above it.
        words: columns whose cells wrap, also of those in `numbers`.
        numbers: columns that stand at the right, below headings that wrap.
    """
    from rich.cells import cell_len
    from rich.table import Table

    table, rows = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)), list(rows)
    for place, heading in enumerate(columns):
        wraps, is_number = heading in words, heading in numbers and heading not in words
        whole = heading.split() if is_number else [heading]
        whole += [line for row in rows for line in "".join(row[place : place + 1]).splitlines()]
        table.add_column(
            heading,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=not wraps and not is_number,
            min_width=None if wraps else max(map(cell_len, whole)),
        )
    for row in rows:
        table.add_row(*row)
    return table


def note(text: str) -> None:
    """Print a line about work that goes on, which -q leaves out."""
    if verbosity() != "quiet":
        say(text)


# names of counts that lose more than their last letter where the count is one, or none
ONE = {
    "summaries": "summary",
    "stopped by max tokens": "stopped by max tokens",
    "steps stopped by max tokens": "step stopped by max tokens",
}


def summary(name: str, receipt: "Receipt", reused: bool) -> str:
    """One line: what a step made and in how long, now or, where it is reused, when it was made."""
    counts, seconds = receipt.counts.items(), receipt.seconds
    names = ((value, key.replace("_", " ")) for key, value in counts if isinstance(value, int))
    shown = ", ".join(
        f"{value:,} {ONE.get(name, name.removesuffix('s')) if value == 1 else name}" for value, name in names
    )
    parts = [f"{name:30}", f"reused, made in {seconds:.1f} s" if reused else f"{seconds:6.1f} s"]
    parts += [f"{left_out} left out"] if (left_out := _left_out(receipt)) else []
    return "  ".join([*parts, shown]).rstrip()


def _left_out(receipt: "Receipt") -> str:
    """How much a step left out, in units; "" for nothing."""
    counts = Counter[str]()
    for row in receipt.left_out:
        counts[row.what] += row.count
    # receipts of earlier versions do not say of what
    return ", ".join(f"{n:,} {unit}{'s' if n > 1 and unit else ''}".rstrip() for unit, n in sorted(counts.items()) if n)


def note_cautions(receipt: "Receipt") -> None:
    """Print what a step warns of, a line each."""
    for warning in receipt.counts.get("cautions", []):
        note(f"warning: {warning}")


def print_plan(recipe: "Recipe") -> None:
    """The steps of a recipe's loop with what each will handle, where its files go, and which earlier files are put aside."""
    from ..loop import plan

    planned = plan(recipe)
    rows = ((row.step.name, row.work, "done" if row.is_done else "anew" if row.aside else "to do") for row in planned)
    show(plain_table(("step", "work", "state"), rows, words=("work",)))
    say_put_aside(recipe, planned)
    say(f"output: {recipe.output}")


def say_put_aside(recipe: "Recipe", planned: "Sequence[PlannedStep]") -> None:
    """Which finished steps are made again, why, and where their files are put."""
    from ..runfolder.phases import changed_keys

    anew = [row for row in planned if row.aside]
    if not anew:
        return
    changed = changed_keys(recipe)
    why = (
        f"changed: {some_of(changed)}"
        if changed
        else "the recipe is the last command's here: documents, models or files of the run changed, or it was interrupted"
    )
    note(
        f"Finished steps that are made again: {len(anew)} of {len(planned)} ({why}). Their earlier files are put aside in"
    )
    for folder in dict.fromkeys(row.aside.parent for row in anew if row.aside):
        verbs = [row.step.verb for row in anew if row.aside and row.aside.parent == folder]
        note(f"  {folder}: {', '.join(verbs)}")
