import pytest

from evenhand.errors import DataError
from evenhand.evaluation.bias import make_inputs
from evenhand.evaluation.bias.setting import make_setting


def test_categories_bear_their_gender_where_it_is_the_only_one(make_recipe, names_file):
    def categories(genders):
        return make_setting(make_recipe(inputs={"setting": "race", "names": names_file, "genders": genders})).categories

    assert categories({"black": ["female"], "white": ["male"]}) == ("black female", "white male")
    assert categories({"black": ["female", "male"], "white": ["male"]}) == ("black", "white male")
    assert categories(None) == ("black", "white")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "holds no name lists"),
        (
            '{"black": {"female": ["A"]}}',
            r"lists black\.male, white\.male, white\.female, black\.last, white\.last are missing",
        ),
        ('{"black": {"women": ["A"]}}', r"black\.women: is none of female, male, last"),
        ("{", "is not JSON"),
    ],
)
def test_wrong_name_lists_are_refused_with_what_is_missing(make_recipe, tmp_path, text, said):
    path = tmp_path / "names.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        make_inputs(make_recipe(inputs={"setting": "race", "names": path}))
