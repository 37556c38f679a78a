"""Families: which types of causal language models train with a shared prefix, by the probe that stands before every training.

Each type of the installed transformers is tried as its default configuration has it. "exact" types have the log-probabilities of
each candidate alone, up to the figure (in the spread of log-probabilities); others are refused, with the reason.
"""

import logging
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ..extras import need
from ..models.hub import first_line
from ..train.probe import ProbeResult
from .report import Breakdown, Report, bench_options, run_bench

log = logging.getLogger(__name__)

ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}
# settings of types whose default configuration is no model, or leaves out the layers that the type is known for
SETTINGS: dict[str, dict[str, Any]] = {
    "codegen": {"n_head": 16},
    "deepseek_v2": {"num_experts_per_tok": 6},
    "hunyuan_v1_dense": {"head_dim": 128, **ROPE},
    "hunyuan_v1_moe": {"head_dim": 128, **ROPE},
    "lfm2": {"layer_types": ["conv", "full_attention"] * 16},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 16, **ROPE},
    "minimax_m3_vl_text": {"layer_types": ["full_attention", "minimax_m3_sparse"] * 30},
    "ministral": {"head_dim": 128, **ROPE},
    "nemotron": {"head_dim": 128, "num_key_value_heads": 8},
}
# types that --quick, and the ordinary tests, try
QUICK = ("llama", "smollm3", "gemma3_text", "mixtral", "gpt_oss", "lfm2", "bert", "falcon")


def probes(types: Sequence[str] | None = None) -> Iterator[tuple[str, ProbeResult | None]]:
    """Type by type what the probe says; None where the default configuration is no model.

    Args:
        types: those to try; None for all of the installed transformers.
    """
    torch, transformers = need("torch", "a benchmark"), need("transformers", "a benchmark")
    from ..train.probe import probe

    auto = need("transformers.models.auto.modeling_auto", "a benchmark")
    for kind in types or auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        try:
            config = transformers.CONFIG_MAPPING[kind](**SETTINGS.get(kind, {}))
            with torch.device("meta"):
                model = transformers.AutoModelForCausalLM.from_config(config)
        # each says in its own way that it is none
        except Exception as error:
            log.warning("%s: no model by default: %s: %s", kind, type(error).__name__, first_line(error))
            yield kind, None
        else:
            yield kind, probe(model)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark; with --quick of a few types."""
    options = bench_options("families", __doc__, argv, {})
    report = Report("families", vars(options))
    tried = []
    for kind, seen in probes(QUICK if options.quick else None):
        print(kind, file=sys.stderr)
        tried.append((kind, seen))
    exact = [
        {"type": kind, "largest difference": f"{seen.difference:.1e}"}
        for kind, seen in tried
        if seen and not seen.refusal
    ]
    report.add_breakdown(Breakdown("exact", exact))
    refused = [{"type": kind, "because": seen.refusal} for kind, seen in tried if seen and seen.refusal]
    report.add_breakdown(Breakdown("refused", refused))
    report.add_breakdown(Breakdown("no model by default", [{"type": kind} for kind, seen in tried if seen is None]))
    report.finish()


if __name__ == "__main__":
    run_bench(main)
