package process

import (
	"os"
	"os/signal"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stops is the kernel's action for SIGTSTP. The runtime of Go never gives a signal back that it has caught once: after signal.Stop
// its handler stays, and drops the signals. A process that has caught SIGTSTP could then not be stopped by it again. So the action
// is exchanged here, and the runtime, which believes that its handler is there all the time, gets it back before it wants signals.
var stops struct {
	mu     sync.Mutex
	caught *sigaction // the action of the runtime while SIGTSTP has its default; nil while that is in place, or was never
}

// sigaction has room for the kernel's struct sigaction on every architecture. Its zero value is the default action.
type sigaction [64]byte

// catchStops begins to deliver SIGTSTP instead of stopping.
func catchStops(c chan<- os.Signal) {
	stops.mu.Lock()
	defer stops.mu.Unlock()
	signal.Notify(c, unix.SIGTSTP)
	if stops.caught != nil && setStops(stops.caught, nil) {
		stops.caught = nil
	}
}

// leaveStops lets SIGTSTP stop this process.
func leaveStops(c chan<- os.Signal) {
	stops.mu.Lock()
	defer stops.mu.Unlock()
	signal.Stop(c)
	if was := new(sigaction); stops.caught == nil && setStops(new(sigaction), was) {
		stops.caught = was
	}
}

func setStops(action, was *sigaction) bool {
	const maskSize = 8
	_, _, err := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGTSTP), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(was)), maskSize, 0, 0)
	return err == 0
}
