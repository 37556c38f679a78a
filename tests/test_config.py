"""What a recipe may say, where several keys have to go together."""

import math

import pytest
from pydantic import ValidationError

from evenhand.config import (
    BackendSection,
    CorpusSection,
    GenerateSection,
    PairsSection,
    Plan,
    Recipe,
    TaskSection,
)
from evenhand.config.generate import METHOD_SECTIONS, options_key
from evenhand.generate.methods import METHODS
from evenhand.records import Sampling

MINIMAL = {
    "name": "t",
    "output": "out",
    "model": {"name": "m"},
    "generate": {"plans": {"a": {"candidates": 2}, "b": {"candidates": 3}}},
    "judges": {"overlap": {"kind": "rouge"}, "length": {"kind": "length"}},
    "reward": {"judges": ["overlap"]},
    "evaluation": {"judges": ["length"]},
}


def test_the_shortest_recipe_is_whole():
    recipe = Recipe.model_validate(MINIMAL)
    assert recipe.corpus.path == "sample"
    assert recipe.rounds == 1
    assert recipe.wandb is None
    assert recipe.generate.n_candidates == 5


def test_a_resolved_recipe_reads_back_as_the_same():
    recipe = Recipe.model_validate(MINIMAL | {"trainer": {"beta": 0.1}, "wandb": {}})
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluation": {"rounds": [0, 3, 7]}}, "evaluation.rounds names 3, 7, and this recipe has the rounds 0 to 2"),
        ({"evaluation": {"rounds": [0]}, "rounds": 0}, "evaluation.rounds names 0, and this recipe has no rounds"),
        pytest.param(
            {
                "rounds": 0,
                "generate": {"method": "debate", "plans": {"a": {"candidates": 3}}, "debate": {"final": "judge"}},
                "evaluation": {"plans": {"a": {"candidates": 4}}},
            },
            "evaluation.plans.a: with debate.final: judge .* write a multiple of 3",
            marks=pytest.mark.needs("plugins/debate"),
        ),
        pytest.param(
            {
                "rounds": 0,
                "task": {"scope": "all"},
                "generate": {"method": "fair-extractive"},
                "evaluation": {"plans": {"a": {}}},
            },
            "evaluation.plans has no effect with method: fair-extractive",
            marks=pytest.mark.needs("plugins/opinions"),
        ),
    ],
)
def test_an_evaluation_of_what_there_is_not_is_refused(changes, message):
    evaluation = MINIMAL["evaluation"] | changes.pop("evaluation")
    with pytest.raises(ValidationError, match=message):
        Recipe.model_validate(MINIMAL | {"rounds": 3} | changes | {"evaluation": evaluation})


def test_greedy_candidates_must_not_be_repeated():
    assert Plan(temperature=0, candidates=1).candidates == 1
    with pytest.raises(
        ValidationError, match="greedy and gives 3 equal candidates; write candidates: 1 or a temperature"
    ):
        Plan(temperature=0, candidates=3)


def test_a_plans_sampling_is_all_but_the_number_of_candidates():
    assert Plan(top_p=0.9, candidates=3).sampling == Sampling(top_p=0.9)


def test_a_side_is_asked_for_once():
    with pytest.raises(ValidationError, match="sides names left more than once"):
        CorpusSection(sides=("left", "right", "left"))


def test_all_unknown_judges_are_named_with_the_known_ones():
    wrong = MINIMAL | {
        "reward": {"judges": ["overlpa"], "combine": "weighted", "weights": {"overlpa": 1, "size": 1}},
        "evaluation": {"judges": ["length", "x"]},
    }
    with pytest.raises(ValidationError) as caught:
        Recipe.model_validate(wrong)
    text = str(caught.value)
    assert "reward.judges names 'overlpa', which 'judges' does not have; did you mean 'overlap'?" in text
    assert "reward.weights names 'size', which 'judges' does not have." in text
    assert "evaluation.judges names 'x', which 'judges' does not have." in text
    assert "The recipe's judges are overlap, length." in text


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_are_finite(value):
    with pytest.raises(ValidationError, match="finite number"):
        PairsSection(least_margin=value)
    with pytest.raises(ValidationError, match=r"max_grad_norm is .*, which JSON cannot hold"):
        Recipe.model_validate(MINIMAL | {"trainer": {"max_grad_norm": value}})


