"""What each operation of the opinion-bias vectors is in evenhand: the code users run, given parameters and input."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from group_samples import value_of
from spec.vector_sets import Case, read_special

from evenhand.fairness.content_tokens import content_tokens
from evenhand.fairness.encoding import encode
from evenhand.fairness.groups.quotas import group_quotas
from evenhand.plugins.opinions.measures.attachment import Attacher
from evenhand.plugins.opinions.measures.communities import KeyGraph, communities, key_graph, textrank
from evenhand.plugins.opinions.measures.correlation import pearson, rouge1_f1
from evenhand.plugins.opinions.measures.exposure import exposure_extractive, gini
from evenhand.plugins.opinions.measures.interaction import GraphPlan, interaction_edges, opinion_graph
from evenhand.plugins.opinions.measures.objective import Objective, ObjectivePlan, cluster_units
from evenhand.plugins.opinions.measures.perceived import approval, perceived_opinion_bias
from evenhand.plugins.opinions.measures.selection import biased_batch, select

Given = dict[str, Any]


def chosen(given: Given, *names: str) -> Given:
    """Those of the parameters that the case states."""
    return {name: given[name] for name in names if name in given}


def objective_of(given: Given, length: int) -> Objective:
    plan = ObjectivePlan(**chosen(given, "coverage", "alpha", "lambda_coverage", "lambda_diversity"))
    return Objective(given["similarity"], given["clusters"], length, plan)


def gini_of(given: Given) -> Given:
    return {"value": gini(given["values"])}


def perceived_opinion_bias_of(given: Given) -> Given:
    return asdict(perceived_opinion_bias(given["labels"], **chosen(given, "negative")))


def approval_fractions_of(given: Given) -> Given:
    found = approval(given["labels"])
    return {"very_fair": found.very_fair, "very_unfair": found.very_unfair}


def pearson_of(given: Given) -> Given:
    return {"r": pearson(given["x"], given["y"]).r}


def content_tokens_of(given: Given) -> Given:
    return {"tokens": content_tokens(given["text"])}


def textrank_of(given: Given) -> Given:
    return asdict(textrank(given["units"], **chosen(given, "window", "damping", "ratio")))


def keygraph_of(given: Given) -> Given:
    return asdict(key_graph(given["units"], given["keywords"]))


def communities_of(given: Given) -> Given:
    graph = KeyGraph(tuple(given["vertices"]), tuple(tuple(edge) for edge in given["edges"]))
    return asdict(communities(graph, **chosen(given, "resolution")))


def attach_units_of(given: Given) -> Given:
    found = Attacher(encode(given["units"]), given["opinions"], **chosen(given, "method", "threshold")).attach_source()
    return {"attachment": found.opinion, "similarity": found.similarity.toarray()}


def oig_edges_of(given: Given) -> Given:
    least = {"least_weight": given["min_weight"]} if "min_weight" in given else {}
    return {"edges": interaction_edges(given["units"], given["attachment"], given["opinions"], **least)}


def exposure_extractive_of(given: Given) -> Given:
    arguments = (given[key] for key in ("units", "attachment", "opinions", "summary"))
    return asdict(exposure_extractive(*arguments))


def opinion_interaction_bias_of(given: Given) -> Given:
    plan = GraphPlan(**chosen(given, "method", "threshold", "resolution", "window", "damping", "ratio"))
    graph = opinion_graph(given["units"], given.get("keywords"), plan=plan)
    found = graph.bias(given["summary"], given.get("exposure", "auto"))
    return {
        "opinions": graph.opinions,
        "attachment": graph.attachment.opinion,
        "exposures": found.exposure.exposures,
        "score": found.score,
    }


def quotas_of(given: Given) -> Given:
    return {"quotas": group_quotas(given["group_sizes"], given["length"], given["notion"])}


def fairsumm_objective_of(given: Given) -> Given:
    weights = {"objective": {}} | {
        term: {"lambda_coverage": float(term == "coverage"), "lambda_diversity": float(term == "diversity")}
        for term in ("coverage", "diversity")
    }
    n = len(given["selected"])
    return {term: value_of(objective_of(given | each, n), given["selected"]) for term, each in weights.items()}


def fairsumm_select_of(given: Given) -> Given:
    objective = objective_of(given, sum(given["quotas"].values()))
    found = select(objective, given["groups"], given["quotas"])
    return {"selected": found.selected, "objective": value_of(objective, found.selected)}


def cluster_units_of(given: Given) -> Given:
    return {"clusters": cluster_units(given["similarity"], given["k"])}


def biased_batch_of(given: Given) -> Given:
    arguments = (given[key] for key in ("length", "first", "second", "step", "fixed"))
    return {"quotas": biased_batch(*arguments)}


def rouge1_f1_mean_of(given: Given) -> Given:
    return {"value": rouge1_f1(given["summary"], given["gold"]).mean}


OPERATIONS: dict[str, Callable[[Given], Given]] = {
    "gini": gini_of,
    "perceived_opinion_bias": perceived_opinion_bias_of,
    "approval_fractions": approval_fractions_of,
    "pearson": pearson_of,
    "content_tokens": content_tokens_of,
    "textrank": textrank_of,
    "keygraph": keygraph_of,
    "communities": communities_of,
    "attach_units": attach_units_of,
    "oig_edges": oig_edges_of,
    "exposure_extractive": exposure_extractive_of,
    "opinion_interaction_bias": opinion_interaction_bias_of,
    "quotas": quotas_of,
    "fairsumm_objective": fairsumm_objective_of,
    "fairsumm_select": fairsumm_select_of,
    "cluster_units": cluster_units_of,
    "biased_batch": biased_batch_of,
    "rouge1_f1_mean": rouge1_f1_mean_of,
}


def read_case(case: dict[str, Any], vectors: dict[str, Any]) -> Case:
    return Case(
        id=case["id"],
        op=case["op"],
        operations=OPERATIONS,
        given=case["params"] | case["input"],
        expected=read_special(case["expected"]),
        tolerance=case.get("tol", vectors["default_tolerance"]),
        raises=(ValueError, "") if "raises" in case["expected"] else None,
    )
