"""Who may do what: Kubernetes' roles and bindings, kept ready for an answer from memory.

Here belong the rules, their index and the authorizer over it, the default roles, and the check
that nobody grants what they do not have. Not here: who asks, which `api` finds out.
"""
