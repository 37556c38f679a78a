"""What each stage of a recipe asks of which model, in tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..config import Recipe
from ..config.model import LanguageModel
from ..errors import EvenhandError
from ..generate.method import DrawnReply, Job, draw_seed, draws, text_of
from ..generate.methods import METHODS
from ..generate.prefixes import LEAST_SHARED, n_common
from ..generate.requests import build_requests, refuse_no_room
from ..generate.stage import phase_requests
from ..judges import open_judge
from ..judges.asking import AskingJudge, in_step
from ..judges.batch import judge_inputs
from ..judges.shared import SharedModels
from ..models.hub import first_line
from ..records import Candidate, Document, DocumentSet, SummaryRequest
from ..runfolder.phases import Phase
from ..train.stage import pair_file
from .counting import CHARACTERS, WORD, Counter, TokenCounts, reader
from .run_size import file_sizes, most_pairs, phases_by_split, spread
from .train_work import TrainWork, held_out_of_file, work_of_file, work_of_run

# judges that choose what they show their model by models of their own
CHOOSING = ("extract",)


@dataclass
class PhaseWork:
    """What a stage asks of a model in one phase."""

    stage: str
    model: LanguageModel
    tokens: TokenCounts
    # judges that ask it
    judges: tuple[str, ...] = ()
    # tokens of the longest prompt with its answer
    longest: int = 0


@dataclass
class Split:
    """The work of the phases of one split, which are alike."""

    name: str
    phases: list[Phase]
    n_requests: int
    work: list[PhaseWork]
    train: TrainWork | None
    # file of a phase's folder -> its bytes
    files: dict[str, float]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Assumed:
    """What is taken in place of what the documents say, or are not here to say."""

    # split -> requests, in place of those that the documents give
    requests: dict[str, int]
    # tokens of a prompt; None for as many as fit
    prompt_tokens: int | None = None
    # tokens of a candidate; None for as many as its plan allows
    answer_tokens: int | None = None


def splits(recipe: Recipe, assumed: Assumed) -> Iterator[Split]:
    """The work of training rounds and of evaluations, each of one phase."""
    for name, split_phases in phases_by_split(recipe).items():
        yield _split(name, split_phases, assumed)


def _split(name: str, split_phases: list[Phase], assumed: Assumed) -> Split:
    phase, notes = split_phases[0], list[str]()
    generate = phase.recipe.generate
    if phase.round is not None and not phase.has_candidates:
        try:
            n, own = work_of_file(phase.recipe, pair_file(phase))
            return Split(name, split_phases, n, [], own, {})
        except EvenhandError as error:
            taken = "Its pairs are taken to be as many, and as long, as the run's would be"
            notes.append(f"{name}: {first_line(error).rstrip('.')}. {taken}")
    # what a server takes that is sent messages is its own affair
    room = generate.max_model_len if generate.server is None or generate.reads_model else None
    if room is not None:
        refuse_no_room(phase.answer_tokens, room)
    try:
        requests: Sequence[SummaryRequest] = phase_requests(phase)
        n = _drawn(phase, assumed.requests.get(name)) or len(requests)
    except EvenhandError as error:
        n = _drawn(phase, assumed.requests.get(name)) or phase.split_section.sample or 0
        requests, assumption = _stand_ins(phase, assumed)
        # they are about as long as they may be, and a token more is no reason to leave them out
        room = None
        notes.append(f"{name}: {first_line(error).rstrip('.')}. {assumption}")
        if not n:
            notes.append(f"{name}: how many requests is not known, so it counts nothing; write --requests {name}=N")
    counted = spread(requests)
    factor = n / len(counted) if counted else 0.0
    if len(counted) < n:
        notes.append(f"{name}: tokens were counted on {len(counted)} of {n:,} requests")
    counter, candidates = _candidates(phase, counted, assumed.answer_tokens, room)
    n_made = len({request.id for request, _ in candidates})
    if room is not None and n_made < len(counted):
        notes.append(
            f"{name}: {len(counted) - n_made} of {len(counted)} requests are longer than generate.max_model_len {room:,} lets "
            "them be; they are left out, and not counted"
        )
    work = []
    if phase.has_candidates and phase.recipe.generate.has_model:
        model = LanguageModel(phase.recipe.model, phase.recipe.generate)
        work.append(PhaseWork("generate", model, counter.tokens.times(factor), longest=counter.longest))
    work += _judging(phase, candidates, factor, notes) if phase.has_candidates else ()
    train = None
    if phase.round is not None and not n_made:
        notes.append(f"{name}: no request is left, so there is nothing to train on; raise generate.max_model_len")
    elif phase.round is not None:
        longest = max(requests, key=lambda request: len(text_of(request.prompt)))
        prompts = _prompts(phase, counter, counted), len(counter.read(longest.prompt))
        if room is not None:
            prompts = prompts[0], min(prompts[1], room - phase.answer_tokens)
        train = _training(phase, prompts, factor, len(candidates) // max(1, n_made), notes)
    sizes = file_sizes(phase, counted, candidates, train.pairs if train else 0)
    files = {name: factor * size for name, size in sizes.items()}
    return Split(name, split_phases, n, work, train, files, notes)


def _drawn(phase: Phase, n: int | None) -> int | None:
    """Of so many requests those that a phase draws."""
    sample = phase.split_section.sample
    return n if n is None or sample is None else min(n, sample)


def _stand_ins(phase: Phase, assumed: Assumed) -> tuple[list[SummaryRequest], str]:
    """One set's requests of a length that is assumed, and what was assumed."""
    recipe = phase.recipe
    limit = recipe.generate.max_model_len - phase.answer_tokens
    n_tokens = assumed.prompt_tokens or limit
    why = "" if assumed.prompt_tokens else ", as long as max_model_len lets them be; --prompt-tokens N knows better"
    attribute, sides = recipe.corpus.attribute, recipe.corpus.sides or ("one", "other")
    read = reader(recipe.model)[0]
    # prompts that a corpus brings along are not here either
    brought = recipe.task.template == "released"
    task = recipe.task.model_copy(update={"template": "perspective"}) if brought else recipe.task
    n_words = n_tokens * CHARACTERS // len(WORD)
    requests: list[SummaryRequest] = []
    # the template's own words take room
    for _ in range(4):
        documents = tuple(
            Document(id=side, text=(WORD * max(1, n_words // len(sides))).strip(), attributes={attribute: side})
            for side in sides
        )
        requests = build_requests([DocumentSet(id="assumed", documents=documents)], recipe.corpus, task)
        is_now = len(read(requests[0].prompt))
        n_words = max(1, round(n_words * n_tokens / is_now))
    alike = _begin_alike([read(request.prompt) for request in requests])
    return requests, f"Its prompts are taken to have {n_tokens:,} tokens{why}{alike}"


def _begin_alike(prompts: Sequence[tuple[Any, ...]]) -> str:
    """How much prompts of a set have in common, as a note goes on; "" for nothing that an engine would keep."""
    distinct = sorted(set(prompts))
    shared = min((n_common(*pair) for pair in pairwise(distinct)), default=0)
    if shared < LEAST_SHARED:
        return ""
    n_further = max(map(len, distinct)) - shared
    return (
        f". The {len(distinct)} prompts of a set are taken to share all but {n_further:,} tokens, and what they share to be "
        "prefilled once"
    )


def _candidates(
    phase: Phase, requests: Sequence[SummaryRequest], answer_tokens: int | None, room: int | None
) -> tuple[Counter, list[tuple[SummaryRequest, Candidate]]]:
    """What the method asks for its candidates, and these; it runs before a counter."""
    recipe, method = phase.recipe, METHODS[phase.method]
    counter, drawn = Counter(reader(recipe.model)[0], most=answer_tokens, room=room), draws(phase.plans)
    seeds = [
        [draw_seed(recipe.name, recipe.seed, phase.name, request.id, draw) for draw in drawn] for request in requests
    ]
    job = Job(phase.method, counter, requests, drawn, seeds, recipe)
    candidates = []
    for request, row, replies in zip(requests, seeds, method.summarise(job), strict=True):
        if any(reply.finish_reason == "failed" for reply in replies):
            continue
        answers = [DrawnReply(*fields) for fields in zip(drawn, row, replies, strict=True)]
        candidates += [(request, candidate) for candidate in method.candidates(job, request, answers)]
    return counter, candidates


def _judging(
    phase: Phase,
    candidates: Sequence[tuple[SummaryRequest, Candidate]],
    factor: float,
    notes: list[str],
) -> Iterator[PhaseWork]:
    """What the judges ask at first; those that ask one model are asked together."""
    together: dict[str, list[tuple[str, AskingJudge]]] = {}
    models: dict[str, LanguageModel] = {}
    shared = SharedModels()
    for name in phase.judges:
        options = phase.recipe.judges[name]
        language_models = options.language_models
        if not language_models:
            continue
        judge = None
        if options.kind not in CHOOSING:
            try:
                judge = open_judge(name, options, shared)
            except EvenhandError as error:
                notes.append(f"judge {name}: {first_line(error).rstrip('.')}")
                continue
        if not isinstance(judge, AskingJudge):
            notes.append(
                f"judge {name}: what it asks its language model depends on what its other models find, and is not counted"
            )
            continue
        together.setdefault(judge.loads, []).append((name, judge))
        models.setdefault(judge.loads, next(iter(language_models.values())))
    for key, judges in together.items():
        server = models[key].backend.server
        counter = Counter(reader(models[key].model)[0], choice_tokens=server.choice_tokens if server else 1)
        rounds = [
            judge.rounds(judge_inputs(judge.against, [pair for pair in candidates if phase.is_judged(pair[1], name)]))
            for name, judge in judges
        ]
        asks = next(in_step(rounds))
        counter.complete(sorted(dict.fromkeys(asks), key=lambda ask: [message.content for message in ask.prompt]))
        names = tuple(name for name, _ in judges)
        yield PhaseWork("judge", models[key], counter.tokens.times(factor), names, counter.longest)


def _prompts(phase: Phase, counter: Counter, requests: Sequence[SummaryRequest]) -> list[int]:
    """Tokens of the prompts that leave room for an answer."""
    lengths = [len(counter.read(request.prompt)) for request in requests]
    return [length for length in lengths if counter.has_room(length, phase.answer_tokens)]


def _training(
    phase: Phase, prompts: tuple[list[int], int], factor: float, n_candidates: int, notes: list[str]
) -> TrainWork:
    """What a round trains on whose pairs the run makes; arguments as of `work_of_run`."""
    n_pairs = most_pairs(phase, n_candidates)
    work = work_of_run(phase.recipe, prompts, factor, n_candidates, n_pairs, phase.answer_tokens)
    try:
        work.held_out += held_out_of_file(phase.recipe)
    except EvenhandError as error:
        notes.append(f"{phase.split}: {first_line(error).rstrip('.')}. Its evaluation is not counted")
    return work
