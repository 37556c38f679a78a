"""The words by which the rules of `clauses` and `listed` know the form of an English sentence."""

from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# verbs behind which complements are listed
SINGULAR = _words("am had is was has seems feels looks remains becomes")
PLURAL = _words("are were have seem feel look remain become")
MODALS = _words("can could will would shall should may might must")
LINKS = SINGULAR | PLURAL | MODALS
# verbs behind which objects are listed; behind "call", "find", "want" and their like a word at the end may belong to all of them
TRANSITIVE = _words(
    """
    likes like liked loves love loved hates hate hated praises praise praised dislikes dislike disliked enjoys enjoy enjoyed
    supports support supported opposes oppose opposed criticises criticise criticised criticizes criticize criticized
    """
)
# verbs that put a clause in somebody's mouth or mind
REPORTS = _words(
    """
    says say said thinks think thought argues argue argued claims claim claimed believes believe believed complains complain
    complained warns warn warned reports report reported suggests suggest suggested alleges allege alleged insists insist insisted
    """
)
FRAMES = REPORTS | _words(
    """
    calls call called finds find found fears fear feared hopes hope hoped wishes wish wished feels feel felt expects expect
    expected suspects suspect suspected doubts doubt doubted denies deny denied assumes assume assumed imagine pretend knows know
    knew considers consider considered agrees agree agreed false untrue wrong myth rumour rumor
    """
)
# other finite verbs that summaries of reviews, posts and news live on
VERBS = LINKS | TRANSITIVE | REPORTS | _words(
    """
    isn't wasn't aren't weren't cannot can't couldn't won't do does did don't doesn't didn't hasn't haven't hadn't wouldn't
    shouldn't seemed felt looked became remained calls call called finds find found wants want wanted needs need needed fears fear
    feared
    """
)  # fmt: skip
ARTICLES = _words("the a an its their his my our your no every")
DETERMINERS = ARTICLES | _words("this that these those some others many most several few all both each another her one")
PRONOUNS = _words("i you he she it we they there")
OBJECTS = PRONOUNS | _words("me him her us them")
SUBJECTS = PRONOUNS | DETERMINERS

# words that open a second clause: before a subject, and those that also join words and need a stronger sign
CONTRASTS = _words("but while whereas although though")
JOINTS = _words("and yet")
OPENINGS = _words("while whereas although though")
# a clause that holds one of these may say what another one depends on: wherever it stands, and where it stands first
CONDITIONS = _words(
    """
    if unless whether provided when whenever until or either neither according allegedly reportedly supposedly apparently perhaps
    maybe
    """
)
MARKERS = CONDITIONS | _words(
    "that which who whom whose because since while although though whereas after before as once than only where how why what"
)
# "nothing but the noise"
EXCEPTED = _words("nothing no nobody none anything anyone everything everyone all any last")
# words that say that what looks like an item is more than one
PREPOSITIONS = _words(
    "about as at between by despite during for from in into like near of on over than that to under unlike which who with without"
)
# what denies or lessens a clause or an item
NEGATIONS = _words(
    "not never no nobody none nothing neither nor hardly barely rarely seldom scarcely few little only without"
)
# words that make a list one thing
TOGETHER = _words(
    """
    both either together combined alike respectively each other different similar identical equal friends enemies rivals allies
    partners married neighbours neighbors siblings twins opposites apart divided united related
    """
)
# what may stand before a quality and changes nothing but its strength
INTENSIFIERS = _words("very too so quite rather extremely really")
HEDGES = NEGATIONS | _words("often always sometimes perhaps maybe almost")
# verbs of their own that look like qualities
FINITE = _words(
    "left broke sank fell went came ran got lost won rose cost stank grew sold smell stink work last run leak fail break"
)


def bare_word(word: str) -> str:
    """The word without marks around it, in small letters."""
    return word.strip(",.;:!?\"'()\u201c\u201d\u2018\u2019").replace("\u2019", "'").lower()


def verb_places(words: Sequence[str]) -> list[int]:
    """Places of the known verbs; behind an article "needs" is none, and before one "May" is none."""
    bare = [*map(bare_word, words), ""]
    return [
        i
        for i in range(1, len(words))
        if bare[i] in VERBS and bare[i - 1] not in ARTICLES and not (bare[i] in MODALS and bare[i + 1] in ARTICLES)
    ]
