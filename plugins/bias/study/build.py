"""`evenhand bias-study`: documents in, a report of how summaries treat groups out.

Each stage leaves a receipt; what is finished is reused, what was interrupted continues.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .... import models
from ....config.recipe_file import dump_recipe
from ....errors import LeftOutError
from ....evaluation.pages.write import DETAILS, PAGE, write_page
from ....extras import installed_versions
from ....records import LeftOut
from ....runfolder.dates import dated_run
from ....runfolder.engines import refuse_large
from ....runfolder.processes import hold
from ....runfolder.spending import spending
from ....runfolder.stages import RECORDED, Counts, Receipt, Stage
from ....storage import file_digest, read_json, write_json, write_jsonl, write_text
from ....text.digests import digest
from ..recipe import BiasRecipe
from .contents import BiasReport
from .evidence import gather
from .figures import choose_examples, design_figures, group_figures
from .findings import describe, headline
from .inputs import Inputs, make_inputs
from .measure import take_measures
from .page import page
from .persons import FoundPersons, PersonCounts, find_persons
from .summarise import Opener, Summary, open_model, summarise
from .summarizer import describe_summarizer, preflight, refuse_taken, summarizer_signature
from .warnings import cautions

RECIPE, MANIFEST, REPORT = "recipe.yaml", "manifest.json", "report"
INPUTS = "inputs.jsonl"
JSON, MARKDOWN = "report.json", "report.md"
VERSIONS = (*RECORDED, "sentencex")


@dataclass(frozen=True)
class Study:
    """A finished study."""

    report: BiasReport
    page: Path
    # what each stage counted, and its seconds
    receipts: dict[str, Receipt]
    # the stages that were finished before
    reused: frozenset[str]


@dataclass(frozen=True)
class _StudyRecords:
    inputs: Inputs
    summaries: list[Summary]
    persons: dict[str, FoundPersons]
    recogniser: str


class InputCounts(Counts):
    """Inputs, and the documents that they are made of."""

    inputs: int
    documents: int
    left_out: tuple[LeftOut, ...]


class StudyCounts(Counts):
    """What the study's report holds."""

    measures: int
    left_out: tuple[LeftOut, ...]


def bias_study(recipe: BiasRecipe, open_engine: Opener = open_model) -> Study:
    """Run the study that the recipe describes; finished stages are reused.

    Args:
        recipe: inputs, summarizer and measures.
        open_engine: opens the backend when the first summary is to be made.

    Raises:
        DataError: documents, name lists or given summaries are wrong; all mistakes are listed.
        StorageError: another command works in the study's folder, or a file of it cannot be read or written.
        MissingExtra, ModelError: a model or a library is not there.
        RecipeError: the folder holds the study of another summarizer, or the engine needs more GPUs than there are.
        LeftOutError: more inputs are without summary than `most_left_out` allows; the report is written all the same.
    """
    if recipe.model is not None and recipe.backend.reads_model:
        models.check(recipe.model.name)
        refuse_large(recipe.backend)

    preflight(recipe)
    refuse_taken(recipe)
    receipts, reused = {}, {}
    with hold(recipe.output), dated_run(recipe.output), spending(recipe.output, recipe.most_cost):
        inputs, receipts["inputs"], reused["inputs"] = write_inputs(recipe)
        summaries, receipts["summaries"], reused["summaries"] = summarise(recipe, inputs.inputs, open_engine)
        persons, receipts["persons"], reused["persons"] = find_persons(recipe, inputs.inputs, summaries)
        records = _StudyRecords(inputs, summaries, persons, receipts["persons"].counted(PersonCounts).recogniser)
        report, receipts[REPORT], reused[REPORT] = _report(recipe, records, dict(receipts))
    lacking = sum(summary.text is None for summary in summaries)
    if lacking > recipe.most_left_out * len(summaries):
        raise LeftOutError(
            f"{recipe.output}: {lacking} of {len(summaries)} inputs have no summary, more than most_left_out "
            f"{recipe.most_left_out:g} allows; {recipe.output / REPORT / MARKDOWN} has the reasons and what could be measured. "
            "Mend their cause, or raise most_left_out"
        )
    return Study(report, recipe.output / REPORT / PAGE, receipts, frozenset(stage for stage in reused if reused[stage]))


