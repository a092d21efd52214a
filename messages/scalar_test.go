package messages

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOpt(t *testing.T) {
	var absent Opt[string]
	assert.False(t, absent.IsSet())
	assert.Equal(t, "d", absent.Or("d"))
	_, ok := absent.Get()
	assert.False(t, ok)

	empty := Some("")
	assert.NotEqual(t, absent, empty, "P-VOC-4 absent and empty are different")
	assert.True(t, empty.IsSet())
	assert.Equal(t, "", empty.Or("d"))
	value, ok := empty.Get()
	assert.True(t, ok)
	assert.Empty(t, value)
}

func TestOwner(t *testing.T) {
	assert.True(t, Owner{}.IsParent())
	assert.True(t, Owner{}.IsParent())
	assert.Equal(t, "(parent)", Owner{}.String())
	_, ok := Owner{}.RunID()
	assert.False(t, ok)

	assert.NotEqual(t, Owner{}, SubagentOwner(""), "P-VOC-4 the empty id is an id")
	assert.NotEqual(t, Owner{}, SubagentOwner("(parent)"))
	assert.False(t, SubagentOwner("").IsParent())
	id, ok := SubagentOwner("s").RunID()
	assert.True(t, ok)
	assert.Equal(t, "s", id)
	assert.Equal(t, "s", SubagentOwner("s").String())
	assert.Equal(t, 1, len(map[Owner]int{SubagentOwner("s"): 1, SubagentOwner("s"): 2}), "an owner keys a map")
}

func TestRolesAndKinds(t *testing.T) {
	for role, kind := range map[Role]Kind{
		RoleDeveloper: KindText, RoleSystem: KindText, RoleAssistant: KindText, RoleUser: KindText,
		RoleTool: KindTool, RoleReasoning: KindReasoning, RoleActivity: KindActivity,
	} {
		assert.Equal(t, kind, (&Message{Role: role}).Kind(), role)
	}
	for _, role := range []Role{"", "narrator", "User"} {
		assert.Equal(t, KindNone, (&Message{Role: role}).Kind())
	}
	names := map[Kind]string{KindNone: "none", KindText: "text", KindTool: "tool result", KindReasoning: "reasoning", KindActivity: "activity"}
	for kind, name := range names {
		assert.Equal(t, name, kind.String())
	}
}
