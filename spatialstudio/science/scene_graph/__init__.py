"""The scene-graph score: graphs of prompt and picture, their matching and the score."""
