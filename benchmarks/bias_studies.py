"""Bias studies of summarizers that see no group, and of some that do.

    python -m evenhand.benchmarks.bias_studies --trials 200

makes the table of docs/bias-study.md#simulated. Documents are made up: four persons, some with a title, whose deeds, moods and
words stand in sentences in a random order; each has two draws of names, and both have their pair with the groups exchanged. A
summarizer picks sentences, or changes them, by rules that know the names or do not.
"""

from collections.abc import Callable, Mapping

import numpy as np

from ..plugins.bias.demographic.inputs.filling import Instruction
from ..plugins.bias.demographic.inputs.words import Gender
from ..plugins.bias.recipe import BiasRecipe
from ..plugins.bias.study.contents import BiasMeasure
from ..plugins.bias.study.evidence import gather
from ..plugins.bias.study.findings import describe
from ..plugins.bias.study.inputs import BiasInput, Inputs, make_setting
from ..plugins.bias.study.measure import INCLUSION, ORDER, QUOTATIONS, TITLES, WORD_LISTS, take_measures
from ..plugins.bias.study.persons import FoundPersons, known_persons
from ..plugins.bias.study.summarise import Summary
from ..text import sentences
from .simulate import asked, print_heads, print_row

NAMES = {
    "male": "Abel Boris Cyril Denis Edgar Felix Gregor Hugo Ivan Julius Konrad Leon Marcel Norman Oscar Peter".split(),
    "female": "Agnes Beth Clara Doris Edith Flora Greta Hilda Irene Julia Karen Laura Maria Nora Olga Paula".split(),
}
LAST = (
    "Aldous Brackley Corran Dunmow Elgar Farrow Garside Hendry Iddon Jessop Kersey Lomax Marden Norbury Oakes Pender Quayle "
    "Rudd Selby Tarrant"
).split()
WORDS = (
    "harbour council budget garden engine lantern market river school theatre winter bridge orchard railway village museum "
    "weather harvest festival library"
).split()
GENDERS: tuple[Gender, Gender] = ("male", "female")
TITLES_OF = {"male": ("Mr.", "Dr."), "female": ("Mrs.", "Dr.")}
HE = {"male": "He", "female": "She"}
# how often a planted summarizer does what it does
OFTEN = 0.7

Persons = Mapping[str, Instruction]
Draw = np.random.Generator
# of an input's text, its persons and draws, the summary
Summarizer = Callable[[str, Persons, Draw], str]


def _sentences(persons: Persons, plan: Draw) -> str:
    """A text about the persons: what is drawn does not depend on who is who."""
    lines, said = [], []
    for given in persons.values():
        gender = given.gender or "male"
        title = f"{TITLES_OF[gender][int(plan.integers(2))]} " if plan.random() < 0.8 else ""
        deed, mood, *quoted = plan.choice(WORDS, 6, replace=False).tolist()
        lines.append(f"{title}{given.first_name} {given.last_name} opened the {deed}.")
        said.append(f"{given.last_name} spoke of the {mood}, and {HE[gender].lower()} left early.")
        if plan.random() < 0.7:
            said.append(f'"We know the {" and the ".join(quoted)}," {given.last_name} said.')
    plan.shuffle(lines)
    plan.shuffle(said)
    return " ".join([*lines, *said])


def inputs_of(n_documents: int, seed: int) -> list[BiasInput]:
    """Balanced inputs: of each document two assignments, each with its pair."""
    made = []
    for document in range(n_documents):
        for assignment in range(2):
            draw = np.random.default_rng([seed, document, assignment])
            base = draw.permutation([0, 0, 1, 1]).tolist()
            first = {gender: draw.choice(NAMES[gender], 4, replace=False).tolist() for gender in GENDERS}
            last = draw.choice(LAST, 4, replace=False).tolist()
            for pair in range(2):
                persons = {
                    f"p{k}": Instruction(first_name=first[gender][k], last_name=last[k], gender=gender, category=gender)
                    for k, gender in enumerate(GENDERS[place ^ pair] for place in base)
                }
                text = _sentences(persons, np.random.default_rng([seed, document]))
                made.append(
                    BiasInput(
                        id=f"{document}/{assignment}-{pair}", original_id=str(document), design="balanced",
                        assignment_id=assignment, pair_id=pair, group=None, text=text, entities=persons,
                    )
                )  # fmt: skip
    return made


def _picked(text: str, draw: Draw, n: int = 4) -> list[str]:
    found = sentences(text)
    return [found[k] for k in sorted(draw.choice(len(found), min(n, len(found)), replace=False).tolist())]


def _of(line: str, persons: Persons, gender: str) -> bool:
    return any(given.last_name in line for given in persons.values() if given.gender == gender and given.last_name)


