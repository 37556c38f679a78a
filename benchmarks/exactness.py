"""Exactness: log-probabilities and gradients of packed sequences, of every kernel in every family that knows them.

Two prompts that begin alike and their candidates in one sequence, against each candidate alone behind its prompt, in float32 on
the CPU with random weights. What is exact is the plain path in float64; "alone" is the plain path in float32, which is off, too.

    sdpa             the parts joined by their log-sum-exp, explicit masks where there are windows or bounded scores
    masks            explicit masks everywhere, what a kernel that is wrong falls back to
    flex_attention   the block mask, by torch's own plain operations: nothing is compiled
    cut              prompts and candidates as sequences of their own, as flash_attention_2, flash_attention_3 and
                     torch_varlen have them, by a plain kernel in the place of the libraries'

Each figure is the largest error of a candidate token's log-probability, in nats, and the error of the gradient with respect to
all weights, relative to its norm. The libraries' own kernels are for a GPU: `benchmarks/gpu/run.sh --only kernels`.
"""

from collections.abc import Sequence

from .report import Breakdown, Report, bench_options, run_bench

FIGURES = ("log-probabilities, largest error in nats", "gradients, relative error")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark; with --quick of one family."""
    options = bench_options("exactness", __doc__, argv, {})
    # torch is imported with them, once idle threads are set to sleep
    from .gpu.kernels import FAMILIES
    from .packed_exactness import errors

    report = Report("exactness", vars(options))
    rows = [(family, errors(family)) for family in list(FAMILIES)[: 1 if options.quick else None]]
    for place, what in enumerate(FIGURES):
        shown = [{"": name, **{way: f"{found[way][place]:.1e}" for way in found}} for name, found in rows]
        report.add_breakdown(Breakdown(what, shown))
    report.finish()


if __name__ == "__main__":
    run_bench(main)
