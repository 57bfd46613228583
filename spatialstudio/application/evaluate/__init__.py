"""Evaluation of images and of recorded benchmark runs."""
