package codec

import (
	"testing"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
)

func TestAppendMembers(t *testing.T) {
	dst := []byte(`{`)
	dst = AppendString(dst, "s", "a\"<")
	dst = AppendNonEmpty(dst, "empty", "")
	dst = AppendNonEmpty(dst, "e", "x")
	dst = AppendInteger(dst, "i", -1)
	dst = AppendBool(dst, "b", false)
	dst = AppendValue(dst, "absent", state.Value{})
	dst = AppendValue(dst, "n", state.Null())
	dst = AppendValue(dst, "o", state.Object())
	dst = AppendList(dst, "l", nil, jsontext.AppendString)
	dst = AppendOptList(dst, "nil", nil, jsontext.AppendString)
	dst = AppendOptList(dst, "m", []string{"a", "{"}, jsontext.AppendString)
	dst = AppendString(dst, "last", "{")
	dst = append(dst, '}')
	assert.Equal(t, `{"s":"a\"<","e":"x","i":-1,"b":false,"n":null,"o":{},"l":[],"m":["a","{"],"last":"{"}`, string(dst))
}
