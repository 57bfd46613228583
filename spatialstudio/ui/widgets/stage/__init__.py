"""Parts of the picture, and of what lies on it."""
