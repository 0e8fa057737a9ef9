package command

import (
	"os"
	"runtime/debug"
)

// CollectLate keeps the garbage collector from working before the process has lateMemory, for a process that lives for some
// ten milliseconds: with 1,000 resources it took a third of the time. A collector that the environment sets up stays.
func CollectLate() {
	if !CollectorSet() {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(lateMemory)
	}
}

// lateMemory is several times what showing 1,000 resources as JSON takes.
const lateMemory = 256 << 20

// CollectorSet reports whether the environment says how the collector is to work.
func CollectorSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
