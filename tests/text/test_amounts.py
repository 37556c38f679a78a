"""Sizes, counts and durations, with the expected text written by hand."""

import pytest

from evenhand.text.amounts import GIB, clock, disk_size, duration, gibibytes, hours, magnitude, significant


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (disk_size, 0, "0 bytes"), (disk_size, 999, "999 bytes"), (disk_size, 1800, "1.8 kB"), (disk_size, 98_400_000, "98 MB"),
        (disk_size, 1.12e9, "1.1 GB"), (disk_size, 14.2e9, "14 GB"), (disk_size, 3e15, "3,000 TB"),
        (gibibytes, GIB / 4, "0.25"), (gibibytes, 14.96 * GIB, "15.0"),
        (magnitude, 135, "135"), (magnitude, 10_620, "10.62 k"), (magnitude, 8_030_261_248, "8.03 B"),
        (significant, 0.012345, "0.0123"), (significant, 1.0, "1.00"), (significant, 9.994, "9.99"), (significant, 68.14, "68.1"),
        (significant, 99.96, "100"), (significant, 1356.2, "1,356"), (significant, 0.0, "0.00"),
        (hours, 120.4, "120"), (hours, 1.54, "1.5"), (hours, 0.0416, "0.042"),
        (duration, 8.26, "8.3 s"), (duration, 59.99, "1 min 00 s"), (duration, 245, "4 min 05 s"), (duration, 7620, "2 h 07 min"),
        (clock, 0.4, "0:00"), (clock, 62, "1:02"), (clock, 3723, "1:02:03"),
    ],
)  # fmt: skip
def test_amounts(write, value, text):
    assert write(value) == text
