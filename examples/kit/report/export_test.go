package report

var (
	NewProgressTo = newProgress // without asking for a terminal
	Thin          = thin
)
