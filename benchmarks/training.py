"""Training: shared-prefix DPO against stock TRL and other ways to the same pairs' loss, and against the limit.

The forward and backward pass over all n(n-1)/2 pairs of a request with n candidates of about 60 tokens, LoRA, the
pass of the reference included everywhere.

    evenhand        shared-prefix DPO: the prompt and each candidate once
    each candidate  each candidate once with its prompt, all of them side by side
    each pair       the prompt once for the two summaries of a pair, as dpo-prefix-sharing (arXiv:2410.20305) and
                    flash-preference do
    TRL             trl.DPOTrainer as it is: prompt and summary twice for each pair
    TRL, compact    the same, its head at the summaries' positions alone. That is how it is wherever Triton is, on every
                    NVIDIA GPU; without Triton it makes logits of the prompts, too
    limit           a plain forward and backward pass, and a plain forward pass for the reference, over evenhand's packed
                    tokens, causal attention, logits and log-probabilities for the same number of tokens, and nothing else

With --sets it times both sides of a document set instead, whose prompts differ in their last tokens alone:

    both sides      their common beginning once, as with train.shuffle: sets
    each side       one beside the other, each with its prompt

Of TRL's pairs and of "each pair" only some are run, and the seconds are scaled. "tokens" are those that ran through policy and
reference, "TFLOP" what `models.flops` counts for them, "loss" the mean over the pairs that were run. With --peak, the device's
TFLOP/s in the data type, model FLOPs utilisation is given as well.
"""

import argparse
import contextlib
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ..config import PACKED_ATTENTION, CorpusSection
from ..corpora import load_corpus
from ..extras import need
from ..generate.prefixes import LEAST_SHARED
from ..models import locate
from ..models.flops import lora_flops, seen_from
from ..models.sizes import Sizes, sizes_of
from ..train.examples import TokenPair
from ..train.groups import TokenGroup, build_groups
from .measure import Contender, Counts, Extrapolated, Table, compare
from .report import Report, bench_options, count, run_bench

OURS, STOCK, LIMIT = "evenhand", "TRL", "limit"
ALONE, PAIRED, COMPACT = "each candidate", "each pair", "TRL, compact"
# of one table, in its order
CONTENDERS = (OURS, LIMIT, ALONE, PAIRED, STOCK, COMPACT)
TOGETHER, APART = "both sides", "each side"
# tokens that the shipped template has after the documents: of the sample corpus on average
OF_A_SIDE = 43
# tokens of the candidates in turn: 60 on average
CANDIDATE_TOKENS = (48, 60, 72)
# tokens that no two prompts begin with alike
NEVER_SHARED = 2**31
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
        sets={"action": "store_true", "help": "time both sides of a document set instead"},
        only={"nargs": "+", "choices": CONTENDERS, "help": "run no other contenders than these (all)"},
    )
    report = Report("training", vars(options))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        table = bench.sides if options.sets else partial(bench.table, only=options.only or ())
        for n_prompt in options.prompts:
            for n in options.candidates:
                report.add(table(n_prompt, n))
        if options.sets:
            report.finish()
            return
        report.finish(list(notes_of(bench, report.tables)))


def notes_of(bench: "Bench", tables: Sequence[Table]) -> Iterator[str]:
    """What can be said of the contenders that were run."""
    ran = {row.name for table in tables for row in table.rows}
    if OURS in ran:
        yield from growth(tables, bench.options.prompts, bench.options.candidates)
    if ran >= {OURS, STOCK}:
        yield from map(shares, tables)
    if OURS in ran:
        yield from bench.rates(tables)


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


def shares(table: Table) -> str:
    """What of TRL's time is more tokens, and what its head has to do where Triton is not."""
    ours, stock = table.row(OURS), table.row(STOCK)
    if not ours.runs or not stock.runs:
        return f"{table.title}: not all was run"
    whole = stock.extrapolated.factor if stock.extrapolated else 1.0
    tokens, work = (whole * stock.counts[name] / ours.counts[name] for name in ("tokens", "TFLOP"))
    said = [f"{tokens:.3g} times the tokens and {work:.3g} times the operations"]
    said.append(f"{table.time_ratio(STOCK, OURS):.3g} times the seconds")
    if COMPACT in [row.name for row in table.rows] and table.row(COMPACT).runs:
        compact = table.row(COMPACT)
        least = whole * compact.counts["TFLOP"] / ours.counts["TFLOP"]
        said.append(
            f"with a compact head {least:.3g} times the operations, about what a GPU should show, and "
            f"{table.time_ratio(COMPACT, OURS):.3g} times the seconds"
        )
    return f"TRL against evenhand, {table.title}: {'; '.join(said)}"


