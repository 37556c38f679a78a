"""Hard names from draft to filled text: each person becomes a woman with another first name, and nobody is two."""

import pytest

from evenhand.corpora.annotated import TaggedText, draft_document
from evenhand.fairness.demographic.inputs.document import Token
from evenhand.fairness.demographic.inputs.filling import Instruction, fill_template, names_left
from evenhand.fairness.demographic.inputs.template import build_template

NEW = ("Nora", "Edda", "Petra", "Ilse")
TAGS = {
    "he": "PRP", "him": "PRP", "his": "PRP$", "she": "PRP", "her": "PRP$", "himself": "PRP", "said": "VBD", "left": "VBD",
    "laughed": "VBD", "may": "MD", "will": "MD", "'s": "POS", "the": "DT", ",": ",", ".": ".", "-": "HYPH",
}  # fmt: skip


def draft(text):
    """Tokens by blanks, none around hyphens and before 's; {Name Name} is a PERSON span, word/TAG has its own tag."""
    words, persons, sentence, number = [], [], [], 0
    for part in text.split():
        word, _, tag = part.partition("/")
        if word.startswith("{"):
            persons.append([len(words), None])
        plain = word.strip("{}")
        words.append((plain, tag.strip("}") or TAGS.get(plain.casefold(), "NNP" if plain[0].isupper() else "NN")))
        sentence.append(number)
        if part.endswith("}"):
            persons[-1][1] = len(words)
        number += plain == "."
    after = [word for word, _ in words[1:]] + [""]
    tokens = tuple(
        Token(text=word, pos=tag, ws=not (word == "-" or following in ("-", "'s", ",", ".", "?")))
        for (word, tag), following in zip(words, after, strict=True)
    )
    return draft_document("d", TaggedText(tokens=tokens, persons=tuple(map(tuple, persons)), sentence=tuple(sentence)))


def rewritten(text, last_names=()):
    """The filled text, and the names that are left in it; persons get last names where some are given."""
    document = draft(text)
    template = build_template(document, allow_unresolved=True)
    lasts = last_names or [entity.last_name for entity in template]
    instructions = {
        entity.id: Instruction(first_name=first, last_name=last, gender="female", category="female")
        for entity, first, last in zip(template, NEW, lasts, strict=False)
    }
    return fill_template(document, template, instructions).text, names_left(document, template, instructions)
