import json
import os
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser

import pytest
from audit_inputs import ATTRIBUTE, make_set, two_sided, write_sets, write_summaries
from commands import ended

from evenhand.evaluation.audit.contents import Audit

FAIR, LEFT = "Apple berry cherry grape river stone.", "Apple berry. Cherry grape."


audit = partial(ended, "audit")


def test_first_audit_names_what_is_bundled_and_shows_the_lean(tmp_path):
    bundled = (
        "--documents",
        "reviews",
        "--attribute",
        "sentiment",
        "--summaries",
        "even-handed",
        "--summaries",
        "praising",
    )
    fast = (
        *("--measures", "value-shares,coverage", "--matcher", "words"),
        *("--entailer", "words", "--resamples", "200"),
    )
    done = audit(*bundled, *fast, "--out", tmp_path / "audit")
    assert done.returncode == 0, done.stderr
    found = Audit.model_validate_json((tmp_path / "audit" / "audit.json").read_text())
    shares = {
        (number.system, number.side): number.value
        for number in found.by_value
        if number.measure == "share in summaries (words)"
    }
    assert min(shares, key=shares.get) == ("praising", "negative")
    even = [share for (name, _), share in shares.items() if name == "even-handed"]
    assert shares["praising", "negative"] < min(even) / 2
    assert found.title.startswith("praising gives negative") and found.title.endswith("is less fair")
    assert found.title in done.stdout
    # in a pipe a sentence is a line, and none ends in blanks
    assert len(done.stdout.splitlines()) <= 25
    assert not [line for line in done.stdout.splitlines() if line.endswith(" ")]
    # a line for each family where there is no bar
    assert [line.split(":")[0] for line in done.stdout.splitlines()[:2]] == [
        "measuring value-shares",
        "measuring coverage",
    ]


WITHOUT_NLTK = {"EVENHAND_NLTK": "", "EVENHAND_CACHE": "/nowhere", "NLTK_DATA": "/nowhere", "HOME": "/nowhere"}


