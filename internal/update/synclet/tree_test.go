//go:build linux

package synclet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkTree brings 20,000 files of 1 KB to a container, as after the switch of a branch: new ones, all of them changed, and all of
// them deleted. The ratios are to writing the same files with nothing but system calls.
func BenchmarkTree(b *testing.B) {
	const n = 20000
	r := newRig(b)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("d%d/f%d", i/100, i)
	}
	round := 0
	write := func() time.Duration {
		round++
		for i := 0; i < n; i += 100 {
			check(b, os.MkdirAll(filepath.Join(r.local, filepath.Dir(names[i])), 0o755))
		}
		began := time.Now()
		for i, name := range names {
			check(b, os.WriteFile(filepath.Join(r.local, name), fmt.Appendf(nil, "%d %d %01000d", round, i, i), 0o644))
		}
		return time.Since(began)
	}
	apply := func() time.Duration {
		began := time.Now()
		r.apply(names...)
		return time.Since(began)
	}
	var own, fresh, changed, deleted time.Duration
	for b.Loop() {
		own += write()
		fresh += apply()
		write()
		changed += apply()
		for _, name := range names {
			check(b, os.Remove(filepath.Join(r.local, name)))
		}
		deleted += apply()
	}
	for what, took := range map[string]time.Duration{"new": fresh, "changed": changed, "deleted": deleted} {
		b.ReportMetric(took.Seconds()*1000/float64(b.N), what+"-ms")
		b.ReportMetric(float64(took)/float64(own), what+"-x")
	}
}
