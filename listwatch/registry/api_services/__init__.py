"""Which server answers which group version: this one, or another that is aggregated.

`remotes` follows the APIService objects in every process; `local` writes one for each group
version that is served here; `availability` asks the other servers whether they are there;
`connections` is how they are reached.
"""
