package main

import (
	"context"
	"io"
)

func experiment(ctx context.Context, args []string, stdout, stderr io.Writer) error { return nil }
