"""transformers as a backend: for machines where vLLM does not run, and as the control of methods that need its hooks.

Every distinct prompt is prefilled once; its KV cache is then repeated for all of its replies. Each reply draws from a
generator of its own, so neither batching nor its neighbours change what it says.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..config import BackendSection, ModelSection
from ..errors import ModelError
from ..extras import need
from ..models import locate
from ..records import Message
from .backend import TOO_LONG, Ask, Reply, choice_ids, failed, normalised, prompt_tokens, tokens_digest, too_long

# replies decoded side by side
MOST_ROWS = 64


class TransformersBackend:
    """A causal language model of transformers and, where asked for, a LoRA adapter."""

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        self._torch = need("torch", "backend 'transformers'")
        transformers = need("transformers", "backend 'transformers'")
        self.signature = signature
        self._max_model_len = section.max_model_len
        folder = locate(model.name, model.revision)
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, revision=model.revision)
            loaded = transformers.AutoModelForCausalLM.from_pretrained(
                folder,
                revision=model.revision,
                dtype=getattr(self._torch, model.dtype),
                attn_implementation=model.attn_implementation,
            )
        except (ValueError, OSError) as error:
            raise ModelError(f"backend 'transformers' cannot open model {model.name!r}: {error}") from error
        if adapter is not None:
            loaded = need("peft", "an adapter").PeftModel.from_pretrained(loaded, adapter)
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = loaded.to(self._device).eval()
        self._end_ids = _end_ids(self._model, self._tokenizer)

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order."""
        tokens: dict[tuple[Message, ...], list[int]] = {}
        for ask in asks:
            if ask.prompt not in tokens:
                tokens[ask.prompt] = prompt_tokens(self._tokenizer, ask.prompt)
        replies: dict[int, Reply] = {}
        fitting = []
        for index, ask in enumerate(asks):
            reason = too_long(len(tokens[ask.prompt]), ask, self._max_model_len)
            if reason:
                replies[index] = failed(tokens[ask.prompt], TOO_LONG, reason)
            else:
                fitting.append(index)
        # replies of one prompt stand together, prompts of like length share a batch
        fitting.sort(key=lambda index: (len(tokens[asks[index].prompt]), tokens[asks[index].prompt], index))
        for start in range(0, len(fitting), MOST_ROWS):
            batch = fitting[start : start + MOST_ROWS]
            done = self._decode([asks[index] for index in batch], [tokens[asks[index].prompt] for index in batch])
            replies.update(zip(batch, done, strict=True))
        return [replies[index] for index in range(len(asks))]

    def _decode(self, asks: Sequence[Ask], prompts: Sequence[list[int]]) -> list[Reply]:
        torch = self._torch
        with torch.inference_mode():
            logits, cache, mask = self._prefill(prompts)
            rows = [
                _Row(ask, prompt, self._tokenizer, torch.Generator(self._device).manual_seed(ask.seed))
                for ask, prompt in zip(asks, prompts, strict=True)
            ]
            positions = mask.sum(dim=1)  # (rows,)
            while True:
                drawn = [self._draw(row, logits[i]) for i, row in enumerate(rows)]
                if all(row.finish_reason for row in rows):
                    break
                mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
                out = self._model(
                    input_ids=torch.tensor(drawn, device=self._device)[:, None],
                    attention_mask=mask,
                    position_ids=positions[:, None],
                    past_key_values=cache,
                    use_cache=True,
                )
                logits, cache, positions = out.logits[:, -1], out.past_key_values, positions + 1
        return [self._reply(row) for row in rows]

    def _prefill(self, prompts: Sequence[list[int]]) -> tuple[Any, Any, Any]:
        """Last logits (rows, vocabulary), KV cache and attention mask (rows, tokens), each distinct prompt run once."""
        torch = self._torch
        distinct = [list(prompt) for prompt in dict.fromkeys(map(tuple, prompts))]
        length = max(map(len, distinct))
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([[pad] * (length - len(p)) + p for p in distinct], device=self._device)
        mask = torch.tensor([[0] * (length - len(p)) + [1] * len(p) for p in distinct], device=self._device)
        out = self._model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=(mask.cumsum(dim=1) - 1).clamp(min=0),
            use_cache=True,
            logits_to_keep=1,
        )
        place = {tuple(prompt): i for i, prompt in enumerate(distinct)}
        rows = torch.tensor([place[tuple(prompt)] for prompt in prompts], device=self._device)
        out.past_key_values.batch_select_indices(rows)
        return out.logits[rows, -1], out.past_key_values, mask[rows]

    def _draw(self, row: "_Row", logits: Any) -> int:
        """Draw the row's next token; a finished row repeats its last one."""
        if row.finish_reason:
            return row.ids[-1]
        if row.choice_ids:
            return self._draw_choice(row, logits)
        logprobs = self._torch.log_softmax(logits.float(), dim=-1)
        token = _sample(self._torch, logits.float().clone(), row.ids, row.ask.sampling, row.generator)
        row.ids.append(token)
        row.logps += float(logprobs[token])
        if token in self._end_ids:
            row.finish_reason = "stop"
        elif len(row.ids) == row.ask.sampling.max_tokens:
            row.finish_reason = "length"
        return token

    def _draw_choice(self, row: "_Row", logits: Any) -> int:
        logprobs = self._torch.log_softmax(logits.float(), dim=-1)
        row.probabilities = normalised(
            {c: float(logprobs[i]) for c, i in zip(row.ask.choices, row.choice_ids, strict=True)}
        )
        allowed = self._torch.full_like(logprobs, float("-inf"))
        allowed[row.choice_ids] = logprobs[row.choice_ids]
        token = _sample(self._torch, allowed, [], row.ask.sampling, row.generator)
        row.ids.append(token)
        row.logps = float(logprobs[token])
        row.finish_reason = "length"
        return token

    def _reply(self, row: "_Row") -> Reply:
        text_ids = row.ids[:-1] if row.finish_reason == "stop" else row.ids
        return Reply(
            text=self._tokenizer.decode(text_ids, skip_special_tokens=True),
            finish_reason=row.finish_reason,
            n_prompt_tokens=len(row.prompt),
            prompt_digest=tokens_digest(row.prompt),
            token_ids=tuple(row.ids),
            logps=row.logps,
            choice_probabilities=row.probabilities,
        )

    def close(self) -> None:
        """Give the model's memory back."""
        del self._model
        if self._device == "cuda":
            self._torch.cuda.empty_cache()


