from contextlib import suppress

from evenhand.records import Record
from evenhand.runfolder.journal import Batches, Journal


class Done(Record):
    """What came of one batch."""

    items: tuple[int, ...]


def finish(path, size, dies_at=None):
    """Asks for what a journal lacks of 0 to 6; the batches that were asked for, and all that the journal has."""
    asked = []

    journal = Journal(path, Done)
    batches = Batches(range(7), size, "items", path.with_name("progress"))
    open_batches = batches.open(range(sum(len(each.items) for each in journal)))
    with suppress(KeyboardInterrupt):
        for batch in batches.counted(open_batches).through(open_batches):
            asked.append(tuple(batch))
            if dies_at in batch:
                raise KeyboardInterrupt
            journal.append([Done(items=tuple(batch))])
    return asked, [item for each in Journal(path, Done) for item in each.items]


def test_a_kill_loses_the_batch_in_flight_alone(tmp_path):
    assert finish(tmp_path / "journal", 2, dies_at=3) == ([(0, 1), (2, 3)], [0, 1])
    # what is left may be cut anew
    assert finish(tmp_path / "journal", 3) == ([(2, 3, 4), (5, 6)], list(range(7)))
    assert finish(tmp_path / "journal", 3) == ([], list(range(7)))
