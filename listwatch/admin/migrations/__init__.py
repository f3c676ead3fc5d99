"""So that Django counts the app as migrated: its proxies stand on models that are."""
