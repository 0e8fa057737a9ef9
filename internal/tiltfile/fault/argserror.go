package fault

// ArgsError marks an error in the arguments of the command line instead of in the Tiltfile. Editing the Tiltfile would
// not fix it.
type ArgsError struct{ Err error }

// Error returns the text of the cause.
func (e *ArgsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ArgsError) Unwrap() error { return e.Err }

var _ error = (*ArgsError)(nil)
