"""The DA-score, and its computation from perception."""
