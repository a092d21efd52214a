package state

// DiffWithin is [Diff] with another bound on what it looks at.
func DiffWithin(old, new Value, budget int) Patch { return diff(old, new, budget) }
