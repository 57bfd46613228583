"""One module per question answerer: its name is the id, and its ``build`` creates the answerer."""
