"""Multiple-choice questions on pictures: files, asking answerers, reports."""
