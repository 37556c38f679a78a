"""Candidates, judgements, best of n and pairs in memory, by what the stages of a run do with files.

Each step adds to a recipe what it was asked, so that all checks of recipes hold here too, and `recipe` of a result is what would
make it again. Models are loaded in this process and closed when the step ends, where a run gives each a process of its own.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..config import Recipe, SummaryColumnsSection
from ..config.generate import asks_model
from ..config.needs import Against
from ..config.python_code import CodeSection, PythonMethodSection, allow, code_sections
from ..config.recipe_file import load_judges, load_recipe, recipe_of
from ..corpora.summaries import read_texts, summaries_of
from ..corpora.summary_columns import columns_of
from ..corpora.summary_ids import SETS
from ..errors import DataError, RecipeError
from ..generate.backends import open_backend_of
from ..generate.contract import check_output
from ..generate.method import draws
from ..generate.requests import build_requests
from ..generate.stage import make_batch
from ..judges import Judge, open_judges, try_judges
from ..judges.batch import judge_inputs, judge_together
from ..judges.combine import reward_ranges
from ..judges.judge import JudgeInput
from ..judges.python_code import FunctionJudge, in_memory
from ..records import Candidate, Judgement, Sampling, SummaryRequest
from ..rerank.pairs import choose_pairs, preference_pair
from ..rerank.stage import best_summary, score_group
from ..runfolder.phases import Phase, open_phase
from ..runfolder.spending import spending
from ..storage import local_path
from ..text.digests import digest
from .documents import described, load_documents
from .results import Best, Candidates, Documents, Judgements, Pairs

log = logging.getLogger(__name__)

# the sampling plans of Ri et al. 2025, section 4, which share out the candidates
PLANS: dict[str, dict[str, float]] = {
    "nucleus": {"top_p": 0.9, "temperature": 0.8},
    "top_k": {"top_k": 100, "temperature": 0.8},
    "hybrid": {"top_p": 0.9, "temperature": 1.2, "repetition_penalty": 1.1},
}
# a request and its candidates
Answered = tuple[SummaryRequest, list[Candidate]]
# what a recipe must have, until a step says something else
STAND_IN: dict[str, Any] = {
    "name": "notebook",
    "output": "runs/notebook",
    "generate": {"plans": {"nucleus": {**PLANS["nucleus"], "candidates": 1}}},
    "judges": {"contract": {"kind": "contract"}},
    "reward": {"judges": ["contract"]},
    "evaluation": {"judges": ["contract"]},
    "rounds": 0,
}


def generate(  # noqa: PLR0913 (keys of recipes that an editor completes)
    documents: Any,
    model: str | Mapping[str, Any] | None = None,
    *,
    n: int | None = None,
    task: Mapping[str, Any] | None = None,
    recipe: Recipe | str | Path | None = None,
    attribute: str | None = None,
    seed: int | None = None,
    backend: str | None = None,
    method: str | None = None,
    plans: Mapping[str, Any] | None = None,
    **options: Any,
) -> Candidates:
    """Candidates for each document set and side, or one group for each set with task={"scope": "all"}.

    Args:
        documents: what `load_documents` gives or takes.
        model: a model's name or folder, or the keys of a recipe's section `model`.
        n: candidates of a request, shared out over nucleus, top-k and hybrid sampling; 9 unless `plans` or a recipe say it.
        task: keys of a recipe's section `task`: scope, sentences, words, labels, ...
        recipe: a recipe, its path or its name; what else is given changes it.
        attribute: of documents that are a table, or have several attributes: what they are grouped by.
        seed: of what is drawn.
        backend: "transformers", "vllm", "openai", "scripted" or what a plug-in brings.
        method: "zero-shot", "self-refine" or another of `generate.method`.
        plans: sampling plans by name, each with its candidates: {"nucleus": {"candidates": 4, "top_p": 0.9}}.
        options: other keys of a recipe's section `generate`: max_model_len, max_tokens, ...

    Raises:
        RecipeError: an argument is wrong; all mistakes are listed.
        DataError: the documents are wrong.
        MissingExtra: the backend's library is not installed.
        ModelError: the model cannot be opened.
    """
    corpus = load_documents(documents, attribute)
    options |= {
        key: value
        for key, value in (("backend", backend), ("method", method), ("plans", plans)) if value is not None
    }  # fmt: skip
    if n is not None and "plans" in options:
        raise RecipeError("n and plans both say how many candidates there are; leave one out")
    keys_of(task, "task")
    if not isinstance(model, str):
        keys_of(model, "model")
    base = STAND_IN
    if recipe is not None:
        base = loaded(recipe).model_dump(mode="json")
    if n is not None or (recipe is None and "plans" not in options):
        draws_none = n is None and not asks_model(options.get("method"))
        options["plans"] = {} if draws_none else _shared_out(9 if n is None else n, options.pop("max_tokens", None))
    full_recipe = changed(
        base,
        **({} if seed is None else {"seed": seed}),
        **({} if model is None else {"model": {"name": model} if isinstance(model, str) else dict(model)}),
        corpus={**base.get("corpus", {}), "attribute": corpus.grouped_by},
        task=dict(task) if task is not None else base.get("task", {}),
        generate={**base["generate"], **options},
    )
    if "code" in options and isinstance(full_recipe.generate.options, PythonMethodSection):
        allow([full_recipe.generate.options])
    phase = _phase(full_recipe)
    requests = build_requests(corpus.records, full_recipe.corpus, full_recipe.task)
    order = draws(full_recipe.generate.plans)
    with spending(None, full_recipe.limits.cost), closing(open_backend_of(phase)) as opened:
        size = full_recipe.generate.requests_per_batch
        batches = [
            make_batch(phase, opened, requests[start : start + size], order) for start in range(0, len(requests), size)
        ]
    return Candidates(
        (candidate for batch in batches for candidate in batch.candidates),
        requests,
        full_recipe,
        (failure for batch in batches for failure in batch.failures),
    )


def judge(
    summaries: Any,
    judges: Mapping[str, Any] | Recipe | str | Path,
    documents: Any = None,
    *,
    task: Mapping[str, Any] | None = None,
    attribute: str | None = None,
    summary_columns: Mapping[str, str] | None = None,
) -> Judgements:
    """What judges say of each summary.

    Args:
        summaries: what `generate` gives; or summaries made elsewhere, one for each set (with task={"scope": "side"} for each set
            and side): a dict of ids and texts, dicts with "id" and "summary", a data frame of such columns, texts in the order of
            the documents, or a file of these. The id of a side's summary is "SET/SIDE". They are judged as they stand, whatever
            their paragraphs and headings.
        judges: name -> keys of a judge's section ({"kind": "rouge", ...}), or a function of (summary, sources, request), of which
            higher numbers are better; or a recipe, its path or its name, for its judges.
        documents: of summaries made elsewhere, as `load_documents` gives or takes them.
        task: of summaries made elsewhere, what was asked for; by default one summary of all documents, of any length.
        attribute: of documents that are a table, or have several attributes: what they are grouped by.
        summary_columns: columns or keys of summaries made elsewhere, where they have other names or several have texts:
            {"text": COLUMN, "id": COLUMN}.

    Raises:
        RecipeError: a judge's keys are wrong; all mistakes are listed.
        DataError: summaries and documents do not fit.
        MissingExtra: a judge's library is not installed.
    """
    keys_of(task, "task")
    candidates = (
        summaries
        if isinstance(summaries, Candidates)
        else given_candidates(summaries, documents, task, attribute=attribute, summary_columns=summary_columns)
    )
    for note in candidates.notes:
        log.warning("summaries: %s", note)
    (judgements,) = judge_each([candidates], judges)
    return judgements


def judge_each(systems: Sequence[Candidates], judges: Mapping[str, Any] | Recipe | str | Path) -> list[Judgements]:
    """`judge` of several systems' candidates of the same requests, each as if alone; models are loaded once.

    What judges say is kept in their cache as it comes, and returned when all have been judged.
    """
    opened, recipes = opened_judges(judges, [system.recipe.model_dump(mode="json") for system in systems])

    def inputs_of(against: Against | None, some: Sequence[tuple[int, Answered]]) -> list[JudgeInput]:
        # the candidates of another system are no others of a request
        by_system = (list(entries) for _, entries in groupby(some, key=itemgetter(0)))
        groups = ([(request, c) for _, (request, candidates) in entries for c in candidates] for entries in by_system)
        return [judge_input for group in groups for judge_input in judge_inputs(against, group)]

    with spending(None, recipes[0].limits.cost):
        judgements = judge_together(
            opened, [(place, group) for place, system in enumerate(systems) for group in system.groups], inputs_of
        )
    # judge by judge, and of each the systems in their order
    remaining = {
        judge.name: iter([judgement for judgement in judgements if judgement.judge == judge.name]) for judge in opened
    }
    return [
        Judgements(
            (judgement for iterator in remaining.values() for judgement in islice(iterator, len(system))),
            system,
            recipe,
        )
        for system, recipe in zip(systems, recipes, strict=True)
    ]


def opened_judges(
    judges: Mapping[str, Any] | Recipe | str | Path, bases: Sequence[Mapping[str, Any]]
) -> tuple[list[Judge], list[Recipe]]:
    """The judges, none of which has loaded a model, and recipes of these bases with them; arguments and errors as of `judge`."""
    if isinstance(judges, str | Path):
        judges = load_judges(Path(judges))
    elif isinstance(judges, Recipe):
        judges = judges.judges
    elif not isinstance(judges, Mapping) or not judges:
        raise RecipeError(
            f"judges are {described(judges)}; give a dict of names and the keys of each judge's section, such as "
            '{"recall": {"kind": "rouge"}}, or a recipe'
        )
    functions = {name: own for name, each in judges.items() if (own := in_memory(name, each))}
    options = {
        name: section.model_dump(mode="json") if isinstance(section, BaseModel) else section
        for name, section in {**judges, **{name: section for name, (section, _) in functions.items()}}.items()
    }
    recipes = [
        changed(
            base,
            judges={**STAND_IN["judges"], **options},
            reward=STAND_IN["reward"],
            evaluation={"judges": list(options)},
        )
        for base in bases
    ]
    sections = {name: recipes[0].judges[name] for name in options if name not in functions}
    # a section may be of the recipe of a run folder; keys are the caller's
    allow(
        each for name, each in sections.items() if isinstance(each, CodeSection) and isinstance(judges[name], Mapping)
    )
    try_judges(sections)
    by_name = {each.name: each for each in open_judges(sections)}
    by_name |= {name: FunctionJudge(name, *own) for name, own in functions.items()}
    return [by_name[name] for name in options], recipes


def given_candidates(
    summaries: Any,
    documents: Any,
    task: Mapping[str, Any] | None = None,
    *,
    attribute: str | None = None,
    summary_columns: Mapping[str, str] | SummaryColumnsSection | None = None,
) -> Candidates:
    """Summaries made elsewhere as candidates; arguments and errors as of `judge`."""
    if documents is None:
        raise DataError("summaries that were made elsewhere need their documents; give documents=")
    corpus: Documents = load_documents(documents, attribute)
    task_keys = {"scope": "all", "sentences": "natural"} if task is None else dict(task)
    attribute = corpus.attribute or (corpus.attributes[0] if corpus.attributes else "")
    recipe = changed(STAND_IN, model={"name": "none"}, corpus={"attribute": attribute}, task=task_keys)
    requests = build_requests(corpus.records, recipe.corpus, recipe.task)
    by_side = recipe.task.scope == "side"
    sets = {request.id if by_side else request.document_set.id: request.document_set for request in requests}
    columns, targets = columns_of(summary_columns), SETS._replace(by_side=by_side)
    if isinstance(summaries, str | Path):
        texts = read_texts(local_path(summaries), sets, targets=targets, columns=columns)
    else:
        texts = summaries_of(summaries, sets, targets=targets, columns=columns)
    return Candidates(
        (candidate_of(request, texts[name], whole=True) for request, name in zip(requests, sets, strict=True)),
        requests,
        recipe,
        by_order=texts.by_order,
        n_thoughts=texts.n_thoughts,
    )


def rerank(
    judgements: Judgements,
    judges: Sequence[str] | None = None,
    *,
    combine: str = "z_mean",
    weights: Mapping[str, float] | None = None,
) -> Best:
    """The best summary of each request: the candidate of highest reward.

    Args:
        judgements: what `judge` gives.
        judges: names of those that make the reward; None takes all.
        combine: how scores become one reward, as in a recipe's section `reward`.
        weights: of the judges, for "weighted" and "z_mean"; below 0 for what is not wanted.

    Raises:
        RecipeError: an argument is wrong, or would ask for the most unfair summary.
    """
    made_by(judgements, Judgements, "judge")
    if not isinstance(judges or (), Sequence):
        raise RecipeError(f"judges are {described(judges)}; give the names of those that make the reward")
    names = judgements.judges if judges is None else (judges,) if isinstance(judges, str) else tuple(judges)
    keys_of(weights, "weights")
    if strange := [name for name in names if name not in judgements.judges]:
        raise RecipeError(f"judge {strange[0]!r} has not judged; those that have are {', '.join(judgements.judges)}")
    reward = {"judges": list(names), "combine": combine, "weights": dict(weights or {})}
    recipe = changed(judgements.recipe.model_dump(mode="json"), reward=reward)
    phase, ranges = _phase(recipe), reward_ranges(recipe.reward, recipe.judges)
    by_request: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        by_request[judgement.request_id].append(judgement)
    groups = [
        (request, score_group(phase, request, candidates, by_request[request.id], ranges))
        for request, candidates in judgements.candidates.groups
    ]
    return Best((best_summary(group) for _, group in groups), groups, recipe)


def pairs(
    best: Best,
    *,
    mode: str | None = None,
    k: int | None = None,
    least_margin: float | None = None,
    most_length_ratio: float | None = None,
    chosen_keeps_contract: bool | None = None,
    **options: Any,
) -> Pairs:
    """Preference pairs to train on, in TRL's columns; `write` them, and a recipe's `train.pairs` takes the file.

    Args:
        best: what `rerank` gives.
        mode: "all", "best_k", "top_bottom" (by default) or what a plug-in brings.
        k: pairs of a request at most, with mode "best_k"; 10 by default.
        least_margin: of the rewards; 0 by default.
        most_length_ratio: of the longer to the shorter text, at least 1; None asks for none.
        chosen_keeps_contract: whether the better summary must look as it was asked for; True by default.
        options: other keys of a recipe's section `pairs`.

    Raises:
        RecipeError: an option is wrong.
    """
    made_by(best, Best, "rerank")
    named = {
        "mode": mode, "k": k, "least_margin": least_margin, "most_length_ratio": most_length_ratio,
        "chosen_keeps_contract": chosen_keeps_contract,
    }  # fmt: skip
    options |= {key: value for key, value in named.items() if value is not None}
    section = changed(best.recipe.model_dump(mode="json"), pairs=options).pairs
    left_out: dict[str, Counter[str]] = {}
    preference_pairs = []
    for _, group in best.groups:
        pairing = choose_pairs(group.candidates, section)
        preference_pairs += [preference_pair(group, group.candidates[i], group.candidates[j]) for i, j in pairing.pairs]
        left_out.setdefault(group.side, Counter()).update(pairing.left_out)
    return Pairs(preference_pairs, left_out)


def made_by(argument: Any, kind: type, step: str) -> None:
    """Refuse what is not the result of an earlier step.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(argument, kind):
        raise DataError(f"got {described(argument)}; give what `evenhand.{step}` gives")


