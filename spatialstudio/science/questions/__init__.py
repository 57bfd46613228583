"""The DA-score, and answers from perception."""
