package agent

import (
	"bytes"
	"hash/fnv"
	"os"
	"syscall"
)

// containerRun identifies the run of the container that the synclet is in: it differs for each run, as far as the kernel tells. The
// kernel gives the number of a mount namespace, or of a file system, to the next one; the start of the first process decides then.
// Where the containers of a pod share their processes, that is not the container's own.
func containerRun() uint64 {
	h := fnv.New64a()
	if ns, err := os.Readlink("/proc/self/ns/mnt"); err == nil {
		_, _ = h.Write([]byte(ns))
	}
	var root syscall.Stat_t
	if err := syscall.Stat("/", &root); err == nil {
		for n := range 8 {
			_, _ = h.Write([]byte{byte(root.Dev >> (8 * n)), byte(root.Ino >> (8 * n))})
		}
	}
	_, _ = h.Write(firstStart())
	return h.Sum64()
}

// firstStart returns the time at which process 1 was started, in clock ticks since the machine was; nil if that is unknown.
func firstStart() []byte {
	stat, err := os.ReadFile("/proc/1/stat")
	if err != nil {
		return nil
	}
	const startTime = 20 // counted from the field after the name, which is in parentheses: see proc(5)
	_, fields, _ := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(" "))
	if all := bytes.Fields(fields); len(all) >= startTime {
		return all[startTime-1]
	}
	return nil
}
