package otel_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/agfold/agfold/adapters/otel"
)

// TestConvertPrintsTheSame holds that agfold convert --otlp prints what the SDK exports of the same recording, in a form that
// OpenTelemetry's own schema accepts.
func TestConvertPrintsTheSame(t *testing.T) {
	command := filepath.Join(t.TempDir(), "agfold")
	if runtime.GOOS == "windows" {
		command += ".exe"
	}
	build := exec.Command("go", "build", "-o", command, "./cmd/agfold")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, file := range []string{"../../spans/testdata/two-turns.ndjson", "../../testdata/subagents.sse", "../../testdata/interrupt-resume.json", "../../testdata/run-error.txt", "../../testdata/rejected.ndjson"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m := inMemory(t, otel.Options{})
			m.replay(t, file)
			text, err := exec.Command(command, "convert", "--otlp", file).Output()
			require.NoError(t, err)
			assert.Equal(t, exported(m.spans.GetSpans()), printed(t, string(text)))
		})
	}
}

// exported describes the spans of the SDK, one a line, sorted.
func exported(stubs tracetest.SpanStubs) string {
	names := map[string]string{}
	for _, s := range stubs {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	var lines []string
	for _, s := range stubs {
		line := fmt.Sprintf("%s in %q kind %d, %d to %d, status %d %q", s.Name, names[s.Parent.SpanID().String()], s.SpanKind, s.StartTime.UnixNano(), s.EndTime.UnixNano(), s.Status.Code, s.Status.Description)
		for _, a := range s.Attributes {
			line += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
		}
		for _, e := range s.Events {
			line += fmt.Sprintf(" * %d %s", e.Time.UnixNano(), e.Name)
			for _, a := range e.Attributes {
				line += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
			}
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// printed describes the spans of OTLP/JSON lines in the same way. OTLP/JSON is the JSON of the schema but for ids, which are
// hexadecimal.
func printed(t *testing.T, text string) string {
	t.Helper()
	ids := regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"`)
	var lines []string
	for line := range strings.Lines(text) {
		line = ids.ReplaceAllStringFunc(line, func(s string) string {
			m := ids.FindStringSubmatch(s)
			id, err := hex.DecodeString(m[2])
			require.NoError(t, err)
			return fmt.Sprintf("%q:%q", m[1], base64.StdEncoding.EncodeToString(id))
		})
		var data tracepb.TracesData
		require.NoError(t, protojson.Unmarshal([]byte(line), &data)) // unknown members are errors
		all := data.ResourceSpans[0].ScopeSpans[0].Spans
		names := map[string]string{}
		for _, s := range all {
			names[string(s.SpanId)] = s.Name
		}
		for _, s := range all {
			status := 0 // unset is 0 in both; the SDK's error is 1, the schema's 2
			if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
				status = 1
			}
			line := fmt.Sprintf("%s in %q kind %d, %d to %d, status %d %q", s.Name, names[string(s.ParentSpanId)], s.Kind, s.StartTimeUnixNano, s.EndTimeUnixNano, status, s.Status.GetMessage())
			line += attrsOf(s.Attributes)
			for _, e := range s.Events {
				line += fmt.Sprintf(" * %d %s%s", e.TimeUnixNano, e.Name, attrsOf(e.Attributes))
			}
			lines = append(lines, line)
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func attrsOf(attrs []*commonpb.KeyValue) string {
	var b strings.Builder
	for _, a := range attrs {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			fmt.Fprintf(&b, " %s=%s", a.Key, v.StringValue)
		case *commonpb.AnyValue_IntValue:
			fmt.Fprintf(&b, " %s=%d", a.Key, v.IntValue)
		case *commonpb.AnyValue_DoubleValue:
			fmt.Fprintf(&b, " %s=%v", a.Key, v.DoubleValue)
		case *commonpb.AnyValue_BoolValue:
			fmt.Fprintf(&b, " %s=%v", a.Key, v.BoolValue)
		default:
			fmt.Fprintf(&b, " %s=%T", a.Key, v)
		}
	}
	return b.String()
}
