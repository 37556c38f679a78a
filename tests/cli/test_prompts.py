"""`evenhand prompts`: every prompt that ships is listed, and one is printed so that a file of one's own may begin with it."""

import pytest
from commands import invoked

from evenhand.errors import DataError
from evenhand.generate.requests import PROMPTS
from evenhand.prompts import load_template, shipped_prompts


def prompts(*arguments):
    return invoked("prompts", *arguments, COLUMNS="100").stdout


def test_all_prompts_are_listed_with_what_is_filled_in():
    listed = dict(line.split(maxsplit=1) for line in prompts().splitlines()[1:] if "/" in line)
    assert listed.keys() == shipped_prompts().keys()
    assert {"generate/fairness/count", "judges/coverage-binary", "debate/item/answer"} <= listed.keys()
    assert listed["generate/perspective"] == "begin, documents, length, side, topic"


@pytest.mark.parametrize("name", ["generate/perspective", "perspective"])
def test_a_prompt_is_printed_as_a_file_that_a_recipe_may_name(name, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text(prompts("show", name))
    assert load_template(str(own), PROMPTS).text == load_template("perspective", PROMPTS).text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("perspectiv", "prompt 'perspectiv' is not known; did you mean 'perspective'"),
        ("no-such-thing", "prompt 'no-such-thing' is not known. `evenhand prompts` lists all"),
        ("summary", "may be chain_of_thought/summary or controlled/summary; write one of these"),
    ],
)
def test_a_name_of_none_or_of_several_is_refused(name, said):
    with pytest.raises(DataError, match=said):
        prompts("show", name)
