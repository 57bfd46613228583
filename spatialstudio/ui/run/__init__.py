"""Image generation: settings, queue, progress, results."""
