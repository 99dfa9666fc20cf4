"""Front-ends: how a built robot is called. ``native`` runs compiled units; ``numpy`` is the NumPy handle."""
