"""What the studio does. No Qt, no torch."""
