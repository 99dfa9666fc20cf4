"""From kernels to C++: scheduling, expressions, and Jinja2 templates."""
