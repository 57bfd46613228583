"""Run settings, queue and image generation."""