class _Row:
    """A reply that is being decoded."""

    def __init__(self, ask: Ask, prompt: list[int], tokenizer: Any, generator: Any) -> None:
        self.ask = ask
        self.prompt = prompt
        self.generator = generator
        self.choice_ids = choice_ids(tokenizer, ask.choices)
        self.ids: list[int] = []
        self.logps = 0.0
        self.finish_reason = ""
        self.probabilities: dict[str, float] = {}


def _end_ids(model: Any, tokenizer: Any) -> set[int]:
    """Token ids that end a reply: those of the generation settings and the tokenizer's end token."""
    named = model.generation_config.eos_token_id
    ids = set(named if isinstance(named, list) else [named])
    return {i for i in ids | {tokenizer.eos_token_id} if i is not None}


def _sample(torch: Any, logits: Any, generated: list[int], sampling: Any, generator: Any) -> int:
    """One token drawn from logits of shape (vocabulary,): penalty, temperature, top-k, top-p, min-p, as vLLM orders them."""
    if generated and sampling.repetition_penalty != 1:
        seen = torch.tensor(sorted(set(generated)), device=logits.device)
        chosen = logits[seen]
        logits[seen] = torch.where(
            chosen > 0, chosen / sampling.repetition_penalty, chosen * sampling.repetition_penalty
        )
    if sampling.temperature == 0:
        return int(logits.argmax())
    probabilities = torch.softmax(logits / sampling.temperature, dim=-1)
    if sampling.min_p > 0:
        probabilities[probabilities < sampling.min_p * probabilities.max()] = 0
    ordered, ids = probabilities.sort(descending=True, stable=True)
    if sampling.top_k:
        ordered[sampling.top_k :] = 0
    ordered = ordered / ordered.sum()
    # a token stays while the mass before it is below top_p, so the most likely one always stays
    ordered[ordered.cumsum(dim=0) - ordered >= sampling.top_p] = 0
    return int(ids[torch.multinomial(ordered, 1, generator=generator)])
