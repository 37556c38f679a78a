"""Comparing checkpoints, and the report.

    phases -> systems -> compare -> findings -> contents.Report -> page, markdown, table

`systems` turns judged candidates into a value a request; `compare` turns values into means and paired differences with
intervals; `findings` turns those into sentences. `build` gathers all of it, and `report` is the stage that writes it.
"""
