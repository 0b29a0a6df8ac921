//go:build !linux

package local

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// Backend is not available here.
type Backend struct{ backend.Backend }

// New says that processes of this machine cannot be scheduled.
func New(c Config) (*Backend, error) {
	return nil, errors.Join(c.check(), fmt.Errorf("local: %s: scheduling this machine's processes needs Linux", runtime.GOOS))
}

// Helper does nothing.
func Helper() {}
