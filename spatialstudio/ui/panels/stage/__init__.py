"""The picture, and what lies on it."""
