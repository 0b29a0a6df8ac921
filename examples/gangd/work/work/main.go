// Command work is package work as a small binary of its own.
package main

import (
	"github.com/gangkit/gangkit/examples/gangd/work"
	"github.com/gangkit/gangkit/examples/kit/command"
)

func main() { command.Main("work", work.Program) }
