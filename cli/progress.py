"""How far the work is, while it runs: a bar in a terminal, a line at its start and its end where the output goes elsewhere."""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..extras import verbosity
from ..runfolder.progress import Tally, progress_path, read_progress
from ..text.amounts import clock
from .terminal import console, note, note_cautions, relay, say_put_aside, summary

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..config import Recipe
    from ..loop import Step
    from ..runfolder.stages import Receipt

# columns of the bar
WIDTH = 16
# batches that the rate is told from: of the first ones a model still warms up
WINDOW = 20


def run_with_progress(
    recipe: "Recipe", twins: Sequence[Path] = (), verbs: Collection[str] | None = None, name: str = ""
) -> None:
    """Run a recipe's loop: a bar for the step that runs, and a line for each that is done.

    Args:
        twins: folders of other runs, from which finished steps with the very same inputs are copied.
        verbs: whose steps are run; None runs all.
        name: what is shown in place of the names of steps.
    """
    from ..loop import plan, run_loop, steps
    from ..runfolder.phases import RESOLVED

    if (recipe.output / RESOLVED).is_file():
        say_put_aside(recipe, plan(recipe))
    names = [step.name for step in steps(recipe) if verbs is None or step.verb in verbs]

    def title(step: "Step") -> str:
        return name or f"step {names.index(step.name) + 1} of {len(names)}  {step.name}"

    def running(step: "Step") -> AbstractContextManager[Callable[[str], object] | None]:
        return watched(title(step), step.folder(recipe), step.verb)

    def on_done(step: "Step", receipt: "Receipt", reused: bool) -> None:
        width = max(len(name), len(f"step {len(names)} of {len(names)}  ") + max(map(len, names)))
        note(summary(f"{title(step):{width}}", receipt, reused))
        note_cautions(receipt)

    run_loop(recipe, running=running, on_done=on_done, twins=twins, verbs=verbs)


@contextmanager
def watched(title: str, folder: Path, stage: str = "*") -> Iterator[Callable[[str], object] | None]:
    """Show how far a stage is while the block runs.

    Args:
        title: names it.
        folder: the stage's.
        stage: its name; "*" for whichever is at work there.

    Yields:
        What takes the output of the stage's process, with -v.
    """
    from rich.live import Live

    from .consoles import Terminal

    terminal = Terminal()
    if not terminal.is_terminal or verbosity():
        say_start(title)
        yield relay if verbosity() == "verbose" else None
        return
    view = View(title, lambda: _tally(folder, stage))
    with Live(get_renderable=view.render, console=terminal, transient=True, refresh_per_second=2):
        yield None


def say_start(title: str) -> None:
    """Print when work begins of which no bar is shown here."""
    note(f"{title}  started at {datetime.now():%H:%M:%S}")


def say_judging() -> None:
    """Print when judges begin, whose own bar stands in terminals alone."""
    if not console().is_terminal:
        say_start("judging")


def _tally(folder: Path, stage: str) -> Tally | None:
    pattern = progress_path(folder, stage)
    return next(filter(None, map(read_progress, sorted(pattern.parent.glob(pattern.name)))), None)


class View:
    """A stage that is under way: since when, how much of it is done, how fast, and how long it will yet take.

    Args:
        title: names it.
        look: how far it is; None while that is not known.
        clock: seconds.
    """

    def __init__(
        self, title: str, look: Callable[[], Tally | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._look = look
        self._clock = clock
        self._began = clock()
        self._unit = ""
        # when how much was done
        self._seen: deque[tuple[float, int]] = deque(maxlen=WINDOW)

    def render(self) -> "RenderableType":
        """What is shown now, in at most 80 columns."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        head = Text(f"{self._title}  {clock(self._clock() - self._began)}", no_wrap=True, overflow="ellipsis")
        tally = self._look()
        if tally is None:
            return head
        done, total = sum(tally.done.values()), sum(tally.total.values())
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(
            ProgressBar(total, done, width=WIDTH),
            f"{done:,} of {total:,} {tally.unit}",
            *self._speed(tally, done, total),
        )
        parts = ", ".join(f"{part} {tally.done[part]:,}/{n:,}" for part, n in tally.total.items())
        return Group(head, line, *([Text(parts)] if len(tally.total) > 1 else []))

    def _speed(self, tally: Tally, done: int, total: int) -> list[str]:
        """Rate and time left; nothing before the first batch is done."""
        now = self._clock()
        if tally.unit != self._unit:
            # another part of the work has begun
            self._unit = tally.unit
            self._seen.clear()
        if not self._seen or self._seen[-1][1] != done:
            self._seen.append((now, done))
        (first, before), (last, until) = self._seen[0], self._seen[-1]
        if until <= before or last <= first:
            return []
        rate = (until - before) / (last - first)
        seconds_left = max(0.0, (total - done) / rate - (now - last))
        return [f"{rate:,.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min", f"{clock(seconds_left)} left"]
