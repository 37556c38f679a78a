"""The next tokens of all rows at once, each row with its own sampling parameters and its own random numbers.

They apply in vLLM's order: repetition penalty, ban on n-grams that come twice, temperature, min-p, top-k, top-p, each on what the
one before it left. The last three keep the likeliest tokens down to some place, so the likeliest few hundred mostly settle the
draw; a row that they do not settle is sorted as a whole.

The ban is the rule of transformers' `no_repeat_ngram_size`, kept up token by token: a long prompt is read once and not at every
step.
"""

from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch

from .backend import Ask, normalised, refuse_no_numbers


class NGramBan:
    """Which tokens may not come next, because each would complete an n-gram that stands there already.

    Args:
        size: tokens of an n-gram, at least 1.
        tokens: what stands there at first.
    """

    def __init__(self, size: int, tokens: Iterable[int] = ()) -> None:
        # the beginning of an n-gram -> the tokens that have completed it
        self._completed: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
        # the last tokens; while there are too few of them, no n-gram has begun
        self._last: deque[int] = deque(maxlen=size - 1)
        self._size = size
        self.n_tokens = 0
        self.take(tokens)

    def take(self, tokens: Iterable[int]) -> None:
        """Add tokens at the end."""
        for token in tokens:
            if self.n_tokens >= self._size - 1:
                self._completed[tuple(self._last)].add(token)
            self._last.append(token)
            self.n_tokens += 1

    def banned(self) -> list[int]:
        """The tokens that may not come next, in no order."""
        return list(self._completed.get(tuple(self._last), ()))


class UsedTokens:
    """The tokens that a row has used, as its penalty and its ban look at them.

    Args:
        penalty: repetition penalty, above 0; 1 lowers nothing.
        ngram_size: tokens of the n-grams that may not come twice; 0 bans none.
        tokens: what the row has at first.
    """

    def __init__(self, penalty: float, ngram_size: int, tokens: Sequence[int] = ()) -> None:
        self.penalty = penalty
        # a token that is generated twice stands in them twice, which does no harm
        self.lowered = array("q", set(tokens) if penalty != 1 else ())
        self.ban = NGramBan(ngram_size, tokens) if ngram_size else None

    def take(self, tokens: Sequence[int]) -> None:
        """Add tokens at the end."""
        if self.penalty != 1:
            self.lowered.extend(tokens)
        if self.ban is not None:
            self.ban.take(tokens)


def lower_used(logits: torch.Tensor, used: Mapping[int, UsedTokens]) -> None:
    """Apply the penalties of all rows and then their bans, in place; only used tokens are looked at and not the whole vocabulary.

    A penalty divides positive logits and multiplies negative ones.
    Source: Keskar et al. 2019 (arXiv:1909.05858), section 4.1, in the form used by transformers.

    Args:
        logits: (rows, vocabulary).
        used: of each row that has a penalty or a ban.
    """
    counts = [len(row.lowered) for row in used.values()]
    if any(counts):
        index = np.stack([np.repeat(list(used), counts), np.concatenate([row.lowered for row in used.values()])])
        rows, tokens = torch.from_numpy(index).to(logits.device)
        penalties = np.repeat([row.penalty for row in used.values()], counts)
        factor = torch.from_numpy(penalties).to(logits.device, logits.dtype)
        values = logits[rows, tokens]
        logits[rows, tokens] = torch.where(values > 0, values / factor, values * factor)
    banned = [(row, token) for row, each in used.items() if each.ban is not None for token in each.ban.banned()]
    if banned:
        rows, tokens = torch.tensor(banned, device=logits.device).unbind(dim=1)
        logits[rows, tokens] = float("-inf")


# likeliest tokens that are looked at first
FIRST_LOOK = 512


