"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from pathlib import Path
from typing import Any

from bad_input.good_files import Given, audit, imported, written


def _released(folder: Path) -> Given:
    path = written(folder / "released.json", [_perspectives() for _ in range(2)])
    summaries = written(folder / "base.txt", {"summary": "Fine."}, {"summary": "Bad."})
    arguments = audit(folder, documents=path, summaries=summaries, attribute="sentiment")
    return Given(path, "json", arguments)


def _perspectives() -> dict[str, Any]:
    return {
        "units": [
            {"text": "Fine.", "value": {"sentiment": "pos", "rating": 4}},
            {"text": "Bad.", "value": {"sentiment": "neg", "rating": 1}},
        ],
        "meta": {"seperator": " || "},
        "value_input": {"sentiment": ["Fine.", "Bad."], "rating": ["Bad.", "Fine."]},
        "value_mapping": {"sentiment": ["pos", "neg"], "rating": [1, 4]},
    }  # fmt: skip


def _import_perspectives(folder: Path) -> Given:
    path = written(folder / "yelp.json", [_perspectives() for _ in range(2)])
    return imported(folder, path, "json", "perspectivesumm", path)


def _import_tweets(folder: Path) -> Given:
    labels = ("Pro-Republican", "Pro-Democrat", "Neutral", "Unclear")
    path = folder / "input.txt"
    path.write_text("".join(f"{n}<||>{labels[n % 4]}<||>tweet number {n}\n" for n in range(120)))
    return imported(folder, path, "text", "tweets", path, "--source", "election")


def _import_reviews(folder: Path) -> Given:
    path = folder / "raw" / "b.csv"
    path.parent.mkdir()
    path.write_text("group_id\treview_text\trating\tcategory\nb\tFine.\t4.0\tcafe\nb\tBad.\t1.0\tcafe\n")
    return imported(folder, path, "text", "reviews", path.parent, "--labels", "rating")


def _import_debates(folder: Path) -> Given:
    turns = [{"speaker": name, "paragraphs": ["Well, well.", "So."]} for name in ("Ann", "Bo")]
    path = written(folder / "iq2.json", {"d1": {"transcript": turns}, "d2": {"transcript": turns}})
    return imported(folder, path, "json", "dialogue", path, "--source", "debates", "--whole")


def _import_court(folder: Path) -> Given:
    turn = " +++$+++ 0 +++$+++ FALSE +++$+++ MR. A +++$+++ JUSTICE +++$+++ NA +++$+++ PETITIONER +++$+++ Order.\n"
    path = folder / "court.txt"
    path.write_text("".join(f"{case}{turn}" for case in range(10)))
    return imported(folder, path, "text", "dialogue", path, "--source", "court", "--whole")


FILES = {
    "released documents": _released,
    "perspectivesumm": _import_perspectives,
    "tweets": _import_tweets,
    "reviews": _import_reviews,
    "debates": _import_debates,
    "court": _import_court,
}
