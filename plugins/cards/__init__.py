"""Cards: what a trained adapter and its preference pairs are, said from the files of a finished run, and held to them again.

run       the files that a card speaks of, whole and unchanged
contents  what the two cards say, as blocks
own_text  what people write in a card, which may not hide the rest
card      their text: metadata, blocks, and the sections that people write
verify    a card beside the run that it speaks of: every place that differs
"""
