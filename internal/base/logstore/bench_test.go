package logstore

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// benchLine is 100 bytes with its line break, with digits that change so that compression has something to do.
func benchLine(i int) string {
	return fmt.Sprintf("%016x level=info msg=\"GET /api/v1/orders\" status=200 bytes=%06d took=%03dms user=%08d ip=10.0.0.%03d\n",
		uint64(i)*0x9e3779b97f4a7c15, i%999_999, i%999, i, i%255)[:99] + "\n"
}

func benchLines() []string {
	lines := make([]string, 4096)
	for i := range lines {
		lines[i] = benchLine(i)
	}
	return lines
}

// BenchmarkIngest writes lines of 100 bytes to one resource from one goroutine; an operation is a line.
func BenchmarkIngest(b *testing.B) {
	var secrets []model.Secret
	for i := range 100 {
		secrets = append(secrets, model.Secret{Name: "s", Key: fmt.Sprint(i), Value: fmt.Sprintf("%032x", uint64(i)*0x9e3779b97f4a7c15)})
	}
	for _, bb := range []struct {
		name    string
		dir     bool
		secrets []model.Secret
	}{{"memory", false, nil}, {"spilled", true, nil}, {"spilled with 100 secrets", true, secrets}} {
		lines := benchLines()
		b.Run(bb.name, func(b *testing.B) {
			o := Options{Secrets: bb.secrets}
			if bb.dir {
				o.Dir = b.TempDir()
			}
			s, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			l := s.Logger("web", "pod:web", SourceRuntime)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				l.Write(LevelInfo, lines[i%len(lines)])
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
		})
	}
}

// BenchmarkAppend measures the path of container logs.
func BenchmarkAppend(b *testing.B) {
	s, err := New(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	lines := benchLines()
	now := time.Now()
	stream := s.Stream(Entry{Resource: "web", Span: "pod:web", Source: SourceRuntime, Level: LevelInfo, Pod: "web-5c7d9-x2v1q", Container: "web"})
	b.ReportAllocs()
	for i := range b.N {
		stream.Append(now, "", lines[i%len(lines)])
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkFollow measures ingest with a cursor that keeps up; an operation is a line written and read.
func BenchmarkFollow(b *testing.B) {
	s, err := New(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	changed, cancel := s.Subscribe()
	defer cancel()
	c := s.Cursor(Filter{})
	lines := benchLines()
	done := make(chan struct{})
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		defer close(done)
		for n := 0; n < b.N; {
			<-changed
			for got := c.Next(1000); len(got) > 0; got = c.Next(1000) {
				n += len(got)
			}
			n += int(c.Skipped())
		}
	}()
	l := s.Logger("web", "pod:web", SourceRuntime)
	for i := range b.N {
		l.Write(LevelInfo, lines[i%len(lines)])
	}
	<-done
}

// BenchmarkTail measures the terminal's query for each frame: the newest lines of all resources.
func BenchmarkTail(b *testing.B) {
	for _, resources := range []int{1, 100, 1000} {
		s, err := New(Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 20_000 {
			s.Append(Entry{Resource: model.ManifestName(fmt.Sprint("r", i%resources)), Text: strings.TrimSpace(benchLine(i))})
		}
		b.Run(fmt.Sprintf("%d resources", resources), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if len(s.Tail(Filter{}, 50)) != 50 {
					b.Fatal("short tail")
				}
			}
		})
		_ = s.Close()
	}
}

// BenchmarkScan builds an index of the lines that contain a word in any case, over two million lines of which all but
// the newest few thousand are on disk; an operation is a line. The match is about the cheapest one possible, so that
// the store's part shows.
func BenchmarkScan(b *testing.B) {
	const stored = 2_000_000
	s, err := New(Options{Dir: b.TempDir(), DiskPerResource: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	l := s.Logger("web", "pod:web", SourceRuntime)
	for i := range stored {
		l.Write(LevelInfo, benchLine(i))
	}
	if n := s.Count(Filter{}); n != stored {
		b.Fatalf("%d lines are stored, want %d", n, stored)
	}
	for _, bb := range []struct {
		name  string
		match func(LineRef) bool
	}{{"all", nil}, {"word", foldContains("Bytes=000777")}} {
		for _, back := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/back=%t", bb.name, back), func(b *testing.B) {
				f := Filter{Resources: []model.ManifestName{"web"}, Match: bb.match}
				b.ReportAllocs()
				for n := 0; n < b.N; {
					seen, to := 0, uint64(min(b.N-n, stored))+1
					if err := s.Scan(b.Context(), f, 0, to, back, func(LineRef) bool { seen++; return true }); err != nil {
						b.Fatal(err)
					}
					if bb.match == nil && seen != int(to-1) {
						b.Fatalf("%d lines, want %d", seen, to-1)
					}
					n += int(to - 1)
				}
			})
		}
	}
}

// foldContains matches lines that contain an ASCII word in any case.
func foldContains(word string) func(LineRef) bool {
	low, up := []byte(strings.ToLower(word)), []byte(strings.ToUpper(word))
	return func(ref LineRef) bool {
		line := ref.Text
	next:
		for i := 0; i+len(low) <= len(line); i++ {
			for j := range low {
				if c := line[i+j]; c != low[j] && c != up[j] {
					continue next
				}
			}
			return true
		}
		return false
	}
}
