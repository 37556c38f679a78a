import pytest

from evenhand.errors import DataError, RecipeError
from evenhand.plugins.adapters.trl import as_reward


def share_of_first(summary, sources):
    """Share of the first source's words that the summary has."""
    words = sources[0].split()
    return sum(word in summary.split() for word in words) / len(words)


ROWS = ["a b", "c d"]


@pytest.mark.parametrize(
    "documents",
    [
        ROWS,
        [[row] for row in ROWS],
        [[{"text": row}] for row in ROWS],
        [[{"text": row, "attributes": {"stance": "for"}, "id": None}] for row in ROWS],
        [{"id": "s", "documents": [row], "topic": "t"} for row in ROWS],
    ],
)
def test_documents_of_a_row_may_have_any_usual_form(documents):
    reward = as_reward({"words": share_of_first})
    assert reward.__name__ == "words"
    assert reward(["a", "a b"], documents=documents, prompts=["", ""], trainer_state=None) == [0.5, 0.0]


def test_completions_may_be_chats_and_equal_ones_of_equal_documents_each_have_a_reward():
    chats = [[{"role": "assistant", "content": text}] for text in ("a", "a", "b a", "")]
    assert as_reward({"words": share_of_first})(chats, documents=["a b"] * 4) == [0.5, 0.5, 1.0, None]


def test_a_measure_of_which_lower_is_fairer_is_rewarded_by_minus_its_score():
    documents = [
        [{"text": "ferry boat", "attributes": {"s": "for"}}, {"text": "bridge toll", "attributes": {"s": "against"}}]
    ]
    reward = as_reward(
        {"unfair": {"kind": "value-shares", "measure": "uer", "matcher": {"kind": "words"}}}, attribute="s"
    )
    # both halves of the documents, and one alone: the other lacks its half, the mean of .5 and 0
    assert reward(["ferry toll", "ferry boat"], documents=documents * 2) == pytest.approx([0.0, -0.25])


@pytest.mark.parametrize("answer", [None, "no words", float("nan"), "0.5", True])
def test_what_has_no_score_has_no_reward(answer):
    assert as_reward({"words": lambda summary: answer})(["a"], documents=["a"]) == [None]


def test_a_function_that_raises_gives_no_reward():
    assert as_reward({"words": lambda summary: 1 / 0})(["a"], documents=["a"]) == [None]


@pytest.mark.parametrize("row", [None, 3, [], [3], {"text": "a"}])
def test_documents_of_another_form_are_refused_by_their_row(row):
    with pytest.raises(DataError, match="row 2: "):
        as_reward({"words": share_of_first})(["a", "b"], documents=["a", row])


def test_what_cannot_be_a_reward_is_refused():
    with pytest.raises(RecipeError, match="no column 'documents'"):
        as_reward({"words": share_of_first})(["a"], prompts=["p"])
    with pytest.raises(RecipeError, match="'n' does not say which scores are better"):
        as_reward({"n": {"kind": "python", "function": share_of_first, "better": None, "range": None, "means": "m"}})
    with pytest.raises(RecipeError, match="are several judges"):
        as_reward({"a": share_of_first, "b": share_of_first})


def test_a_file_that_raises_hangs_prints_forks_or_ends_gives_no_number_of_its_own(tmp_path):
    path = tmp_path / "judge.py"
    path.write_text("import os, sys, time\n\ndef score(summary):\n    return eval(summary)\n")
    says = {
        "kind": "python",
        "file": str(path),
        "function": "score",
        "better": "lower",
        "range": [0.0, 1.0],
        "means": "m",
    }
    reward = as_reward({"mine": {**says, "seconds": 2.0}})
    summaries = [
        "0.5",
        "1 / 0",
        "time.sleep(60)",
        "print('0.9') or 0.25",
        "os.fork() * 0 + 0.75",
        "sys.exit()",
        "2.0",
        "'x'",
    ]
    assert reward(summaries, documents=["a"] * len(summaries)) == [-0.5, None, None, -0.25, -0.75, None, None, None]


@pytest.mark.slow
def test_a_trainer_of_trl_takes_it(tiny_model, fresh_accelerate, tmp_path):
    torch, trl = pytest.importorskip("torch"), pytest.importorskip("trl")
    transformers, datasets = pytest.importorskip("transformers"), pytest.importorskip("datasets")
    options = trl.GRPOConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=4, num_generations=4, max_completion_length=8,
        gradient_checkpointing=False, use_cpu=True, bf16=False, logging_steps=1, save_strategy="no", report_to="none",
        disable_tqdm=True,
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        model=transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32),
        processing_class=transformers.AutoTokenizer.from_pretrained(tiny_model),
        reward_funcs=as_reward({"length": lambda summary: float(len(summary))}),
        args=options,
        train_dataset=datasets.Dataset.from_list([{"prompt": "Summarise.", "documents": [{"text": "The ferry."}]}]),
    )
    trainer.train()
    assert any(row.get("rewards/length/mean", 0) > 0 for row in trainer.state.log_history)
