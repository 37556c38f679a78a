import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import invoked
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import DataError
from evenhand.plugins.cards.card import Card, card_text, parse_card, write_cards
from evenhand.plugins.cards.pairs import paired_folder
from evenhand.plugins.cards.run import FinishedRun, read_run
from evenhand.plugins.cards.verify import Departure, departures, made_anew

pytest.importorskip("huggingface_hub", reason="needs huggingface_hub: pip install huggingface_hub")
BAR = re.compile(r"(?<!\\)\|")


@pytest.fixture
def run(run_folder: Path) -> FinishedRun:
    found = read_run(run_folder)
    write_cards(found, {"model": "mit", "data": None})
    return found


def found_in(path: Path, text: str, run: FinishedRun) -> list[Departure]:
    card = parse_card(path, text)
    return departures(card, made_anew(card, path, run))


def verify(*arguments: object) -> int:
    return invoked("run", "verify", *arguments).exit_code


def refusal(*arguments: object) -> str:
    done = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "400"})
    assert done.exit_code == 2
    return done.output


def test_a_folder_for_a_card_and_a_file_for_a_run_are_told_what_to_name(run: FinishedRun, tmp_path: Path):
    recipe = tmp_path / "mine.yaml"
    recipe.write_text("name: mine\n")
    assert f"name a card in it: {run.folder / 'cards' / 'data.md'}, " in refusal("run", "verify", run.folder)
    assert "is a file; name the run's folder" in refusal("run", "card", recipe)


# a change of a line; the line itself where there is nothing of the kind in it
Change = Callable[[str, random.Random], str]


def at(pattern: str, new: Callable[[str, random.Random], str]) -> Change:
    """A change of one of the places that match."""

    def change(line: str, rng: random.Random) -> str:
        found = list(re.finditer(pattern, line))
        if not found:
            return line
        each = rng.choice(found)
        return line[: each.start()] + new(each[0], rng) + line[each.end() :]

    return change


def another(characters: str) -> Callable[[str, random.Random], str]:
    return lambda old, rng: rng.choice([each for each in characters if each != old])


def exchanged(line: str, rng: random.Random) -> str:
    """Two cells of a row of a table in each other's place."""
    cells = BAR.split(line)[1:-1]
    unlike = [(i, j) for i in range(1, len(cells)) for j in range(1, i) if cells[i].strip() != cells[j].strip()]
    if not line.startswith("| ") or not unlike:
        return line
    i, j = rng.choice(unlike)
    cells[i], cells[j] = cells[j], cells[i]
    return f"|{'|'.join(cells)}|"


def with_another_bound(interval: str, rng: random.Random) -> str:
    low, high = interval.split(" to ")
    return rng.choice([f"{high} to {low}", f"{low}1 to {high}", f"{low} to {high}9"])


CHANGES: dict[str, Change] = {
    "digit": at(r"\d", another("0123456789")),
    "sign": at(r"[+\u2212](?=\d)|(?<=: )(?=\d)", lambda old, _: {"+": "\u2212", "\u2212": "+", "": "-"}[old]),
    "sides": exchanged,
    "count": at(r"(?<=\| )\d+(?= \|)", lambda old, rng: str(int(old) + rng.randint(1, 9))),
    "hash": at(r"[0-9a-f]{64}", at("[0-9a-f]", another("0123456789abcdef"))),
    "interval": at(r"[+\u2212]?[\d.]+ to [+\u2212]?[\d.]+", with_another_bound),
}


@pytest.mark.parametrize("kind", ["model", "data"])
def test_all_of_a_hundred_planted_changes_are_found_where_they_are(run: FinishedRun, kind: str):
    path, rng, n_planted = run.folder / f"cards/{kind}.md", random.Random(12), 0  # noqa: S311 (no secret)
    lines = path.read_text().splitlines()
    made = made_anew(parse_card(path, path.read_text()), path, run)
    # not what the publisher says
    ours = [k for k, line in enumerate(lines) if line and not line.startswith("license")]
    names = [name for name in CHANGES if any(CHANGES[name](lines[k], rng) != lines[k] for k in ours)]
    while n_planted < 100:
        place, change = rng.choice(ours), CHANGES[names[n_planted % len(names)]]
        changed = change(lines[place], rng)
        if changed == lines[place]:
            continue
        n_planted += 1
        text = "\n".join([*lines[:place], changed, *lines[place + 1 :]]) + "\n"
        if lines[place].startswith("<!--"):
            with pytest.raises(DataError):
                parse_card(path, text)
            continue
        card = parse_card(path, text)
        found = departures(card, made)
        assert found, changed
        said = [each.card.strip("'\"").replace("\\", "") for each in found]
        # of a number whose last digits are more than it can have, what was read of it
        read = re.sub(r"\d+\.\d{9,}", lambda digits: repr(float(digits[0])), changed)
        shown = read.replace("\\", "")
        assert any(each in shown or shown in each for each in said if each), (changed, found)


