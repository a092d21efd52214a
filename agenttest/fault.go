package agenttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is one way in which the answer of an agent breaks; see [Faults]. Events are counted from 1, keep-alive comments
// not included. [Somewhere] leaves the place to the seed.
type Fault struct {
	name string
	make func(f *flow) stage
	// bytes says that the fault breaks bytes, and so comes after those that break events.
	bytes bool
	// status and contentType replace those of the answer.
	status      int
	body        string
	contentType string
}

// Somewhere as the place of a fault means: one of the first 32 events, or of the first 4,096 bytes, as the seed says.
const Somewhere = -1

// places is a place as in Go.
func places(n int) string {
	if n == Somewhere {
		return "Somewhere"
	}
	return strconv.Itoa(n)
}

// String returns the fault as in Go.
func (f Fault) String() string { return f.name }

// Cut ends the answer after n events as if the server had finished: no error, and no end of the run.
func Cut(n int) Fault {
	return Fault{name: "Cut(" + places(n) + ")", make: func(f *flow) stage {
		left := f.place(n)
		return stage{event: func(block []byte, next func([]byte) error) error {
			if left == 0 {
				return errEnd
			}
			left--
			return next(block)
		}}
	}}
}

// CutBytes loses the connection after n bytes of the body.
func CutBytes(n int) Fault {
	return Fault{name: "CutBytes(" + places(n) + ")", bytes: true, make: func(f *flow) stage {
		left := n
		if n == Somewhere {
			left = f.rand.IntN(4096)
		}
		return stage{event: func(block []byte, next func([]byte) error) error {
			if len(block) > left {
				block = block[:left]
				left = 0
				if err := next(block); err != nil {
					return err
				}
				return errLost
			}
			left -= len(block)
			return next(block)
		}}
	}}
}

// Delay waits before the nth event.
func Delay(n int, d time.Duration) Fault {
	return Fault{name: fmt.Sprintf("Delay(%s, %v)", places(n), d), make: func(f *flow) stage {
		return f.at(n, func(block []byte, next func([]byte) error) error {
			if err := f.wait(d); err != nil {
				return err
			}
			return next(block)
		})
	}}
}

// Duplicate sends the nth event twice.
func Duplicate(n int) Fault {
	return Fault{name: "Duplicate(" + places(n) + ")", make: func(f *flow) stage {
		return f.at(n, func(block []byte, next func([]byte) error) error {
			if err := next(block); err != nil {
				return err
			}
			return next(block)
		})
	}}
}

// Drop leaves the nth event out.
func Drop(n int) Fault {
	return Fault{name: "Drop(" + places(n) + ")", make: func(f *flow) stage {
		return f.at(n, func([]byte, func([]byte) error) error { return nil })
	}}
}

// Reorder sends the nth event after the one that follows it.
func Reorder(n int) Fault {
	return Fault{name: "Reorder(" + places(n) + ")", make: func(f *flow) stage {
		left := f.place(n)
		var held []byte
		return stage{
			event: func(block []byte, next func([]byte) error) error {
				left--
				if left == 0 {
					held = slices.Clone(block)
					return nil
				}
				if err := next(block); err != nil || held == nil {
					return err
				}
				block, held = held, nil
				return next(block)
			},
			end: func(next func([]byte) error) error {
				if held == nil {
					return nil
				}
				return next(held)
			},
		}
	}}
}

// Corrupt replaces one byte in the data of the nth event by another printable one, as the seed says.
func Corrupt(n int) Fault {
	return Fault{name: "Corrupt(" + places(n) + ")", make: func(f *flow) stage {
		return f.at(n, func(block []byte, next func([]byte) error) error {
			block = slices.Clone(block)
			from, to := len("data: "), len(block)-len("\n\n")
			if to <= from {
				return next(block)
			}
			i := from + f.rand.IntN(to-from)
			for old := block[i]; block[i] == old; {
				block[i] = byte(' ' + f.rand.IntN('~'-' '+1))
			}
			return next(block)
		})
	}}
}

