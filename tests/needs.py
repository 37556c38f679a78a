"""What tests need besides packages: one table, which says of each need where it is and how it is got.

A test says `@pytest.mark.needs("nltk")`, or takes the fixture of a need's name; where it cannot be had the test is skipped with
the reason. `python tests/needs.py` gets what is not here, each need by itself. Data that may not be shipped is got by nobody: the
folder that $EVENHAND_TEST_DATA names may have it. NLTK's data may be there, too; else it comes out of packages.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

from evenhand.errors import EvenhandError
from evenhand.fairness.groups.tokens import PLACES, open_nltk
from evenhand.models.nltk_data import fetch_nltk, nltk_folder

SETTING = "EVENHAND_TEST_DATA"
ROOT = Path(__file__).parents[1]
UNPACKED = ROOT / ".pytest_cache" / "nltk"
BY_COMMAND = ".venv/bin/python tests/needs.py"
SLURM = ("munged", "slurmctld", "slurmd", "sbatch", "srun")


@dataclass(frozen=True)
class Need:
    """Something from outside."""

    # as reasons name it
    what: str
    # why it is not here; "" where it is
    lacking: Callable[[], str]
    # None of data that is not shipped
    get: Callable[[], object] | None = None
    # whether the folder that $EVENHAND_TEST_DATA names may have it
    is_data: bool = False
    # what to do where it cannot be got
    by_hand: str = ""


def need_of(name: str) -> Need:
    """The need of this name; "plugins/debate" is one of evenhand's own plug-ins."""
    if name.startswith("plugins/"):
        return Need(name, lambda: "" if (ROOT / name / "__init__.py").is_file() else "it is not here")
    return NEEDS[name]


@cache
def reason(name: str) -> str:
    """Why a test that has this need is skipped; "" where it is not."""
    need = need_of(name)
    why = need.lacking()
    return why and f"needs {need.what}: {why}"


def data_folder(name: str) -> Path | None:
    """A folder of the test data; None where it is not there."""
    named = os.environ.get(SETTING, "")
    # tests work in folders of their own
    folder = Path(named).absolute() / name
    return folder if named and folder.is_dir() else None


def nltk_data() -> Path | None:
    """Folder of NLTK's data: what $EVENHAND_NLTK names, the test data's, or evenhand's cache; None where there is none.

    Raises:
        EvenhandError: what is in the cache is damaged.
    """
    if named := os.environ.get("EVENHAND_NLTK"):
        return Path(named)
    archives = sorted(folder.glob("*.tar.*")) if (folder := data_folder("nltk")) else []
    return _unpacked(archives[0]) if archives else folder or nltk_folder()


def chromium() -> Path | None:
    """Path of a browser, the system's or the one that playwright keeps; None where there is none."""
    from playwright.sync_api import sync_playwright

    for name in ("chromium", "google-chrome", "chromium-browser"):
        if program := shutil.which(name):
            return Path(program)
    with sync_playwright() as started:
        place = Path(started.chromium.executable_path)
    return place if place.is_file() else None


def _unpacked(archive: Path) -> Path:
    UNPACKED.mkdir(parents=True, exist_ok=True)
    with FileLock(UNPACKED / ".lock"):
        done = UNPACKED / ".unpacked"
        if not done.exists():
            shutil.unpack_archive(archive, UNPACKED)
            done.touch()
    (folder,) = (path for path in UNPACKED.iterdir() if path.is_dir())
    return folder


def _nltk_is_lacking() -> str:
    try:
        if folder := nltk_data():
            open_nltk("a test", tuple(PLACES), folder)
    except EvenhandError as error:
        return str(error)
    return "" if folder else BY_COMMAND


def _chromium_is_lacking() -> str:
    if find_spec("playwright") is None:
        return "pip install playwright"
    return "" if chromium() else BY_COMMAND


def _slurm_is_lacking() -> str:
    absent = [name for name in SLURM if shutil.which(name) is None] + ([] if os.geteuid() == 0 else ["root's rights"])
    return f"{', '.join(absent)} not here; as root, {BY_COMMAND}" if absent else ""


def _folder_is_lacking(name: str) -> Callable[[], str]:
    return lambda: "" if data_folder(name) else f"it is not in {name}/ of the folder that {SETTING} names"


def _get_chromium() -> None:
    if _may_install():
        _install("chromium", "fonts-liberation")
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def _get_slurm() -> None:
    if _may_install():
        _install("slurm-wlm", "munge")


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _install(*packages: str) -> None:
    program = shutil.which("apt-get") or "apt-get"
    for words in (["update", "-q"], ["install", "-qy", "--no-install-recommends", *packages]):
        subprocess.run([program, *words], env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, check=True)


NEEDS = {
    "chromium": Need("Chromium", _chromium_is_lacking, _get_chromium, by_hand="install chromium"),
    "nltk": Need("NLTK's data", _nltk_is_lacking, fetch_nltk, is_data=True),
    "slurm": Need("a SLURM cluster", _slurm_is_lacking, _get_slurm, by_hand="install slurm-wlm and munge"),
    "polisum": Need("PoliSum's development files", _folder_is_lacking("polisum"), is_data=True),
    "perspectivesumm": Need("PerspectiveSumm's Yelp sets", _folder_is_lacking("perspectivesumm"), is_data=True),
}


def get_all() -> int:
    """Get what is not here, and say of each need whether it is; 1 where one could not be had, and else 0."""
    n_failed = 0
    for need in NEEDS.values():
        why = need.lacking()
        if why and need.get:
            try:
                need.get()
                why = need.lacking()
            except (EvenhandError, OSError, subprocess.CalledProcessError) as error:
                why = f"{str(error).rstrip('.')}; {need.by_hand or 'mend that'}, then make setup"
            n_failed += bool(why)
        print(f"{need.what}: {f'not here, tests that need it are skipped: {why}' if why else 'here'}", flush=True)
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(get_all())
