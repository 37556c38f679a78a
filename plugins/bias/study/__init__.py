"""The bias study: inputs with controlled names and genders are summarised, and what the summaries did with them is measured.

    inputs      the same document with other names and genders: balanced and uniform inputs
    summaries   of a model, of a rule that needs no model, or of another system's file
    persons     the PERSON spans of the summaries
    report      who is kept, who is invented, which words are used, what gives a group away

Source: Steen and Markert 2024; docs/papers.md#steen.
"""

from .build import Study, bias_study, write_inputs
from .inputs import count_by_design, make_inputs
from .page import page

__all__ = ["Study", "bias_study", "count_by_design", "make_inputs", "page", "write_inputs"]
