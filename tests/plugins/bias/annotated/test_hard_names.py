"""Hard names from draft to filled text: each person becomes a woman with another first name, and nobody is two."""

import pytest

from evenhand.plugins.bias.annotated import TaggedText, draft_document
from evenhand.plugins.bias.demographic.inputs.document import Token
from evenhand.plugins.bias.demographic.inputs.filling import Instruction, fill_template, names_left
from evenhand.plugins.bias.demographic.inputs.template import build_template

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


# what is written, and what becomes of it by hand: Nora is the first person of the text, Edda the second
TABLE = [
    # particles, also where a sentence begins with one and where a tagger takes it for a preposition
    ("{Vincent van/IN Gogh} painted . {van/IN Gogh} left .", "Nora van Gogh painted. van Gogh left."),
    ("{Vincent van Gogh} painted . {Van Gogh} left .", "Nora van Gogh painted. Van Gogh left."),
    ("{Vincent van Gogh} painted . {Gogh} left .", "Nora van Gogh painted. Gogh left."),
    ("{Vincent Van Gogh} painted . {Van Gogh} left .", "Nora Van Gogh painted. Van Gogh left."),
    ("{van Gogh} painted . {Vincent van Gogh} left .", "van Gogh painted. Nora van Gogh left."),
    ("{Vincent van Gogh} left . A friend of van {Gogh} laughed .", "Nora van Gogh left. A friend of van Gogh laughed."),
    ("Mr. {van Gogh} painted . {Vincent van Gogh} left .", "Mrs. van Gogh painted. Nora van Gogh left."),
    ("Sir {Antoon van Dyck} painted . {van Dyck} left .", "Lady Nora van Dyck painted. van Dyck left."),
    ("{Ursula von der Leyen} spoke . {Von der Leyen} left .", "Nora von der Leyen spoke. Von der Leyen left."),
    ("{Ursula von der} Leyen spoke . {Von der Leyen} left .", "Nora von der Leyen spoke. Von der Leyen left."),
    ("{Charles de Gaulle} spoke . {De Gaulle} left .", "Nora de Gaulle spoke. De Gaulle left."),
    ("{Simone de Beauvoir} wrote . {Beauvoir} left .", "Nora de Beauvoir wrote. Beauvoir left."),
    ("{Oscar de la Renta} sewed . {de la Renta} left .", "Nora de la Renta sewed. de la Renta left."),
    ("{Diana del Toro} spoke . {Del Toro} 's son left .", "Nora del Toro spoke. Del Toro's son left."),
    ("{Leonardo da Vinci} painted . {Leonardo} left .", "Nora da Vinci painted. Nora left."),
    ("{Osama bin Laden} hid . {bin Laden} left .", "Nora bin Laden hid. bin Laden left."),
    ("{Osama bin Laden} hid . {Bin Laden} 's son left .", "Nora bin Laden hid. Bin Laden's son left."),
    ("{Mohammed bin Salman} spoke . {Salman} left .", "Nora bin Salman spoke. Salman left."),
    ("{Bashar al-Assad} spoke . {Assad} left .", "Nora al-Assad spoke. Assad left."),
    ("{Bashar al - Assad} spoke . {al - Assad} left .", "Nora al-Assad spoke. al-Assad left."),
    ("{Robert De Niro} spoke . {De Niro} 's wife left .", "Nora De Niro spoke. De Niro's wife left."),
    ("{Marine Le Pen} spoke . {Le Pen} left .", "Nora Le Pen spoke. Le Pen left."),
    ("{Ian St. John} scored . {St. John} left .", "Nora St. John scored. St. John left."),
    ("{José Ortega y Gasset} wrote . {Ortega y Gasset} left .", "Nora Ortega y Gasset wrote. Ortega y Gasset left."),
    ("{Jean - Claude Van Damme} spoke . Mr. {Van Damme} left .", "Nora Van Damme spoke. Mrs. Van Damme left."),
    # what looks like a particle and is a given name
    ("{Van Morrison} sang . {Morrison} left .", "Nora Morrison sang. Morrison left."),
    ("{Al Gore} spoke . {Gore} left .", "Nora Gore spoke. Gore left."),
    ("{Della Reese} sang . She left .", "Nora Reese sang. She left."),
    ("{Ben Vey} spoke . {Ben} left .", "Nora Vey spoke. Nora left."),
    # capitals inside, hyphens, initials, suffixes, nicknames
    ("{Siobhan O'Neill} ran . {O'Neill} 's coach left .", "Nora O'Neill ran. O'Neill's coach left."),
    ("{Lise McArdle} ran . {McArdle} left .", "Nora McArdle ran. McArdle left."),
    ("{Jean - Luc Picard} spoke . {Jean - Luc} left .", "Nora Picard spoke. Nora left."),
    ("{Ida Vey - Orr} spoke . {Vey - Orr} left .", "Nora Vey-Orr spoke. Vey-Orr left."),
    ("{J. K. Rowling} wrote . {Rowling} left .", "Nora Rowling wrote. Rowling left."),
    ("{J.R.R. Tolkien} wrote . He left .", "Nora Tolkien wrote. She left."),
    ("{George W. Bush} spoke . {Bush} left .", "Nora Bush spoke. Bush left."),
    ("{Harry Connick Jr.} sang . {Connick Jr.} left .", "Nora Connick sang. Connick left."),
    ("{Martin King} , Jr. , spoke . {King} left .", "Nora King, spoke. King left."),
    ("{John Orr III} spoke . {Orr} left .", "Nora Orr spoke. Orr left."),
    ('{Dwayne " The Rock " Johnson} left .', "Nora Johnson left."),
    ("{William ( Bill ) Orr} spoke . {Bill Orr} left .", "Nora Orr spoke. Nora Orr left."),
    ("{Helena Bonham Carter} spoke . {Bonham Carter} left .", "Nora Carter spoke. Nora Carter left."),
    ("{Dr. Grace/NN Orr} spoke . {Dr. Orr} left .", "Dr. Nora Orr spoke. Dr. Orr left."),
    # words that are names
    ("{Will/MD Grey} won . Will/MD said she will run .", "Nora Grey won. Nora said she will run."),
    ("{Will/MD Grey} won . Voters like Will/MD .", "Nora Grey won. Voters like Nora."),
    ("{Will/MD Grey} won . Will/MD she run ?", "Nora Grey won. Will she run?"),
    ("{Will/MD Grey} won . {Will/MD} left . {Will/MD} laughed .", "Nora Grey won. Nora left. Nora laughed."),
    ("{May Brown} , who may quit , spoke in May 2020/CD .", "Nora Brown, who may quit, spoke in May 2020."),
    ("{May/MD Brown} spoke . May/MD said so .", "Nora Brown spoke. Nora said so."),
    ("{Grace/NN Hunter/NN} spoke . {Grace/NN} left . Hunter/NN laughed .", "Nora Hunter spoke. Nora left. Hunter laughed."),
    ("{Mark/VB Chase} spoke . Mark/VB my words .", "Nora Chase spoke. Mark my words."),
    ("{Mark/VB Chase} spoke . The Chase Bank left .", "Nora Chase spoke. The Chase Bank left."),
    ("{Faith/NN Drew/VBD} spoke . He met Faith/NN .", "Nora Drew spoke. She met Nora."),
    ("{Pat/VB Rose/VBD} and {Bill/NN Rose} spoke . Bill/NN left .", "Nora Rose and Edda Rose spoke. Edda left."),
    ("{Young/JJ Lee} spoke . Young/JJ people left .", "Nora Lee spoke. Young people left."),
    ("{Hope/NN} Summers spoke . {Hope/NN} left .", "Nora Summers spoke. Nora left."),
    # families are no persons, and keep their name where last names stay
    ("{John Smith} spoke . The {Smiths/NNPS} left .", "Nora Smith spoke. The Smiths left."),
    ("{John Jones} spoke . The {Joneses/NNPS} left .", "Nora Jones spoke. The Joneses left."),
    ("The {Smiths/NNPS} left . {Anna Smith} laughed .", "The Smiths left. Nora Smith laughed."),
    # headlines
    ("VINCENT VAN GOGH DIES . {Vincent van Gogh} left .", "NORA VAN GOGH DIES. Nora van Gogh left."),
    ("{WILL/MD GREY} QUITS . {Will Grey} left .", "NORA GREY QUITS. Nora Grey left."),
    ("HE QUITS . {Will Grey} left .", "SHE QUITS. Nora Grey left."),
]  # fmt: skip