def test_an_unchanged_card_passes_wherever_it_lies(run: FinishedRun, tmp_path: Path):
    for kind in ("model", "data"):
        assert verify(run.folder / f"cards/{kind}.md") == 0
    elsewhere = tmp_path / "README.md"
    elsewhere.write_bytes((run.folder / "cards/model.md").read_bytes().replace(b"\n", b"\r\n"))
    assert verify(elsewhere, run.folder) == 0


def test_a_changed_card_is_named_by_section_row_and_column(run: FinishedRun):
    path = run.folder / "cards/model.md"
    line = next(each for each in path.read_text().splitlines() if each.startswith("| round-00 | 2 left"))
    path.write_text(path.read_text().replace(line, line.replace("| 0.693 |", "| 0.793 |", 1)))
    (found,) = found_in(path, path.read_text(), run)
    assert found.place == "Training, row 'round-00', column 'first loss'"
    assert (found.card, found.run) == ("'0.793'", "'0.693'")
    with pytest.raises(DataError, match=r"1 difference from"):
        verify(path)


def test_metadata_are_compared_by_value_and_what_is_the_publishers_is_left_alone(run: FinishedRun):
    path = run.folder / "cards/model.md"
    text = path.read_text().replace("license: mit", "license: apache-2.0\nlanguage: [en, de]")
    text = text.replace("library_name: peft\n", "library_name:   'peft'\n").replace("- trl\n", "- trl\n- my-tag\n")
    # the licence stands in the body, too
    text = text.replace("- licence: mit (", "- licence: apache-2.0 (")
    assert found_in(path, text, run) == []
    forged = text.replace("document_sets: 4", "document_sets: 4.0", 1)
    assert [each.place for each in found_in(path, forged, run)] == [
        "metadata, model-index[0].results[0].metrics[0].args.document_sets"
    ]


def test_a_key_that_spells_a_place_is_not_taken_for_it(run: FinishedRun):
    path = run.folder / "cards/model.md"
    place = "model-index[0].results[0].metrics[0].args.document_sets"
    forged = path.read_text().replace("document_sets: 4", "document_sets: 5", 1)
    forged = forged.replace("license: mit\n", f"license: mit\n{place}: 4\n", 1)
    assert [(each.place, each.card) for each in found_in(path, forged, run)] == [(f"metadata, {place}", "5")]


def test_text_behind_the_last_bar_of_a_row_is_found(run: FinishedRun):
    path = run.folder / "cards/data.md"
    row = next(line for line in path.read_text().splitlines() if line.startswith("| round-00 | "))
    (found,) = found_in(path, path.read_text().replace(row, f"{row} better"), run)
    assert (found.card, found.run) == (f"{row} better", row)


@pytest.mark.parametrize("marker", ["<!-- evenhand model card", "<!-- yours: Limitations", "<!-- end of yours"])
def test_text_planted_in_a_marker_is_found(run: FinishedRun, marker: str):
    path = run.folder / "cards/model.md"
    text = path.read_text()
    line = next(each for each in text.splitlines() if each.startswith(marker))
    for changed in (f"{line} forged", line.replace(" -->", " --> forged -->"), f"forged {line}"):
        with pytest.raises(DataError, match=r"is not a card|not as they were written"):
            parse_card(path, text.replace(line, changed, 1))
    # behind the name, where the marker goes on in brackets
    if "(" in line:
        changed = line.replace("(", "(kept) -->\n\n## Scores\n\nforged (", 1)
        with pytest.raises(DataError, match=r"not as they were written"):
            parse_card(path, text.replace(line, changed, 1))


def test_rows_that_are_added_taken_away_or_moved_are_found(run: FinishedRun):
    path = run.folder / "cards/data.md"
    text = path.read_text()
    rows = [line for line in text.splitlines() if line.startswith("| round-00 | ")]
    left, right = (next(row for row in rows if side in row) for side in ("| left |", "| right |"))
    for changed in (
        text.replace(left + "\n", ""),
        text.replace(left, f"{left}\n{left}"),
        text.replace(f"{left}\n{right}", f"{right}\n{left}"),
    ):
        assert changed != text
        found = found_in(path, changed, run)
        assert found and all(each.place.startswith("Pairs by side, row 'round-00'") for each in found)


