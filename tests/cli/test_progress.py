"""What is shown of a step that runs, at a clock that the tests turn."""

from rich.console import Console

from evenhand.cli.progress import View
from evenhand.runfolder.progress import Tally


class Watched:
    """A view, its clock and the tally that it looks at."""

    def __init__(self, title="step 3 of 11  evaluation/round-00 generate"):
        self.now, self.tally = 100.0, None
        self.view = View(title, lambda: self.tally, lambda: self.now)

    def lines(self, after=0.0, tally=None):
        self.now += after
        self.tally = tally
        console = Console(width=80, no_color=True)
        with console.capture() as shown:
            console.print(self.view.render())
        found = [line.rstrip() for line in shown.get().splitlines()]
        assert all(len(line) <= 80 for line in found)
        return found


def of(done, total=100, unit="requests"):
    return Tally(unit=unit, done={"": done}, total={"": total})


def test_step_that_says_nothing_yet_has_its_seconds():
    assert Watched().lines(after=65) == ["step 3 of 11  evaluation/round-00 generate  1:05"]


def test_rate_and_time_left_come_from_what_was_done_here():
    watched = Watched()
    # 40 were done by an earlier process, which tells nothing of the rate
    (_, begun) = watched.lines(tally=of(40))
    assert begun.endswith("40 of 100 requests")
    # 20 in 10 s are 2/s; 40 are left, of which the 5 s since have done a part
    watched.lines(after=10, tally=of(60))
    (_, going) = watched.lines(after=5, tally=of(60))
    assert going.endswith("60 of 100 requests  2.0/s  0:15 left")


def test_slow_steps_are_counted_by_the_minute_and_other_work_begins_anew():
    watched = Watched()
    watched.lines(tally=of(0, unit="reference rows"))
    (_, slow) = watched.lines(after=60, tally=of(3, unit="reference rows"))
    assert slow.endswith("3.0/min  32:20 left")
    (_, begun) = watched.lines(after=1, tally=of(3, unit="steps"))
    assert begun.endswith("3 of 100 steps")


def test_judges_are_shown_one_by_one():
    tally = Tally(unit="judgements", done={"grade": 12, "recall": 90}, total={"grade": 90, "recall": 90})
    *_, sums, judges = Watched().lines(tally=tally)
    assert sums.endswith("102 of 180 judgements")
    assert judges == "grade 12/90, recall 90/90"


def test_large_numbers_fit_into_80_columns():
    watched = Watched()
    watched.lines(tally=of(0, total=1_234_567, unit="judgements"))
    assert watched.lines(after=3600, tally=of(34_567, total=1_234_567, unit="judgements"))[1].endswith("left")
