"""What was measured, and the pages that say it.

Rooms, from the bottom up: `pages` writes every page; `gate` holds numbers to limits; beside one another stand `report` (a run,
comparisons, cards), `audit` and `studies` (of judges, of people's answers, of bias), none of which reads another. Below them
`significance` has the one rule of what may be concluded, `verdicts` its words, `lengths` what goes with length, `worth` what is
known of judges, and `abstractiveness` what is copied. Every number of a page is a `Number`:

    phases -> numbers -> concluded -> page -> HTML, Markdown, terminal, CSV
"""
