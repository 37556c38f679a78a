"""People's scores of summaries as the truth that judges are held against: read, checked, and averaged over raters."""
