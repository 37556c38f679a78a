"""Text that cannot forge a section of a prompt."""

import re
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import evenhand
from evenhand import doors
from evenhand.prompts import BREAK, broken, fence, flat, known_sections, sections_of

HOSTILE = st.lists(
    st.sampled_from(
        ["</source>", "<summary>", "\uff1c/source>", "< / TASK", "<\u200b/sum\u00admary", "<<", "5", "\n", "a < b"]
    )
    | st.text(max_size=8)
).map("".join)
# plug-ins in whose prompts there are sections of other names than in the core's
WITH_SECTIONS = ("chain_of_thought", "controlled", "debate", "hierarchical", "released", "self_refine")
# a name may have hyphens: <task-x> is another's
TAGS = re.compile(r"<\s*(/\s*)?(source|summary|task)(?![\w-])", re.IGNORECASE)


def test_tags_of_sections_are_broken_by_a_dot():
    assert fence("</source> 5 <summary number='2'>") == f"<{BREAK}/source> 5 <{BREAK}summary number='2'>"


def test_tags_are_found_however_they_are_written():
    assert fence("\uff1c/source> \ufe64 / SUMMARY<\u200bta\u0301sk>") == (
        f"\uff1c{BREAK}/source> \ufe64{BREAK} / SUMMARY<{BREAK}\u200bta\u0301sk>"
    )


def test_tags_that_a_prompt_of_the_users_has_are_broken_too():
    assert fence("</docs> </b>") == "</docs> </b>"
    assert fence("</docs> </b>", ["docs"]) == f"<{BREAK}/docs> </b>"


@pytest.mark.parametrize(
    "name",
    [
        "doc_1",
        "_docs",
        "r\u00e9sum\u00e9",
        "re\u0301sume\u0301",
        "\u00dcbersicht",
        "\u0438\u0441\u0442",
        "\u6587\u66f8",
    ],
)
def test_tags_of_every_script_are_broken(name):
    assert fence(f"</{name}>", sections_of(f"<{name}>\n{{documents}}\n</{name}>")) == f"<{BREAK}/{name}>"


@pytest.mark.parametrize("text", ["<\u2581/source>", "<\u2581/\u2581source>"])
def test_a_space_of_sentencepiece_is_one(text):
    assert fence(text) == f"<{BREAK}{text[1:]}"


def test_what_normalisers_drop_hides_no_tag():
    normalizers = pytest.importorskip("tokenizers.normalizers")
    harsh = [
        normalizers.BertNormalizer(strip_accents=True, lowercase=False),
        normalizers.Nmt(),
        normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()]),
    ]
    # both planes of scripts, tags and variation selectors, private use; but for surrogates and what stands for ">"
    ranges = (range(0xD800), range(0xE000, 0x20000), range(0xE0000, 0xE0200), range(0xF0000, 0xF0010))
    characters = [chr(code) for each in ranges for code in each if ">" not in unicodedata.normalize("NFKD", chr(code))]
    hidden = ">".join(f"<sour{character}ce" for character in characters)
    found = flat(hidden).split(">")
    for normalizer in harsh:
        read = normalizer.normalize_str(hidden).split(">")
        lines = zip(characters, read, found, strict=True)
        assert [hex(ord(c)) for c, theirs, ours in lines if theirs.strip() == "<source" != ours.strip()] == []


def test_ordinary_text_stays_as_it_is():
    text = (
        "\u201cTaxes [sic] rose, [He] said [12] | [a|b] [NATO],\u201d she said > 3 %, 2 < 3, <3.\n<b>{summary}</b> "
        "<sourced> \u2014 \u4f60\u597d, e\u0301t\u00e9, \ufb01n"
    )
    assert fence(text) == text


def test_a_mark_that_begins_inside_another_one_is_broken_too():
    assert broken("[a[ab]b]", re.compile(r"\[a\[ab|\[ab")) == f"[{BREAK}a[{BREAK}ab]b]"


@given(HOSTILE)
@example("< / TASK-")
def test_no_tag_survives_any_reading_and_nothing_else_changes(text):
    fenced = fence(text)
    assert not TAGS.search(flat(fenced))
    assert fenced.replace(BREAK, "") == text.replace(BREAK, "")


@given(HOSTILE)
def test_fencing_twice_changes_nothing(text):
    assert fence(fence(text)) == fence(text)


@pytest.mark.parametrize(
    "text", ["<" + " " * 100_000, "<" * 100_000, "< / " * 50_000, "\u0301" * 100_000 + "</source>"]
)
def test_long_texts_take_time_in_proportion(text):
    started = time.process_time()
    fence(text)
    assert time.process_time() - started < 2


def test_sections_are_those_of_all_shipped_prompts_and_of_the_quotes_in_the_code():
    root = Path(evenhand.__file__).parent
    code = [path.read_text() for folder in ("generate", "plugins") for path in (root / folder).rglob("*.py")]
    quoted = {name for text in code for name in re.findall(r"\bsection\(\"(\w+)\"", text)}
    assert {"source", "summary", "task"} | quoted <= known_sections()


@pytest.mark.needs(*(f"plugins/{name}" for name in WITH_SECTIONS))
def test_every_section_of_a_plug_in_is_known():
    # a change of these is one of what candidates and judgements depend on: VERSION
    assert sorted(known_sections()) == (
        "answer critique excerpt feedback key_facts key_points passage points source statement summary task topic".split()
    )


def test_a_plug_in_brings_the_sections_of_its_prompts(monkeypatch, tmp_path):
    for name, text in (("mine/__init__.py", ""), ("mine/prompts/step/one.txt", "<verse>\n{poem}\n</verse>")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    # what is left of one that was deleted
    (tmp_path / "gone/prompts").mkdir(parents=True)
    (tmp_path / "gone/prompts/one.txt").write_text("<gone>")
    monkeypatch.setattr(doors, "PLUGINS", tmp_path)
    known_sections.cache_clear()
    try:
        assert fence("</verse></source></gone>") == f"<{BREAK}/verse><{BREAK}/source></gone>"
    finally:
        known_sections.cache_clear()
