"""Assembling an embedded model once: parts of packages, or the hub's files, become a file or folder of the cache.

Nothing gets its name in the cache before its SHA-256 is the registered one, and a folder is used as long as it holds what was
registered and nothing else: whatever lies beside a model's weights may be loaded with them.
"""

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import EvenhandError, StorageError, UnfitModelError
from ..storage import sha256_of
from ..text.amounts import disk_size
from .cache import made_alone, models_folder, refuse_full_disk, told_faults
from .embedded import EmbeddedModel, absent_parts
from .fingerprints import damage_of, fingerprint_file, read_fingerprints, write_fingerprints
from .hub import from_hub, why_not_from_hub
from .joining import from_packages, unfinished_file
from .packages import Lack, LackReason, Part, pip_install

log = logging.getLogger(__name__)

# of fingerprints: assembled files are those of the registry, whatever assembled them
VERSION = 1


def assembled(model: EmbeddedModel, *, mend: bool = False) -> Path:
    """The model's GGUF file or folder, made in the cache on the first call, and again where it was changed.

    One in a single package stays where it lies.

    Args:
        model: what is made.
        mend: hash what was made, whatever its times say.

    Raises:
        UnfitModelError: packages are missing, of another version or damaged and the hub cannot help, or a SHA-256 is another.
        StorageError: the disk has no room for it, or the cache cannot be written.
    """
    if (place := at_hand(model)) is not None and not _is_changed(model, place, thoroughly=mend):
        return place
    short = _shortfall(model)
    if short.refused:
        raise UnfitModelError(_told([short]))
    if model.how == "whole" and not short.needs_hub:
        return _whole(model)
    target = target_of(model)
    with made_alone(target):
        if (place := at_hand(model)) is None or _is_changed(model, place, thoroughly=mend):
            fingerprint_file(target).unlink(missing_ok=True)
            needed = bytes_needed(model, from_hub=short.needs_hub)
            refuse_full_disk(target.parent, needed, f"model {model.title!r}")
            log.info("assembling %s (once, %s)", model.title, disk_size(model.n_bytes))
            from_hub(model, target) if short.needs_hub else from_packages(model, target)
            write_fingerprints(target, VERSION)
    return target


def _is_changed(model: EmbeddedModel, target: Path, *, thoroughly: bool = False) -> bool:
    """Whether something else lies where the model was assembled; without fingerprints all of it is hashed once."""
    known = read_fingerprints(target, VERSION)
    if known is not None:
        return bool(damage_of(target, known, thoroughly=thoroughly))
    if _mistake(model, target, thoroughly=True):
        return True
    with contextlib.suppress(StorageError):
        write_fingerprints(target, VERSION)
    return False


def refuse_unavailable(*models: EmbeddedModel) -> None:
    """Refuse models that `assembled` would refuse: parts, versions, hub, room. What is wrong with any of them is one message.

    Nothing is assembled. A model that one package has whole is read, and its SHA-256 must be right.

    Raises:
        UnfitModelError, StorageError: as `assembled`.
    """
    room, refused, messages = 0, [], []
    for model in models:
        if at_hand(model) is not None:
            room += model.converted_bytes
            continue
        short = _shortfall(model)
        if short.refused:
            refused.append(short)
            continue
        room += bytes_needed(model, from_hub=short.needs_hub)
        if model.how == "whole" and not short.needs_hub:
            try:
                _whole(model)
            except EvenhandError as error:
                messages.append(str(error))
    if refused or messages:
        raise UnfitModelError("\n".join([*([_told(refused)] if refused else []), *messages]))
    subject = f"model {models[0].title!r}" if len(models) == 1 else f"making {len(models)} models ready"
    refuse_full_disk(models_folder(), room, subject)


def target_of(model: EmbeddedModel) -> Path:
    """Where the assembled file or folder lies, or will."""
    return models_folder() / (model.weights if model.is_gguf else f"{model.name}-{model.sha256[:16]}")


def at_hand(model: EmbeddedModel) -> Path | None:
    """What was assembled earlier; None where nothing was, or it is not whole any more.

    The weights must have their size, every other file its SHA-256, and nothing may have come to them.

    Raises:
        StorageError: the cache cannot be read.
    """
    target = target_of(model)
    with told_faults(target):
        if not model.is_gguf:
            is_right = target.is_dir() and not (_mistake(model, target, thoroughly=False) or _strangers(model, target))
            return target if is_right else None
        return target if target.is_file() and target.stat().st_size == model.n_bytes else None


def _damage(model: EmbeddedModel) -> str:
    """What became of an earlier one in the cache; nothing where there is none, or it is whole."""
    target = target_of(model)
    if model.how == "whole" or not target.exists():
        return ""
    if (place := at_hand(model)) is not None and not _is_changed(model, place):
        return ""
    wrong = (
        _mistake(model, target, thoroughly=False)
        or _mistake(model, target, thoroughly=True)
        or _strangers(model, target)
        or f"{target} is not whole"
    )
    return f"it was made ready earlier, but {wrong}; to make it again it needs its packages or the hub"


