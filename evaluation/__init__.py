"""Reports, comparisons, audits, bias studies, human evaluation, what judges are worth, and cards of what a run made.

One folder for each family: `checkpoint` (report, pairs), `comparison` (compare), `audit`, `bias`, `human`, `meta`
(benchmark-judges), `judges` (audit-judge), `cards` (card, verify).
Below them are `systems`, what families share, `gate`, which holds numbers to limits, `pages`, which writes all of them, and the
measures in `abstractiveness`:

    phases -> systems -> compare -> findings -> contents -> page -> HTML, Markdown, terminal, CSV
"""
