"""The prompts of a method's steps: shipped words behind the request's own prompt, or whole prompts from files of the user's.

A file has all that is said in a step. Its fields are those of task templates, {task} for the request's own prompt, and what was
said before: {summary} and {feedback}; {answer} for the agent's own answer, {others} for those of the other agents, {answers} for
all, {number} for which is its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..config import Recipe
from ..config.generate import options_key
from ..config.methods import StepFields
from ..errors import RecipeError
from ..prompts import NOTHING, PromptTemplate, load_template
from ..records import Message
from ..text.mistakes import listed
from .methods import METHODS
from .requests import PROMPTS, REQUEST_FIELDS, request_fields
from .threads import FOLLOW_UP, Thread, follow_up

TASK = "task"
# a step without it answers another task than the request's
ASKED = (TASK, "documents")


def own_template(recipe: Recipe, step: str) -> PromptTemplate | None:
    """The prompt of a step from the user's file; None where the recipe names none.

    Raises:
        RecipeError: there is no such file.
    """
    name = recipe.generate.options.step_file(step)
    return load_template(name, PROMPTS / "own", _place(recipe, step)) if name else None


def refuse_step_prompts(recipe: Recipe) -> None:
    """Refuse files of prompts that lack a field, or ask for one that nothing fills.

    Raises:
        RecipeError: there are such files; all mistakes are listed.
    """
    mistakes = []
    for step in recipe.generate.options.steps:
        try:
            template = own_template(recipe, step)
        except RecipeError as error:
            mistakes.append(str(error))
            continue
        if template is not None:
            path, fields = recipe.generate.options.step_file(step), recipe.generate.options.steps[step]
            mistakes += [f"{_place(recipe, step)}{path}{mistake}" for mistake in _mistakes(template, step, fields)]
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
    folder = METHODS[method].prompts
    shipped = [load_template(path.stem, folder) for path in sorted(folder.glob("*.txt"))] if folder else []
    if not shipped:
        return []
    steps = recipe.generate.options.steps if method == recipe.generate.method else ()
    owned = {step: template for step in steps if (template := own_template(recipe, step))}
    signatures = [each.signature for each in shipped if each.name.removesuffix("-all") not in owned]
    return [
        load_template(TASK, PROMPTS / FOLLOW_UP).signature,
        *signatures,
        *(f"{step}={template.signature}" for step, template in owned.items()),
    ]


def _mistakes(template: PromptTemplate, step: str, fields: StepFields) -> Iterator[str]:
    known = sorted(fields.known | REQUEST_FIELDS | {TASK})
    for number, spelling, near in template.strange_fields(known):
        yield f":{number}: {spelling} is not a field of the step {step!r}{near} Fields are {', '.join(known)}"
    for names in (ASKED, *fields.needed):
        if template.fields.isdisjoint(names):
            either = " or ".join(f"{{{name}}}" for name in names)
            yield f": has no field {either}, so the model would not see it; add it"


def _place(recipe: Recipe, step: str) -> str:
    return f"key 'generate.{options_key(recipe.generate.method)}.prompts.{step}': "
