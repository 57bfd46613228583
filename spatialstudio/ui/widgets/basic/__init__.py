"""Parts that all others use."""
