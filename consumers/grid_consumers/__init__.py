"""Consumer projects: compiled artifacts built against a robot's header, and what is bundled of them."""
