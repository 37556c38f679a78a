"""The prompts of a method's steps: shipped words behind the request's own prompt, or whole prompts from files of the user's.

A file has all that is said in a step. Its fields are those of task templates, {task} for the request's own prompt, and what was
said before: {summary} and {feedback}; {answer} for the agent's own answer, {others} for those of the other agents, {answers} for
all, {number} for which is its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..config import Recipe
from ..config.methods import DebatePrompts, SelfRefinePrompts
from ..errors import RecipeError
from ..prompts import FIELD, NOTHING, PromptTemplate, load_template
from ..records import Message
from ..storage import listed
from ..text import did_you_mean
from .requests import PROMPTS, REQUEST_FIELDS, request_fields
from .threads import FOLLOW_UP, Thread, follow_up, method_template

TASK = "task"
# step -> what its file may ask for besides the request's fields, and of what it must ask for one each
SAID: Mapping[str, tuple[frozenset[str], tuple[tuple[str, ...], ...]]] = {
    "feedback": (frozenset({"summary"}), (("summary",),)),
    "refine": (frozenset({"summary", "feedback"}), (("summary",), ("feedback",))),
    "revise": (frozenset({"answer", "others", "answers", "number"}), (("others", "answers"),)),
    "final": (frozenset({"answers"}), (("answers",),)),
}
# a step without it answers another task than the request's
ASKED = (TASK, "documents")


def own_prompts(recipe: Recipe) -> SelfRefinePrompts | DebatePrompts | None:
    """The files that the recipe names for the steps of its method."""
    options = recipe.generate.self_refine or recipe.generate.debate
    return options.prompts if options else None


def own_template(recipe: Recipe, step: str) -> PromptTemplate | None:
    """The prompt of a step from the user's file; None where the recipe names none.

    Raises:
        RecipeError: there is no such file.
    """
    name = getattr(own_prompts(recipe), step, None)
    return load_template(name, PROMPTS / "own", _place(recipe, step)) if name else None


def refuse_step_prompts(recipe: Recipe) -> None:
    """Refuse files of prompts that lack a field, or ask for one that nothing fills.

    Raises:
        RecipeError: there are such files; all mistakes are listed.
    """
    mistakes = []
    for step in SAID:
        try:
            template = own_template(recipe, step)
        except RecipeError as error:
            mistakes.append(str(error))
            continue
        if template is not None:
            path = getattr(own_prompts(recipe), step)
            mistakes += [f"{_place(recipe, step)}{path}{mistake}" for mistake in _mistakes(template, step)]
    if mistakes:
        raise RecipeError(listed(mistakes))


def ask_step(
    recipe: Recipe,
    step: str,
    shipped: PromptTemplate,
    thread: Thread,
    texts: Mapping[str, str] = NOTHING,
    own: Mapping[str, str] = NOTHING,
) -> tuple[Message, ...]:
    """The chat of a step: the user's whole prompt, or the shipped words behind the request's own prompt.

    Args:
        recipe: says whose words are taken.
        step: of the method.
        shipped: the words of evenhand's own.
        thread: what was asked first, and the tags that stand there.
        texts: what a model said.
        own: what comes with tags of its own, or was not written by a model.
    """
    template = own_template(recipe, step)
    if template is None:
        return follow_up(shipped, thread, texts, own)
    request = thread.request
    *before, last = request.prompt
    lines, about = request_fields(request, recipe.corpus, recipe.task)
    filled = replace(template, sections=thread.sections).fill(lines, {**about, TASK: last.content, **texts}, own)
    return (*before, Message(role="user", content=filled))


def step_signatures(recipe: Recipe, method: str) -> list[str]:
    """Signatures of all prompts that a method brings, of a user's files those; [] for one that asks the request's own alone."""
    shipped = [method_template(method, path.stem) for path in sorted((PROMPTS / method).glob("*.txt"))]
    if not shipped:
        return []
    is_chosen = method == recipe.generate.method
    owned = {step: template for step in SAID if is_chosen and (template := own_template(recipe, step))}
    signatures = [each.signature for each in shipped if each.name.removesuffix("-all") not in owned]
    return [
        method_template(FOLLOW_UP, TASK).signature,
        *signatures,
        *(f"{step}={template.signature}" for step, template in owned.items()),
    ]


def _mistakes(template: PromptTemplate, step: str) -> Iterator[str]:
    said, needed = SAID[step]
    known = sorted(said | REQUEST_FIELDS | {TASK})
    for number, line in enumerate(template.text.splitlines(), start=1):
        for name in FIELD.findall(line):
            if name not in known:
                yield (
                    f":{number}: {{{name}}} is not a field of the step {step!r}{did_you_mean(name, known)} Fields are "
                    f"{', '.join(known)}"
                )
    for names in (ASKED, *needed):
        if template.fields.isdisjoint(names):
            fields = " or ".join(f"{{{name}}}" for name in names)
            yield f": has no field {fields}, so the model would not see it; add it"


def _place(recipe: Recipe, step: str) -> str:
    section = "self_refine" if recipe.generate.self_refine else "debate"
    return f"key 'generate.{section}.prompts.{step}': "