def keys_of(argument: Any, section: str) -> None:
    """Refuse keys of a section that are no dict; None is not given.

    Raises:
        RecipeError: it is something else.
    """
    if argument is not None and not isinstance(argument, Mapping):
        raise RecipeError(f"{section} is {described(argument)}; give a dict of its keys")


def loaded(recipe: Any, overrides: Sequence[str] = ()) -> Recipe:
    """A recipe by its file or its name, or as it is.

    Raises:
        RecipeError: it is something else, or its file is wrong.
    """
    if isinstance(recipe, Recipe) and not overrides:
        return recipe
    if isinstance(recipe, Recipe | Mapping):
        values = recipe.model_dump(mode="json") if isinstance(recipe, Recipe) else recipe
        made = recipe_of(values, overrides)
        if isinstance(recipe, Mapping):
            allow(code_sections(made).values())
        return made
    if not isinstance(recipe, str | Path):
        raise RecipeError(f"a recipe is {described(recipe)}; give a file, a name, a dict of its sections or a Recipe")
    return load_recipe(Path(recipe), overrides)


def changed(values: Mapping[str, Any], **sections: Any) -> Recipe:
    """The checked recipe of these values, with some sections in place of theirs."""
    return recipe_of({**values, **sections})


def _phase(recipe: Recipe) -> Phase:
    """Where candidates stand that are not trained on: drawn with the same seeds, they are those of a run's evaluation."""
    return open_phase(recipe, "evaluation/base")


