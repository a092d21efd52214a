//go:build unix

package jetstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
)

// writerEnv has a test binary be a writer: the address of its server.
const writerEnv = "AGFOLD_JETSTREAM_TEST_WRITER"

func TestMain(m *testing.M) {
	if url := os.Getenv(writerEnv); url != "" {
		fmt.Println("ended:", write(url))
		return
	}
	os.Exit(m.Run())
}

// write writes a thread until it cannot, and says how that is called.
func write(url string) string {
	nc, err := Connect(url)
	if err != nil {
		return err.Error()
	}
	l, err := New(context.Background(), nc, &Options{LeaseTTL: time.Second, Holder: "child", Logger: quiet})
	if err != nil {
		return err.Error()
	}
	h, err := l.Hold(context.Background(), "t")
	if err != nil {
		return err.Error()
	}
	s := h.Session(forever(), nil)
	fmt.Println("writes")
	_, err = s.Send(context.Background(), messages.UserText("I am the child"))
	if !errors.Is(err, ErrLost) {
		return fmt.Sprint("the run has ended with ", err)
	}
	if _, err = s.Send(context.Background(), messages.UserText("still the child")); !errors.Is(err, ErrLost) {
		return fmt.Sprint("another run has ended with ", err)
	}
	if err := h.Save(context.Background(), s.Thread); !errors.Is(err, ErrLost) {
		return fmt.Sprint("saving has returned ", err)
	}
	return "refused"
}

// A process that is paused past its lease, in the middle of a run, and wakes up, is refused.
func TestAProcessThatWakesUpAfterItsLeaseIsRefused(t *testing.T) {
	url := serverOf(t, nil).URL()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), writerEnv+"="+url)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	ended := make(chan error, 1)
	t.Cleanup(func() { _ = child.Process.Kill() })
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "writes", lines.Text())
	l := logOf(t, url, Options{LeaseTTL: time.Second, Holder: "parent"})
	f := l.Watch(t.Context(), "t", nil)
	eventually(t, func() bool { return f.Snapshot().Messages.Len() == 2 }, "the child writes")
	require.NoError(t, child.Process.Signal(syscall.SIGSTOP))

	h := held(t, l, "t")
	s := h.Session(says(5, nil), nil)
	_, err = s.Send(t.Context(), messages.UserText("I am the parent"))
	require.NoError(t, err)
	require.NoError(t, h.Flush(t.Context()))
	require.NoError(t, child.Process.Signal(syscall.SIGCONT))
	require.True(t, lines.Scan())
	assert.Equal(t, "ended: refused", lines.Text())
	go func() { ended <- child.Wait() }()
	require.NoError(t, <-ended)

	_, err = s.Send(t.Context(), messages.UserText("and go on"))
	require.NoError(t, err)
	same(t, s, f)
	text := string(f.Snapshot().AppendJSON(nil))
	assert.Contains(t, text, "I am the child")
	assert.NotContains(t, text, "still the child")
	assert.Equal(t, 1, strings.Count(text, client.ErrTruncated.Error()), "its run was cut")
	assert.Empty(t, findings(t, l))
}
