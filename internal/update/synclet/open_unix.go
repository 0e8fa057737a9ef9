//go:build unix

package synclet

import "syscall"

// atOnce is a flag for opening files. Without it the os package tries to wait for them in the poller, which takes four more system
// calls for each file: half of all that a small file needs. With it, opening does not wait for the other end of a pipe that has
// just taken the place of a file.
const atOnce = syscall.O_NONBLOCK
