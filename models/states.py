"""What is on this machine of each embedded model; nothing is read but sizes, metadata and small settings."""

from dataclasses import dataclass
from pathlib import Path

from .assemble import at_hand, target_of
from .embedded import EMBEDDED_MODELS, EmbeddedModel, absent_parts
from .fingerprints import damage_of, read_fingerprints
from .gguf import VERSION, converted_folder
from .packages import Lack, LackReason


@dataclass(frozen=True)
class ModelState:
    """An embedded model, and what is there of it."""

    name: str
    use: str
    hub_id: str
    licence: str
    # of the weights, as is their SHA-256
    bytes: int
    sha256: str
    # repository and revision whose weights have this hash; None where it is the package's as it came
    source: tuple[str, str] | None
    # "converted", "damaged" since, "assembled", "installed", "not here", "incomplete"; of some packages how many are there;
    # "version" and which, where another one is there
    state: str
    # where it lies ready for use
    place: str | None
    # "name==version" of the packages that are not installed
    missing: tuple[str, ...]


def states() -> list[ModelState]:
    """Every embedded model in the order of the registry."""
    return [_state(model) for model in EMBEDDED_MODELS.values()]


def _state(model: EmbeddedModel) -> ModelState:
    absent = absent_parts(model)
    folder = converted_folder(Path(model.weights).stem, model.sha256)
    place: Path | None = None
    if model.is_gguf and folder.is_dir():
        state, place, absent = "damaged" if _is_damaged(folder) else "converted", folder, []
    elif at_hand(model) is not None:
        state, place, absent = "assembled", target_of(model), []
    elif not absent:
        state, place = "installed", model.parts[0].place() if model.how == "whole" else None
    elif len(absent) < len(model.parts):
        state = f"{len(model.parts) - len(absent)} of {len(model.parts)} packages"
    else:
        state = _why_none(absent)
    return ModelState(
        name=model.name,
        use=model.use,
        hub_id=model.hub_id,
        licence=model.licence,
        bytes=model.n_bytes,
        sha256=model.sha256,
        source=model.source,
        state=state,
        place=None if place is None else str(place),
        missing=tuple(lack.part.pin for lack in absent),
    )


def _is_damaged(folder: Path) -> bool:
    """Whether files of a converted folder have other sizes, or other times and contents, than when it was made."""
    known = read_fingerprints(folder, VERSION)
    return known is not None and bool(damage_of(folder, known))


def _why_none(absent: list[Lack]) -> str:
    other_versions = [lack for lack in absent if lack.kind is LackReason.OTHER_VERSION]
    if other_versions:
        return f"version {other_versions[0].found}"
    return "not here" if all(lack.kind is LackReason.NOT_INSTALLED for lack in absent) else "incomplete"
