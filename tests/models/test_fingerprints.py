"""What was converted of a GGUF file is used as long as it is what was made, and made again by `evenhand models fetch`."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import append, config, cut, remove, settings, write
from gguf_files import TURNS, trained, write_llama
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import UnfitModelError
from evenhand.models import gguf, locate
from evenhand.models.fingerprints import fingerprint_file
from evenhand.models.places import fetched
from evenhand.storage import sha256_of

pytest.importorskip("transformers")
pytest.importorskip("torch")


def flip(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "byte flipped": (flip, "model.safetensors has another content than when it was made"),
    "weights cut": (cut("model.safetensors", 0.9), "model.safetensors has .* bytes, and had"),
    "weights emptied": (write("model.safetensors", b""), "model.safetensors has 0 bytes, and had"),
    "weights gone": (remove("model.safetensors"), "model.safetensors is not there any more"),
    "setting edited": (config(rope_theta=500000.0), "config.json has .* bytes, and had"),
    "setting of the same length": (
        lambda folder: (folder / "config.json").write_text(
            (folder / "config.json").read_text().replace("true", "null")
        ),
        "config.json has another content than when it was made",
    ),
    "end edited": (settings("generation_config.json", eos_token_id=7), "generation_config.json has"),
    "tokenizer cut": (cut("tokenizer.json", 0.5), "tokenizer.json has .* bytes, and had"),
    "template gone": (remove("chat_template.jinja"), "chat_template.jinja is not there any more"),
    "template longer": (append("chat_template.jinja", b"\n"), "chat_template.jinja has .* bytes, and had"),
    "file beside": (write("adapter_config.json", "{}"), "adapter_config.json was not there when it was made"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A GGUF file, and a cache in which it is converted."""
    place = tmp_path_factory.mktemp("made")
    path = write_llama(place / "tiny.gguf", trained(400, control=("<start_of_turn>", "<end_of_turn>")), TURNS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_CACHE", str(place / "cache"))
        locate(str(path))
    return path, place / "cache"


@pytest.fixture
def file(made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, converted in a cache that may be damaged."""
    shutil.copytree(made[1], tmp_path / "cache")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    return made[0]


def folder_of(file: Path) -> Path:
    return gguf.converted_folder(file.stem, sha256_of(file))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_was_changed_is_refused_until_it_is_made_again(file: Path, name: str) -> None:
    damage, words = DAMAGED[name]
    folder = folder_of(file)
    before = content(folder)
    assert locate(str(file)) == str(folder)
    damage(folder)
    with pytest.raises(UnfitModelError, match=f"{words}.*Make it again: evenhand models fetch {file}"):
        locate(str(file))
    assert fetched(str(file)) == str(folder)
    assert content(folder) == before
    assert locate(str(file)) == str(folder)


def test_a_byte_that_rotted_unseen_is_mended_by_fetch(file: Path) -> None:
    folder = folder_of(file)
    before, times = content(folder), (folder / "model.safetensors").stat()
    # hashed in this process already, by size and time
    flip(folder)
    os.utime(folder / "model.safetensors", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert locate(str(file)) == str(folder)
    said = CliRunner().invoke(app, ["models", "fetch", str(file)])
    assert said.exit_code == 0, said.output
    assert content(folder) == before


def test_a_cache_that_was_copied_is_whole(file: Path) -> None:
    folder = folder_of(file)
    for path in folder.iterdir():
        os.utime(path, (1e9, 1e9))
    assert locate(str(file)) == str(folder)
    known = json.loads(fingerprint_file(folder).read_text())
    assert {each["mtime_ns"] for each in known["files"].values()} == {10**18}


@pytest.mark.parametrize("left", [None, "", "{}", '{"version": 1, "files": {}}'])
def test_a_folder_that_nothing_is_known_of_is_made_again(file: Path, left: str | None) -> None:
    # of an earlier version, or of a conversion that was killed before it could say that it is whole
    folder = folder_of(file)
    before = content(folder)
    flip(folder)
    fingerprint_file(folder).unlink()
    if left is not None:
        fingerprint_file(folder).write_text(left)
    assert locate(str(file)) == str(folder)
    assert content(folder) == before
    assert fingerprint_file(folder).is_file()


def test_a_folder_of_an_earlier_version_is_used_where_it_cannot_be_made_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(file)
    fingerprint_file(folder).unlink()
    monkeypatch.setattr(gguf.os, "access", lambda *_: False)
    assert locate(str(file)) == str(folder)
    assert not fingerprint_file(folder).exists()
