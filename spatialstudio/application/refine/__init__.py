"""Evaluate-and-Refine: decomposition of prompts, the loop, its attempts on disk."""
