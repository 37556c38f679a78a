"""Whatever is in a file that is given: no traceback, the right exit code, a short message that names the file, little memory."""

import re
import resource
import shutil
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from bad_input.damage import damaged
from bad_input.good_files import KINDS as OWN
from bad_input.good_files import Given
from conformance import of_plugins
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import EvenhandError

KINDS = OWN | of_plugins("FILES")
# cases of each kind of file: some 400 in all, and 2,000 more in the long campaign
FEW, MANY = 10, 60
MOST_CHARACTERS = 5000
# what the command line library draws around its own refusals
FRAME = re.compile(r"[\s─│╭╮╰╯]+")
MOST_KILOBYTES = 150_000


@dataclass
class Done:
    """How a command ended."""

    code: int
    # what it said when it refused
    text: str
    # of an error that is not evenhand's own
    trace: str = ""


def run(given: Given, folder: Path) -> Done:
    """The command line in this process."""
    if given.read:
        try:
            given.read()
        except EvenhandError as error:
            return Done(error.exit_code, str(error))
        return Done(0, "")
    environment = {
        "EVENHAND_CACHE": str(folder / "cache"),
        "COLUMNS": "5000",
        "TERMINAL_WIDTH": "5000",
        "NO_COLOR": "1",
    }
    done = CliRunner().invoke(app, [str(each) for each in given.arguments], env=environment)
    error = done.exception
    if isinstance(error, EvenhandError):
        return Done(error.exit_code, str(error))
    if error is not None and not isinstance(error, SystemExit):
        return Done(1, "", "".join(traceback.format_exception(error, limit=-6)))
    return Done(done.exit_code, FRAME.sub(" ", done.output))


def spoil(given: Given, seed: int) -> None:
    """Damage the file; one time in sixteen a folder, or nothing, takes its place."""
    draw = Random(f"{given.file.name} {seed}")  # noqa: S311
    if draw.random() < 1 / 16:
        given.file.unlink()
        if draw.random() < 0.7:
            given.file.mkdir()
        return
    given.file.write_bytes(damaged(given.file.read_bytes(), given.form, draw))


def complaints(given: Given, done: Done, kilobytes: int) -> list[str]:
    """What is wrong with how a command took bad input."""
    found = []
    if done.trace:
        return [done.trace]
    if done.code not in ((0, 1, 2) if given.own else (0, 2)):
        found.append(f"exit code {done.code}: {done.text[:500]}")
    if (
        done.code
        and not any(each in done.text for each in ("key ", "prompt template", "corpus.train.split"))
        and not any(Path(each).stem in done.text for each in (given.file, *given.arguments) if isinstance(each, Path))
    ):
        found.append(f"does not name the file: {done.text[:500]!r}")
    if done.code and len(done.text) > MOST_CHARACTERS:
        found.append(f"says {len(done.text):,} characters: {done.text[:500]!r}")
    if kilobytes > MOST_KILOBYTES:
        found.append(f"took {kilobytes:,} kB: {done.text[:500]!r}")
    return found


def peak() -> int:
    """The most memory that this process has had, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def campaign(kind: str, folder: Path, seeds: range) -> None:
    """Run the cases of these seeds; what is wrong with any of them fails the test, with the seeds that show it."""
    whole = folder / "whole"
    whole.mkdir()
    assert run(KINDS[kind](whole), whole).code == 0
    wrong = []
    for seed in seeds:
        place = folder / "case"
        place.mkdir()
        given = KINDS[kind](place)
        spoil(given, seed)
        before = peak()
        done = run(given, place)
        wrong += [f"{kind}, seed {seed}: {each}" for each in complaints(given, done, peak() - before)]
        shutil.rmtree(place)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_one_message(kind, tmp_path):
    campaign(kind, tmp_path, range(FEW))


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_much_bad_input_is_one_message_each(kind, tmp_path):
    campaign(kind, tmp_path, range(FEW, MANY))
