"""What a server says in place of an answer, and what it means: read from body, code, type and status, whatever their form.

Servers write errors as they like: an object under `error`, `message` or `detail`, a list of these, a text, JSON within a text.
The words, codes and parameters are gathered wherever they stand; what repeats the request (`input`) is passed over, since a
document may say anything.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# where words, codes and names of parameters stand, in small letters
WORDS = frozenset(
    "message msg detail details error errors error_message error_msg errormessage error_description description reason title"
    " innererror inner_error metadata raw status_message status_msg base_resp fault response body".split()
)
CODES = frozenset("code type error_type error_code errorcode errcode err_code status reasons".split())
PARAMETERS = frozenset("param parameter field loc".split())
# parts of an error that are looked at, levels, and letters of its words
MOST_PARTS, MOST_LEVELS, MOST_WORDS = 200, 8, 2000
# statuses of requests that a server takes for wrong; that it is not allowed; that it is too large
WRONG, FORBIDDEN, TOO_LARGE = frozenset({200, 400, 422}), frozenset({403, 451}), 413
TOO_MANY, UNPAID, OWN_FAULTS = 429, 402, 500
# statuses that may be others in a moment; of a path that is not there, or is there for other purposes
PASSING, NO_PATH = frozenset({408, 409, 425, 429}), frozenset({404, 405, 501})

# how servers say that a text is too long for the model, and how those do that say it of their own fault
CONTEXT = re.compile(
    r"context.?(?:length|window|size|limit)|maximum (?:context|input|prompt|sequence)|max.?(?:input|prompt|seq|model).?len"
    r"|(?:prompt|inputs?)\W{0,3}(?:is |are )?too.?long|(?:larger than|greater than|exceed\w*)[^.]{0,30}\bn_ctx\b",
    re.I,
)
# two numbers, of which the second is the limit
OVER = re.compile(
    r"(?:(?:prompt|input|context)s?(?:[\s_]?(?:tokens?|length)\b[^.\d]{0,30}\d+\s*(?:tokens\s*)?|\b[^.\d]{0,30}\d+ tokens\s*)"
    r"|\d+ (?:prompt|input|context)[\s_]tokens\s*)"
    r"(?:>=?|\bis (?:greater|more|larger) than\b)\s*\d",
    re.I,
)
LENGTH = re.compile(
    rf"{CONTEXT.pattern}|{OVER.pattern}|too (?:long|many (?:input |prompt )?tokens)"
    r"|reduce (?:the|your) (?:length|prompt|message|input)"
    r"|\b(?:prompt|inputs?|messages?|text|request|sequence|query)\b[^.]{0,60}\b(?:too (?:large|big)|exceed\w*|longer than)"
    r"|exceeds? the [^.]{0,60}(?:context|tokens?|length)|(?:input|prompt) length|request.too.large|above max length"
    r"|(?:input|prompt|context|model'?s?) token limit|token count\b[^.]{0,20}exceed"
    r"|shorten (?:the|your) (?:prompt|message|input|text)"
    r"|\b(?:prompt|inputs?|request|sequence)\b[^.]{0,30}\d+ tokens\b[^.]{0,40}"
    r"(?:\bmax|limit|at most|\btakes|support|allow|more than|\bfit\b)"
    r"|\binputs?\b[^.]{0,60}\bmust (?:be|have)\b[^.]{0,20}(?:<|less|fewer|at most)"
    # in Chinese, as servers of there have it: length of input, prompt, text, content or context "exceeds"
    r"|(?:\u8f93\u5165|\u63d0\u793a|\u6587\u672c|\u5185\u5bb9|\u4e0a\u4e0b\u6587|prompt|inputs?|messages|context)[^\u3002]{0,30}"
    r"(?:\u957f\u5ea6[^\u3002]{0,30}\u8d85|\u8d85(?:\u957f|\u8fc7[^\u3002]{0,30}\u957f\u5ea6))",
    re.I,
)
# how those do that give an error of their own for a text that is filtered, or name the key with which it came
VIOLATION = re.compile(
    r"content.?policy.?violation|data.?inspection|responsible.?ai|content violates usage guidelines", re.I
)
# how they say that they do not answer such a text; in Chinese, too, as models of there have it
CONTENT = re.compile(
    rf"{VIOLATION.pattern}|content.?(?:filter|policy|policies|management|safety|moderation|violation|exists.?risk)|usage.?(?:polic|guideline)|violat\w*\b[^.]{{0,60}}(?:polic|guideline|safety|terms)|safety|moderation"
    r"|inappropriate|flagged|(?:high|exists).?risk|risk.?control|harmful|unsafe|(?<!case.)(?<![a-z])sensitive|objectionable|offensive"
    r"|guardrail\w*\b[^.]{0,60}\b(?:enforc|interven|block|trigger|violat|flag|reject|refus)|\b(?:block|flag|reject|refus)\w*\b[^.]{0,40}guardrail"
    r"|illegal content(?!.?(?:type|length|encoding))|\bcontent (?:is|was|may be) illegal|invalid prompt"
    r"|(?:prohibited|forbidden).(?:content|words?)\b(?!.?(?:type|length|encoding))"
    r"|\b(?:prompt|content|inputs?|text)\b[^.]{0,40}\brefused by policy"
    r"|(?:prompt|content|inputs?|text|request|response|completion|answer|output)\b[^.]{0,40}\b(?:blocked|filtered|withheld)|\bnsfw\b"
    # why Gemini ends an answer, and others do
    r"|\brecitation|\bcopyright|(?-i:BLOCK_?LIST)|block.?reason|\bspii\b|jailbreak|prompt.(?:attack|injection)|\btoxic|\bprofan"
    r"|\u654f\u611f|\u4e0d\u5b89\u5168|\u8fdd\u89c4|\u8fdd\u53cd|\u8fdd\u7981|\u5185\u5bb9[^\u3002]{0,12}\u8fdd\u6cd5|\u8fdd\u6cd5(?:\u5185\u5bb9|\u4fe1\u606f)|\u98ce\u9669|\u5408\u89c4|\u5ba1\u6838|\u4e0d\u5f53"
    r"|\u6d89\u653f|\u6d89\u53ca\u653f\u6cbb",
    re.I,
)
# a request that is larger than what all requests of a minute may be together; and words about these
REQUEST = re.compile(rf"{CONTEXT.pattern}|request.too.large", re.I)
RATE = re.compile(r"\u6bcf\u5206\u949f|rate.?limit|per.(?:minute|min|hour|day|month)\b|quota|budget", re.I)
# codes of numbers that mean the same
CONTENT_CODES = frozenset({"1301"})
KEY = re.compile(r"api.?key|credential|authenticat|unauthori[sz]ed|access token|bearer", re.I)
SHORT = re.compile(
    r"insufficient.{0,20}(?:quota|balance|credit|fund)|credit balance|exceeded current quota error", re.I
)
CREDIT = re.compile(
    rf"{SHORT.pattern}|billing|exceeded your current quota|payment required|budget.{{0,20}}exceed|exceed\w*.{{0,20}}budget"
    r"|\u6b20\u8d39|\u4f59\u989d",
    re.I,
)
ACCOUNT = re.compile(r"\b(?:accounts?|organi[sz]ations?|region|country|territory|subscription)\b", re.I)
MODEL = re.compile(
    r"\bmodel\b[^.]{0,80}(?:not (?:found|exist)|does not exist|not available)|(?:unknown|invalid|no such|not a valid) model",
    re.I,
)
# how they say that they do not take a parameter, where they name it without marks
UNTAKEN = re.compile(
    r"not? (?:longer )?(?:supported|permitted|allowed|accept\w*|valid|available|known|recogni[sz]ed|take)|does(?: not|n't)"
    r"|un(?:supported|known|recogni[sz]ed|expected)|forbidden|extra|invalid|deprecated|instead|only|limit|exceed|range"
    r"|too (?:large|big|high|many)|must be|at most|maximum|less than|<",
    re.I,
)
PARAMETER_CODES = re.compile(
    r"(?:unsupported|unknown|invalid|extra|unrecogni[sz]ed).?(?:parameter|value|field|forbidden)", re.I
)
# parameters of the answer alone, and words for what is sent
OF_ANSWER = ("max_tokens", "max_completion_tokens", "seed", "logprobs", "top_logprobs", "n")
OF_INPUT = re.compile(r"\b(?:inputs?|prompt|messages?|context)\b", re.I)


@dataclass(frozen=True)
class Rejection:
    """A request that a server did not answer."""

    status: int
    # its words, in their order; codes and types; parameters that have a field of their own
    texts: tuple[str, ...]
    codes: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """What it says, its codes where it says nothing else."""
        return "; ".join(self.texts) or ", ".join(sorted(self.codes))

    @property
    def may_pass(self) -> bool:
        """Whether its status may be another in a moment."""
        return self.status in PASSING or self.status >= OWN_FAULTS

    @property
    def _all(self) -> str:
        codes = (code.replace("_", " ") for code in sorted(self.codes))
        return "\n".join([*self.texts, *codes])

    @property
    def is_of_length(self) -> bool:
        """Whether the text is too long for the model."""
        codes = "\n".join(code.replace("_", " ") for code in self.codes)
        if self.status == TOO_LARGE or CONTEXT.search(codes):
            return True
        if self.status == TOO_MANY:
            return REQUEST.search(self._all) is not None
        if self.status >= OWN_FAULTS and OVER.search(self._all):
            return True
        if self.status in FORBIDDEN or self.status >= OWN_FAULTS:
            return CONTEXT.search(self._all) is not None
        if self.status not in WRONG or LENGTH.search(self._all) is None or RATE.search(self._all):
            return False
        # an answer that is asked to be longer than the model writes is none of the text's faults, nor is another parameter
        return OF_INPUT.search(self.words) is not None or not any(map(self._names, OF_ANSWER))

    @property
    def is_of_content(self) -> bool:
        """Whether the server does not answer such a text."""
        said = self._all
        if self.status >= OWN_FAULTS:
            return VIOLATION.search(said) is not None
        is_wrong = self.status in WRONG and not PARAMETER_CODES.search(said)
        is_forbidden = self.status in FORBIDDEN and not ACCOUNT.search(said)
        if not (is_wrong or is_forbidden):
            return False
        if KEY.search(said) and not VIOLATION.search(said):
            return False
        return CONTENT.search(said) is not None or bool(CONTENT_CODES & self.codes)

    @property
    def is_of_credit(self) -> bool:
        """Whether the server wants to be paid first."""
        # too many requests in a minute are said in the words of a quota, too
        words = SHORT if self.status == TOO_MANY else CREDIT
        return self.status == UNPAID or (self.status < OWN_FAULTS and words.search(self._all) is not None)

    @property
    def is_of_key(self) -> bool:
        """Whether it does not take the key."""
        is_refused = self.status in {401, *FORBIDDEN}
        return is_refused or (self.status in WRONG and KEY.search(self._all) is not None)

    @property
    def is_of_model(self) -> bool:
        """Whether it does not have the model, or nothing at this address."""
        return self.status == 404 or (self.status in WRONG and MODEL.search(self._all) is not None)

    def named(self, keys: Iterable[str]) -> set[str]:
        """The parameters of a request that it does not take, of these."""
        return {key for key in keys if key in self.parameters or self._names(key)}

    def names_any(self, keys: Iterable[str]) -> bool:
        """Whether it is about a parameter of these, whatever is wrong with it, and so about no text."""
        fields = {*keys} - {"messages", "prompt"}
        quoted = rf"['\"`\u2018\u201c](?:{'|'.join(map(re.escape, fields))})['\"`\u2019\u201d]"
        is_named = bool(self.parameters & fields) or (bool(fields) and re.search(quoted, self.words) is not None)
        return is_named or PARAMETER_CODES.search(self._all) is not None

    def _names(self, key: str) -> bool:
        """Whether the words name it in marks, or as what is not taken."""
        if re.search(rf"['\"`\u2018\u201c]{key}['\"`\u2019\u201d]", self.words):
            return True
        return re.search(rf"(?<![\w.]){key}(?!\w)", self.words) is not None and UNTAKEN.search(self.words) is not None


def rejection(status: int, body: Any) -> Rejection:
    """What a body says that came with a status."""
    parts = _Parts()
    parts.take(body)
    texts = tuple(dict.fromkeys(parts.texts))
    return Rejection(status, texts, frozenset(parts.codes), frozenset(parts.parameters))


class _Parts:
    """Words, codes and parameters of an error, as far as they were gathered."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.codes: list[str] = []
        self.parameters: list[str] = []
        self._n_parts = 0

    def take(self, value: Any, level: int = 0) -> None:
        """Gather what a value holds."""
        self._n_parts += 1
        if level > MOST_LEVELS or self._n_parts > MOST_PARTS:
            return
        if isinstance(value, str):
            self._take_text(value.strip(), level)
        elif isinstance(value, Mapping):
            for key, part in value.items():
                self._take_field(str(key).lower(), part, level)
        elif isinstance(value, list):
            for part in value:
                self.take(part, level + 1)

    def _take_text(self, text: str, level: int) -> None:
        if text[:1] in {"{", "["}:
            try:
                inner = json.loads(text)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, dict | list):
                self.take(inner, level + 1)
                return
        if text[:1] == "<" and re.match(r"<(?:!doctype|html|\?xml)", text, re.I):
            # a gateway's page
            title = re.search(r"<title>([^<]{1,200})", text, re.I)
            text = title[1].strip() if title else ""
        if text:
            self.texts.append(text[:MOST_WORDS])

    def _take_field(self, key: str, value: Any, level: int) -> None:
        if key in PARAMETERS:
            names = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str)]
            self.parameters += [re.split(r"[.\[]", name)[0] for name in names if name not in {"body", "query"}]
        elif key in CODES:
            parts = value if isinstance(value, list) else [value]
            self.codes += [
                str(part).lower() for part in parts if isinstance(part, str | int) and not isinstance(part, bool)
            ]
        elif key in WORDS:
            self.take(value, level + 1)
