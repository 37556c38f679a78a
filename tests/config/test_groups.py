"""Groups of values are read from a text or a mapping, and every mistake in them is told at once."""

import pytest

from evenhand.config import CorpusSection
from evenhand.config.groups import groups_of, groups_text, read_groups
from evenhand.errors import DataError

STARS = {"critical": ("1", "2"), "mixed": ("3",), "praising": ("4", "5")}


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ("critical=1,2; mixed=3; praising=4,5", STARS),
        (" critical = 1 , 2 ;mixed=3;praising=4,5;", STARS),
        ({"critical": [1, 2], "mixed": 3, "praising": range(4, 6)}, STARS),
        ("home=US; abroad=*", {"home": ("US",), "abroad": ("*",)}),
        ("young=..17; old=60..", {"young": ("..17",), "old": ("60..",)}),
        ("low=..2.5; high=2.5..", {"low": ("..2.5",), "high": ("2.5..",)}),
        ('a="x, y";b="p=q","r;s"', {"a": ("x, y",), "b": ("p=q", "r;s")}),
    ],
)
def test_groups_of_a_text_and_of_a_mapping(groups, expected):
    assert read_groups(groups) == expected
    # what files say of them can be read again
    assert read_groups(groups_text(expected)) == expected
    assert CorpusSection.model_validate({"group": groups}).group == expected


@pytest.mark.parametrize(
    ("groups", "mistakes"),
    [
        ("a=1; b=1", ["'a' and 'b' both have 1; take it out of one of them"]),
        ("a=1; b=1.0", ["'a' and 'b' both have 1;"]),
        ("a=..20; b=18..18", ["'a' and 'b' both have 18;"]),
        ("a=..20; b=18..59", ["'a' and 'b' both have numbers of ..20 and 18..59"]),
        ("a=65; b=60..", ["'a' and 'b' both have 65"]),
        ("a=*; b=*", ["'a' and 'b' both have the rest"]),
        ("a=1; a=2", ["two groups are called 'a'"]),
        ("a=1; A=2", ["'a', 'A' are names of groups that look alike"]),
        ("a=; b=2", ["'a' has no value; write a=VALUE,VALUE"]),
        ("=1; b=2", ["a group has no name"]),
        ("a=1", ["1 group, and a group is compared with others"]),
        ("", ["0 groups, and"]),
        (
            "a=59..18; b=..",
            ["'a': no number is in '59..18'; write the smaller one first: 18..59", "'b': '..' has no number in it"],
        ),
        ("1,2; 3", ["'1,2' is no group; write NAME=VALUE,VALUE"]),
        ('a="1; b=2', ["has a quote that is not closed"]),
        (3, ["3 are no groups; write a text"]),
        ({"a": {"b": 1}}, ["'a' has {'b': 1}; write a value or a list of values"]),
        ("a=1,2; b=2; b=; c=", ["two groups are called 'b'", "'c' has no value", "'a' and 'b' both have 2"]),
    ],
)
def test_every_mistake_is_told(groups, mistakes):
    with pytest.raises(ValueError) as caught:
        read_groups(groups)
    assert all(mistake in str(caught.value) for mistake in mistakes), caught.value


def test_an_attribute_among_several_is_named():
    assert groups_of(["stars: critical=1; praising=*"], ["tone", "stars"]) == {
        "stars": {"critical": ("1",), "praising": ("*",)}
    }
    with pytest.raises(DataError) as caught:
        groups_of(["a=1; b=2", "year: a=1; b=2", "tone: a=1; b=*", "tone: a=2; b=*"], ["tone", "stars"])
    first, second, third = str(caught.value).splitlines()
    assert "may be of any attribute; write tone: critical=" in first
    assert "is of 'year', by which no documents are grouped" in second
    assert "'tone' has groups already" in third
