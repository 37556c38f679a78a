"""The run folder: phases and the files in them, stages with receipts, journals, and the processes that may work there."""
