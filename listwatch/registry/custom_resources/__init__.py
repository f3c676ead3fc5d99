"""Custom resources: what definitions make of themselves, and of the resources that are served.

`definitions` follows the definitions in the cache and keeps the table of resources by them, in
every process; `lifecycle` writes their conditions, and removes their objects before they go.
"""
