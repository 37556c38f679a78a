"""Files that ship with evenhand, by the names that stand for them wherever a file of their kind is asked for."""

from collections.abc import Mapping
from pathlib import Path

from ..errors import DataError
from ..text import did_you_mean

HERE = Path(__file__).parent
DOCUMENTS = {"sample": HERE / "sample" / "sample.jsonl", "reviews": HERE / "reviews" / "reviews.jsonl"}
# summaries of the reviews by two made-up systems
SUMMARIES = {name: HERE / "reviews" / f"{name}.jsonl" for name in ("even-handed", "praising")}
# summaries of the sample corpus whose coverage and faithfulness are known
CONTROLLED = {"sample": HERE / "sample" / "controlled.jsonl"}


def file_of(path: Path, bundled: Mapping[str, Path]) -> Path:
    """The bundled file of that name, unless a file of the user's has the name; any other path as it is.

    Raises:
        DataError: nothing has the name, but it is nearly that of a bundled file.
    """
    found = path if path.is_file() else bundled.get(str(path), path)
    near = "." if found.exists() else did_you_mean(str(path), bundled)
    if near != ".":
        raise DataError(f"{path}: is neither a file nor a bundled name{near} Bundled are {', '.join(bundled)}")
    return found
