"""Judges kernels. Knows nothing of Django; runs alone as `python -m evaluator`."""
