package cireport

import (
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/base/problem"
)

// Open returns the file for a report, after checking that it can be written. All users may read it.
func Open(path string) (*outputfile.File, error) {
	f, err := outputfile.Open(path, 0o644)
	if err != nil {
		return nil, problem.Wrap(err, "cannot write "+path, "name a file in a folder that exists and that you may write to")
	}
	return f, nil
}
