"""Where the time of a step goes: what each kernel takes, and a trace of torch's profiler to look into."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...extras import need

# kernels that are named, those that take longest
MOST_NAMED = 25


def traced(run: Callable[[], Any], path: Path) -> dict[str, Any]:
    """Run once to warm up and once under the profiler; the kernels' milliseconds, and their share of all.

    Args:
        run: a step.
        path: of the trace, which ends in .json.gz; Perfetto and chrome://tracing show it.
    """
    torch = need("torch", "a trace")
    has_device = torch.cuda.is_available()
    kinds = torch.profiler.ProfilerActivity
    run()
    with torch.profiler.profile(activities=[kinds.CPU, *([kinds.CUDA] if has_device else [])]) as profiler:
        run()
        if has_device:
            torch.cuda.synchronize()
    profiler.export_chrome_trace(str(path))
    spent = {
        event.key: (event.self_device_time_total if has_device else event.self_cpu_time_total) / 1000
        for event in profiler.key_averages()
    }
    whole = sum(spent.values())
    longest = sorted(spent, key=lambda name: -spent[name])[:MOST_NAMED]
    kernels = [{"name": name, "ms": spent[name], "share": spent[name] / whole} for name in longest]
    return {"ms": whole, "kernels": kernels, "shown": {"ms of kernels": f"{whole:.4g}"}}
