package browsertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var command struct {
	sync.Once
	path string
	err  error
}

// agfold builds the command once.
func agfold(t *testing.T) string {
	t.Helper()
	command.Do(func() {
		dir, err := os.MkdirTemp("", "agfold")
		if err != nil {
			command.err = err
			return
		}
		command.path = filepath.Join(dir, "agfold")
		build := exec.Command("go", "build", "-C", "../..", "-o", command.path, "./cmd/agfold")
		build.Stderr = os.Stderr
		command.err = build.Run()
	})
	require.NoError(t, command.err)
	return command.path
}

// startWeb starts agfold web and returns the address that it prints.
func startWeb(t *testing.T, args ...string) string {
	t.Helper()
	process := exec.Command(agfold(t), append([]string{"web"}, args...)...)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		assert.NoError(t, process.Wait(), "agfold web ends well when it is interrupted")
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// watched is a page whose requests and complaints are noted.
type watched struct {
	ctx context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
}

// openWeb opens an address in a new browser and waits until a position is shown.
func openWeb(t *testing.T, url string) *watched {
	t.Helper()
	return watchTab(t, browser(t), url)
}

// watchTab opens an address in a tab of its own and waits until a position is shown.
func watchTab(t *testing.T, in context.Context, url string) *watched {
	t.Helper()
	w := new(watched)
	ctx, cancel := chromedp.NewContext(in, chromedp.WithListener(w.note))
	t.Cleanup(cancel)
	w.ctx = ctx
	for _, enable := range []chromedp.Action[chromedp.Void]{enabling(network.Enable, network.EnableParams{}), enabling(log.Enable, cdp.Empty{})} {
		do(t, ctx, enable)
	}
	w.size(t, 1600, 900)
	do(t, ctx, chromedp.Navigate(url))
	until(t, ctx, `document.querySelector('#scrub .count')?.textContent.includes('/')`)
	t.Cleanup(func() {
		shoot(t, ctx)
		w.mu.Lock() // not while the browser is asked something: its events wait for the lock
		defer w.mu.Unlock()
		assert.Empty(t, w.errors, "the page complains")
		for _, r := range w.requests {
			assert.True(t, strings.HasPrefix(r, strings.SplitN(url, "#", 2)[0]) || strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "blob:"), "a request leaves: %.200s", r)
		}
	})
	return w
}

func enabling[P any](command cdp.Command[P, cdp.Empty], p P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, p)
		return err
	})
}

func (w *watched) note(ev any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		w.requests = append(w.requests, strings.SplitN(e.Request.URL, "#", 2)[0])
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		w.errors = append(w.errors, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			w.errors = append(w.errors, fmt.Sprintf("console.error: %s", e.Args[0].Description))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			w.errors = append(w.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// size makes the page as wide and high as a screen.
func (w *watched) size(t *testing.T, width, height int64) {
	t.Helper()
	do(t, w.ctx, chromedp.EmulateViewport(width, height))
}

// shoot writes pictures of the page, if AGFOLD_SHOTS names a folder: as it is, and at 1600, 900 and 400 px, dark and light.
func shoot(t *testing.T, ctx context.Context, panes ...string) {
	t.Helper()
	dir := os.Getenv("AGFOLD_SHOTS")
	if dir == "" || t.Failed() && len(panes) > 0 {
		return
	}
	name := filepath.Join(dir, strings.NewReplacer("/", "-").Replace(strings.Join(append([]string{t.Name()}, panes...), "-")))
	picture := func(suffix string) {
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name+suffix+".png", png, 0o644))
	}
	for _, theme := range []string{"dark", "light"} {
		do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = "`+theme+`"; document.dispatchEvent(new Event('themechange'))`))
		for _, size := range [][2]int64{{1600, 900}, {900, 800}, {400, 800}} {
			do(t, ctx, chromedp.EmulateViewport(size[0], size[1]))
			_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => setTimeout(() => done(true), 300))`, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			picture(fmt.Sprintf("-%d-%s", size[0], theme))
		}
	}
}

// fetched returns what is at an address.
func fetched(t *testing.T, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return data
}
