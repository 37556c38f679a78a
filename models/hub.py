"""The hub's files of an embedded model, where its packages are not installed."""

import errno
import logging
import shutil
import time
from importlib.util import find_spec
from pathlib import Path

from ..errors import StorageError, UnfitModelError
from ..extras import need
from ..storage import sha256_of
from .cache import whole_folder
from .embedded import EmbeddedModel
from .files import CONFIG
from .joining import put, unfinished_file

log = logging.getLogger(__name__)

# seconds that the hub has to say whether it has a model
PATIENCE = 5.0
# hubs that did not answer -> when, and how; they are not waited for again, for as many seconds
OUT_OF_REACH: dict[str, tuple[float, Exception]] = {}
LAST_SECONDS = 60.0
# hubs that have answered
ANSWERING: set[str] = set()
# of errors that this machine's disk makes, and no hub
OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO}


def from_hub(model: EmbeddedModel, target: Path) -> None:
    """The hub's files of the registered revision, linked into the cache when each has its SHA-256.

    Raises:
        UnfitModelError: the hub does not give a file, or gives another.
        StorageError: the hub's cache cannot be written.
        OSError: evenhand's cannot.
    """
    places = {file: _downloaded(model, file, expected) for file, expected in model.files.items()}
    if model.is_gguf:
        unfinished = unfinished_file(target)
        unfinished.unlink(missing_ok=True)
        _link(places[model.weights], unfinished)
        put(unfinished, target)
        return
    with whole_folder(target) as folder:
        for file, place in places.items():
            _link(place, folder / file)


def _downloaded(model: EmbeddedModel, file: str, expected: str) -> Path:
    assert model.source is not None
    hub = need("huggingface_hub", f"embedded model {model.name!r}")
    repository, revision = model.source
    try:
        place = Path(hub.hf_hub_download(repository, file, revision=revision)).resolve()
    except (need("httpx", "the hub").HTTPError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in OF_THE_DISK:
            raise StorageError(
                f"embedded model {model.name!r}: {error.filename or 'the cache of the hub'}: cannot be written: "
                f"{error.strerror}; make room, mend the rights, or name another folder with HF_HOME"
            ) from error
        raise UnfitModelError(
            f"embedded model {model.name!r}: the hub does not give {repository} whole ({first_line(error)}); the same command "
            "goes on with it"
        ) from error
    if (sha256 := sha256_of(place)) != expected:
        raise UnfitModelError(
            f"embedded model {model.name!r}: {place} of {repository} at {revision} has SHA-256 {sha256}, not {expected}; "
            "delete it, and download it again"
        )
    return place


def _link(place: Path, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    try:
        path.hardlink_to(place)
    except OSError:
        # the hub's cache is on another disk
        shutil.copyfile(place, path)


def why_not_from_hub(model: EmbeddedModel) -> str:
    """Why the hub does not give a model; nothing where it does, or its files are kept on this machine."""
    if model.source is None:
        return "it is not registered there"
    if find_spec("huggingface_hub") is None:
        return "huggingface_hub is not installed"
    feature = f"embedded model {model.name!r}"
    hub = need("huggingface_hub", feature)
    repository, revision = model.source
    if all(isinstance(hub.try_to_load_from_cache(repository, file, revision=revision), str) for file in model.files):
        return ""
    error = refusal(repository, revision, feature, PATIENCE, next(iter(model.files)))
    return first_line(error) if error else ""


def refusal(
    repository: str, revision: str | None, feature: str, patience: float, file: str = CONFIG
) -> Exception | None:
    """What the hub says when it is asked for a model that it does not give; None of one that it does.

    It is asked for a file and not by its API: a mirror (HF_ENDPOINT) may have files alone, and the API knows models whose files
    are not given to everybody.

    Args:
        repository: Hugging Face id.
        revision: branch, tag or commit.
        feature: what the user asked for, as errors name it.
        patience: seconds that the hub has for its answer.
        file: one that the model has.
    """
    hub, httpx = need("huggingface_hub", feature), need("httpx", feature)
    try:
        address = hub.hf_hub_url(repository, file, revision=revision)
    except ValueError as error:
        # a name that no hub can have
        return error
    host = httpx.URL(address).host
    if (silent := OUT_OF_REACH.get(host)) and time.monotonic() - silent[0] < LAST_SECONDS:
        return silent[1]
    try:
        if host not in ANSWERING:
            # without the library's five tries
            hub.get_session().head(address, timeout=patience)
            ANSWERING.add(host)
        hub.get_hf_file_metadata(address, timeout=patience)
    except (httpx.HTTPError, OSError, ValueError) as error:
        if isinstance(error, httpx.TransportError):
            OUT_OF_REACH[host] = time.monotonic(), error
            log.warning("the hub at %s is out of reach (%s); its files are not looked at", host, first_line(error))
        return error
    return None


def first_line(error: Exception) -> str:
    """What an error says in its first line, or its kind where it says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)
