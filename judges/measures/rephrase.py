"""Units by a language model: it splits a summary into single facts and rephrases them, as published.

The prompts are our own and say what the published instruction has to: one fact a unit, compound subjects and objects taken apart,
no reported speech, no word of reviewers, tweets or articles. The published settings are GPT-3.5 at temperature 1; here the first
attempt is greedy, later ones have a new seed and temperature 0.7. A reply that ran into its length is not read, nor is one with a
line that may begin with a number of its own ("2020 was bad."). How few units are enough is for those to say who count them.
Source: Li et al. 2025, appendix A.1; docs/papers.md#li-units.
"""

import re
from collections.abc import Sequence

from ...config.fairness import EntailerSection, SplitterSection
from ...fairness.groups.masses import Unscored
from ...fairness.groups.units import Domain, parse_units
from ...generate.backend import Ask, Backend, Reply
from ...generate.backends import backend_signature
from ...prompts import PromptTemplate, load_template
from ...records import Message, Sampling
from ...text.digests import digest
from ...text.thoughts import without_thoughts
from ..asking import CUT_OFF, UNREADABLE, refused, samplings
from ..rubric import PROMPTS, engine_part, lazy_backend
from ..shared import Lazy, OneModel, SharedModels

# changes with how replies are asked for (temperature) and read
VERSION = 2
# how the signature of such units begins
LLM_UNITS = "llm("
# "1. A fact", "2) A fact", "**3.**A fact", "4 A fact"; but not "1.5 km"
NUMBERED = re.compile(r"[\W_]*(\d+)(?:([.):]+)(?!\d)|(?=\s))[\s*_]*(.*)")


class Rephraser(OneModel[Backend]):
    """A language model as a splitter."""

    def __init__(
        self, options: SplitterSection, domain: Domain, template: PromptTemplate, backend: Lazy[Backend]
    ) -> None:
        super().__init__(backend)
        parts = {
            "model": backend_signature(options.backend, options.model, options.model.adapter),
            **engine_part(options.backend, options.model),
            "reply": options.most_reply_tokens,
            "attempts": options.max_attempts,
            "v": VERSION,
        }
        named = ",".join(f"{key}={value}" for key, value in parts.items())
        self.signature = f"{LLM_UNITS}{template.signature},{named.replace('|', ',')})"
        self._options = options
        self._domain = domain
        self._template = template

    def split(self, summaries: Sequence[str]) -> list[tuple[str, ...] | Unscored]:
        """The units of each summary; equal ones are asked about once, unreadable replies asked for again."""
        units: dict[str, tuple[str, ...] | Unscored] = {}
        pending = list(dict.fromkeys(summaries))
        attempts = samplings(self._options.max_attempts, self._options.most_reply_tokens)
        for attempt, sampling in enumerate(attempts, start=1):
            if not pending:
                break
            replies = self._model.get().complete([self._ask(summary, attempt, sampling) for summary in pending])
            units.update(zip(pending, map(self._read, replies), strict=True))
            # one that was refused would be refused again
            pending = [s for s in pending if units[s] in (Unscored(UNREADABLE), Unscored(CUT_OFF))]
        return [units[summary] for summary in summaries]

    def _ask(self, summary: str, attempt: int, sampling: Sampling) -> Ask:
        text = self._template.fill(texts={"summary": summary})
        seed = int(digest([self.signature, summary, attempt], length=8), 16)
        return Ask((Message(role="user", content=text),), sampling, seed)

    def _read(self, reply: Reply) -> tuple[str, ...] | Unscored:
        if reply.finish_reason == "failed":
            return Unscored(refused(reply, 1).unscored or UNREADABLE)
        if reply.finish_reason == "length":
            return Unscored(CUT_OFF)
        facts = numbered(without_thoughts(reply.text).text)
        listed = "\n".join(f"{place}. {fact}" for place, fact in enumerate(facts or (), start=1))
        return parse_units(listed, self._domain, fewest=1) or Unscored(UNREADABLE)


def numbered(reply: str) -> list[str] | None:
    """The facts of a numbered list without their numbers; None when a line's number may be its fact's own.

    A number without a mark behind it is the list's if it goes on counting.
    """
    facts: list[str] = []
    for line in map(str.strip, reply.split("\n")):
        if not any(character.isdigit() for character in line.partition(" ")[0]):
            continue
        numbering = NUMBERED.match(line)
        if numbering is None or not (numbering[2] or int(numbering[1]) == len(facts) + 1):
            return None
        if numbering[3]:
            facts.append(numbering[3])
    return facts


def open_rephraser(section: EntailerSection, models: SharedModels) -> Rephraser:
    """The splitter that the section describes.

    Raises:
        ModelError: its model is a path that holds none.
    """
    assert section.splitter is not None, "the section has checked it"
    backend = lazy_backend(section.splitter.backend, section.splitter.model, models)
    return Rephraser(section.splitter, section.domain, load_template(f"units-{section.domain}", PROMPTS), backend)
