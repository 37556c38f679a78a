"""What /metrics tells Prometheus: seconds, candidates, scores that are missing, fallbacks, and how the worst side fares."""

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

GAPS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Numbers of one server, in a registry of its own; threads may write at once."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "evenhand_request_seconds", "Seconds to an answer", ["path", "status"], registry=registry, buckets=SECONDS
        )
        self._candidates = Counter("evenhand_candidates", "Candidates that were judged", registry=registry)
        self._unscored = Counter("evenhand_unscored", "Judgements without a score", ["judge"], registry=registry)
        self._summaries = Counter(
            "evenhand_summaries", "Summaries by where they come from", ["source"], registry=registry
        )
        self._late = Counter(
            "evenhand_late", "Summaries that were the best when the deadline passed", registry=registry
        )
        self._gap = Histogram(
            "evenhand_worst_side_gap", "How far the worst side is behind", ["judge"], registry=registry, buckets=GAPS
        )

    def watch(self, numbers: Mapping[str, Callable[[], float]]) -> None:
        """Numbers that are read when they are asked for."""
        for name, read in numbers.items():
            gauge = Gauge(f"evenhand_{name}", name.replace("_", " "), registry=self._registry)
            gauge.set_function(read)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._seconds.labels(path, str(status)).observe(seconds)

    def judged(self, n_candidates: int, unscored: Iterable[str]) -> None:
        """Count candidates, and by judge the scores that are missing."""
        self._candidates.inc(n_candidates)
        for judge in unscored:
            self._unscored.labels(judge).inc()

    def served(self, source: str, gaps: Mapping[str, float | None], *, is_late: bool = False) -> None:
        """Count a summary, and by judge how far its worst side is behind; a source of "none" is a request without a summary."""
        self._summaries.labels(source).inc()
        self._late.inc(is_late)
        for judge, gap in gaps.items():
            if gap is not None:
                self._gap.labels(judge).observe(gap)

    def text(self) -> tuple[bytes, str]:
        """All of it in Prometheus's form, and the type of that."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
