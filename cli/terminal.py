"""What the verbs print with: lines, the plan of a run, and a run's progress."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..text import some_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from ..config import Recipe
    from ..loop import PlannedStep, Step
    from ..runfolder.stages import Receipt


def say(text: str) -> None:
    """Print a line as it is: names and paths are data, not markup."""
    console().print(text, highlight=False, markup=False)


def console() -> "Console":
    """The terminal; long lines are wrapped by it and not by us."""
    from rich.console import Console

    return Console(soft_wrap=True)


def show(renderable: "RenderableType") -> None:
    """Print a table; what stands around it is wrapped at the terminal's width."""
    from rich.console import Console

    Console().print(renderable)


def summary(name: str, counts: dict[str, Any], seconds: float, reused: bool) -> str:
    """One line: what a step made, in how long, or that it was reused."""
    shown = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in counts.items() if isinstance(value, int))
    left_out = sum(row["count"] for row in counts.get("left_out", []))
    parts = [f"{name:30}", f"reused ({seconds:.0f} s earlier)" if reused else f"{seconds:6.1f} s", shown]
    if left_out:
        parts.append(f"{left_out:,} left out")
    return "  ".join(part for part in parts if part)


def run_with_progress(terminal: "Console", recipe: "Recipe", twins: Sequence[Path] = ()) -> None:
    """Run a recipe's loop with one line a finished step and, in a terminal, the running step's last log line.

    Args:
        twins: folders of other runs, from which finished steps with the very same inputs are copied.
    """
    from rich.text import Text

    from ..loop import RESOLVED, plan, run_loop

    if (recipe.output / RESOLVED).is_file():
        _say_put_aside(recipe, plan(recipe))
    with terminal.status("") as status:

        def on_start(step: "Step") -> Callable[[str], None]:
            status.update(Text(step.name))
            return lambda line: status.update(Text(f"{step.name}  {line}", overflow="ellipsis", no_wrap=True))

        def on_done(step: "Step", receipt: "Receipt", reused: bool) -> None:
            terminal.print(summary(step.name, receipt.counts, receipt.seconds, reused), highlight=False, markup=False)

        run_loop(recipe, on_start=on_start, on_done=on_done, twins=twins)


def print_plan(recipe: "Recipe") -> None:
    """The steps of a recipe's loop with what each will handle, where its files go, and which earlier files are put aside."""
    from rich.table import Table

    from ..loop import plan

    table = Table("step", "work", "state")
    planned = plan(recipe)
    for row in planned:
        table.add_row(row.step.name, row.work, "done" if row.is_done else "anew" if row.aside else "to do")
    console().print(table)
    _say_put_aside(recipe, planned)
    say(f"output: {recipe.output}")


def _say_put_aside(recipe: "Recipe", planned: "Sequence[PlannedStep]") -> None:
    """Which finished steps are made anew, why, and where their files are put."""
    from ..loop import changed_keys

    anew = [row for row in planned if row.aside]
    if not anew:
        return
    changed = changed_keys(recipe)
    why = (
        f"changed: {some_of(changed)}"
        if changed
        else "the recipe is the last command's here: documents, models or files of the run changed, or it was interrupted"
    )
    say(
        f"Finished steps that are made anew: {len(anew)} of {len(planned)} ({why}). Their earlier files are put aside in"
    )
    for folder in dict.fromkeys(row.aside.parent for row in anew if row.aside):
        verbs = [row.step.verb for row in anew if row.aside and row.aside.parent == folder]
        say(f"  {folder}: {', '.join(verbs)}")
