"""Receipts, progress and refusals that a disk or a person has damaged: a message with its remedy, or as if there were none."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, StorageError
from evenhand.runfolder.processes import read_failure
from evenhand.runfolder.progress import read_progress
from evenhand.runfolder.stages import Counts, Stage, read_receipt
from evenhand.storage import write_text

WRONG = [None, True, -1, 1e400, "", "x", [], {}, [1], {"a": None}, {"a": {"b": "c"}}, "\x00", "\ud800"]


def finished(folder):
    stage = Stage("generate", folder, {"seed": 1}, ("out.txt",))
    stage.run(lambda: write_text(folder / "out.txt", "made") or Counts())
    return stage


def survives(stage):
    """Reading and running it end in a result or a refusal that names the receipt."""
    for act in (stage.receipt, lambda: stage.run(lambda: write_text(stage.folder / "out.txt", "made") or Counts())):
        try:
            act()
        except StorageError as error:
            assert str(stage.receipt_path) in str(error)
            assert "delete it" in str(error)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_receipt_is_a_message(data, tmp_path_factory):
    stage = finished(tmp_path_factory.mktemp("run"))
    whole = stage.receipt_path.read_bytes()
    values = json.loads(whole)
    how = data.draw(st.sampled_from(["cut", "nul", "byte", "type", "missing"]))
    place = data.draw(st.integers(0, 10_000)) % len(whole)
    key = data.draw(st.sampled_from(sorted(values)))
    if how == "cut":
        damaged = whole[:place]
    elif how == "nul":
        damaged = whole[:place] + b"\0" * (len(whole) - place)
    elif how == "byte":
        damaged = whole[:place] + bytes([data.draw(st.integers(0, 255))]) + whole[place + 1 :]
    elif how == "type":
        damaged = json.dumps(values | {key: data.draw(st.sampled_from(WRONG))}).encode()
    else:
        damaged = json.dumps({name: value for name, value in values.items() if name != key}).encode()
    stage.receipt_path.write_bytes(damaged)
    survives(stage)


@pytest.mark.parametrize(
    "outside", ["../../valuable.txt", "/etc/hostname", "..", "a/../../valuable.txt", "", "out.txt/..", "*"]
)
@pytest.mark.parametrize("key", ["outputs", "stage", "inputs"])
def test_a_receipt_moves_and_deletes_nothing_outside_of_its_folder(key, outside, tmp_path):
    valuable = tmp_path / "valuable.txt"
    valuable.write_text("mine")
    stage = finished(tmp_path / "run" / "round-00")
    values = json.loads(stage.receipt_path.read_text())
    stage.receipt_path.write_text(json.dumps(values | {key: {outside: "0" * 16} if key == "outputs" else outside}))
    with pytest.raises(StorageError, match=r"is not a receipt: .*is no name of a stage's file.*delete it"):
        read_receipt(stage.receipt_path)
    survives(stage)
    assert valuable.read_text() == "mine"


def test_receipts_that_are_no_folder_are_a_message(tmp_path):
    (tmp_path / "receipts").write_text("")
    stage = Stage("generate", tmp_path, {}, ("out.txt",))
    assert stage.receipt() is None
    with pytest.raises(StorageError, match=r"receipts.*cannot be written"):
        stage.run(lambda: write_text(tmp_path / "out.txt", "made") or Counts())


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\0" * 50, b"[]", b'{"error": 1}', b'{"error": [], "message": {}}', b"\xff", b"[" * 9999]
)
def test_damaged_progress_and_refusals_are_as_good_as_none(content, tmp_path):
    for name in ("generate.progress", "generate.failure.json"):
        (tmp_path / name).write_bytes(content)
    assert read_progress(tmp_path / "generate.progress") is None
    left = read_failure(tmp_path / "generate.failure.json")
    assert left is None or isinstance(left, EvenhandError)