def with_base(run: FinishedRun, name: str, signature: str) -> FinishedRun:
    """The run as it would be on another base model."""
    made = run.report.provenance.model_copy(
        update={"models": {"evaluation/base": signature}, "recipe": run.recipe | {"model": {"name": name}}}
    )
    return replace(run, report=run.report.model_copy(update={"provenance": made}))


def test_a_base_model_is_the_runs_or_said_to_be_the_publishers(run: FinishedRun):
    local, path = with_base(run, "models/tiny", "tiny#0123abcd|bfloat16|vllm"), run.folder / "cards/model.md"
    of_hub = card_text(with_base(run, "some/base", "some/base|bfloat16|vllm"), Card("model"))
    # left from before the run's model was a folder
    places = [each.place for each in found_in(path, of_hub, local)]
    assert "metadata, base_model" in places
    assert "base_model" not in card_text(local, parse_card(path, of_hub))
    # put into the metadata alone
    said = card_text(local, Card("model", {"base_model": "me/tiny"}))
    assert found_in(path, said, local) == []
    forged = said.replace("base_model: me/tiny", "base_model: some/other")
    (found,) = found_in(path, forged, local)
    assert ("me/tiny" in found.card, "some/other" in found.run) == (True, True)


def test_a_card_of_another_run_is_found_out(run: FinishedRun):
    path = run.folder / "cards/data.md"
    training = run.folder / "round-00/training.json"
    training.write_text(training.read_text().replace("0.512", "0.215"))
    with pytest.raises(DataError, match=r"training.json: is not what round-00 'train' made"):
        verify(path)


def made_by_stages(folder: Path) -> list[str]:
    """Every file that a stage of the run wrote, and their receipts."""
    receipts = sorted(folder.rglob("receipts/*.json"))
    named = [receipt.parents[1] / name for receipt in receipts for name in json.loads(receipt.read_text())["outputs"]]
    files = [each for path in named for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file()]
    return sorted(path.relative_to(folder).as_posix() for path in {*files, *receipts})


def test_every_file_that_a_stage_wrote_is_looked_at(run: FinishedRun):
    card = run.folder / "cards/model.md"
    names = made_by_stages(run.folder)
    assert {"report/report.json", "report/index.html", "report/tables/ledger.csv", "round-00/pairs.jsonl"} <= set(names)
    assert "round-00/receipts/train.json" in names
    for name in names:
        path = run.folder / name
        content = path.read_bytes()
        changed = content.replace(b'"seconds": ', b'"seconds": 1') if "receipts" in name else content + b" "
        assert changed != content
        path.write_bytes(changed)
        with pytest.raises(DataError, match=re.escape(str(run.folder))) as caught:
            verify(card)
        assert name.split("/tables/")[0].split("/adapter/")[0] in str(caught.value)
        path.write_bytes(content)
    assert verify(card) == 0


def test_a_receipt_that_is_gone_and_other_versions_are_found_out(run: FinishedRun):
    card, receipt = run.folder / "cards/model.md", run.folder / "round-00/receipts/rerank.json"
    content = receipt.read_text()
    receipt.write_text(content.replace('"versions": {', '"versions": {"made-up": "0.0.1",'))
    with pytest.raises(DataError, match="other versions than the receipts"):
        verify(card)
    receipt.unlink()
    with pytest.raises(DataError, match=r"receipts/rerank.json: is not there"):
        verify(card)


def test_files_that_nobody_wrote_and_those_without_a_hash_are_named(
    run: FinishedRun, capsys: pytest.CaptureFixture[str]
):
    for name in (
        "notes.txt",
        "round-00/mine.jsonl",
        "logs/loop.log",
        "round-00/checkpoints/1/state",
        "report/pairs-round-00.html",
    ):
        path = run.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    done = CliRunner().invoke(app, ["run", "verify", str(run.folder / "cards/model.md")], env={"COLUMNS": "400"})
    assert done.exit_code == 0
    assert "no stage of the run has written notes.txt, round-00/mine.jsonl\n" in done.output
    assert "of the run's files cards, logs, pages of pairs, checkpoints" in done.output


def test_pages_of_changed_pairs_and_judgements_are_refused(run: FinishedRun, tmp_path: Path):
    for name, stage in (("pairs.jsonl", "rerank"), ("judgements.jsonl", "judge")):
        path = run.folder / "round-00" / name
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        with pytest.raises(DataError, match=rf"{name}: changed since '{stage}' made it"):
            paired_folder(run.folder, None)
        path.write_bytes(content)
    assert paired_folder(run.folder, None) == run.folder / "round-00"
