package event

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/messages"
)

func TestAuthoritativeActivityTypes(t *testing.T) {
	activity := []*messages.Message{{ID: "a", Role: messages.RoleActivity}}
	for _, tc := range []struct {
		name, metadata string
		messages       []*messages.Message
		types          []string
		all            bool
		with           string // after X and A were added
	}{
		{"P-MSG-2 nothing said, no activity", `{}`, nil, nil, false, `{"@ag-ui/client":{"authoritativeActivityTypes":["X","A"]}}`},
		{"P-MSG-2 nothing said, an activity", `{"k":1}`, activity, nil, true, `{"k":1,"@ag-ui/client":{"authoritativeActivityTypes":null}}`},
		{"P-MSG-2 null owns all", `{"@ag-ui/client":{"authoritativeActivityTypes":null,"x":1}}`, nil, nil, true, `{"@ag-ui/client":{"authoritativeActivityTypes":null,"x":1}}`},
		{"P-MSG-2 an array owns those", `{"@ag-ui/client":{"authoritativeActivityTypes":["A","B"]}}`, activity, []string{"A", "B"}, false,
			`{"@ag-ui/client":{"authoritativeActivityTypes":["A","B","X"]}}`},
		{"P-MSG-2 what is not a string in an array owns none", `{"@ag-ui/client":{"authoritativeActivityTypes":["A",1]}}`, activity, []string{"A"}, false,
			`{"@ag-ui/client":{"authoritativeActivityTypes":["A","X"]}}`},
		{"P-MSG-2 anything else owns none", `{"@ag-ui/client":{"authoritativeActivityTypes":"A"}}`, activity, nil, false, `{"@ag-ui/client":{"authoritativeActivityTypes":["X","A"]}}`},
		{"P-MSG-2 not an object owns none", `{"@ag-ui/client":1}`, activity, nil, false, `{"@ag-ui/client":{"authoritativeActivityTypes":["X","A"]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			meta, _ := messages.NewMetadata(parsed(t, tc.metadata))
			e := &MessagesSnapshot{Base: Base{Metadata: meta}, Messages: tc.messages}
			types, all := e.OwnedActivityTypes()
			assert.Equal(t, tc.types, types)
			assert.Equal(t, tc.all, all)
			assert.Equal(t, tc.with, e.WithAuthoritativeActivityTypes("X", "A").Metadata.Value().String())
			assert.Equal(t, tc.metadata, e.Metadata.Value().String(), "the snapshot stays")
		})
	}
}