class Rows:
    """The rows that are decoded side by side, as far as drawing goes.

    Args:
        asks: one for each row.
        prompts: token ids of each row's prompt.
        choice_ids: of each row the tokens that it must choose from; none where its ask has no choices.
        device: of the logits.
    """

    def __init__(
        self,
        asks: Sequence[Ask],
        prompts: Sequence[Sequence[int]],
        choice_ids: Sequence[Sequence[int]],
        device: torch.device,
    ) -> None:
        self._asks = list(asks)
        self._choice_ids = list(choice_ids)
        self._step = 0
        sampling = [ask.sampling for ask in asks]
        columns = [[s.temperature, s.min_p, s.top_k, s.top_p] for s in sampling]
        self._parameters = torch.tensor(columns, dtype=torch.float64, device=device)  # (rows, 4)
        longest = max(1 if ask.choices else ask.sampling.max_tokens for ask in asks)
        numbers = [random_numbers(ask.seed, longest) for ask in asks]
        self._numbers = torch.tensor(numbers, dtype=torch.float64, device=device)  # (rows, steps)
        self._used = {
            row: UsedTokens(s.repetition_penalty, s.no_repeat_ngram_size, prompt if s.include_prompt else ())
            for row, (ask, s, prompt) in enumerate(zip(asks, sampling, prompts, strict=True))
            if s.looks_back and not ask.choices
        }

    def draw(self, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The next token of each row and its log-probability under the model; logits and results on the rows' device.

        Args:
            logits: (rows, vocabulary), float32.

        Raises:
            UnfitModelError: some are not numbers.
        """
        mass = logits.logsumexp(dim=-1)
        refuse_no_numbers(bool(mass.isfinite().all()))
        temperature, min_p, top_k, top_p = self._parameters.unbind(dim=1)
        wanted = logits
        if self._used:
            wanted = logits.clone()
            lower_used(wanted, self._used)
        if self._step == 0 and any(self._choice_ids):
            wanted = self._choices_only(wanted)
        tokens = draw_tokens(wanted, self._numbers[:, self._step], temperature, (min_p, top_k, top_p))
        if self._used:
            ids = tokens.tolist()
            for row, used in self._used.items():
                used.take([ids[row]])
        self._step += 1
        return tokens, logits.gather(1, tokens[:, None])[:, 0] - mass

    def _choices_only(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits with everything ruled out that is not one of a row's choices; rows without choices as they are."""
        allowed = logits.clone()
        for row, ids in enumerate(self._choice_ids):
            if ids:
                allowed[row] = float("-inf")
                allowed[row, ids] = logits[row, ids]
        return allowed

    def choice_probabilities(self, logits: torch.Tensor) -> list[dict[str, float]]:
        """Each row's distribution among its choices; {} for a row without any."""
        if not any(self._choice_ids):
            return [{} for _ in self._asks]
        logps = logits.log_softmax(dim=-1)
        return [
            normalised(dict(zip(ask.choices, logps[row, ids].tolist(), strict=True))) if ids else {}
            for row, (ask, ids) in enumerate(zip(self._asks, self._choice_ids, strict=True))
        ]

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        chosen = torch.tensor(rows, device=self._parameters.device)
        self._parameters, self._numbers = self._parameters[chosen], self._numbers[chosen]
        self._used = {place: self._used[row] for place, row in enumerate(rows) if row in self._used}


def random_numbers(seed: int, n: int) -> list[float]:
    """The first n numbers of a seed, each in [0, 1); more of them begin with fewer."""
    return [float(number) for number in np.random.default_rng(seed).random(n)]


def draw_tokens(
    logits: torch.Tensor,
    numbers: torch.Tensor,
    temperature: torch.Tensor,
    filters: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """The token of each row: of those that the filters keep, ordered from the likeliest, the one at the share `numbers`.

    Args:
        logits: (rows, vocabulary).
        numbers: in [0, 1), one for each row.
        temperature: of each row; 0 takes the likeliest token.
        filters: min-p (0 keeps all), top-k (0 keeps all) and top-p (1 keeps all) of each row.

    Raises:
        UnfitModelError: some logits are not numbers.
    """
    greedy = temperature == 0
    if greedy.all():
        return logits.argmax(dim=-1)
    scaled = logits / torch.where(greedy, 1.0, temperature).to(logits.dtype)[:, None]
    mass = scaled.logsumexp(dim=-1, keepdim=True)
    refuse_no_numbers(bool(mass.isfinite().all()))
    values, ids = scaled.topk(min(FIRST_LOOK, logits.shape[1]), dim=-1)
    places, settled = _place((values - mass).double().exp(), numbers, filters, whole=ids.shape == logits.shape)
    tokens = ids.gather(1, places[:, None])[:, 0]
    tokens = torch.where(greedy, logits.argmax(dim=-1), tokens)
    open_rows = torch.nonzero(~(settled | greedy))[:, 0]
    if len(open_rows):
        values, ids = scaled[open_rows].sort(dim=-1, descending=True, stable=True)
        shares = (values - mass[open_rows]).double().exp()
        min_p, top_k, top_p = (values[open_rows] for values in filters)
        places, _ = _place(shares, numbers[open_rows], (min_p, top_k, top_p), whole=True)
        tokens[open_rows] = ids.gather(1, places[:, None])[:, 0]
    return tokens


def _place(
    shares: torch.Tensor,
    numbers: torch.Tensor,
    filters: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    *,
    whole: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The place of each row's draw, and whether the shares at hand settle it.

    Args:
        shares: (rows, tokens): probabilities from the likeliest down; all of them when `whole`, else the first few.
    """
    n = shares.shape[1]
    min_p, top_k, top_p = filters
    total = shares.cumsum(dim=1)
    # what min-p and top-k keep; tokens as likely as the k-th stay, as in vLLM
    threshold = min_p * shares[:, 0]
    kth = shares.gather(1, (top_k.long() - 1).clamp(0, n - 1)[:, None])[:, 0]
    threshold = torch.where((top_k > 0) & (top_k <= n), torch.maximum(threshold, kth), threshold)
    n_kept = (shares >= threshold[:, None]).sum(dim=1)
    ended = n_kept < n
    if whole:
        ended = torch.ones_like(ended)
    mass = torch.where(ended, _at(total, n_kept - 1), 1.0)
    # a token stays in the nucleus while the mass before it is below top_p, so the likeliest always stays
    in_nucleus = (total - shares < (top_p * mass)[:, None]).sum(dim=1)
    nucleus_ended = ended | (total[:, -1] >= top_p * mass)
    n_kept = torch.minimum(n_kept, in_nucleus)
    mass = torch.where(nucleus_ended, _at(total, n_kept - 1), mass)
    places = (total <= (numbers * mass)[:, None]).sum(dim=1)
    # without an end in sight the mass is known only where nothing is filtered, and the draw only where it falls inside
    unfiltered = (min_p == 0) & (top_k == 0)
    settled = ended | (unfiltered & (nucleus_ended | ((top_p == 1) & (places < n))))
    return torch.minimum(places, n_kept - 1), settled


def _at(rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return rows.gather(1, places[:, None])[:, 0]