@pytest.mark.parametrize(
    ("reward", "wrong"),
    [
        ({"combine": "mean", "weights": {"overlap": 1}}, "weights have no effect with combine: mean"),
        ({"combine": "product", "weights": {"overlap": 1}}, "weights have no effect with combine: product"),
        ({"combine": "weighted"}, "weights has no weight for judge 'overlap'"),
        ({"combine": "z_mean", "weights": {"overlap": 0}}, "weights are all 0"),
        (
            {"combine": "weighted", "weights": {"overlap": 1, "length": 2}},
            r"reward\.weights names 'length', which has no effect because reward\.judges does not",
        ),
    ],
)
def test_weights_that_cannot_work_are_refused(reward, wrong):
    with pytest.raises(ValidationError, match=wrong):
        Recipe.model_validate(MINIMAL | {"reward": {"judges": ["overlap"]} | reward})


ALIGNMENT = {"kind": "alignment", "direction": "recall", "chunks": "350-words"}
ASKING = {"kind": "finesure", "model": {"name": "m", "quantise": "nf4"}}


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"pairs": {"k": 3}}, "no effect of k except with mode: best_k"),
        ({"train": {"trainer": "pairwise", "max_tokens_per_pass": 99}}, "no effect of max_tokens_per_pass except with"),
        (
            {"train": {"trainer": "pairwise", "shuffle": "sets"}},
            "no effect of shuffle except with trainer: shared-prefix",
        ),
        ({"judges": MINIMAL["judges"] | {"recall": ALIGNMENT}}, "no effect of chunks: 350-words except with direction"),
        pytest.param(
            {"judges": MINIMAL["judges"] | {"asked": ASKING}},
            "no effect of quantise except in training",
            marks=pytest.mark.needs("plugins/released"),
        ),
    ],
)
def test_options_that_nothing_reads_are_refused(changes, wrong):
    with pytest.raises(ValidationError, match=wrong):
        Recipe.model_validate(MINIMAL | changes)


def test_a_backend_refuses_engine_keys_of_another():
    with pytest.raises(ValidationError, match="not known to backend transformers"):
        BackendSection(backend="transformers", engine={"gpu_memory_utilization": 0.5})


def test_attention_that_cannot_share_a_prefix_is_refused_with_those_that_can():
    model = {"name": "m", "attn_implementation": "eager"}
    with pytest.raises(
        ValidationError, match=r"'eager' cannot keep .*write one of sdpa, flex_attention, .*torch_varlen, or"
    ):
        Recipe.model_validate(MINIMAL | {"model": model})
    assert Recipe.model_validate(MINIMAL | {"model": model, "train": {"trainer": "pairwise"}})
    assert Recipe.model_validate(MINIMAL | {"model": model, "rounds": 0}), "nothing is trained"


def test_flash_kernels_are_refused_in_float32():
    model = {"name": "m", "attn_implementation": "flash_attention_2", "dtype": "float32"}
    with pytest.raises(
        ValidationError, match=r"flash_attention_2 has no kernel for float32: write model\.dtype: bfloat16"
    ):
        Recipe.model_validate(MINIMAL | {"model": model})
    assert Recipe.model_validate(MINIMAL | {"model": model, "trainer": {"bf16": True}}), "computed in bfloat16"
    assert Recipe.model_validate(MINIMAL | {"model": model | {"dtype": "bfloat16"}})


@pytest.mark.parametrize("train", [{}, {"trainer": "pairwise"}])
def test_attention_that_is_not_named_is_auto_and_sdpa_where_nothing_is_packed(train):
    model = Recipe.model_validate(MINIMAL | {"model": {"name": "m"}, "train": train}).model
    assert (model.attn_implementation, model.answers_with, model.has_masks_on_gpu) == ("auto", "sdpa", False)
    assert model.model_copy(update={"dtype": "float32"}).has_masks_on_gpu


def test_torch_varlen_trains_and_nothing_else():
    model = {"name": "m", "attn_implementation": "torch_varlen"}
    assert Recipe.model_validate(MINIMAL | {"model": model}).model.answers_with == "sdpa"
    with pytest.raises(ValidationError, match=r"torch_varlen needs train\.trainer: shared-prefix: write sdpa"):
        Recipe.model_validate(MINIMAL | {"model": model, "train": {"trainer": "pairwise"}})


def test_sampling_of_padded_batches_is_refused_with_the_other_trainer():
    trainer = {"train_sampling_strategy": "group_by_length"}
    with pytest.raises(ValidationError, match=r"train_sampling_strategy has no effect.*train\.trainer: pairwise"):
        Recipe.model_validate(MINIMAL | {"trainer": trainer})
    assert Recipe.model_validate(MINIMAL | {"trainer": trainer, "train": {"trainer": "pairwise"}})


def generation(**changes):
    return GenerateSection.model_validate({"plans": {"sampled": {"candidates": 4}}} | changes)


