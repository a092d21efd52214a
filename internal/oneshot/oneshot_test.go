package oneshot

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRunYieldsItsErrorLastAndOnce(t *testing.T) {
	broken := errors.New("broken")
	runs := 0
	seq := Run(func(yield func(int, error) bool) error {
		runs++
		if !yield(1, nil) || !yield(2, nil) {
			return ErrBreak
		}
		return broken
	})
	var got []int
	var errs []error
	for v, err := range seq {
		got, errs = append(got, v), append(errs, err)
	}
	assert.Equal(t, []int{1, 2, 0}, got)
	assert.Equal(t, []error{nil, nil, broken}, errs)
	for v, err := range seq {
		assert.Zero(t, v)
		assert.Equal(t, ErrIterated, err)
	}
	assert.Equal(t, 1, runs)
}

func TestALoopThatIsLeftGetsNoError(t *testing.T) {
	for _, err := range Run(func(yield func(int, error) bool) error {
		assert.False(t, yield(1, nil))
		return ErrBreak // a second yield would panic
	}) {
		assert.NoError(t, err)
		break
	}
}

func TestCanceledMatchesTheContextAndItsCause(t *testing.T) {
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	assert.ErrorIs(t, Canceled(ctx), cause)
	assert.ErrorIs(t, Canceled(ctx), context.Canceled)

	plain, stop := context.WithCancel(t.Context())
	stop()
	assert.Equal(t, context.Canceled, Canceled(plain))
}
