"""Parts of verdicts and their evidence."""
