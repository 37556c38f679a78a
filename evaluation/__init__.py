"""Reports, comparisons, audits, bias studies, human evaluation, and what judges are worth.

One folder for each: `study` (compare), `audit`, `bias`, `human`, `meta` (benchmark-judges), `ranking`, `abstractiveness`. The
modules beside them make the report on a run's checkpoints:

    phases -> systems -> compare -> findings -> contents.Report -> page, markdown, table

`systems` turns judged candidates into a value a request; `compare` turns values into means and paired differences with
intervals; `findings` turns those into sentences. `build` gathers all of it, and `report` is the stage that writes it.
"""