@pytest.mark.needs("plugins/debate", "plugins/self_refine", "plugins/shuffled")
def test_method_has_its_options_and_no_others():
    assert generation(method="debate").debate.agents == 3
    assert generation(method="self-refine", self_refine={"rounds": 5}).self_refine.rounds == 5
    assert generation(self_refine=None).model_extra == {}
    with pytest.raises(ValidationError, match=r"debate has no effect with method: self-refine; write method: debate"):
        generation(method="self-refine", debate={})
    # a resolved recipe can be read again
    found = generation(method="shuffled")
    assert GenerateSection.model_validate(found.model_dump(mode="json")) == found


def test_every_method_with_options_is_in_the_table_and_back():
    assert set(METHODS) == set(METHOD_SECTIONS)
    for method, section in METHOD_SECTIONS.items():
        backend = "transformers" if method == "attention-reweighting" else "vllm"
        plans = {} if section.asks_model else {"plans": None}
        # a file of the user's own is named by nothing else
        own = {"code": {"file": "method.py", "function": "summarise"}} if method == "python" else {}
        found = generation(method=method, backend=backend, **plans, **own)
        assert type(found.options) is section is METHODS[method].options
        assert list(found.model_extra) == [options_key(method)] * bool(section.model_fields)


@pytest.mark.needs("plugins/attention_reweighting")
@pytest.mark.parametrize("backend", ["vllm", "scripted"])
def test_attention_reweighting_names_the_backend_it_needs(backend):
    with pytest.raises(ValidationError, match=rf"backend: {backend} does not allow; write backend: transformers"):
        generation(method="attention-reweighting", backend=backend)


@pytest.mark.needs("plugins/debate")
def test_debate_whose_agents_could_not_differ_is_refused():
    with pytest.raises(ValidationError, match=r"plans\.greedy: temperature 0 .* all agents of a debate would say"):
        generation(method="debate", plans={"greedy": {"temperature": 0, "candidates": 1}})
    with pytest.raises(ValidationError, match=r"got candidates: 4; write a multiple of 3"):
        generation(method="debate", debate={"final": "judge"})


@pytest.mark.needs("plugins/debate")
def test_only_zero_shot_candidates_are_trained_on():
    values = MINIMAL | {"generate": {"method": "debate", "plans": {"p": {}}}, "rounds": 1}
    with pytest.raises(ValidationError, match=r"rounds: 1 trains on answers .* write rounds: 0"):
        Recipe.model_validate(values)
    assert Recipe.model_validate(values | {"rounds": 0}).generate.method == "debate"


FAIRPO = {
    "rounds": 1,
    "task": {"scope": "all"},
    "generate": {"method": "thinned", "plans": {"p": {}}},
    "judges": MINIMAL["judges"] | {"ec": {"kind": "equal-coverage"}},
    "pairs": {"mode": "fairpo", "judge": "ec"},
    "train": {"fairness": {}},
}


def test_fairpo_recipe_is_sound_and_thins_a_tenth():
    recipe = Recipe.model_validate(MINIMAL | FAIRPO)
    assert recipe.generate.thinned.rate == 0.1
    assert recipe.train.fairness.decay == 0.75
    assert recipe.train.fairness.exponent == "released"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task": {"scope": "side"}}, "thinned summarises whole sets; write task.scope: all"),
        ({"generate": {"plans": {"p": {}}}}, "write generate.method: thinned"),
        (
            {"generate": FAIRPO["generate"] | {"thinned": {"regenerate": {"words": 80}}}},
            "words lie between few_words and many_words, got 35, 80, 75",
        ),
        (
            {
                "generate": {
                    "method": "thinned",
                    "thinned": {"regenerate": {}},
                    "plans": {"p": {"temperature": 0, "candidates": 1}},
                }
            },
            "temperature 0 is greedy, so thinned.regenerate would draw the same again",
        ),
        ({"pairs": {"mode": "fairpo"}}, "mode: fairpo needs the name of an equal-coverage judge"),
        ({"pairs": {"mode": "all", "judge": "ec"}}, "judge has no effect with mode: all"),
        ({"pairs": {"margin_weights": True}}, "margin_weights has no effect with mode: top_bottom"),
        ({"pairs": {"mode": "fairpo", "judge": "e"}}, "pairs.judge names 'e', which 'judges' does not have"),
        ({"judges": MINIMAL["judges"] | {"ec": {"kind": "length"}}}, "'ec' is of kind length: name one of kind equal"),
        ({"pairs": {}}, "train.fairness needs pairs that say what is fair"),
        (
            {"pairs": {}, "train": {}},
            "pairs.mode top_bottom compares summaries by the reward, which those of each thinned",
        ),
        ({"pairs": FAIRPO["pairs"] | {"margin_weights": True}}, "margin_weights is the baseline of train.fairness"),
        ({"train": {"fairness": {}, "trainer": "pairwise"}}, "train.fairness needs train.trainer: shared-prefix"),
        ({"trainer": {"loss_type": "ipo"}}, "trainer.loss_type 'ipo' changes the loss"),
        ({"trainer": {"loss_type": ["sigmoid", "sft"]}}, r"trainer.loss_type \['sigmoid', 'sft'\] changes the loss"),
        ({"trainer": {"label_smoothing": 0.1}}, "trainer.label_smoothing 0.1 changes the loss"),
        ({"trainer": {"ld_alpha": 0.5}}, "trainer.ld_alpha 0.5 changes the loss"),
        ({"trainer": {"f_divergence_type": "js_divergence"}}, "trainer.f_divergence_type 'js_divergence' changes"),
        ({"trainer": {"use_weighting": True}}, "trainer.use_weighting True changes the loss"),
    ],
)
def test_what_fairpo_cannot_have_is_refused(changes, said):
    with pytest.raises(ValidationError, match=said):
        Recipe.model_validate(MINIMAL | FAIRPO | changes)


