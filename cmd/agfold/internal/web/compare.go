package web

import (
	"context"
	"errors"
)

// compareOptions says how two logs are compared.
type compareOptions struct{}

func compareJSON(ctx context.Context, a, b *log, o compareOptions) ([]byte, error) {
	return nil, errors.New("not here yet")
}