def _untitled(line: str) -> str:
    for title in ("Mr. ", "Mrs. ", "Dr. "):
        line = line.replace(title, "")
    return line


def _random(text: str, _: Persons, draw: Draw) -> str:
    return " ".join(_picked(text, draw))


def _lead(text: str, _: Persons, __: Draw) -> str:
    return " ".join(sentences(text)[:3])


def _longest(text: str, _: Persons, draw: Draw) -> str:
    return " ".join(sorted(sentences(text), key=lambda line: (-len(line.split()), draw.random()))[:4])


def _quoting(text: str, _: Persons, draw: Draw) -> str:
    return " ".join([*(line for line in sentences(text) if '"' in line), *_picked(text, draw, 2)])


def _terse(text: str, _: Persons, draw: Draw) -> str:
    return " ".join(map(_untitled, _picked(text, draw, 6)))


def _names_men(text: str, persons: Persons, draw: Draw) -> str:
    lines = sentences(text)
    weights = np.array([3.0 if _of(line, persons, "male") else 1.0 for line in lines])
    return " ".join(
        lines[k] for k in sorted(draw.choice(len(lines), 4, replace=False, p=weights / weights.sum()).tolist())
    )


def _drops_titles(text: str, persons: Persons, draw: Draw) -> str:
    return " ".join(
        _untitled(line) if _of(line, persons, "female") and draw.random() < OFTEN else line
        for line in _picked(text, draw, 6)
    )


def _men_first(text: str, persons: Persons, draw: Draw) -> str:
    lines = _picked(text, draw, 5)
    return " ".join(sorted(lines, key=lambda line: not _of(line, persons, "male")) if draw.random() < OFTEN else lines)


def _unquoted(text: str, persons: Persons, draw: Draw) -> str:
    kept = [
        line
        for line in _picked(text, draw, 7)
        if not ('"' in line and _of(line, persons, "female") and draw.random() < OFTEN)
    ]
    return " ".join(kept)


def _her_words(text: str, _: Persons, draw: Draw) -> str:
    return " ".join(
        line.replace(", and he left early", "") if draw.random() < OFTEN else line for line in _picked(text, draw, 6)
    )


FAIR: dict[str, Summarizer] = {
    "random sentences": _random, "the first sentences": _lead, "the longest sentences": _longest, "quotations": _quoting,
    "no titles": _terse,
}  # fmt: skip
# with the measure that finds it
PLANTED: dict[str, tuple[Summarizer, str]] = {
    "names men three times as often": (_names_men, INCLUSION),
    "drops the titles of women": (_drops_titles, TITLES),
    "names men first": (_men_first, ORDER),
    "leaves out the quotations of women": (_unquoted, QUOTATIONS),
    "leaves out where men are a pronoun": (_her_words, WORD_LISTS),
}


def study(n_documents: int, seed: int, summarizer: Summarizer) -> list[BiasMeasure]:
    """What a bias study says of the summarizer."""
    recipe = BiasRecipe.model_validate(
        {"name": "study", "output": "study", "seed": seed, "simulated": "random"}
        | {"measures": {"persons": "known", "encoder": None, "resamples": 100}}
    )
    made = inputs_of(n_documents, seed)
    summaries, persons = [], {}
    for row, each in enumerate(made):
        text = summarizer(each.text, each.entities, np.random.default_rng([seed, row, 1]))
        summaries.append(Summary(input_id=each.id, text=text, reason=None, raw=text))
        named = known_persons(text, tuple(each.entities.values()))
        persons[each.id] = FoundPersons(input_id=each.id, in_summary=named, in_input=())
    evidence = gather(Inputs(make_setting(recipe), (), tuple(made), {}, 0), "gender", summaries, persons)
    return describe(take_measures(recipe, evidence), evidence.groups, recipe.measures.level)


def leans(n_documents: int, seed: int, summarizer: Summarizer) -> set[str]:
    """The measures that lean."""
    return {each.name for each in study(n_documents, seed, summarizer) if each.verdict == "leans"}


def main() -> None:
    """Print the table."""
    given = asked(
        __doc__, (100, "studies of a fair summarizer, and half as many of another"), ([8, 12, 30], "documents")
    )
    print_heads("summarizer", *(f"{n} documents" for n in given.sets))
    for name, summarizer in FAIR.items():
        said = [np.mean([bool(leans(n, seed, summarizer)) for seed in range(given.trials)]) for n in given.sets]
        print_row(f"{name}: anything leans", *(f"{100 * share:.1f}" for share in said))
    for name, (summarizer, measure) in PLANTED.items():
        said = [
            np.mean([measure in leans(n, seed, summarizer) for seed in range(given.trials // 2)]) for n in given.sets
        ]
        print_row(f"{name}: {measure}", *(f"{100 * share:.0f}" for share in said))


if __name__ == "__main__":
    main()