@pytest.mark.parametrize(("written", "expected"), TABLE)
def test_hard_names_are_one_person_and_none_is_left(written, expected):
    assert rewritten(written) == (expected, ())


@pytest.mark.parametrize(
    ("written", "left"),
    [
        # two of one first name: whose it is cannot be told
        ("{Anna Orr} met {Anna Vey} . Later Anna laughed .", ("Anna",)),
        ("{Chase Orr} spoke . He likes the Chase Road .", ("Chase",)),
        ("{Grace Orr} spoke in Grace Road .", ("Grace",)),
    ],
)
def test_name_that_nobody_can_be_given_is_named(written, left):
    assert rewritten(written)[1] == left


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("{John Smith} spoke . The {Smiths/NNPS} left .", ("Smiths",)),
        ("{John Smith} spoke . The Smiths left .", ("Smiths",)),
        ("{John Smith} spoke . The Smith Road Choir left .", ("Smith",)),
        ("{John van Gogh} spoke . {Gogh} left , as van {Gogh} does .", ()),
    ],
)
def test_where_last_names_are_replaced_those_outside_mentions_are_left(written, left):
    text, found = rewritten(written, ["Reed"])
    assert found == left
    assert text.startswith("Nora Reed spoke.")


PARTICLES = (
    "van, van der, von, von der, de, de la, del, da, di, bin, ibn, al, el, den, ter, zu, le, dos, du, St.".split(", ")
)
FRAMES = [
    ("{Ida PARTICLE Orrick} spoke . {PARTICLE Orrick} left .", "Nora PARTICLE Orrick spoke. PARTICLE Orrick left."),
    ("{Ida PARTICLE Orrick} spoke . {CAPITAL Orrick} 's son left .", "Nora PARTICLE Orrick spoke. CAPITAL Orrick's son left."),
]  # fmt: skip


@pytest.mark.parametrize(("written", "expected"), FRAMES)
@pytest.mark.parametrize("particle", PARTICLES)
def test_every_particle_is_part_of_the_last_name(particle, written, expected):
    def put(text):
        return text.replace("PARTICLE", particle).replace("CAPITAL", particle[0].upper() + particle[1:])

    assert rewritten(put(written)) == (put(expected), ())


WORD_NAMES = (
    "Will May Grace Rose Bill Mark Chase Hunter Faith Drew Pat Hope Frank Rob Art Jack Dawn Summer Christian".split()
)


@pytest.mark.parametrize("tag", ["NNP", "MD", "NN", "VB", "JJ"])
@pytest.mark.parametrize("name", WORD_NAMES)
def test_every_word_that_is_a_name_is_replaced_and_the_word_stays(name, tag):
    word = name.lower()
    text = f"{{{name}/{tag} Orrick}} spoke , and {name}/{tag} said they {word}/VB . {name}/{tag} 's son left ."
    assert rewritten(text) == (f"Nora Orrick spoke, and Nora said they {word}. Nora's son left.", ())
