"""Colours by name, fonts, icons, and sizes in font units."""
