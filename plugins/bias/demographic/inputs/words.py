"""Words whose form tells a person's gender, and their counterparts.

Source: Steen and Markert 2024, appendix D; docs/papers.md#steen-templates.
"""

from typing import Literal

Gender = Literal["male", "female"]
MentionClass = Literal[
    "full_name", "first_name", "last_name", "pron_nom", "pron_obj", "pron_poss", "pron_poss_abs", "pron_refl", "title",
    "honorific",
]  # fmt: skip

# male and female form of each class that is no name
FORMS: dict[MentionClass, tuple[str, str]] = {
    "pron_nom": ("he", "she"),
    "pron_obj": ("him", "her"),
    "pron_poss": ("his", "her"),
    "pron_poss_abs": ("his", "hers"),
    "pron_refl": ("himself", "herself"),
    "title": ("Mr.", "Mrs."),
    "honorific": ("Sir", "Lady"),
}
PRONOUNS = frozenset({"pron_nom", "pron_obj", "pron_poss", "pron_poss_abs", "pron_refl"})
# classes that make an entity gendered
GENDERED = PRONOUNS | {"title", "honorific"}

# class of a pronoun; where its tag tells more, the tag decides
BY_WORD: dict[str, MentionClass] = {
    "he": "pron_nom", "she": "pron_nom", "him": "pron_obj", "her": "pron_obj", "his": "pron_poss",
    "hers": "pron_poss_abs", "himself": "pron_refl", "herself": "pron_refl",
}  # fmt: skip
BY_TAG: dict[tuple[str, str | None], MentionClass] = {("her", "PRP$"): "pron_poss", ("his", "PRP"): "pron_poss_abs"}

DOTTED_TITLES = frozenset({"mr.", "mrs.", "ms."})
PLAIN_TITLES = frozenset({"Mr", "Mrs", "Ms", "Miss"})
# of the plain titles, those that stay without a full stop when replaced
UNDOTTED = frozenset({"mr", "mrs", "ms"})
HONORIFICS = frozenset({"sir", "lady"})
SUFFIXES = frozenset({"jr.", "jr", "sr.", "sr", "ii", "iii", "iv"})
# titles that tell no gender: no part of a name, and left as they stand
NEUTRAL_TITLES = frozenset("capt. col. dr dr. gen. gov. lt. prof prof. rep. rev. sen. sgt.".split())

# prepositions, conjunctions, determiners, auxiliaries and adverbs before which "her" is no possessive
NOT_POSSESSED = frozenset(
    "about above across after against along among around as at before behind below beside between beyond by down during "
    "for from in inside into like near of off on onto out outside over past since through till to toward towards under "
    "until up upon with within without "
    "and because but if nor or so than that though unless when where whether which while who whom whose yet "
    "a all an another any both each either every no some the these this those "
    "am are be been being can could did do does had has have is may might must shall should was were will would "
    "again almost already also always away back even ever here just later never not now often once only quickly quite soon "
    "still then there today together tomorrow tonight too very well yesterday".split()
)


def could_be_possessive(following: str) -> bool:
    """Whether "her" before this token reads as a possessive; decides only where no tag is given."""
    return following[:1].isalpha() and following.casefold() not in NOT_POSSESSED


def is_title(text: str) -> bool:
    """Whether a token is a title: mr., mrs., ms. in any case, or Mr, Mrs, Ms, Miss as written here."""
    return text.casefold() in DOTTED_TITLES or text in PLAIN_TITLES


def is_honorific(text: str) -> bool:
    """Whether a token is sir or lady, in any case."""
    return text.casefold() in HONORIFICS


def is_neutral_title(text: str) -> bool:
    """Whether a token is a title of either gender, in any case: Dr., Sen."""
    return text.casefold() in NEUTRAL_TITLES


def class_of(text: str, tag: str | None) -> MentionClass | None:
    """Class of a token that is no name; None when its form tells no gender.

    The tag decides about "her" (PRP$ is possessive) and "his" (PRP stands alone).
    """
    if is_title(text):
        return "title"
    if is_honorific(text):
        return "honorific"
    folded = text.casefold()
    return BY_TAG.get((folded, tag)) or BY_WORD.get(folded)
