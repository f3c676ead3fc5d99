"""Paths that another API server answers: handed on as they are, in the name of the user.

Which server that is, and whether it is there, is known to `registry.api_services`.
"""
