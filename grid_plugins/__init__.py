"""The bundled algorithm families, one package each. They use nothing that a third-party plugin cannot use."""
