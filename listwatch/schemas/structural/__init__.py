"""Custom kinds: their schemas checked, and their objects pruned, completed and validated by them.

What belongs here is computation over schemas and documents. Who serves the kinds, and when, is
decided in `registry.custom_resources`.
"""
