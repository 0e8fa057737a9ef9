package command

import "io"

// InputReopens is described for Unix. Here a Read that waits cannot be ended.
const InputReopens = false

// OpenInput returns the input as it is: a Read that waits ends only with the process that writes.
func OpenInput(r io.Reader) (io.ReadCloser, error) {
	if c, ok := r.(io.ReadCloser); ok {
		return c, nil
	}
	return io.NopCloser(r), nil
}
