package loglist

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// longLog is a log of 2 million lines of 100 bytes of ten resources, most of it on disk.
func longLog(b *testing.B, lines int) *logstore.Store {
	b.Helper()
	logs, err := logstore.New(logstore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = logs.Close() })
	fill(logs, lines)
	return logs
}

func fill(logs *logstore.Store, lines int) {
	for i := range lines {
		id := uint64(i) * 0x9e3779b97f4a7c15
		logs.Append(logstore.Entry{Resource: model.ManifestName(fmt.Sprint("service-", i/1000%10)), Source: logstore.SourceRuntime, Level: logstore.LevelInfo,
			Text: fmt.Sprintf("%016x level=info msg=\"GET /api/v1/orders\" status=%d bytes=%06d took=%03dms user=%08d", id, 200+i%301, i%999_999, i%999, i)})
	}
}

// BenchmarkFilter opens filters over 2 million lines, and measures the time until the first screen is there, and until all lines
// were looked at.
func BenchmarkFilter(b *testing.B) {
	logs := longLog(b, 2_000_000)
	for name, typed := range map[string]string{"word": "ORDERS", "rare": "user=01234567", "expression": "/status=50[0-9] .*took=99/", "field": "status>=500"} {
		b.Run(name, func(b *testing.B) {
			terms, err := logquery.Parse(typed)
			if err != nil {
				b.Fatal(err)
			}
			lists := NewLister(b.Context(), logs, time.Now)
			defer lists.Close()
			var first, whole time.Duration
			for range b.N {
				began := time.Now()
				l := lists.Open(Query{Typed: terms}, math.MaxUint64)
				shown := false
				for l.Looked() < 1 {
					<-lists.News()
					if !shown && len(l.Before(math.MaxUint64, 40)) == 40 {
						shown = true
						first += time.Since(began)
					}
				}
				whole += time.Since(began)
				if !shown {
					first += time.Since(began)
				}
				l.Close()
			}
			b.ReportMetric(first.Seconds()*1000/float64(b.N), "first-ms")
			b.ReportMetric(whole.Seconds()*1000/float64(b.N), "whole-ms")
		})
	}
}

// BenchmarkMemory lets a filter that selects everything follow 10 million lines, and reports the additional memory of the second
// half over the first.
func BenchmarkMemory(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for range b.N {
		logs := longLog(b, 0)
		terms, err := logquery.Parse("msg")
		if err != nil {
			b.Fatal(err)
		}
		lists := NewLister(b.Context(), logs, time.Now)
		l := lists.Open(Query{Typed: terms}, math.MaxUint64)
		var half float64
		for i := range 10 {
			fill(logs, 1_000_000)
			for l.Looked() < 1 {
				<-lists.News()
			}
			if i == 4 {
				half = heap()
			}
		}
		b.ReportMetric(heap(), "heap-MB")
		b.ReportMetric(heap()-half, "growth-MB")
		lists.Close()
	}
}

// BenchmarkPage reads pages of 40 items from the middle of a log of 2 million lines of 1,000 resources, most of it on disk: this
// is the reading of a frame after a jump, and while the user scrolls on from there.
func BenchmarkPage(b *testing.B) {
	logs, err := logstore.New(logstore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = logs.Close() }()
	for i := range 2_000_000 {
		logs.Append(logstore.Entry{Resource: model.ManifestName(fmt.Sprint("service-", i%1000)), Source: logstore.SourceRuntime, Level: logstore.LevelInfo,
			Text: fmt.Sprintf("%016x level=info msg=\"GET /api/v1/orders\" status=%d took=%03dms", uint64(i)*0x9e3779b97f4a7c15, 200+i%301, i%999)})
	}
	lists := NewLister(b.Context(), logs, time.Now)
	defer lists.Close()
	l := lists.Open(Query{}, math.MaxUint64)
	var jumps, scrolls, worst time.Duration
	for i := range b.N {
		at := uint64(100_000 + i*170_000%1_800_000)
		began := time.Now()
		l.ItemsAfter(at, 40, Fold{Repeats: true})
		jump := time.Since(began)
		worst = max(worst, jump)
		jumps += jump
		began = time.Now()
		for range 10 {
			l.ItemsBefore(at, 40, Fold{Repeats: true})
			at -= 40
		}
		scrolls += time.Since(began) / 10
	}
	b.ReportMetric(jumps.Seconds()*1000/float64(b.N), "jump-ms")
	b.ReportMetric(worst.Seconds()*1000, "worst-ms")
	b.ReportMetric(scrolls.Seconds()*1000/float64(b.N), "scroll-ms")
}
