"""How the window looks: colours by name, fonts, icons, sizes in font units."""