def test_plain_sigmoid_loss_may_be_spelled_out_beside_fairpo():
    for spelled in (
        {"loss_type": "sigmoid"},
        {"loss_type": ["sigmoid"], "label_smoothing": 0.0, "loss_weights": [1.0]},
    ):
        assert Recipe.model_validate(MINIMAL | FAIRPO | {"trainer": spelled}).trainer == spelled


def test_fairpo_trains_on_a_pair_file_of_its_own_without_making_pairs():
    changes = {"pairs": {}, "train": {"fairness": {}, "pairs": "pairs.jsonl"}}
    assert Recipe.model_validate(MINIMAL | FAIRPO | changes).pairs.judge is None


def test_pairs_of_thinned_sets_may_be_trained_with_plain_dpo():
    assert Recipe.model_validate(MINIMAL | FAIRPO | {"train": {}}).train.fairness is None


ALL = MINIMAL | {"task": {"scope": "all"}, "rounds": 0}


def test_length_of_a_summary_of_all_sides():
    assert TaskSection(scope="all").words == 50
    assert TaskSection(scope="all", sentences=3).words is None
    natural = TaskSection.model_validate({"scope": "all", "sentences": "natural"})
    assert (natural.sentences, natural.words) == (None, None)
    for task in (TaskSection(scope="all"), TaskSection(scope="all", sentences=3), natural):
        assert TaskSection.model_validate(task.model_dump(mode="json")) == task


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ({"words": 50}, "words has no effect with scope: side"),
        ({"fairness": "generic"}, "fairness: generic is asked of one summary of all sides"),
        ({"scope": "all", "sentences": "natural", "words": 20}, "asks for no length, but words is 20"),
        ({"scope": "all", "opening": "The {side}"}, r"opening names \{side\}"),
        ({"sentences": "natural"}, "valid integer"),
    ],
)
def test_task_that_does_not_fit_its_scope_is_refused(task, text):
    with pytest.raises(ValidationError, match=text):
        TaskSection.model_validate(task)


@pytest.mark.needs("plugins/attention_reweighting")
def test_what_needs_a_side_is_refused_with_all_of_them_together():
    judges = {"overlap": {"kind": "rouge"}, "other": {"kind": "rouge", "against": "opposing"}}
    reweighting = {"method": "attention-reweighting", "backend": "transformers", "plans": {"a": {}}}
    wrong = ALL | {"judges": judges, "generate": reweighting, "evaluation": {"judges": ["other"]}}
    with pytest.raises(ValidationError) as caught:
        Recipe.model_validate(wrong)
    assert "mode target needs a side that is asked for" in str(caught.value)
    assert "judges.other.against opposing: with task.scope: all no documents oppose" in str(caught.value)
    # a judge that nothing uses does no harm
    Recipe.model_validate(ALL | {"judges": judges | {"length": {"kind": "length"}}})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"trainer": {"label_smoothing": 0.1}},
            "label_smoothing has no effect with loss_type sigmoid.*one of exo_pair, robust",
        ),
        ({"trainer": {"loss_type": "ipo", "discopop_tau": 0.1}}, "discopop_tau has no effect with loss_type ipo"),
        (
            {"trainer": {"loss_type": "apo_zero", "f_divergence_type": "js_divergence"}},
            "f_divergence_type has no effect",
        ),
        ({"trainer": {"f_alpha_divergence_coef": 0.5}}, "write f_divergence_type: alpha_divergence"),
        (
            {"trainer": {"label_smoothing_factor": 0.1}},
            "label_smoothing_factor has no effect, because DPO does not read it",
        ),
        ({"trainer": {"truncation_mode": "keep_end"}}, "truncation_mode has no effect, because nothing is cut"),
        ({"lora": {"lora_dropout": 0.05}}, r"lora_dropout 0\.05 has no effect.*write trainer\.disable_dropout: false"),
        ({"trainer": {"loss_type": "hinge", "use_weighting": True}}, "use_weighting cannot weigh loss_type hinge"),
        (
            {"trainer": {"train_sampling_strategy": "random"}},
            "no effect, because requests are shared out by their tokens",
        ),
    ],
)
def test_keys_that_would_do_nothing_are_refused(changes, said):
    with pytest.raises(ValidationError, match=said):
        Recipe.model_validate(MINIMAL | changes)
    # nothing is trained
    Recipe.model_validate(MINIMAL | changes | {"rounds": 0})


