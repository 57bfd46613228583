"""Storage of runs, queue and drafts."""
