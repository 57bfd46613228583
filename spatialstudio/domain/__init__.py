"""The vocabulary: frozen types that every layer shares. Standard library and numpy only."""
