"""Evaluate-and-Refine: the rules of the loop, and the weights of a prompt's parts."""
