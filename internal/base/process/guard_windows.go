package process

// GuardMain reports whether this process is a guard. On Windows it never is: job objects replace the guard.
func GuardMain([]string) (handled bool) { return false }

// guard marks no commands.
type guard struct{}

var theGuard guard

func (guard) environment() []string { return nil }

func (guard) serverMark() string { return "" }
