"""Training: shared-prefix DPO against stock TRL on the same pairs, and against the limit.

The forward and backward pass over all n(n-1)/2 pairs of a request with n candidates of about 60 tokens, LoRA, the
pass of the reference included everywhere.

    evenhand   shared-prefix DPO: the prompt and each candidate once
    TRL        trl.DPOTrainer as it is: prompt and summary twice for each pair. Only some pairs are run, the seconds are scaled
    limit      a plain forward and backward pass, and a plain forward pass for the reference, over the same packed tokens, causal
               attention, logits and log-probabilities for the same number of tokens, and nothing else

"tokens" are those that ran through policy and reference. With --peak, the device's TFLOP/s in the data type, model FLOPs
utilisation is given as well.
"""

import argparse
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ..config import PACKED_ATTENTION, CorpusSection
from ..corpora import load_corpus
from ..extras import need
from ..models import locate
from ..models.flops import step_flops
from ..models.sizes import sizes_of
from ..train.examples import Row
from ..train.groups import Group, build_groups
from . import Contender, Counts, Extrapolated, Report, Table, bench_options, compare, count, run_bench

OURS, STOCK, LIMIT = "evenhand", "TRL", "limit"
# tokens of the candidates in turn: 60 on average
CANDIDATE_TOKENS = (48, 60, 72)
# of the drawn tokens
SEED = 7
# sizes of Llama 3.2 1B and Llama 3.1 8B, for random weights, and one to try the benchmark with
RANDOM = {
    "tiny": {
        "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 1000, "tie_word_embeddings": True,
    },
    "1b": {
        "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": True,
    },
    "8b": {
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128256, "tie_word_embeddings": False,
    },
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = bench_options(
        "training",
        __doc__,
        argv,
        {"prompts": [60], "candidates": [3, 4], "pairs": 1, "repeats": 1},
        "model",
        "dtype",
        random={
            "choices": RANDOM,
            "help": "random weights in the size of Llama 3.2 1B or 3.1 8B, and drawn tokens: no model is read",
        },
        attention={"choices": PACKED_ATTENTION, "default": "sdpa", "help": "evenhand's (%(default)s)"},
        prompts=count([300, 1400, 3000], "tokens"),
        candidates=count([3, 9, 18]),
        pairs={"type": int, "default": 2, "metavar": "N", "help": "pairs that TRL runs, 0 for all (%(default)s)"},
        pairwise_batch=count(1, "pairs of a micro-batch of TRL"),
        peak={
            "type": float,
            "metavar": "TFLOP/S",
            "help": "of the device in this data type, for model FLOPs utilisation",
        },
        checkpointing={"action": "store_true", "help": "gradient checkpointing in all trainers"},
    )
    report = Report("training", vars(options))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for n_prompt in options.prompts:
            for n in options.candidates:
                report.add(bench.table(n_prompt, n))
        report.finish([*growth(report.tables, options.prompts, options.candidates), *bench.rates(report.tables)])


def growth(tables: Sequence[Table], prompts: Sequence[int], candidates: Sequence[int]) -> list[str]:
    """How the cost grows with the number of candidates, for each length of the prompt."""
    notes = []
    for place, n_prompt in enumerate(prompts):
        rows = tables[place * len(candidates) :][: len(candidates)]
        seconds = [table.row(OURS).seconds or float("nan") for table in rows]
        steps = ", ".join(
            f"n = {n}: {value / seconds[0]:.2f}" for n, value in zip(candidates[1:], seconds[1:], strict=True)
        )
        if steps:
            notes.append(f"evenhand, prompt of {n_prompt} tokens, cost relative to n = {candidates[0]}: {steps}")
    return notes


@dataclass(frozen=True)
class Bench:
    """The three trainers on one model, made when they are first needed."""

    options: argparse.Namespace
    folder: str

    def table(self, n_prompt: int, n: int) -> Table:
        """All contenders on one request."""
        rows = self.pairs(n_prompt, n)
        (group,) = build_groups(rows)
        timed = rows[: min(self.options.pairs or len(rows), len(rows))]
        return compare(
            f"n = {n}, {len(rows)} pairs, prompt of {n_prompt} tokens",
            [
                Contender(OURS, partial(self._ours, group)),
                Contender(LIMIT, partial(self._limit, group)),
                Contender(
                    STOCK, partial(self._stock, timed), extrapolated=Extrapolated(len(timed), len(rows), "pairs")
                ),
            ],
            self.options.repeats,
            (STOCK, LIMIT),
            warm_up=not self.options.quick,
        )

    def rates(self, tables: Sequence[Table]) -> list[str]:
        """The model FLOPs per second of shared-prefix DPO, and which share of the device's that is, where that is given."""
        notes = []
        sizes = [(n_prompt, n) for n_prompt in self.options.prompts for n in self.options.candidates]
        for table, (n_prompt, n) in zip(tables, sizes, strict=True):
            seconds = table.row(OURS).seconds
            if seconds is None:
                continue
            (group,) = build_groups(self.pairs(n_prompt, n))
            lengths = [len(ids) - 1 for ids in group.candidate_ids]
            model = self._pairwise.model.get_base_model()
            rate = step_flops(sizes_of(model), n_prompt, lengths, sum(lengths) + n) / seconds / 1e12
            share = "" if self.options.peak is None else f", {rate / self.options.peak:.1%} of the device's"
            notes.append(f"evenhand, {table.title}: {rate:.3g} model TFLOP/s{share}")
        return notes

    def pairs(self, n_prompt: int, n: int) -> list[Row]:
        """All pairs of a request; its tokens are those of the sample corpus' texts, one after another, or drawn ones."""
        if self.options.random is None:
            ids = self._text_ids
        else:
            drawn = random.Random(SEED)  # noqa: S311 - no secret
            n_words = RANDOM[self.options.random]["vocab_size"]
            ids = [drawn.randrange(n_words) for _ in range(n_prompt + n * max(CANDIDATE_TOKENS))]
        lengths = [CANDIDATE_TOKENS[i % 3] for i in range(n)]
        starts = [n_prompt + sum(lengths[:i]) for i in range(n)]
        taken = [ids[start : start + length] for start, length in zip(starts, lengths, strict=True)]
        return [Row("", ids[:n_prompt], taken[i], taken[j]) for i in range(n) for j in range(i + 1, n)]

    def _ours(self, group: Group) -> Counts:
        trainer = self._shared_prefix
        batch = trainer.data_collator([group.columns])
        _step(trainer, batch)
        scored = sum(len(one["scored"]) for one in batch["passes"])
        return {"tokens": 2 * int(batch["attention_mask"].sum()), "logits": 2 * scored}

    def _stock(self, rows: Sequence[Row]) -> Counts:
        trainer, size = self._pairwise, self.options.pairwise_batch
        tokens = 0
        for start in range(0, len(rows), size):
            batch = trainer.data_collator([row.columns for row in rows[start : start + size]])
            tokens += 2 * int(batch["attention_mask"].sum())
            _step(trainer, batch)
        return {"tokens": tokens}

    def _limit(self, group: Group) -> Counts:
        torch = need("torch", "benchmark 'training'")
        (one,) = self._shared_prefix.data_collator([group.columns])["passes"]
        model = self._pairwise.model
        device = model.device
        ids, scored, targets = (one[name].to(device) for name in ("input_ids", "scored", "targets"))
        base = model.get_base_model()

        def loss() -> Any:
            hidden = base.model(input_ids=ids, use_cache=False).last_hidden_state[0, scored]
            return torch.nn.functional.cross_entropy(base.lm_head(hidden).float(), targets[0])

        with torch.autocast(device.type, torch.bfloat16, enabled=self.options.dtype == "bfloat16"):
            with torch.no_grad(), model.disable_adapter():
                loss()
            found = loss()
        found.backward()
        model.zero_grad()
        return {"tokens": 2 * one["n_tokens"], "logits": 2 * len(scored)}

    @cached_property
    def _text_ids(self) -> list[int]:
        texts = [document.text for each in load_corpus(CorpusSection()) for document in each.documents]
        found: list[int] = self._tokenizer("\n".join(texts), add_special_tokens=False)["input_ids"]
        return found

    @cached_property
    def _tokenizer(self) -> Any:
        transformers = need("transformers", "benchmark 'training'")
        if self.options.random is not None:
            # what TRL takes for a tokenizer: it knows padding and nothing else
            from tokenizers import Tokenizer, models

            only = "<pad>"
            made = Tokenizer(models.WordLevel({only: 0}, unk_token=only))
            known = dict.fromkeys(("pad_token", "eos_token", "unk_token"), only)
            return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **known)
        return transformers.AutoTokenizer.from_pretrained(locate(self.options.model), trust_remote_code=False)

    @cached_property
    def _shared_prefix(self) -> Any:
        from ..train.attention import loaded_with, use_packed_attention
        from ..train.packing import PackingCollator
        from ..train.shared_prefix import shared_prefix_trainer

        model = self._model(loaded_with(self.options.attention))
        use_packed_attention(model, self.options.attention)
        multiple = 128 if self.options.attention == "flex_attention" else None
        collator = PackingCollator(self._tokenizer.pad_token_id or 0, 65536, multiple)
        rows = [group.columns for group in build_groups(self.pairs(8, 2))]
        return self._trainer(shared_prefix_trainer(), model, rows, data_collator=collator)

    @cached_property
    def _pairwise(self) -> Any:
        from ..train.trainer import tokenised_trainer

        rows = [row.columns for row in self.pairs(8, 2)]
        return self._trainer(tokenised_trainer(), self._model("sdpa"), rows)

    def _model(self, attention: str) -> Any:
        torch, transformers = need("torch", "benchmark 'training'"), need("transformers", "benchmark 'training'")
        dtype = getattr(torch, self.options.dtype)
        if self.options.random is None:
            return transformers.AutoModelForCausalLM.from_pretrained(
                locate(self.options.model), dtype=dtype, attn_implementation=attention, trust_remote_code=False
            )
        config = transformers.LlamaConfig(
            **RANDOM[self.options.random], max_position_embeddings=8192, attn_implementation=attention
        )
        with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
            return transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)

    def _trainer(self, kind: Callable[..., Any], model: Any, rows: Any, **parts: Any) -> Any:
        trl, peft = need("trl", "benchmark 'training'"), need("peft", "benchmark 'training'")
        on_cpu = not need("torch", "benchmark 'training'").cuda.is_available()
        arguments = trl.DPOConfig(
            output_dir=self.folder, report_to="none", use_cpu=on_cpu, bf16=self.options.dtype == "bfloat16",
            gradient_checkpointing=self.options.checkpointing, max_length=None, disable_tqdm=True,
        )  # fmt: skip
        lora = peft.LoraConfig(
            r=16, lora_alpha=32, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"], task_type="CAUSAL_LM"
        )
        trainer = kind(
            model=model,
            args=arguments,
            train_dataset=need("datasets", "benchmark 'training'").Dataset.from_list(rows),
            processing_class=self._tokenizer,
            peft_config=lora,
            **parts,
        )
        # what `train` does before the first step
        trainer.model_wrapped = trainer.accelerator.prepare_model(trainer.model)
        trainer.current_gradient_accumulation_steps = 1
        return trainer


def _step(trainer: Any, batch: dict[str, Any]) -> None:
    """The trainer's own forward and backward pass."""
    trainer.training_step(trainer.model_wrapped, batch)
    trainer.model.zero_grad()


if __name__ == "__main__":
    run_bench(main)
