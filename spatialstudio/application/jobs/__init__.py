"""Background jobs and cancellation."""