def _shared_out(n: int, max_tokens: int | None) -> dict[str, dict[str, Any]]:
    """The published plans with `n` candidates between them."""
    if not isinstance(n, int) or n < 1:
        raise RecipeError(f"n is {n!r}; ask for at least one candidate")
    length = {} if max_tokens is None else {"max_tokens": max_tokens}
    shares = {name: n // len(PLANS) + (place < n % len(PLANS)) for place, name in enumerate(PLANS)}
    return {name: {**PLANS[name], **length, "candidates": share} for name, share in shares.items() if share}


def candidate_of(request: SummaryRequest, text: str, *, whole: bool = False) -> Candidate:
    """A summary that was made elsewhere as a candidate: as it stands where it is a `whole` one, else cleaned as models' are."""
    checked = check_output(request.contract, text, whole=whole)
    return Candidate(
        id=digest([request.id, text]),
        request_id=request.id,
        text=text.strip() if whole else checked.text,
        raw_text=text,
        issues=checked.issues,
        contract_ok=checked.ok,
        method="elsewhere",
        plan="elsewhere",
        sampling=Sampling(),
        index=0,
        seed=0,
        model="elsewhere",
        prompt_digest="",
        n_prompt_tokens=0,
        n_tokens=len(text.split()),
        finish_reason="stop",
    )
