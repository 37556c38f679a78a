"""What tests need besides packages: Chromium, NLTK's data and SLURM. `python tests/needs.py` gets what is not here.

Chromium is the system's, or the one that playwright keeps. As root with apt-get the system's is installed, otherwise playwright's
is downloaded. NLTK's data is what $EVENHAND_NLTK names, an archive beside the checkout, or what NLTK's downloader put into the
environment. SLURM is the system's, installed as root with apt-get; without it the tests of a real cluster are skipped.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[1]
# test data that may not be shipped is looked for beside the checkout, where no variable names it
BESIDE = ROOT.parent / "shared" / "data"
ARCHIVE = BESIDE / "nltk" / "nltk_data_min.tar.xz"
UNPACKED = ROOT / ".pytest_cache" / "nltk"
DOWNLOADED = Path(sys.prefix) / "nltk_data"
RESOURCES = ("punkt_tab", "averaged_perceptron_tagger_eng", "wordnet", "stopwords", "vader_lexicon")


def nltk_data() -> str | None:
    """Folder of NLTK's data; None where there is none."""
    if named := os.environ.get("EVENHAND_NLTK"):
        return named
    if not ARCHIVE.is_file():
        return str(DOWNLOADED) if DOWNLOADED.is_dir() else None
    UNPACKED.mkdir(parents=True, exist_ok=True)
    with FileLock(UNPACKED / ".lock"):
        done = UNPACKED / ".unpacked"
        if not done.exists():
            with tarfile.open(ARCHIVE) as archive:
                archive.extractall(UNPACKED, filter="data")
            done.touch()
    (folder,) = (path for path in UNPACKED.iterdir() if path.is_dir())
    return str(folder)


def chromium(kept: str) -> str | None:
    """Path of a browser; None where there is none.

    Args:
        kept: where playwright would keep its own.
    """
    found = (shutil.which(name) for name in ("chromium", "google-chrome", "chromium-browser"))
    return next(filter(None, found), kept if Path(kept).is_file() else None)


def _get_chromium() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        here = chromium(started.chromium.executable_path)
    if here:
        return
    if _may_install():
        _install("chromium", "fonts-liberation")
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def _get_slurm() -> None:
    if _may_install() and not shutil.which("slurmctld"):
        _install("slurm-wlm", "munge")


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _install(*packages: str) -> None:
    program = shutil.which("apt-get") or "apt-get"
    for words in (["update", "-q"], ["install", "-qy", "--no-install-recommends", *packages]):
        subprocess.run([program, *words], env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, check=True)


def _get_nltk_data() -> None:
    if nltk_data() is None:
        from nltk import download

        for name in RESOURCES:
            download(name, download_dir=str(DOWNLOADED), raise_on_error=True)


if __name__ == "__main__":
    _get_chromium()
    _get_nltk_data()
    _get_slurm()