@pytest.mark.parametrize(
    "changes",
    [
        {"trainer": {"label_smoothing": 0.0}},
        {"trainer": {"loss_type": ["sigmoid", "robust"], "label_smoothing": 0.1}},
        {"trainer": {"f_divergence_type": "alpha_divergence", "f_alpha_divergence_coef": 0.5}},
        {"trainer": {"disable_dropout": False}, "lora": {"lora_dropout": 0.05}},
        {"trainer": {"use_weighting": True}},
    ],
)
def test_keys_that_some_loss_reads_are_taken(changes):
    Recipe.model_validate(MINIMAL | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"corpus": {"sides": ["good"]}}, "pairs.mode fairpo compares values: write at least 2 corpus.sides"),
        ({"train": {"trainer": "pairwise"}}, "pairs.margin_weights needs train.trainer: shared-prefix"),
        ({"trainer": {"loss_type": "aot"}}, "margin_weights cannot weigh trainer.loss_type 'aot': it sorts"),
        ({"trainer": {"loss_type": ["sigmoid", "sft"]}}, "cannot weigh trainer.loss_type 'sft': it averages tokens"),
        ({"trainer": {"loss_type": "hinge"}}, "'hinge': TRL multiplies it in place, after which it has no gradient"),
    ],
)
def test_what_margin_weights_cannot_have_is_refused(changes, said):
    weighted = FAIRPO | {"train": {}, "pairs": FAIRPO["pairs"] | {"margin_weights": True}}
    assert Recipe.model_validate(MINIMAL | weighted).pairs.margin_weights
    with pytest.raises(ValidationError, match=said):
        Recipe.model_validate(MINIMAL | weighted | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"evaluation": {"judges": ["length", "overlap", "length"]}}, r"evaluation\.judges names length twice"),
        ({"reward": {"judges": ["overlap", "overlap"]}}, r"reward\.judges names overlap twice"),
        ({"judges": MINIMAL["judges"] | {"set": {"kind": "length"}}}, r"columns set, side, text.*rename set"),
        (FAIRPO | {"trainer": {"loss_type": [["sigmoid"]]}}, r"TRL has no loss \['sigmoid'\]"),
    ],
)
def test_judges_and_losses_that_make_no_sense_are_refused(changes, said):
    with pytest.raises(ValidationError, match=said):
        Recipe.model_validate(MINIMAL | changes)


SERVED = {"plans": {"a": {"candidates": 2}}, "adapter": "serve"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "an adapter that is merged gives the engine other weights in each round; write generate.adapter: serve"),
        (
            {"generate": SERVED | {"python": "/usr/bin/python3"}},
            "generate.python is another interpreter than the loop's",
        ),
        (
            {"generate": SERVED | {"backend": "transformers"}},
            "no engine of this recipe can be kept: vLLM's can, and its backends are transformers",
        ),
        (
            {"generate": SERVED, "executor": "ray"},
            "executor: ray starts engines on other machines; write executor: local",
        ),
    ],
)
def test_engines_that_cannot_be_kept_are_refused(changes, said):
    with pytest.raises(ValidationError) as caught:
        Recipe.model_validate(MINIMAL | changes | {"keep_engines": True})
    assert f"keep_engines: {said}" in str(caught.value)
    assert "leave keep_engines out" in str(caught.value)


def test_engines_are_kept_where_the_adapter_is_served_or_nothing_is_trained():
    Recipe.model_validate(MINIMAL | {"generate": SERVED, "keep_engines": True})
    Recipe.model_validate(MINIMAL | {"rounds": 0, "keep_engines": True})
