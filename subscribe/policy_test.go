package subscribe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/subscribe"
)

func TestPolicyNames(t *testing.T) {
	for want, p := range map[string]subscribe.Policy{
		"block": subscribe.Block, "drop oldest": subscribe.DropOldest, "fail": subscribe.Fail, "unknown": subscribe.Fail + 1,
	} {
		assert.Equal(t, want, p.String())
		text, err := p.MarshalText()
		assert.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}