// Endless sends the nth event over and over, and nothing else, until the reader leaves.
func Endless(n int) Fault {
	return Fault{name: "Endless(" + places(n) + ")", make: func(f *flow) stage {
		return f.at(n, func(block []byte, next func([]byte) error) error {
			block = slices.Clone(block)
			for f.ctx.Err() == nil {
				if err := next(block); err != nil {
					return err
				}
			}
			return f.ctx.Err()
		})
	}}
}

// Silence sends nothing more after n events, until the reader leaves.
func Silence(n int) Fault {
	return Fault{name: "Silence(" + places(n) + ")", make: func(f *flow) stage {
		left := f.place(n)
		wait := func() error {
			<-f.ctx.Done()
			return f.ctx.Err()
		}
		return stage{
			event: func(block []byte, next func([]byte) error) error {
				if left == 0 {
					return wait()
				}
				left--
				return next(block)
			},
			end: func(func([]byte) error) error { return wait() },
		}
	}}
}

// SlowReader takes each event only d after the one before, as a reader does that is slower than the agent.
func SlowReader(d time.Duration) Fault {
	return Fault{name: fmt.Sprintf("SlowReader(%v)", d), make: func(f *flow) stage {
		return stage{event: func(block []byte, next func([]byte) error) error {
			if err := next(block); err != nil {
				return err
			}
			return f.wait(d)
		}}
	}}
}

// Split sends the body in pieces of 1 to n bytes, cut anywhere, inside a character or a line end too.
func Split(n int) Fault {
	return Fault{name: fmt.Sprintf("Split(%d)", n), bytes: true, make: func(f *flow) stage {
		return stage{event: func(block []byte, next func([]byte) error) error {
			for len(block) > 0 {
				size := min(1+f.rand.IntN(max(n, 1)), len(block))
				if err := next(block[:size]); err != nil {
					return err
				}
				block = block[size:]
			}
			return nil
		}}
	}}
}

// Status answers with this status and body; the agent is not asked.
func Status(code int, body string) Fault {
	return Fault{name: fmt.Sprintf("Status(%d, %q)", code, body), status: code, body: body}
}

// ContentType answers with this media type instead of that of an event stream; "" sends none.
func ContentType(mediaType string) Fault {
	if mediaType == "" {
		mediaType = none
	}
	return Fault{name: fmt.Sprintf("ContentType(%q)", strings.TrimPrefix(mediaType, none)), contentType: mediaType}
}

// none is the media type of an answer without one.
const none = "\x00"

// stage is one fault at work in one answer. It gets the blocks of the stream, an event with its blank line each, or pieces
// of them, and passes on what it makes of them.
type stage struct {
	event func(block []byte, next func([]byte) error) error
	end   func(next func([]byte) error) error // nil if there is nothing to do
}

// flow is one answer on its way through the faults.
type flow struct {
	ctx    context.Context
	rand   *rand.Rand
	stages []stage
	out    func([]byte) error
}

// place returns the place of a fault in the stream.
func (f *flow) place(n int) int {
	if n == Somewhere {
		return 1 + f.rand.IntN(32)
	}
	return n
}

// at is the stage that does something to the nth event.
func (f *flow) at(n int, do func(block []byte, next func([]byte) error) error) stage {
	left := f.place(n)
	return stage{event: func(block []byte, next func([]byte) error) error {
		left--
		if left == 0 {
			return do(block, next)
		}
		return next(block)
	}}
}

func (f *flow) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
}

// pass sends a block through the stages from i on.
func (f *flow) pass(i int, block []byte) error {
	if i == len(f.stages) {
		return f.out(block)
	}
	return f.stages[i].event(block, func(b []byte) error { return f.pass(i+1, b) })
}

// end lets the stages send what they hold.
func (f *flow) end() error {
	for i, s := range f.stages {
		if s.end == nil {
			continue
		}
		if err := s.end(func(b []byte) error { return f.pass(i+1, b) }); err != nil {
			return err
		}
	}
	return nil
}
