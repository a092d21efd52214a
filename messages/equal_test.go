package messages

import (
	"reflect"
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
)

func TestEqual(t *testing.T) {
	message := func() *Message {
		return &Message{
			ID: "1", Role: RoleAssistant, Owner: SubagentOwner("s"), Name: Some("n"),
			Content:    Parts(TextPart("a"), Part{Type: PartImage, ID: Some("p"), Source: Source{Type: SourceURL, Value: "u"}, Metadata: MetadataOf(state.Member{Key: "k", Value: state.Int(1)})}),
			ToolCalls:  NewList(&ToolCall{ID: "c", Name: "t", Arguments: "{}", EncryptedValue: Some("e"), Metadata: MetadataOf()}),
			ToolCallID: "c", Error: Some("e"), ActivityType: "a", Activity: state.Object(), EncryptedValue: Some("v"), Metadata: MetadataOf(), Streaming: true, Cut: true,
		}
	}
	assert.True(t, message().Equal(message()))
	assert.True(t, (*Message)(nil).Equal(nil) && !message().Equal(nil) && !(*Message)(nil).Equal(message()))
	assert.True(t, NewList(message()).Equal(NewList(message())))
	assert.False(t, NewList(message()).Equal(NewList(message(), message())))
	assert.True(t, NewList("a").Equal(NewList("a")) && !NewList("a").Equal(NewList("b")))

	typ := reflect.TypeFor[Message]()
	for i := range typ.NumField() { // a field that Equal forgot is found here
		changed := message()
		reflect.ValueOf(changed).Elem().Field(i).SetZero()
		assert.False(t, message().Equal(changed), typ.Field(i).Name)
	}
	call := func() *ToolCall { return &ToolCall{"c", "t", "{}", ToolCallStreaming, Some("e"), MetadataOf(), nil} }
	typ = reflect.TypeFor[ToolCall]()
	for i := range typ.NumField() {
		if !typ.Field(i).IsExported() {
			continue // not of the call
		}
		changed := call()
		reflect.ValueOf(changed).Elem().Field(i).SetZero()
		assert.False(t, call().Equal(changed), typ.Field(i).Name)
	}
	assert.True(t, call().Equal(call()) && !call().Equal(nil) && (*ToolCall)(nil).Equal(nil))
	assert.False(t, Text("").Equal(Content{}), "P-VOC-4 absent and empty are different")
	assert.False(t, Some("").Equal(Opt[string]{}))
	assert.False(t, SubagentOwner("").Equal(Owner{}))
	assert.False(t, MetadataOf().Equal(Metadata{}))
	assert.True(t, Parts(TextPart("a")).Equal(Parts(TextPart("a"))) && !Parts(TextPart("a")).Equal(Parts(TextPart("b"))))
}
