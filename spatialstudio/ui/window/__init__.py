"""The frame: main window, docks, menus, settings, tour."""
