package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func said(text string) client.Snapshot {
	return client.Snapshot{Thread: &reducer.Thread{
		ID: "t", Messages: messages.NewList(&messages.Message{ID: "m", Role: messages.RoleUser, Content: messages.Text(text)}),
	}}
}

// showing starts Show on a terminal and returns what it ends with.
func showing(ctx context.Context, v *vt, snapshots <-chan client.Snapshot, note func() term.Text) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- Show(ctx, snapshots, &Options{
			Out: term.NewWriter(v), Size: func() (int, int) { return v.width, v.height }, Title: term.Lit("agent"), Note: note,
		})
	}()
	return done
}

func TestShow(t *testing.T) {
	t.Run("it draws the newest snapshot and clears everything at the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			snapshots := make(chan client.Snapshot, 1)
			done := showing(t.Context(), v, snapshots, nil)
			snapshots <- said("first")
			synctest.Wait()
			assert.Contains(t, v.text(), "first")
			assert.True(t, v.hidden)
			time.Sleep(fastest)
			snapshots <- said("second")
			synctest.Wait()
			assert.Contains(t, v.text(), "second")
			assert.NotContains(t, v.text(), "first")
			close(snapshots)
			require.NoError(t, <-done)
			assert.Empty(t, v.text())
			assert.False(t, v.hidden)
			assert.False(t, v.noWrap)
		})
	})
	t.Run("a thousand snapshots a second are not a thousand pictures", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			snapshots := make(chan client.Snapshot)
			done := showing(t.Context(), v, snapshots, nil)
			go func() {
				defer close(snapshots)
				for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
					select {
					case snapshots <- said(time.Now().String()):
					default:
					}
				}
			}()
			require.NoError(t, <-done)
			assert.Less(t, v.writes, 50)
			assert.Greater(t, v.writes, 20)
		})
	})
	t.Run("the clock continues without snapshots", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			snapshots := make(chan client.Snapshot)
			done := showing(t.Context(), v, snapshots, func() term.Text { return term.Lit("news") })
			time.Sleep(2050 * time.Millisecond)
			synctest.Wait()
			assert.Contains(t, v.text(), "2.0 s")
			assert.Contains(t, v.text(), "news")
			close(snapshots)
			require.NoError(t, <-done)
		})
	})
	t.Run("the end of the context ends it, with the terminal as it was", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			ctx, cancel := context.WithCancel(t.Context())
			done := showing(ctx, v, make(chan client.Snapshot), nil)
			time.Sleep(time.Second)
			cancel()
			require.NoError(t, <-done)
			assert.Empty(t, v.text())
			assert.False(t, v.hidden)
		})
	})
	t.Run("a function that needs the terminal has it as it was, and the picture comes back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			aside, ran := make(chan func()), make(chan bool, 1)
			done := make(chan error, 1)
			snapshots := make(chan client.Snapshot, 1)
			snapshots <- said("hello")
			go func() {
				done <- Show(t.Context(), snapshots, &Options{
					Out: term.NewWriter(v), Size: func() (int, int) { return 60, 12 }, Aside: aside,
				})
			}()
			synctest.Wait()
			aside <- func() {
				ran <- assert.Empty(t, v.text()) && assert.False(t, v.hidden) && assert.False(t, v.noWrap)
			}
			synctest.Wait()
			assert.True(t, <-ran)
			assert.Contains(t, v.text(), "hello")
			assert.True(t, v.hidden)
			close(snapshots)
			require.NoError(t, <-done)
		})
	})
	t.Run("drawing that takes long is followed by a longer rest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			snapshots := make(chan client.Snapshot, 1)
			pictures := 0
			done := make(chan error, 1)
			go func() {
				done <- Show(t.Context(), snapshots, &Options{Out: term.NewWriter(v), Size: func() (int, int) { return 60, 12 },
					Note: func() term.Text {
						pictures++
						time.Sleep(100 * time.Millisecond)
						return term.Text{}
					}})
			}()
			time.Sleep(5050 * time.Millisecond)
			close(snapshots)
			require.NoError(t, <-done)
			assert.InDelta(t, 10, pictures, 2, "a fifth of the time")
		})
	})
	t.Run("a panic gives the terminal back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			pictures := 0
			assert.PanicsWithValue(t, "boom", func() {
				Show(t.Context(), make(chan client.Snapshot), &Options{
					Out: term.NewWriter(v), Size: func() (int, int) { return 60, 12 },
					Note: func() term.Text {
						if pictures++; pictures > 2 {
							panic("boom")
						}
						return term.Text{}
					},
				})
			})
			assert.False(t, v.hidden)
			assert.Empty(t, v.text())
		})
	})
	t.Run("a terminal that is gone ends it with the error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVT(t, 60, 12)
			v.err = errors.New("gone")
			done := showing(t.Context(), v, make(chan client.Snapshot), nil)
			assert.ErrorIs(t, <-done, v.err)
		})
	})
}
