"""What a recipe or an option names has bounds of size and depth, whatever lies there, and a message that names it."""

import gzip
import os
import threading
import time

import pytest

from evenhand import storage
from evenhand.config import CorpusSection
from evenhand.config.layers import MOST_LAYERS, read_layers
from evenhand.config.plain_yaml import MOST_CHARACTERS, read_yaml
from evenhand.corpora import load_corpus
from evenhand.errors import DataError, RecipeError, StorageError
from evenhand.storage import file_digest, iter_lines, read_text


def endless(path, kind):
    """A file without an end, or of a size that no memory holds."""
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    return path


READERS = {
    "text": read_text,
    "lines": lambda path: list(iter_lines(path)),
    "recipe": read_layers,
    "yaml": read_yaml,
    "corpus": lambda path: load_corpus(CorpusSection(path=str(path))),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(storage, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(storage, "MOST_OF_PIPE", 100_000)
    monkeypatch.setattr(storage, "MOST_OF_LINE", 100_000)


@pytest.mark.parametrize("kind", ["device", "pipe", "sparse"])
@pytest.mark.parametrize("reader", READERS)
def test_endless_files_are_refused_by_name(reader, kind, tmp_path):
    path = endless(tmp_path / "named.yaml", kind)
    began = time.monotonic()
    with pytest.raises((StorageError, RecipeError, DataError), match=r"named\.yaml"):
        READERS[reader](path)
    assert time.monotonic() - began < 5


def test_a_recipe_that_extends_an_endless_file_is_refused_by_name(tmp_path):
    endless(tmp_path / "base.yaml", "device")
    (tmp_path / "top.yaml").write_text("extends: base.yaml\n")
    with pytest.raises(
        RecipeError, match=r"top\.yaml:1: key 'extends': .*base\.yaml: is no file on a disk and gives more than"
    ):
        read_layers(tmp_path / "top.yaml")


def test_a_pipe_into_which_somebody_writes_is_read(tmp_path):
    path = endless(tmp_path / "recipe.yaml", "pipe")
    writer = threading.Thread(target=path.write_text, args=("seed: 1\n",))
    writer.start()
    assert read_yaml(path) == {"seed": 1}
    writer.join()


def test_an_empty_device_is_an_empty_file(tmp_path):
    (tmp_path / "nothing.yaml").symlink_to("/dev/null")
    assert read_text(tmp_path / "nothing.yaml") == ""
    assert file_digest(tmp_path / "nothing.yaml") == file_digest(tmp_path / "nothing.yaml")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path):
    path = tmp_path / "docs.yaml.gz"
    path.write_bytes(gzip.compress(b" " * (5 * MOST_CHARACTERS)))
    with pytest.raises(StorageError, match=r"docs\.yaml\.gz: comes to more than 4,000,000 bytes, unpacked"):
        read_yaml(path)


def test_usual_files_are_read_as_before(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(("line\n" * 50_000).encode()))
    assert len(list(iter_lines(path))) == 50_000
    path = tmp_path / "long.txt"
    path.write_text("x" * 99_000)
    assert len(next(iter_lines(path))[1]) == 99_000


def chain(folder, n, text=lambda number: ""):
    for number in range(n):
        extends = f"extends: {number + 1}.yaml\n" if number + 1 < n else ""
        (folder / f"{number}.yaml").write_text(f"{extends}seed: {number}\n{text(number)}")
    return folder / "0.yaml"


@pytest.mark.parametrize("n", [MOST_LAYERS + 2, 1_500])
def test_recipes_that_extend_each_other_without_end_are_refused(tmp_path, n):
    with pytest.raises(
        RecipeError, match=r"50\.yaml:1: key 'extends': more than 50 recipes extend each other, from .*0\.yaml on"
    ):
        read_layers(chain(tmp_path, n))


def test_many_large_layers_are_read_in_moments(tmp_path):
    def keys(number):
        return "wide:\n" + "".join(f"  key_{each}: {number}\n" for each in range(900))

    began = time.monotonic()
    layers = read_layers(chain(tmp_path, 12, keys))
    assert time.monotonic() - began < 15
    assert layers.values["seed"] == 0
    assert layers.place("wide.key_899").endswith("0.yaml:903")
