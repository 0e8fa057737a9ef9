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
	b.ReportAllocs()
	for i := range b.N {
		s.Append(Entry{Time: now, Resource: "web", Span: "pod:web", Source: SourceRuntime, Text: lines[i%len(lines)]})
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
