"""Sets of fields: who set what in an object, in the form that `managedFields` have.

Here belong the sets themselves, how they are read off objects and compared, and how objects are
merged and pruned by them. Who owns which set is `patches.server_side_apply`'s.
A set is kept as the JSON of FieldsV1: a tree of dicts, so that what is stored is what is computed
with. Sets are values: no function here changes one that it was given.
"""
