"""The main window, docks, menus, settings, tour."""
