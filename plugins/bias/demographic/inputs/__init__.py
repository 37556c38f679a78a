"""Inputs with controlled attributes: the same document with other names and other genders.

    AnnotatedDocument -> build_template -> balanced_inputs or uniform_inputs -> fill_template

- `document`: annotated documents, one JSON object a line, from any source, and what is refused in them;
- `name_words`: the words of a name, with particles and suffixes, and what reads as one outside all spans;
- `template`: from coreference chains and PERSON spans to the tokens that mention each person;
- `words`: pronouns, titles and their counterparts;
- `setting`: what varies (gender, race, intersections), who takes part, and the names that are given;
- `assignment`: the draws, and who becomes what;
- `filling`: the rewritten text.

Source: Steen and Markert 2024, sections 5.1, 8.2 and 10, appendix D; docs/papers.md#steen-entities.
"""
