"""Reports, comparisons, audits, bias studies, human evaluation, and what judges are worth.

One folder for each family: `checkpoint` (report), `comparison` (compare), `audit`, `bias`, `human`, `meta` (benchmark-judges).
Below them are `systems`, what families share, `pages`, which writes all of them, and the measures in `ranking` and
`abstractiveness`:

    phases -> systems -> compare -> findings -> contents -> page -> HTML, Markdown, terminal, CSV
"""
