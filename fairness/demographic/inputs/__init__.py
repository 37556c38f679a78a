"""Inputs with controlled attributes: the same document with other names and other genders.

    AnnotatedDocument -> build_template -> balanced_inputs or uniform_inputs -> fill_template

- `document`: annotated documents, one JSON object a line, from any source, and what is refused in them;
- `linking`, `naming`, `template`: from coreference chains and PERSON spans to the tokens that mention each person;
- `words`: pronouns, titles and their counterparts;
- `setting`: what varies (gender, race, intersections) and who takes part;
- `names`: the census names that ship, and lists of the user's own;
- `assignment`: who becomes what, given the draws; `drawing`: the draws;
- `filling`: the rewritten text.

Source: Steen and Markert 2024, sections 5.1, 8.2 and 10, appendix D; docs/papers.md#steen-entities.
"""

from .assignment import DrawnIdentity, Instructions, paired_assignment, source_entities, uniform_assignment
from .document import AnnotatedDocument, Chain, ContentSpan, Mention, NamedEntity, Token
from .drawing import AssignedInput, DocumentInputs, balanced_inputs, uniform_inputs
from .filling import Filled, FillOptions, Instruction, fill_template
from .names import NameInventory, NamePool, NamesRanOut, common_inventory, read_inventory, read_vocabulary
from .setting import Setting, gender_setting, race_setting
from .template import TemplateEntity, TemplateMention, build_template

__all__ = [
    "AnnotatedDocument",
    "AssignedInput",
    "Chain",
    "ContentSpan",
    "DocumentInputs",
    "DrawnIdentity",
    "FillOptions",
    "Filled",
    "Instruction",
    "Instructions",
    "Mention",
    "NameInventory",
    "NamePool",
    "NamedEntity",
    "NamesRanOut",
    "Setting",
    "TemplateEntity",
    "TemplateMention",
    "Token",
    "balanced_inputs",
    "build_template",
    "common_inventory",
    "fill_template",
    "gender_setting",
    "paired_assignment",
    "race_setting",
    "read_inventory",
    "read_vocabulary",
    "source_entities",
    "uniform_assignment",
    "uniform_inputs",
]
