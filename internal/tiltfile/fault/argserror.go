package fault

// ArgsError says that the fault is in the arguments of the command line, not in the Tiltfile, so that editing the
// Tiltfile would not mend it.
type ArgsError struct{ Err error }

// Error returns the text of the cause.
func (e *ArgsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ArgsError) Unwrap() error { return e.Err }

var _ error = (*ArgsError)(nil)
