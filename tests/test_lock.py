"""What `make setup` installs is what the lock names, to the byte."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evenhand.models import EMBEDDED_MODELS, nltk_data

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def pins(lock):
    """Name -> (version, hashes) of a lock."""
    text = re.sub(r"^#.*\n", "", lock.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        requirement, *hashes = line.split()
        name, _, pinned = requirement.partition("==")
        found[name] = (pinned, hashes)
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_package_is_pinned_with_its_hashes(lock):
    found = pins(lock)
    assert found
    for name, (pinned, hashes) in found.items():
        assert pinned, name
        assert hashes, name
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), name


def test_packages_that_carry_models_are_in_the_lock():
    locked = {name for lock in LOCKS for name in pins(lock)}
    assert {part.distribution for model in EMBEDDED_MODELS.values() for part in model.parts} <= locked


def test_registered_versions_are_the_locked_ones():
    locked = {name: pinned for lock in LOCKS for name, (pinned, _) in pins(lock).items()}
    for model in EMBEDDED_MODELS.values():
        for part in model.parts:
            assert locked[part.distribution].partition(";")[0].strip() == part.version, part


MAKE = shutil.which("make")


@pytest.mark.skipif(MAKE is None, reason="needs make")
def test_setup_takes_no_package_without_its_hash():
    commands = subprocess.run(
        [str(MAKE), "--dry-run", "--always-make", "setup", "docs", "models", "data"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    installs = [line for line in commands.splitlines() if "pip install" in line and not line.endswith("-e .")]
    # what evenhand fetches itself is not installed
    assert {name for line in installs for name in re.findall(r"requirements/(\w+)\.lock", line)} == {
        lock.stem for lock in LOCKS if lock != nltk_data.LOCK
    }
    for line in installs:
        # without isolation nothing is fetched for a build, which pip would not hold against a hash
        assert all(option in line for option in ("--require-hashes", "--no-deps", "--no-build-isolation")), line


@pytest.mark.skipif(MAKE is None, reason="needs make")
def test_the_newest_libraries_go_into_a_layer_of_their_own_which_alone_is_tested_with_them():
    dry_run = [str(MAKE), "--dry-run", "-o", "setup", "test"]
    # these tests may run under a make whose options its children take over
    environment = {
        name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "NEWEST"}
    }
    for options, python in (([], ".venv/bin/python"), (["NEWEST=1"], ".venv/newest/bin/python")):
        commands = subprocess.run(
            [*dry_run, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout
        assert f" {python} -m pytest" in commands
        installs = [line for line in commands.splitlines() if " install " in line]
        assert len(installs) == len(options) and all(f"--python {python} install" in line for line in installs)


@pytest.mark.skipif(MAKE is None, reason="needs make")
def test_lock_asks_for_the_hashes_of_every_pin_anew(tmp_path):
    # a uv that copies what it is asked: with no hash among it and no file to keep one from, it has to fetch them
    (tmp_path / "requirements").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    lock = tmp_path / "requirements" / "cpu.lock"
    lock.write_text(
        "# made by uv\none==1.0 \\\n    --hash=sha256:0\ntwo==2.0 ; python_version < '3.13' \\\n    --hash=sha256:0\n"
    )
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\nwhile [ "$2" != -o ]; do shift; done\ntest ! -e "$3" && cp "$1" "$3"\n')
    uv.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    subprocess.run([str(MAKE), "-s", "lock"], cwd=tmp_path, env=os.environ | {"PATH": path}, check=True)
    assert lock.read_text() == "one==1.0\ntwo==2.0 ; python_version < '3.13'\n"
    assert [each.name for each in lock.parent.iterdir()] == ["cpu.lock"]
