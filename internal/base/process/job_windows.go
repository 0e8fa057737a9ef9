package process

import "os"

// Job is described for Unix. Here there is no job control.
type Job struct{}

// NewJob is described for Unix.
func NewJob() *Job { return &Job{} }

// Hold is described for Unix.
func (*Job) Hold() {}

// Free is described for Unix.
func (*Job) Free() {}

// Rest is described for Unix. Here it delivers nothing.
func (*Job) Rest() <-chan os.Signal { return nil }

// Back is described for Unix. Here it delivers nothing.
func (*Job) Back() <-chan os.Signal { return nil }
