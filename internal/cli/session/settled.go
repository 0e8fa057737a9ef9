package session

import (
	"io"

	"github.com/hone-dev/hone/pkg/api"
)

// PrintSettled prints a report as hone settle does: a line for each resource, and below the line of one that fails its card.
func PrintSettled(w io.Writer, rep api.SettleReport) error { return printSettled(w, rep) }

// PrintTests prints a report as hone test does: a line for each test, below the line of one that fails the single tests that failed, or its
// card, and the counts.
func PrintTests(w io.Writer, rep api.TestReport) error { return printTests(w, rep) }