def bytes_needed(model: EmbeddedModel, *, from_hub: bool) -> int:
    """Room for what is not there yet: the file, the zip that it comes out of, and the folder that is converted from it."""
    begun = unfinished_file(target_of(model))
    written = begun.stat().st_size if begun.is_file() else 0
    if from_hub:
        return model.n_bytes + model.converted_bytes
    times = {"whole": 0, "joined": 1, "zipped": 2}[model.how]
    return max(0, times * model.n_bytes - written) + model.converted_bytes


def _whole(model: EmbeddedModel) -> Path:
    """Where the one package has the model, every file of which has its SHA-256, and nothing else."""
    (part,) = model.parts
    place = part.place()
    if wrong := _mistake(model, place, thoroughly=True):
        raise UnfitModelError(
            f"embedded model {model.name!r}: {wrong}; install it again: {pip_install([part], again=True)}"
        )
    # pip leaves alone what is not its own
    if strange := _strangers(model, place):
        raise UnfitModelError(f"embedded model {model.name!r}: {strange}; delete it")
    return place


def _mistake(model: EmbeddedModel, place: Path, *, thoroughly: bool) -> str:
    """What is wrong with the files of a model's folder, or with its file where it is one; nothing when they are right.

    Args:
        model: what should be there.
        place: the folder or file.
        thoroughly: hash the weights, too; else their size is looked at.
    """
    is_folder = place.is_dir()
    for file, expected in model.files.items():
        path = place / file if is_folder else place
        if not path.is_file():
            return f"{path} is not there, or is not a file"
        if file == model.weights and not thoroughly:
            if (n_bytes := path.stat().st_size) != model.n_bytes:
                return f"{path} has {n_bytes:,} bytes, not {model.n_bytes:,}"
        elif (sha256 := sha256_of(path)) != expected:
            return f"{path} has SHA-256 {sha256}, not {expected}"
    return ""


def _strangers(model: EmbeddedModel, place: Path) -> str:
    """What a model's folder has that is none of its files, and why that is wrong; nothing where there is nothing."""
    if not (place.is_dir() and (foreign := _foreign(model, place))):
        return ""
    return (
        f"{', '.join(map(str, foreign))} next to it: not registered, and files next to weights may be loaded with them"
    )


def _foreign(model: EmbeddedModel, folder: Path) -> list[Path]:
    """What a folder has beside the model's files; of folders those that are links."""
    known = {*model.files, *model.beside}
    return [
        path
        for path in sorted(folder.rglob("*"))
        if (path.is_symlink() or not path.is_dir()) and path.relative_to(folder).as_posix() not in known
    ]


@dataclass(frozen=True)
class _Shortfall:
    """What is missing of a model's packages."""

    model: EmbeddedModel
    absent: list[Lack]
    # why the hub is no help; "" where it is, or where nothing is missing
    why: str = ""
    # what became of an earlier one in the cache; "" where there is none
    damage: str = ""

    @property
    def is_other_version(self) -> bool:
        return any(lack.kind is LackReason.OTHER_VERSION for lack in self.absent)

    @property
    def needs_hub(self) -> bool:
        return bool(self.absent)

    @property
    def refused(self) -> bool:
        return self.is_other_version or bool(self.why)

    def __str__(self) -> str:
        n = len(self.model.parts)
        where = f"the package {self.model.parts[0].distribution}" if n == 1 else f"{n} packages"
        listed = "; ".join(f"{lack.part.distribution} {lack}" for lack in self.absent)
        beginning = f"embedded model {self.model.name!r}: {self.damage}: " if self.damage else ""
        return (
            (beginning or f"embedded model {self.model.name!r} is in {where}: ")
            + listed
            + (f", and the hub does not give it ({self.why})" if self.why else "")
        )


def _shortfall(model: EmbeddedModel) -> _Shortfall:
    absent = absent_parts(model)
    short = _Shortfall(model, absent, damage=_damage(model) if absent else "")
    return short if not absent or short.is_other_version else replace(short, why=why_not_from_hub(model))


def _told(shortfalls: Sequence[_Shortfall]) -> str:
    """What is missing of each, and the one command that brings all of it."""
    absent = [lack for short in shortfalls for lack in short.absent]
    parts: list[Part] = [lack.part for lack in absent]
    again = any(lack.kind is not LackReason.NOT_INSTALLED for lack in absent)
    targets = dict.fromkeys(f"{short.model.target}, from {short.model.lock}" for short in shortfalls)
    return (
        "\n".join(map(str, shortfalls))
        + ("\n" if len(shortfalls) > 1 else "; ")
        + f"{pip_install(parts, again=again)} (in a checkout, with hashes: {'; '.join(targets)}), or name another model"
    )