@dataclass(frozen=True)
class Bench:
    """The trainers on one model, made when they are first needed."""

    options: argparse.Namespace
    folder: str

    def table(self, n_prompt: int, n: int, only: Sequence[str] = (), n_requests: int = 1) -> Table:
        """Contenders on requests of one pass: those of the names, else all.

        Evenhand and the limit run all of them at once, the others a part whose seconds are scaled.
        """
        run = [each for each in self.contenders(n_prompt, n, n_requests) if not only or each.name in only]
        return compare(
            f"n = {n}, {n * (n - 1) // 2} pairs, prompt of {n_prompt} tokens"
            + (f", {n_requests} requests" if n_requests > 1 else ""),
            run,
            self.options.repeats,
            [name for name in (STOCK, LIMIT) if name in {each.name for each in run}],
            warm_up=not self.options.quick,
        )

    def contenders(self, n_prompt: int, n: int, n_requests: int = 1) -> list[Contender]:
        """All that `table` compares."""
        rows = self.pairs(n_prompt, n)
        groups = [group for at in range(n_requests) for group in build_groups(self.pairs(n_prompt, n, at))]
        timed = rows[: min(self.options.pairs or len(rows), len(rows))]
        part = Extrapolated(len(timed), len(rows) * n_requests, "pairs")
        one = Extrapolated(1, n_requests, "requests") if n_requests > 1 else None
        contenders = [
            Contender(OURS, partial(self._shared, groups)),
            Contender(LIMIT, partial(self._limit, groups[0], n_requests)),
            Contender(ALONE, partial(self._shared, groups[:1], is_apart=True), extrapolated=one),
            Contender(PAIRED, partial(self._paired, timed), extrapolated=part),
            Contender(STOCK, partial(self._stock, timed), extrapolated=part),
        ]
        if not self._is_compact:
            contenders.append(Contender(COMPACT, partial(self._stock, timed, is_compact=True), extrapolated=part))
        return contenders

    def sides(self, n_prompt: int, n: int) -> Table:
        """Both sides of a set: what their prompts begin with alike once, and twice."""
        one = self.pairs(n_prompt, n)
        documents, end = one[0].prompt_ids[:-OF_A_SIDE], one[0].prompt_ids[-OF_A_SIDE:]
        other = [TokenPair("", [*documents, *end[::-1]], row.chosen_ids[::-1], row.rejected_ids[::-1]) for row in one]
        groups = build_groups([*one, *other])
        return compare(
            f"both sides, n = {n}, prompts of {n_prompt} tokens, {OF_A_SIDE} of them a side's own",
            [
                Contender(TOGETHER, partial(self._packed, groups)),
                Contender(APART, partial(self._packed, groups, least=n_prompt)),
            ],
            self.options.repeats,
            (APART,),
            warm_up=not self.options.quick,
        )

    def _packed(self, groups: Sequence[TokenGroup], least: int = LEAST_SHARED) -> Counts:
        """Requests in one pass; beginnings of at least so many tokens run once."""
        trainer = self.shared_prefix
        return self._ran(replace(trainer.data_collator, least_shared=least)([group.columns for group in groups]))

    def _ran(self, batch: dict[str, Any]) -> Counts:
        """The trainer's step with a batch, and what ran in its passes."""
        loss = step(self.shared_prefix, batch)
        passes = batch["passes"]
        n_seen = sum(
            seen_from(span.n_before, span.n_prompt) + sum(seen_from(span.n_before + span.n_prompt, n) for n in span.own)
            for one in passes
            for span in one["layout"].spans
        )
        n_logits = sum(len(one["scored"]) for one in passes)
        return self._counts(sum(one["n_tokens"] for one in passes), n_seen, n_logits) | {"loss": loss}

    def rates(self, tables: Sequence[Table]) -> list[str]:
        """The model FLOPs per second of shared-prefix DPO, and which share of the device's that is, where that is given."""
        notes = []
        for table in tables:
            row = table.row(OURS)
            if row.seconds is None:
                continue
            rate = row.counts["TFLOP"] / row.seconds
            share = "" if self.options.peak is None else f", {rate / self.options.peak:.1%} of the device's"
            notes.append(f"evenhand, {table.title}: {rate:.3g} model TFLOP/s{share}")
        return notes

    def pairs(self, n_prompt: int, n: int, request: int = 0) -> list[TokenPair]:
        """All pairs of a request; its tokens are those of the sample corpus' texts, one after another, or drawn ones.

        Each request begins elsewhere in the texts, or has tokens of its own.
        """
        n_tokens = n_prompt + n * max(CANDIDATE_TOKENS)
        if self.options.random is None:
            ids = self._text_ids[request * n_tokens :]
            assert len(ids) >= n_tokens, "the sample corpus has no further texts"
        else:
            drawn = random.Random(SEED + request)  # noqa: S311 - no secret
            n_words = RANDOM[self.options.random]["vocab_size"]
            ids = [drawn.randrange(n_words) for _ in range(n_tokens)]
        lengths = [CANDIDATE_TOKENS[i % 3] for i in range(n)]
        starts = [n_prompt + sum(lengths[:i]) for i in range(n)]
        taken = [ids[start : start + length] for start, length in zip(starts, lengths, strict=True)]
        return [TokenPair("", ids[:n_prompt], taken[i], taken[j]) for i in range(n) for j in range(i + 1, n)]

    def _shared(self, groups: Sequence[TokenGroup], *, is_apart: bool = False) -> Counts:
        """Requests by the shared-prefix trainer; `is_apart` gives each candidate a prompt of its own."""
        collator = self.shared_prefix.data_collator
        batch = collator([group.columns for group in groups])
        if is_apart:
            # the scored tokens stand in the same order, so that the pairs find them where they are; equal prompts would run once
            parts = [
                TokenGroup(group.prompt_ids, [ids], [0], [0], [1.0]).columns
                for group in groups
                for ids in group.candidate_ids
            ]
            split = replace(collator, least_shared=NEVER_SHARED)(parts)
            batch |= {"passes": split["passes"], "attention_mask": split["attention_mask"]}
        return self._ran(batch)

    def _paired(self, rows: Sequence[TokenPair]) -> Counts:
        found = [self._shared(build_groups([row])) for row in rows]
        summed = {name: sum(each[name] for each in found) for name in found[0]}
        return summed | {"loss": summed["loss"] / len(rows)}

    def _stock(self, rows: Sequence[TokenPair], *, is_compact: bool = False) -> Counts:
        trainer, size = self._pairwise, self.options.pairwise_batch
        loss, n_logits = 0.0, 0
        for start in range(0, len(rows), size):
            batch = trainer.data_collator([row.columns for row in rows[start : start + size]])
            with _compact_head(is_compact):
                loss += step(trainer, batch) * len(rows[start : start + size])
            of_summaries, of_all = int(batch["completion_mask"].sum()), batch["input_ids"][:, 1:].numel()
            n_logits += of_summaries if is_compact or self._is_compact else of_all
        lengths = [len(row.prompt_ids) + len(ids) for row in rows for ids in (row.chosen_ids, row.rejected_ids)]
        n_seen = sum(seen_from(0, n) for n in lengths)
        return self._counts(sum(lengths), n_seen, n_logits) | {"loss": loss / len(rows)}

    def _counts(self, n_tokens: int, n_seen: float, n_logits: int) -> dict[str, Any]:
        """What ran through policy and reference."""
        work = lora_flops(self._sizes, n_tokens, n_seen, n_logits)
        return {"tokens": 2 * n_tokens, "TFLOP": work / 1e12}

    def _limit(self, group: TokenGroup, n_rows: int) -> Counts:
        """So many sequences side by side, each as long as the request's packed one."""
        torch = need("torch", "benchmark 'training'")
        (one,) = self.shared_prefix.data_collator([group.columns])["passes"]
        model = self._pairwise.model
        device = model.device
        ids, scored, targets = (one[name].to(device) for name in ("input_ids", "scored", "targets"))
        ids = ids.expand(n_rows, -1)
        base = model.get_base_model()

        def loss() -> Any:
            hidden = base.model(input_ids=ids, use_cache=False).last_hidden_state[:, scored].flatten(0, 1)
            return torch.nn.functional.cross_entropy(base.lm_head(hidden).float(), targets[0].repeat(n_rows))

        with torch.autocast(device.type, torch.bfloat16, enabled=self.options.dtype == "bfloat16"):
            with torch.no_grad(), model.disable_adapter():
                loss()
            found = loss()
        found.backward()
        model.zero_grad()
        return self._counts(n_rows * one["n_tokens"], n_rows * seen_from(0, one["n_tokens"]), n_rows * len(scored))

    @cached_property
    def _is_compact(self) -> bool:
        """Whether TRL's head leaves out the prompts by itself."""
        return bool(need("trl.trainer.utils", "benchmark 'training'")._use_triton(self._pairwise.model.device))

    @cached_property
    def _sizes(self) -> Sizes:
        torch, transformers = need("torch", "benchmark 'training'"), need("transformers", "benchmark 'training'")
        # without the adapter
        config = self.shared_prefix.model.get_base_model().config
        with torch.device("meta"):
            return sizes_of(transformers.AutoModelForCausalLM.from_config(config))

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

    def attend(self, attention: str) -> str | None:
        """Let shared-prefix DPO go on with another kernel; why it cannot and takes explicit masks, None where it can.

        Raises:
            RecipeError: the kernel is not here.
        """
        from ..train.attention import use_packed_attention
        from ..train.attention_check import settle_attention

        trainer = self.shared_prefix
        model = trainer.accelerator.unwrap_model(trainer.model).get_base_model()
        use_packed_attention(model, attention)
        trainer.data_collator = self._collator(attention)
        reason: str | None = settle_attention(model, trainer.accelerator)["reason"]
        return reason

    @cached_property
    def shared_prefix(self) -> Any:
        """The trainer of shared-prefix DPO."""
        from ..train.attention import loaded_with, use_packed_attention
        from ..train.shared_prefix import shared_prefix_trainer

        model = self._model(loaded_with(self.options.attention))
        use_packed_attention(model, self.options.attention)
        rows = [group.columns for group in build_groups(self.pairs(8, 2))]
        collator = self._collator(self.options.attention)
        return self._trainer(shared_prefix_trainer(), model, rows, data_collator=collator)

    def _collator(self, attention: str) -> Any:
        from ..train.packing import PackingCollator

        # one pass, whatever runs: several would be run again on the way back
        return PackingCollator(self._tokenizer.pad_token_id or 0, 2**20, 128 if attention == "flex_attention" else None)

    @cached_property
    def _pairwise(self) -> Any:
        from ..train.trainer import tokenised_trainer

        rows = [row.columns for row in self.pairs(8, 2)]
        return self._trainer(tokenised_trainer(), self._model("sdpa"), rows)

    def _model(self, attention: str) -> Any:
        torch, transformers = need("torch", "benchmark 'training'"), need("transformers", "benchmark 'training'")
        dtype = getattr(torch, self.options.dtype)
        # the same weights in all trainers, the adapter's among them
        torch.manual_seed(SEED)
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
        # an adapter that does something, since policy and reference would have the loss ln 2 whatever was computed
        lora = peft.LoraConfig(
            r=16, lora_alpha=32, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"], task_type="CAUSAL_LM",
            init_lora_weights=False,
        )  # fmt: skip
        need("torch", "benchmark 'training'").manual_seed(SEED)
        trainer = kind(
            model=model,
            args=arguments,
            train_dataset=need("datasets", "benchmark 'training'").Dataset.from_list(rows),
            processing_class=self._tokenizer,
            peft_config=lora,
            **parts,
        )
        # what `train` does before the first step
        if self.options.checkpointing:
            trainer.model.gradient_checkpointing_enable(arguments.gradient_checkpointing_kwargs)
        trainer.model_wrapped = trainer.accelerator.prepare_model(trainer.model)
        trainer.current_gradient_accumulation_steps = 1
        return trainer


def step(trainer: Any, batch: dict[str, Any]) -> float:
    """The trainer's own forward and backward pass; its loss."""
    loss = trainer.training_step(trainer.model_wrapped, batch)
    trainer.model.zero_grad()
    return float(loss)


@contextlib.contextmanager
def _compact_head(asked: bool) -> Iterator[None]:
    """Within it, if asked, TRL's head leaves out positions without a loss, as it does where Triton is; its kernels stay."""
    utils: Any = need("trl.trainer.utils", "benchmark 'training'")
    plain = utils._use_triton
    if asked:
        utils._use_triton = lambda _: True
    try:
        yield
    finally:
        utils._use_triton = plain


if __name__ == "__main__":
    run_bench(main)
