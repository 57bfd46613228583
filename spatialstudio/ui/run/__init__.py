"""Drawing: settings, queue, progress, results."""
