"""Settings, queue and generation."""
