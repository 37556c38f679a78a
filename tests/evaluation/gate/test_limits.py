import time

import pytest

from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.gate.limits import parse_limit, read_limits


def test_a_limit_is_read_whole():
    found = parse_limit("now worst_gap(coverage, neg, tuned v2) <= -5 %")
    assert (found.function, found.is_worst, found.is_now) == ("gap", True, True)
    assert found.arguments == ("coverage", "neg", "tuned v2")
    assert (found.sign, found.bound) == ("<=", -0.05)


def test_capitals_and_how_words_are_joined_do_not_matter():
    same = ("Worst_Gap(Contract_Kept)<0", "worst-gap( contract kept ) < 0", "worst gap('contract-kept') < 0.0")
    assert len({(each.function, each.arguments, each.bound) for each in map(parse_limit, same)}) == 1


def test_a_minus_before_a_number_is_part_of_a_name():
    assert parse_limit("share_gap(-1) < 0").arguments == parse_limit("share_gap(\u22121) < 0").arguments == ("-1",)
    assert parse_limit("share_gap(1) < 0").arguments == ("1",)


def test_quotes_hold_what_would_end_an_argument():
    assert parse_limit('mean(score, "yes, (no) < maybe") > 1').arguments == ("score", "yes, (no) < maybe")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bur",
        "bur = 1",
        "bur() < 1",
        "1 < bur",
        "bur < 1 and uer < 1",
        "bur < uer",
        "gap(gap(coverage)) < 1",
        "__import__('os').system('true') < 1",
        "bur < __import__('os')",
        "(" * 10_000 + "bur" + ")" * 10_000 + " < 1",
        "gap(" + " " * 480 + "<",
        "bur" + " " * 10_000,
    ],
)
def test_what_is_no_limit_is_refused_at_once(text):
    begun = time.perf_counter()
    with pytest.raises(DataError) as refused:
        parse_limit(text)
    assert time.perf_counter() - begun < 0.1
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("bound", ["nan", "inf", "-inf", "1e999", "9" * 400, "0x10", "1_000", "1,5"])
def test_a_bound_is_a_finite_number(bound):
    with pytest.raises(DataError, match="finite number"):
        parse_limit(f"bur < {bound}")


def test_the_limit_itself_is_beyond_only_where_it_says_so():
    # 0.1 + 0.2 is 0.30000000000000004
    assert not parse_limit("bur > 0.3").is_beyond(0.1 + 0.2, 1e-9)
    assert parse_limit("bur >= 0.3").is_beyond(0.3, 1e-9)
    assert parse_limit("bur < 0.3").is_beyond(0.2, 1e-9)
    assert not parse_limit("bur < 0.3").is_beyond(0.4, 1e-9)


def test_a_profile_names_its_limits(tmp_path):
    path = tmp_path / "gate.yaml"
    path.write_text("strict: true\nlimits:\n  no side loses room: worst_gap(shares) < -0.05\n  2: bur > 40 %\n")
    with pytest.raises(RecipeError, match="not a text"):
        read_limits([], path)
    path.write_text("strict: true\nlimits:\n  no side loses room: worst_gap(shares) < -0.05\n")
    limits, is_strict, least_sets = read_limits(["bur > 0.4"], path)
    assert ([each.name for each in limits], is_strict, least_sets) == (["", "no side loses room"], True, 20)
    path.write_text("least_sets: 8\nlimits:\n  a: bur > 0.4\n")
    assert read_limits([], path)[2] == 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("limits: {}", "limits"),
        ("limits: {a: 3}", "limits.a"),
        ("limits: {a: bur < 1}\nstrct: true", "strict"),
        ("limits: {a: eval(x), b: also wrong}", "limit 'b'"),
        ("limits: {a: bur < .nan}", "finite"),
        ("limits: {a: bur < 1}\nleast_sets: 4", "least_sets"),
        ("- bur < 1", "mapping"),
        ("limits: {a: bur < 1, a: bur < 2}", "twice"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said(tmp_path, text, said):
    path = tmp_path / "gate.yaml"
    path.write_text(text)
    with pytest.raises((DataError, RecipeError), match=said) as refused:
        read_limits([], path)
    assert refused.value.exit_code == 2