def process(*arguments, **environment):
    """The verb in a process of its own: NLTK keeps what it has found once."""
    command = [sys.executable, "-m", "evenhand.cli", "audit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def read(folder):
    return Audit.model_validate_json((folder / "audit.json").read_text())


def aggregates(found):
    return {(n.system, n.measure): n for n in found.aggregates}


@pytest.fixture
def two_systems(tmp_path):
    """Forty sets, one system that takes up all and one that takes up the left alone."""
    sets = two_sided(40)
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    fair = write_summaries(tmp_path / "fair.jsonl", {each.id: FAIR for each in sets})
    left = write_summaries(tmp_path / "left.jsonl", {each.id: LEFT for each in sets})
    return ["--documents", documents, "--attribute", ATTRIBUTE, "--summaries", fair, "--summaries", f"one-sided={left}"]


def test_systems_side_by_side(two_systems, tmp_path):
    done = audit(*two_systems, "--out", tmp_path / "audit", "--matcher", "words", "--resamples", 200)
    assert done.returncode == 0, done.stderr
    found = read(tmp_path / "audit")
    by_name = aggregates(found)
    assert by_name["fair", "BUR (words)"].value == 0
    assert by_name["one-sided", "BUR (words)"].value == 1
    verdicts = {(d.measure, d.side): d.verdict for d in found.differences}
    assert verdicts["BUR (words)", None] == "higher"
    (vote,) = found.votes
    assert (vote.system, vote.verdict) == ("one-sided", "less fair")
    by_shares = [each for each in found.represented if each.family == "value-shares"]
    represented = {each.system: (each.under, each.over) for each in by_shares}
    assert represented == {"fair": ((), ()), "one-sided": (("right",), ("left",))}
    shown = [e for e in found.examples if (e.system, e.family) == ("one-sided", "value-shares")]
    assert len(shown) == 5
    assert {(e.left_out, e.documents) for e in shown} == {(("right",), (f"river stone {k}",)) for k in range(5)}
    markdown = (tmp_path / "audit" / "audit.md").read_text()
    one_sided = markdown.partition("| **one-sided** |")[2]
    assert "| BUR (words) | 100.00 % (" in one_sided
    assert "<summary>Below what is expected: right (1 document)</summary>\n\nriver stone 0" in markdown
    for said in ("AUC is at least 5 %", "Measures of absolute gaps (SOF)"):
        assert said in markdown
    page = (tmp_path / "audit" / "details.html").read_text()
    assert "p by exchanging the systems of whole sets, corrected for everything that the page tests" in page


def test_a_value_of_one_set_has_no_interval(tmp_path):
    sets = [*two_sided(3), make_set("rare", ("left", "apple"), ("third", "lake"))]
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / "out.jsonl", {each.id: "Apple." for each in sets})
    done = audit(
        "--documents", documents, "--summaries", out, "--attribute", ATTRIBUTE, "--out", tmp_path / "audit", "--matcher", "words"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    third = [n for n in read(tmp_path / "audit").by_value if n.side == "third" and n.n_sets]
    # shares are over all sets that have words of several values, and there it has none in three
    own = [n for n in third if not n.kind.of_several]
    assert {(n.n_sets, n.low, n.high) for n in own} == {(1, None, None)}
    assert {n.n_sets for n in third if n not in own} == {4}
    # what rests on few sets is marked, and gets no verdict
    assert "4 sets, few" in done.stdout
    assert "third" in read(tmp_path / "audit").represented[0].small


def test_the_same_seed_gives_the_same_bytes(two_systems, tmp_path):
    for name in ("one", "two"):
        assert (
            audit(*two_systems, "--measures", "value-shares", "--out", tmp_path / name, "--matcher", "words").returncode
            == 0
        )
    files = ("audit.json", "audit.md", "index.html")
    assert [(tmp_path / "one" / f).read_bytes() for f in files] == [(tmp_path / "two" / f).read_bytes() for f in files]


@pytest.mark.usefixtures("quick_commands")
def test_without_nltk_data_the_matcher_is_words_and_everything_says_so(two_systems, tmp_path):
    done = process(*two_systems, "--measures", "value-shares", "--out", tmp_path / "audit", **WITHOUT_NLTK)
    assert done.returncode == 0, done.stderr
    # once, after the result
    said = done.stdout.replace("\n", " ")
    assert said.count("by matcher 'words'") == 1
    assert said.index("by matcher 'words'") > said.rindex("expected")
    found = read(tmp_path / "audit")
    assert "matcher 'words'" in found.hints[0] and not any("matcher" in warning for warning in found.warnings)
    page = (tmp_path / "audit" / "details.html").read_text()
    assert page.index("How it was made</h2>") < page.index("Shares are by matcher")
    assert {n.by for n in (*found.aggregates, *found.by_value)} == {"words"}
    asked = process(*two_systems, "--matcher", "ngram", "--out", tmp_path / "other", **WITHOUT_NLTK)
    assert asked.returncode == 2
    assert "evenhand models fetch nltk" in asked.stderr


def test_bad_input_is_answered_with_all_mistakes_and_code_2(two_systems, tmp_path):
    broken = tmp_path / "broken.txt"
    broken.write_text("only one line\n")
    line = ["stanse" if each == ATTRIBUTE else each for each in two_systems]
    done = audit(*line, "--summaries", broken, "--summaries", tmp_path / "absent")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for said in ("did you mean 'stance'", "broken.txt", "absent"):
        assert said in done.stderr


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--measures", "coverge"], "did you mean 'coverage'"),
        (["--target", "left=1"], "no weight for right"),
        (["--summaries", "more="], "names no file"),
        (["--out", ""], "is empty; name a folder"),
        (["--model", "entailer=x"], "write --model matcher=NAME"),
        (["--model", "http://localhost:1/v1"], "write which of the server's models, NAME@http://localhost:1/v1"),
        pytest.param(
            ["--measures", "opinions", "--matcher", "words"],
            "no effect without measure 'value-shares'",
            marks=pytest.mark.needs("plugins/opinions"),
        ),
        (["--references", 1, "--references", 2], "no set has a reference 2"),
        (["--summaries", "evenhanded"], "did you mean 'even-handed'"),
        (["--documents", "review"], "did you mean 'reviews'"),
    ],
)
def test_bad_options_are_answered(two_systems, option, said):
    given = two_systems[2:] if "--documents" in option else two_systems
    done = audit(*given, *option)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.needs("plugins/order")
