from contextlib import nullcontext, suppress

import pytest

from evenhand.records import Record
from evenhand.runfolder.journal import Batches, Journal


class Done(Record):
    """What came of one batch."""

    items: tuple[int, ...]


def finish(path, size, dies_at=None):
    """Asks for what a journal lacks of 0 to 6; the batches that were asked for, and all that the journal has."""
    asked = []

    def ask(engine, batch):
        asked.append(tuple(batch))
        if dies_at in batch:
            raise KeyboardInterrupt
        return Done(items=tuple(batch))

    journal = Journal(path, Done)
    with suppress(KeyboardInterrupt):
        batches = Batches(range(7), size, "items", path.with_name("progress"))
        batches.finish(journal, range(sum(len(each.items) for each in journal)), nullcontext, ask)
    return asked, [item for each in Journal(path, Done) for item in each.items]


def test_a_kill_loses_the_batch_in_flight_alone(tmp_path):
    assert finish(tmp_path / "journal", 2, dies_at=3) == ([(0, 1), (2, 3)], [0, 1])
    # what is left may be cut anew
    assert finish(tmp_path / "journal", 3) == ([(2, 3, 4), (5, 6)], list(range(7)))


def test_where_nothing_is_left_nothing_is_opened(tmp_path):
    finish(tmp_path / "journal", 7)
    Batches(range(7), 2, "items", tmp_path / "progress").finish(
        Journal(tmp_path / "journal", Done), range(7), lambda: pytest.fail("opened"), lambda *_: pytest.fail("asked")
    )
