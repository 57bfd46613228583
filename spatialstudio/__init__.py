"""Spatial Studio: prompt-driven spatial image generation, inspected and judged."""
