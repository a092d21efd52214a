package browsertest

import (
	"context"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long anything may take on a busy machine.
const patience = time.Minute

// browser starts a browser with a profile of its own.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	t.Cleanup(cancel)
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience)}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
		"disable-component-update", "disable-sync", "disable-dev-shm-usage"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	return tab(t, ctx)
}

// tab opens a tab of the browser.
func tab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	do(t, ctx)
	return ctx
}

func do(t *testing.T, tab context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(tab, actions...))
}

// until waits until an expression is true in the page.
func until(t *testing.T, tab context.Context, expression string) {
	t.Helper()
	err := chromedp.Do(tab, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(20*time.Millisecond)))
	if err != nil {
		body, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText + '\n' + location`))
		require.NoError(t, err, "%s\nThe page: %s", expression, body)
	}
}

// last is the text of the newest message in the page.
const last = `(document.querySelector('#messages > li:last-child')?.textContent ?? '')`

func untilLast(t *testing.T, tab context.Context, text string) {
	t.Helper()
	until(t, tab, last+" === "+strconv.Quote(text))
}

// say types a message and sends it.
func say(t *testing.T, tab context.Context, text string) {
	t.Helper()
	until(t, tab, `document.getElementById('status').textContent !== 'connecting…'`)
	do(t, tab, chromedp.SendKeys(chromedp.CSS("#say input"), text), chromedp.Click(chromedp.CSS("#say button")))
}

// site is a process of an example.
type site struct {
	program, addr string
	args          []string
	process       *exec.Cmd
}

// newSite starts examples/bff, for an agent at a URL or, without one, its own.
func newSite(t *testing.T, agent string) *site {
	t.Helper()
	args := []string{"-dir", t.TempDir()}
	if agent != "" {
		args = append(args, agent)
	}
	return newProcess(t, "bff", args...)
}

// newProcess builds and starts an example that listens at -addr.
func newProcess(t *testing.T, example string, args ...string) *site {
	t.Helper()
	s := &site{program: filepath.Join(t.TempDir(), example)}
	build := exec.Command("go", "build", "-C", filepath.Join("../../examples", example), "-o", s.program, ".")
	build.Stderr = os.Stderr
	require.NoError(t, build.Run())
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.addr = free.Addr().String()
	require.NoError(t, free.Close())
	s.args = append([]string{"-addr", s.addr}, args...)
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *site) start(t *testing.T) {
	t.Helper()
	s.process = exec.Command(s.program, s.args...)
	s.process.Stderr = os.Stderr
	require.NoError(t, s.process.Start())
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
}

// kill ends the process as a power failure would.
func (s *site) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// logIn opens the page as a user.
func (s *site) logIn(t *testing.T, tab context.Context) {
	t.Helper()
	do(t, tab, chromedp.Navigate("http://"+s.addr+"/"), chromedp.WaitVisible(chromedp.CSS("#login")),
		chromedp.SendKeys(chromedp.CSS("#login input"), "ann"), chromedp.Click(chromedp.CSS("#login button")),
		chromedp.WaitVisible(chromedp.CSS("#chat")))
}

// teller is an agent that says what the test tells it, and where it stands.
type teller struct {
	url     string
	words   chan string // "" ends the run
	stopped chan struct{}
}

func newTeller(t *testing.T) *teller {
	t.Helper()
	a := &teller{words: make(chan string), stopped: make(chan struct{}, 10)}
	server := httptest.NewServer(serve.Agent(client.Emit(a.run), nil))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	a.url = server.URL
	return a
}

func (a *teller) run(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
	id := "m-" + in.RunID
	if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			a.stopped <- struct{}{}
			return ctx.Err()
		case word := <-a.words:
			if word == "" {
				return emit(&event.TextMessageEnd{MessageID: id}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
			}
			if err := emit(&event.TextMessageContent{MessageID: id, Delta: word}); err != nil {
				return err
			}
		}
	}
}

func (a *teller) tell(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		select {
		case a.words <- word:
		case <-time.After(patience):
			require.Fail(t, "no run takes the word", "%q", word)
		}
	}
}