def test_odd_summaries_are_left_out_or_counted_and_stop_nothing(tmp_path):
    sets = [
        make_set("plain", ("left", "apple berry cherry grape"), ("right", "river stone")),
        make_set("chinese", ("left", "渡轮很便宜。"), ("right", "桥梁太贵了。")),
        make_set("arabic", ("left", "العبارة رخيصة"), ("right", "الجسر غالي")),
        make_set("emoji", ("left", "🙂🙂"), ("right", "🚢 🌉")),
        make_set("one-valued", ("left", "apple"), ("left", "berry")),
        make_set("empty", ("left", "apple berry"), ("right", "river stone")),
        make_set("strange", ("left", "apple berry"), ("right", "river stone")),
    ]
    texts = {each.id: each.documents[0].text for each in sets} | {"empty": " ", "strange": "渡轮 🙂 <b>"}
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / "out.jsonl", texts)
    done = audit(
        "--documents", documents, "--summaries", out, "--attribute", ATTRIBUTE, "--out", tmp_path / "audit", "--matcher", "words",
        "--least-group", 30,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = read(tmp_path / "audit")
    bur = aggregates(found)["out", "BUR (words)"]
    assert bur.reasons == {"source has no mass": 1, "empty summary": 1}
    assert bur.n_sets == 5
    said = " ".join(found.warnings)
    assert "out: 1 of 5 " in said and "1 scored sets have" in said
    assert "out, value-shares: fewer" in said and "out, coverage: rests" in said and " 0 of 7 " in said
    assert [(each.under, each.over, each.small) for each in found.represented] == [
        ((), (), ("left", "right")),
        ((), (), ("first third", "last third")),
    ]


def test_a_value_that_no_document_has_is_told_and_values_may_have_commas(tmp_path):
    sets = [make_set(f"set-{k}", ("left, far", "apple"), ("right", "river")) for k in range(2)]
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / ".hidden.jsonl", {each.id: "Apple." for each in sets})
    done = audit(
        "--documents", documents, "--summaries", out, "--attribute", ATTRIBUTE, "--out", tmp_path / "audit", "--matcher", "words",
        "--measures", "value-shares", "--values", "left, far", "--values", "right", "--values", "rigth",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = read(tmp_path / "audit")
    assert [system.label for system in found.systems] == ["hidden"]
    assert [note.value for note in found.values] == ["left, far", "right", "rigth"]
    assert "No document has stance 'rigth'; did you mean 'right'?" in found.warnings


def test_nothing_left_is_an_error_that_says_why(tmp_path):
    sets = two_sided(2)
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    empty = write_summaries(tmp_path / "empty.jsonl", {each.id: "" for each in sets})
    base = ["--documents", documents, "--attribute", ATTRIBUTE, "--out", tmp_path / "audit", "--matcher", "words"]
    done = audit(*base, "--summaries", empty)
    assert done.returncode == 2
    assert "nothing is left to audit: empty, value-shares: empty summary (2 sets)" in done.stderr
    one_valued = write_sets(tmp_path / "one.jsonl", [make_set("set-0", ("left", "x"), ("left", "y"))])
    out = write_summaries(tmp_path / "out.jsonl", {"set-0": "x"})
    done = audit("--documents", one_valued, *base[2:], "--summaries", out)
    assert done.returncode == 2
    assert "all documents have stance 'left', so value-shares and coverage have nothing to compare" in done.stderr
    assert not (tmp_path / "audit").exists()


@pytest.mark.needs("plugins/bias")
def test_only_an_audit_is_overwritten(two_systems, tmp_path):
    foreign = tmp_path / "site"
    foreign.mkdir()
    (foreign / "index.html").write_text("my page")
    done = audit(*two_systems, "--out", foreign)
    assert (done.returncode, (foreign / "index.html").read_text()) == (2, "my page")
    assert "which no audit wrote" in done.stderr
    mine = tmp_path / "audit"
    for _ in range(2):
        assert (
            audit(*two_systems, "--measures", "word-lists,value-shares", "--matcher", "words", "--out", mine).returncode
            == 0
        )
        (mine / "notes.txt").write_text("kept")
    assert (mine / "notes.txt").read_text() == "kept"
    (mine / "audit.md").unlink()
    (mine / "audit.md").mkdir()
    done = audit(*two_systems, "--measures", "word-lists,value-shares", "--matcher", "words", "--out", mine)
    assert done.returncode == 2
    assert f"--out {mine}: cannot be written" in done.stderr
    assert "--set" not in done.stderr


class Page(HTMLParser):
    """Tags of a page and everything that it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.fetched = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [value for key, value in attrs if key in ("src", "href") and not value.startswith("#")]


def test_the_page_is_self_contained_and_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    sets = [make_set(f"s{k}", ("left", f"apple {evil}"), ("<i>right</i>", "river"), topic=evil) for k in range(3)]
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / "out.jsonl", {each.id: f"Apple {evil}" for each in sets})
    done = audit(
        "--documents", documents, "--summaries", f"{evil}={out}", "--attribute", ATTRIBUTE, "--out", tmp_path / "audit",
        "--least-group", 1, "--matcher", "words",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name, other in (("index.html", "details.html"), ("details.html", "index.html")):
        text = (tmp_path / "audit" / name).read_text()
        page = Page(text)
        assert "script" not in page.tags
        assert "i" not in page.tags
        assert page.fetched == [other]
        assert page.tags.count("svg") >= 2
        assert not re.search(r"url\(|@import", text)
    (drawn,) = (tmp_path / "audit" / "tables").glob("*.svg")
    assert "<script" not in drawn.read_text()
    assert "<script" not in (tmp_path / "audit" / "audit.md").read_text()


def test_help_says_what_needs_a_model():
    said = " ".join(audit("--help").stdout.replace("│", " ").split())
    assert "Runs anywhere: opinions, word-lists" in said
    assert "Needs NLTK's data" in said
    # what belongs to the audit stands under a heading of its own
    panels = [
        "─ Options ",
        "─ Documents and summaries ",
        "─ Measures ",
        "─ What is said of them, and where ",
        "─ Limits ",
    ]
    assert sorted(panels, key=said.index) == panels
    assert set(re.findall(r" (--\S+)", said[said.index(panels[0]) : said.index(panels[1])])) == {
        "--quiet",
        "--verbose",
        "--help",
    }
    assert "Needs a model: matchers bertscore and bartscore" in said


@pytest.mark.slow
@pytest.mark.needs("nltk")
@pytest.mark.parametrize(
    ("arguments", "bur", "uer"),
    [
        # Zhang et al. 2024, table of Alpaca on Yelp by N-grams
        (["--documents", "yelp.json.gz", "--summaries", "alpaca=yelp_alpaca_predictions.jsonl.gz"], 34.47, 3.71),
        # the first human reference of the gold sets, by the released code
        (["--documents", "yelp_gold.json", "--references", "1"], 26.00, 3.04),
    ],
)
def test_published_numbers(perspectivesumm, tmp_path, arguments, bur, uer):
    placed = [re.sub(r"yelp.*", lambda name: str(perspectivesumm / name[0]), each) for each in arguments]
    done = audit(
        *placed,
        "--attribute",
        "sentiment",
        "--mode",
        "released",
        "--measures",
        "value-shares",
        "--out",
        tmp_path / "audit",
    )
    assert done.returncode == 0, done.stderr
    found = {n.measure: n for n in read(tmp_path / "audit").aggregates}
    assert round(100 * found["BUR (ngram)"].value, 2) == bur
    assert round(100 * found["UER (ngram)"].value, 2) == uer
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["attribute"] == "sentiment"


@pytest.mark.needs("plugins/published")
def test_oracle_test_takes_the_place_of_summaries(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(6))
    asked = (
        "--documents",
        documents,
        "--attribute",
        ATTRIBUTE,
        "--matcher",
        "words",
        "--resamples",
        "100",
        "--oracle",
        "1",
    )
    done = audit(*asked, "--measures", "value-shares,coverage", "--published", "--bounds", "--out", tmp_path / "audit")
    assert done.returncode == 0, done.stderr
    found = Audit.model_validate_json((tmp_path / "audit" / "audit.json").read_text())
    assert [system.label for system in found.systems] == ["balanced", "only left", "only right"]
    assert {each.system for each in found.beside} == {"balanced", "only left", "only right"}
    page = (tmp_path / "audit" / "audit.md").read_text()
    assert page.count("over the released cut-offs") == 3
    both = audit(*asked, "--references", "1", "--out", tmp_path / "both")
    assert both.returncode == 2
    assert "--oracle is a test of its own" in both.stderr


@pytest.mark.needs("plugins/published")
def test_bounds_of_coverage_need_coverage(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(3))
    asked = (
        "--documents",
        documents,
        "--attribute",
        ATTRIBUTE,
        "--oracle",
        "1",
        "--bounds",
        "--measures",
        "value-shares",
    )
    done = audit(*asked, "--out", tmp_path / "audit")
    assert done.returncode == 2
    assert "--bounds has no effect without measure 'coverage'" in done.stderr


def test_several_attributes_are_one_page_and_limits_name_them(tmp_path):
    rows = ["set,text,stance,origin"]
    for k in range(12):
        rows += [
            f"s{k},apple berry {k},left,here",
            f"s{k},cherry grape {k},left,there",
            f"s{k},river stone {k},right,here",
        ]
    (tmp_path / "docs.csv").write_text("\n".join(rows))
    out = write_summaries(tmp_path / "out.jsonl", {f"s{k}": LEFT for k in range(12)})
    options = ("--measures", "value-shares", "--matcher", "words", "--resamples", 100, "--out", tmp_path / "audit")
    limits = ("--fail-if", "gap(shares, right) < -10 %", "--fail-if", "bur(origin) > 99 %")
    both = ("--attribute", "stance", "--attribute", "origin")
    done = audit("--documents", tmp_path / "docs.csv", *both, "--summaries", out, *options, *limits)
    assert done.returncode == 4, done.stderr
    assert "gap(shares, right) < -10 %" in done.stderr
    assert "By stance: right gets" in done.stdout
    assert "origin: here (12 sets)" in done.stdout
    assert (tmp_path / "audit" / "tables" / "measures-by-origin.csv").is_file()
    vague = audit("--documents", tmp_path / "docs.csv", *both, "--summaries", out, *options, "--fail-if", "bur > 99 %")
    assert vague.returncode == 4
    assert "says not of what. There are numbers of stance, origin" in vague.stderr
