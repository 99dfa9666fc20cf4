"""Measurements of grid-rbd against its bars and its peers; ``python -m benchmarks`` runs them all."""
