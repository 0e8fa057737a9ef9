//go:build linux

package agent

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// Program identifies the build. The linker sets it.
var Program = "unknown"

const usage = `usage: synclet serve [--unlink]       speak to hone on stdin and stdout; --unlink removes the program first
       synclet serve --in CONTAINER   the same about the files of the container next door, by its id
       synclet idle                   wait to be ended
       synclet run [--watch FILE] -- COMMAND …
                                      run a command, and restart it when hone asks or FILE is touched
       synclet restart [--grace TIME] have it restarted; it has TIME, such as 10s, to end
       synclet install PATH           copy this program
       synclet version
`

// Main carries out the command in the arguments and returns the exit code.
func Main(args []string) int {
	if len(args) < 2 {
		return fail(usage, 2)
	}
	switch rest := args[2:]; args[1] {
	case "serve":
		return serveWith(rest)
	case "idle":
		return Idle()
	case "run":
		file, rest := option(rest, "--watch")
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return fail(usage, 2)
		}
		return Supervise(rest, file)
	case "restart":
		return restart(rest)
	case "install":
		if len(rest) != 1 {
			return fail(usage, 2)
		}
		if err := Install(rest[0]); err != nil {
			return fail("synclet: "+err.Error()+"\n", 1)
		}
		return 0
	case "version":
		_, _ = os.Stdout.WriteString(Program + " protocol " + string('0'+rune(protocol.Version)) + "\n")
		return 0
	}
	return fail(usage, 2)
}

func serveWith(args []string) int {
	var where files = ownFiles{}
	switch {
	case len(args) == 1 && args[0] == "--unlink":
		if self, err := os.Readlink("/proc/self/exe"); err == nil {
			_ = os.Remove(self)
		}
	case len(args) == 2 && args[0] == "--in":
		next, err := openNeighbour(args[1])
		if err != nil {
			leave()
			return fail("synclet: "+err.Error()+"\n", CodeNotAllowed)
		}
		where = next
	case len(args) > 0:
		return fail(usage, 2)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // which would end the program when its client is gone
	left, err := serve(os.Stdin, os.Stdout, os.Environ(), where)
	if err != nil {
		_ = fail("synclet: "+err.Error()+"\n", 1)
	}
	if !left {
		linger()
	}
	if err != nil {
		return 1
	}
	return 0
}

func fail(text string, code int) int {
	_, _ = os.Stderr.WriteString(text)
	return code
}