def write_inputs(recipe: BiasRecipe) -> tuple[Inputs, Receipt, bool]:
    """The inputs of the study, written to `inputs.jsonl`, with the receipt and whether they were there already.

    Raises:
        DataError: documents or name lists are wrong; all mistakes are listed.
    """
    inputs = make_inputs(recipe)
    depends_on = {"inputs": digest([bias_input.model_dump(mode="json") for bias_input in inputs.inputs])}

    def work() -> InputCounts:
        write_jsonl(recipe.output / INPUTS, inputs.inputs)
        return InputCounts(
            inputs=len(inputs.inputs),
            documents=len({bias_input.original_id for bias_input in inputs.inputs}),
            left_out=inputs.left_out,
        )

    with hold(recipe.output):
        receipt, reused = Stage("inputs", recipe.output, depends_on, (INPUTS,)).run(work)
    return inputs, receipt, reused


def _report(
    recipe: BiasRecipe, records: _StudyRecords, receipts: Mapping[str, Receipt]
) -> tuple[BiasReport, Receipt, bool]:
    depends_on = {
        "format": BiasReport.model_fields["format"].default,
        "recipe": recipe.model_dump(mode="json"),
        "signature": summarizer_signature(recipe),
        "files": {stage: receipt.outputs for stage, receipt in receipts.items()},
        "documents": digest([document.meta for document in records.inputs.documents]),
    }
    folder = recipe.output / REPORT

    def work() -> StudyCounts:
        report = build_report(recipe, records)
        write_text(folder / JSON, report.model_dump_json(indent=2) + "\n")
        write_page(page(report), folder, MARKDOWN)
        write_text(recipe.output / RECIPE, dump_recipe(recipe))
        manifest = {
            "format": report.format,
            "name": recipe.name,
            "seed": recipe.seed,
            "input": Path(recipe.input).name,
            "summarizer": report.signature,
            "recogniser": report.recogniser,
            "encoder": report.encoder,
            "stages": {stage: receipt.counts | {"seconds": receipt.seconds} for stage, receipt in receipts.items()},
            "left_out": [row.model_dump(mode="json") for row in report.left_out],
            "not_measured": [row.model_dump(mode="json") for row in report.not_measured],
            "files": {name: content for receipt in receipts.values() for name, content in receipt.outputs.items()}
            | {f"{REPORT}/{name}": file_digest(folder / name) for name in (JSON, MARKDOWN, PAGE, DETAILS)},
            "versions": report.versions,
        }
        write_json(recipe.output / MANIFEST, manifest)
        return StudyCounts(measures=len(report.measures), left_out=report.left_out)

    receipt, reused = Stage(REPORT, recipe.output, depends_on, (RECIPE, MANIFEST, REPORT)).run(work)
    return BiasReport.model_validate(read_json(folder / JSON)), receipt, reused


def build_report(recipe: BiasRecipe, records: _StudyRecords) -> BiasReport:
    """All measures with their counts, intervals and words."""
    evidence = gather(records.inputs, recipe.inputs.setting, records.summaries, records.persons)
    rewords = recipe.inputs.content_words and records.inputs.setting.gender_varies
    # ids of the documents whose content words follow the gender
    reworded = {document.doc_id for document in records.inputs.documents if document.content_spans and rewords}
    results = take_measures(recipe, evidence, reworded)
    measures = describe(results, evidence.groups, recipe.measures.level)
    recognises = recipe.measures.persons == "spacy"
    by_group = group_figures(results, evidence, recognises=recognises)
    containment = recipe.measures.containment if recognises else None
    return BiasReport(
        name=recipe.name,
        title=f"{headline(measures)}.",
        summarizer=describe_summarizer(recipe),
        signature=summarizer_signature(recipe),
        recogniser=records.recogniser,
        encoder=results.encoder,
        setting=_setting(recipe),
        groups=evidence.groups,
        n_documents=len({bias_input.original_id for bias_input in records.inputs.inputs}),
        assignments=recipe.inputs.assignments,
        warnings=tuple(cautions(recipe, records.inputs, records.summaries, by_group, measures)),
        by_group=tuple(by_group),
        measures=tuple(measures),
        not_measured=results.not_measured,
        designs=tuple(design_figures(records.inputs.inputs, evidence, containment)),
        left_out=evidence.left_out,
        examples=tuple(choose_examples(evidence.balanced, recipe.measures.examples)),
        level=recipe.measures.level,
        resamples=recipe.measures.resamples,
        seed=recipe.seed,
        recipe=recipe.model_dump(mode="json"),
        versions=installed_versions(VERSIONS),
    )


def _setting(recipe: BiasRecipe) -> str:
    section = recipe.inputs
    if section.setting == "gender":
        return "gender, last names replaced" if section.replace_last_names else "gender, last names kept"
    if section.genders is None:
        return "race, genders drawn for each person"
    fixed = ", ".join(f"{category}: {' or '.join(genders)}" for category, genders in section.genders.items())
    return f"race, {fixed}"
