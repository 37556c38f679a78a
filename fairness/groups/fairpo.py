"""FairPO as arithmetic: thinned sets, pairs and their slots, the running state and weights; the loss is `train.fairpo`'s.

    thinnings        copies of a set whose summary is not judged yet, each without some documents of one value
    choose_thinnings the two of them that lack documents of the most and of the least represented value, afterwards
    fair_pairs       chosen and rejected of the three candidates, slots and powers
    contribution     what a batch adds to the running state; RunningState.after at the optimizer boundary
    slot_weights     weights of chosen and rejected summaries (released form); paper_weights as the paper writes them

Each value k has two slots: 2k "over-represented", 2k + 1 "under-represented". A summary's slot is flagged by the sign of C_k, the
summed deviation of the value's documents; |C_k| is its weight, and `power` says how far that is from usual. The running state
holds how over- and under-represented each value has been in recent pairs, as the policy would write them: summed over the
micro-batches of an optimizer step, decayed at its boundary; sums over data-parallel workers are the caller's. A chosen summary
that over-represents what is over-represented already counts less, a rejected one that does so counts more.

Source: FairPO; docs/papers.md#fairpo.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

Places = NDArray[np.intp]

DEFAULT_RATE = 0.1
# the released code thins an over-represented value only if it has more documents than this
FEWEST_OVER = 3


@dataclass(frozen=True)
class Thinning:
    """A set with some documents of one value taken out."""

    value: int
    # places of the documents that stay, in their new, shuffled order
    documents: tuple[int, ...]

    def counts(self, labels: Sequence[int], n_values: int) -> list[int]:
        """Documents of each value that are left."""
        remaining = np.asarray(labels, dtype=int)[list(self.documents)]
        return [int(n) for n in np.bincount(remaining, minlength=n_values)]


def thinnings(
    labels: Sequence[int], n_values: int, rng: np.random.Generator, *, rate: float = DEFAULT_RATE
) -> tuple[Thinning, ...]:
    """Every thinned copy that can be wanted of a set while the differences of its values are not known yet, by value.

    One of each value with documents enough to be thinned as over- or as under-represented. A value that may have to be both gets
    a second one, of other documents: that happens only where it alone has documents enough.

    Args:
        labels: value of each document, below `n_values`.
        n_values: number of values.
        rng: the generator that chooses documents and shuffles.
        rate: share of all documents that is taken, in (0, 1); rounded half to even, at least one document (the released code
            can round to 0 and then takes all of the value).

    Raises:
        DataError: the rate is outside (0, 1), or a label is not below the number of values.
    """
    places, counts, n = _counted(labels, n_values, rate)
    over, under = counts > FEWEST_OVER, counts > n
    drawn = []
    for value in np.flatnonzero(over | under).tolist():
        first = _thinned(places, value, n, rng)
        drawn.append(first)
        if over[value] and under[value] and np.count_nonzero(over & under) == 1:
            drawn.append(_other(first, places, n, rng))
    return tuple(drawn)


def choose_thinnings(
    labels: Sequence[int], differences: Sequence[float | None], drawn: Sequence[int], *, rate: float = DEFAULT_RATE
) -> tuple[int, int] | None:
    """Which two of the copies that `thinnings` drew make the pair: minus over, minus under; None where a value lacks documents.

    The values are taken by their difference; of those that are equal, the first. Where all values that can be thinned have one
    difference, the released code thins the first of them twice; here the second copy is of the next value.

    Args:
        labels: as given to `thinnings`.
        differences: coverage of each value less the overall one, in the summary of the full set; None for an absent value.
        drawn: value of each copy.
        rate: as given to `thinnings`.

    Raises:
        DataError: the rate is outside (0, 1), a label is not below the number of differences, or a present value has none.
    """
    _, counts, n = _counted(labels, len(differences), rate)
    known = _known(differences, counts)
    over = _first(np.argsort(-known, kind="stable"), counts, FEWEST_OVER)
    if over is None or over not in drawn:
        return None
    minus_over = list(drawn).index(over)
    for value in np.argsort(known, kind="stable").tolist():
        copies = [place for place, drawn_value in enumerate(drawn) if drawn_value == value and place != minus_over]
        if counts[value] > n and copies:
            return minus_over, copies[0]
    return None


def _counted(labels: Sequence[int], n_values: int, rate: float) -> tuple[Places, Places, int]:
    """Value of each document, documents of each value, and how many documents a thinning takes."""
    places = np.asarray(labels, dtype=int)
    if not 0 < rate < 1 or ((places < 0) | (places >= n_values)).any():
        raise DataError(f"thinning needs a rate in (0, 1), got {rate!r}, and labels below {n_values}, got {labels!r}")
    return places, np.bincount(places, minlength=n_values), max(1, round(rate * len(places)))


def _known(differences: Sequence[float | None], counts: Places) -> NDArray[np.float64]:
    """The differences, nan for absent values."""
    known = np.array([np.nan if d is None else d for d in differences], dtype=float)
    if np.isnan(known[counts > 0]).any():
        raise DataError("a value that has documents needs its difference; only absent values may have None")
    return known


def _first(order: Places, counts: Places, above: int) -> int | None:
    """The first value of the order with more documents than that."""
    return next((int(value) for value in order if counts[value] > above), None)


def _thinned(places: Places, value: int, n: int, rng: np.random.Generator) -> Thinning:
    members = np.flatnonzero(places == value)
    dropped = rng.choice(members, size=min(n, len(members)), replace=False)
    remaining = rng.permutation(np.setdiff1d(np.arange(len(places)), dropped))
    return Thinning(value, tuple(remaining.tolist()))


def _other(first: Thinning, places: Places, n: int, rng: np.random.Generator) -> Thinning:
    """Another thinning of the same value, by other documents; the value has more than `n`."""
    while True:
        second = _thinned(places, first.value, n, rng)
        if set(second.documents) != set(first.documents):
            return second


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# order of the candidates; ties take the first
CANDIDATES = ("minus_over", "original", "minus_under")
# a spread of log weights below this is none
NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Slots:
    """Slots of one side (chosen or rejected) of pairs; arrays of shape (pairs, 2 * values)."""

    flags: Bools
    # |C_k| where flagged, 0 elsewhere
    weight: Floats
    # exp((ln weight - mean) / (2 spread)) over the pairs with this slot flagged; 0 elsewhere, 1 where there is no spread
    power: Floats


@dataclass(frozen=True)
class FairPairs:
    """Pairs of chosen and rejected summaries; sets whose candidates are equally fair are left out."""

    # places of the sets that give a pair, (pairs,)
    sets: NDArray[np.intp]
    # places in CANDIDATES, (pairs,)
    chosen: NDArray[np.intp]
    rejected: NDArray[np.intp]
    # square root of the gap in Equal Coverage over its mean, (pairs,): weights of the margin-weighted baseline, mean 1
    margin_weight: Floats
    chosen_slots: Slots
    rejected_slots: Slots
    # documents of each value of the full set, in both of its slots, (pairs, 2 * values)
    counts: Floats


def fair_pairs(ec: ArrayLike, difference: ArrayLike, counts: ArrayLike) -> FairPairs:
    """The pairs of document sets with three judged candidates each.

    Args:
        ec: Equal Coverage of each candidate against the full set, shape (sets, 3), candidates ordered as `CANDIDATES`.
        difference: coverage of each value less the overall one, shape (sets, 3, values); anything (nan) for absent values.
        counts: documents of each value in the full set, shape (sets, values).

    Raises:
        DataError: the shapes do not go together, or an Equal Coverage or the difference of a present value is not a number.
    """
    scores, gaps, numbers = (np.asarray(x, dtype=float) for x in (ec, difference, counts))
    if scores.ndim != 2 or scores.shape[1] != len(CANDIDATES) or gaps.shape != (*scores.shape, *numbers.shape[1:]):
        raise DataError(
            f"pairs need shapes (sets, 3), (sets, 3, values) and (sets, values), got {scores.shape}, {gaps.shape} and "
            f"{numbers.shape}"
        )
    present = numbers[:, None] > 0
    if not np.isfinite(scores).all() or not np.isfinite(np.where(present, gaps, 0.0)).all():
        raise DataError(
            "a candidate without Equal Coverage, or without the difference of a present value, gives no pair; leave its set out"
        )
    chosen, rejected = scores.argmin(axis=1), scores.argmax(axis=1)
    sets = np.flatnonzero(chosen != rejected)
    chosen, rejected = chosen[sets], rejected[sets]
    root = np.sqrt(scores[sets, rejected] - scores[sets, chosen])
    summed = np.where(present, gaps, 0.0) * numbers[:, None]  # C_k, (sets, 3, values)
    return FairPairs(
        sets=sets,
        chosen=chosen,
        rejected=rejected,
        margin_weight=root / root.mean() if root.size else root,
        chosen_slots=_slots(summed[sets, chosen]),
        rejected_slots=_slots(summed[sets, rejected]),
        counts=np.repeat(numbers[sets], 2, axis=1),
    )


def _slots(summed: Floats) -> Slots:
    """The slots of C_k of shape (pairs, values)."""
    signed = np.stack([summed, -summed], axis=-1).reshape(len(summed), 2 * summed.shape[1])
    flags = signed > 0
    weight = np.where(flags, signed, 0.0)
    return Slots(flags, weight, _power(weight, flags))


def _power(weight: Floats, flags: Bools) -> Floats:
    n = np.maximum(flags.sum(axis=0), 1)
    logs = np.log(weight, out=np.zeros_like(weight), where=flags)
    centred = np.where(flags, logs - logs.sum(axis=0) / n, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / n)
    # the released code divides by a spread of 0 and gets nan
    spread = np.where(spread < NO_SPREAD, np.inf, spread)
    return np.where(flags, np.exp(centred / (2 * spread)), 0.0)


DEFAULT_DECAY = 0.75


@dataclass(frozen=True)
class Contribution:
    """What some summaries add to the state; by slot."""

    # summed weights and numbers, each times the mean token probability, (slots,)
    loss: Floats
    count: Floats

    def __add__(self, other: "Contribution") -> "Contribution":
        return Contribution(self.loss + other.loss, self.count + other.count)

    def __rmul__(self, times: float) -> "Contribution":
        return Contribution(times * self.loss, times * self.count)


@dataclass(frozen=True)
class RunningState:
    """Decayed sums of the contributions so far, (slots,)."""

    loss: Floats
    count: Floats

    @classmethod
    def start(cls, n_values: int) -> "RunningState":
        """Nothing seen yet."""
        return cls(np.zeros(2 * n_values), np.zeros(2 * n_values))

    def after(self, step: Contribution, decay: float = DEFAULT_DECAY) -> "RunningState":
        """The state at the boundary after an optimizer step's forward passes.

        Args:
            step: of all micro-batches and workers.
            decay: what stays of the state before, in [0, 1].

        Raises:
            DataError: the decay is outside [0, 1].
        """
        if not 0 <= decay <= 1:
            raise DataError(f"a decay is a share in [0, 1], got {decay!r}")
        return RunningState(decay * self.loss + step.loss, decay * self.count + step.count)

    def averages(self, temperature: float = 1.0) -> Floats:
        """Mean weight of each slot to the power of the temperature, (slots,); a slot without pairs has the mean over all.

        0 everywhere while nothing has been seen.
        """
        total = float(self.count.sum())
        pooled = float(self.loss.sum()) / total if total > 0 else 0.0
        mean = np.divide(self.loss, self.count, out=np.full(self.loss.shape, pooled), where=self.count > 0)
        return np.asarray(mean**temperature)


def contribution(flags: ArrayLike, weight: ArrayLike, logps: ArrayLike, lengths: ArrayLike) -> Contribution:
    """What summaries of one side add: each flagged slot by the summary's mean token probability.

    Args:
        flags: slots of each summary, shape (summaries, slots).
        weight: |C_k| of the slots, same shape.
        logps: summed log-probability of each summary's tokens under the policy, in nats, shape (summaries,).
        lengths: response tokens, end token included, shape (summaries,).

    Raises:
        DataError: the shapes do not go together, or a summary has no token.
    """
    flagged, weights = np.asarray(flags, dtype=float), np.asarray(weight, dtype=float)
    sums, n = np.asarray(logps, dtype=float), np.asarray(lengths, dtype=float)
    if flagged.shape != weights.shape or flagged.shape[:1] != sums.shape or sums.shape != n.shape or (n < 1).any():
        raise DataError(
            "a contribution needs flags and weights of one shape, and log-probabilities of one token or more a summary"
        )
    probability = np.exp(sums / n)  # (summaries,)
    return Contribution(probability @ (flagged * weights), probability @ flagged)


Side = Literal["chosen", "rejected"]

# where one of a value's two averages is 0, both are raised to at least this, so that their ratio is a number
LEAST_AVERAGE = 1e-8


def slot_weights(
    flags: ArrayLike, power: ArrayLike, state: RunningState, side: Side, *, temperature: float = 1.0
) -> Floats:
    """Weight of each summary, shape (summaries,), in [0, 2]; 1 without a flagged slot, and while nothing has been seen.

    The mean over flagged slots of 2 / (1 + (A / B)^power), where A is the slot's own average and B that of its opposite for
    chosen summaries, the other way round for rejected ones.

    Args:
        flags: slots of each summary, shape (summaries, slots).
        power: of the slots, same shape.
        state: at the last optimizer boundary.
        side: of the pairs.
        temperature: power that the averages are raised to.

    Raises:
        DataError: the shapes do not go together, or the side is neither.
    """
    flagged, powers = np.asarray(flags, dtype=bool), np.asarray(power, dtype=float)
    if flagged.shape != powers.shape or flagged.ndim != 2 or flagged.shape[1:] != state.loss.shape:
        raise DataError(f"slots need shape (summaries, {state.loss.size}), got {flagged.shape} and {powers.shape}")
    if side not in ("chosen", "rejected"):
        raise DataError(f"a side is 'chosen' or 'rejected', got {side!r}")
    if not state.count.sum() > 0:
        return np.ones(len(flagged))
    over, under = state.averages(temperature).reshape(-1, 2).T
    log_ratio = _log_ratio(over, under)
    advantage = np.stack([log_ratio, -log_ratio], axis=1).ravel()  # ln of a slot's average over its opposite's
    return _mean_weight(powers * (advantage if side == "chosen" else -advantage), flagged)


def paper_weights(
    summed: ArrayLike, over: ArrayLike, under: ArrayLike, side: Side, *, temperature: float = 1.0
) -> Floats:
    """Weight of each summary as the paper writes it, shape (summaries,), in [0, 2].

    The mean over values of 2 / (1 + (O / U)^(C / temperature)), O and U swapped for rejected summaries.

    Args:
        summed: C_k of each summary and value, signed, shape (summaries, values).
        over: O(k), average |C_k| of what over-represents the value, shape (values,).
        under: U(k), likewise of what under-represents it.
        side: of the pairs.
        temperature: above 0; the paper tunes it between 1 and 3.

    Raises:
        DataError: the shapes do not go together, or the temperature is not above 0.
    """
    c = np.asarray(summed, dtype=float)
    o, u = np.asarray(over, dtype=float), np.asarray(under, dtype=float)
    if c.ndim != 2 or c.shape[1:] != o.shape or o.shape != u.shape or not temperature > 0:
        raise DataError(
            "weights need C of shape (summaries, values), O and U of shape (values,), and a temperature above 0"
        )
    advantage = _log_ratio(o, u) if side == "chosen" else _log_ratio(u, o)
    return _mean_weight(advantage * c / temperature, np.ones(c.shape, dtype=bool))


def _log_ratio(over: Floats, under: Floats) -> Floats:
    """ln(O / U) of each value, shape (values,); the released code, which has no guard, divides by 0."""
    floor = np.where((over <= 0) | (under <= 0), LEAST_AVERAGE, 0.0)
    return np.asarray(np.log(np.maximum(over, floor)) - np.log(np.maximum(under, floor)))


def _mean_weight(exponent: Floats, flagged: NDArray[np.bool_]) -> Floats:
    from scipy.special import expit

    # 2 / (1 + e^x), in a form that cannot overflow
    weight = np.where(flagged, 2 * expit(-exponent), 0.0)
    n = flagged.sum(axis=1)
    return np.asarray(np.where(n > 0, weight.sum(axis=1) / np.maximum(n, 1), 1.0))
