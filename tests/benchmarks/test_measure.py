"""Timing side by side, with a clock and a memory that tests turn by hand."""

import pytest

from evenhand.benchmarks.measure import Contender, Extrapolated, Instruments, compare


class FakeMachine:
    """A clock that only runs when work is done, and the memory that the work takes."""

    what = "fake memory"

    def __init__(self):
        self.now = 100.0
        self.peak_bytes = 0
        self.log = []

    def __enter__(self):
        self.peak_bytes = 0
        return self

    def __exit__(self, *error):
        pass

    def settle(self):
        self.log.append("settled")

    def work(self, name, seconds, peak_bytes=0, counts=None):
        """A contender's work that takes the given seconds in turn, the first being the warm-up's."""
        taken = iter(seconds)

        def run():
            self.log.append(name)
            self.now += next(taken)
            self.peak_bytes = peak_bytes
            return counts or {}

        return run

    @property
    def instruments(self):
        return Instruments(clock=lambda: self.now, meter=lambda: self)


def timed(machine, *contenders, repeats=3, **options):
    return compare("Work", contenders, repeats, instruments=machine.instruments, **options)


def test_contenders_take_turns_after_a_warm_up_of_each():
    machine = FakeMachine()
    timed(
        machine,
        Contender("a", machine.work("a", [9, 1, 1])),
        Contender("b", machine.work("b", [9, 1, 1])),
        repeats=2,
    )
    assert [name for name in machine.log if name != "settled"] == ["a", "b", "a", "b", "a", "b"]


def test_warm_up_is_not_timed_and_may_be_switched_off():
    machine = FakeMachine()
    with_it = timed(machine, Contender("a", machine.work("a", [50, 2])), repeats=1)
    without = timed(machine, Contender("a", machine.work("a", [50, 2])), repeats=1, warm_up=False)
    assert (with_it.row("a").seconds, without.row("a").seconds) == (2, 50)


def test_median_and_spread_worked_by_hand():
    machine = FakeMachine()
    row = timed(machine, Contender("a", machine.work("a", [0, 5, 1, 3]))).row("a")
    assert (row.seconds, row.spread) == (3, (1, 5))
    # the mean of the two in the middle
    row = timed(machine, Contender("a", machine.work("a", [0, 5, 1, 3, 2])), repeats=4).row("a")
    assert row.seconds == 2.5


def test_ratios_are_of_medians():
    machine = FakeMachine()
    table = timed(
        machine,
        Contender("slow", machine.work("slow", [0, 30, 10, 20])),
        Contender("fast", machine.work("fast", [0, 1, 4, 5])),
        baseline="slow",
    )
    # medians 20 and 4
    assert table.time_ratio("fast", "slow") == pytest.approx(0.2)
    rows = table.as_json()["rows"]
    assert [row["time_ratio"]["slow"] for row in rows] == pytest.approx([1, 0.2])
    assert [row["speed_ratio"]["slow"] for row in rows] == pytest.approx([1, 5])


def test_several_baselines_stand_side_by_side():
    machine = FakeMachine()
    contenders = [
        Contender(name, machine.work(name, [0, s])) for name, s in (("stock", 40), ("ours", 11), ("limit", 10))
    ]
    table = timed(machine, *contenders, repeats=1, baseline=["stock", "limit"])
    assert table.as_json()["rows"][1]["time_ratio"] == pytest.approx({"stock": 11 / 40, "limit": 1.1})


def test_part_of_the_work_is_scaled_to_the_whole_and_marked():
    machine = FakeMachine()
    table = timed(
        machine,
        Contender("stock", machine.work("stock", [0, 10, 14, 12]), extrapolated=Extrapolated(2, 36, "pairs")),
        Contender("ours", machine.work("ours", [0, 3, 3, 3])),
        baseline="stock",
    )
    stock, ours = table.as_json()["rows"]
    # 12 s for 2 of 36 pairs: 216 s for all, 72 times the other's 3 s
    assert (stock["seconds"], stock["least_seconds"], stock["most_seconds"]) == (216, 180, 252)
    assert stock["extrapolated"] == {
        "measured_seconds": 12, "factor": 18, "measured": 2, "whole": 36, "unit": "pairs"
    }  # fmt: skip
    assert [run["seconds"] for run in stock["runs"]] == [10, 14, 12]
    assert ours["extrapolated"] is None
    assert ours["speed_ratio"]["stock"] == pytest.approx(72)


def test_peak_memory_is_the_highest_of_all_runs_and_counts_are_the_last_runs():
    machine = FakeMachine()
    peaks = iter([1, 7, 3])

    def run():
        machine.peak_bytes = next(peaks)
        return {"tokens": machine.peak_bytes * 10}

    table = timed(machine, Contender("a", run), repeats=2)
    (row,) = table.as_json()["rows"]
    assert (row["peak_bytes"], row["counts"]) == (7, {"tokens": 30})
    assert [run["counts"]["tokens"] for run in row["runs"]] == [70, 30]


def test_preparing_is_done_before_each_run_and_is_not_timed():
    machine = FakeMachine()

    def prepare():
        machine.log.append("prepared")
        machine.now += 1000

    row = timed(machine, Contender("a", machine.work("a", [1, 1]), prepare), repeats=1).row("a")
    assert row.seconds == 1
    assert machine.log == ["prepared", "a", "prepared", "a", "settled"]


def test_seconds_last_until_the_device_has_settled():
    machine = FakeMachine()

    def settle():
        machine.now += 4

    machine.settle = settle
    assert timed(machine, Contender("a", machine.work("a", [0, 1])), repeats=1).row("a").seconds == 5


def test_contender_that_runs_out_of_memory_is_not_run_again_and_stops_nobody():
    machine = FakeMachine()
    runs = []

    def greedy():
        runs.append("greedy")
        if len(runs) == 2:
            raise MemoryError
        return {}

    table = timed(
        machine,
        Contender("greedy", greedy),
        Contender("frugal", machine.work("frugal", [0, 1, 1, 1])),
        baseline="greedy",
    )
    assert runs == ["greedy", "greedy"]
    greedy_row, frugal_row = table.as_json()["rows"]
    assert (greedy_row["failure"], greedy_row["seconds"]) == ("out of memory", None)
    assert (frugal_row["seconds"], frugal_row["time_ratio"]) == (1, {"greedy": None})


def test_any_other_error_ends_the_comparison():
    def broken():
        raise ValueError("wrong shape")

    with pytest.raises(ValueError, match="wrong shape"):
        timed(FakeMachine(), Contender("broken", broken))


@pytest.mark.parametrize(
    ("names", "options"),
    [(["a", "a"], {}), (["a"], {"baseline": "b"}), (["a"], {"repeats": 0})],
)
def test_comparison_that_cannot_be_read_is_not_begun(names, options):
    machine = FakeMachine()
    with pytest.raises(AssertionError):
        timed(machine, *(Contender(name, machine.work(name, [1])) for name in names), **options)
    assert machine.log == []


def test_more_than_the_whole_cannot_be_measured():
    with pytest.raises(AssertionError, match="37 of 36 pairs"):
        Extrapolated(37, 36, "pairs")
