"""What was reached beside the goals."""

from evenhand.benchmarks.gpu.speed import GOALS_8B, beside_goals
from evenhand.benchmarks.measure import Row, Run, Table
from evenhand.benchmarks.training import ALONE, LIMIT, OURS, STOCK


def row(name: str, seconds: float) -> Row:
    return Row(name, (Run(seconds, 3 * 2**30, {"TFLOP": 800.0}),))


def test_goals_stand_beside_what_was_reached():
    table = Table("", (row(OURS, 2.0), row(LIMIT, 1.7)), 1, (LIMIT,), "")
    first = Table("", (row(OURS, 3.0), row(LIMIT, 1.7), row(ALONE, 7.0), row(STOCK, 45.0)), 1, (STOCK, LIMIT), "")
    # 800 TFLOP in 2 s are 400 a second, of 989; twice 45 s are 45 times 2 s; 1.7 / 2 is below 0.9
    assert beside_goals(table, first, 2, 989) == {
        "TFLOP/s": "400", "each candidate alone": "7 times as fast",
        "MFU (goal 0.4)": "0.404 reached", "times TRL (goal 40)": "45 reached",
        "of the limit (goal 0.9)": "0.85 missed", "peak GiB": "3",
    }  # fmt: skip
    assert beside_goals(table, first, 2, 989, GOALS_8B)["of the limit (goal 0.95)"] == "0.85 missed"


def test_a_contender_without_a_run_and_an_unknown_device_leave_a_dash():
    table = Table(
        "", (row(OURS, 2.0), row(LIMIT, 1.9), Row(STOCK, (), failure="out of memory"), Row(ALONE, ())), 1, (), ""
    )
    shown = beside_goals(table, table, 1, None)
    assert (shown["MFU (goal 0.4)"], shown["times TRL (goal 40)"]) == ("-", "-")
    assert shown["of the limit (goal 0.9)"] == "0.95 reached"
