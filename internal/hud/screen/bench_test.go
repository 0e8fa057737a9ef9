//go:build !windows

package screen

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/loglist"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// BenchmarkDraw draws the whole shop with a log in which every line is new each time.
func BenchmarkDraw(b *testing.B) {
	logs, err := logstore.New(logstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer logs.Close()
	hudtest.ShopLogs(logs)
	term := newTerminal("UTF-8", 120, 34)
	if err := term.Init(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(b.Context())
	lists := loglist.NewLister(ctx, logs, time.Now)
	defer lists.Close()
	u := newUI(Options{Logs: logs, Now: time.Now}, theme{}, lists)
	u.leave, u.done, u.jobs = cancel, ctx.Done(), newJobs(ctx)
	u.apply(Frame{View: view.Build(hudtest.Shop().View(b.Context()), hudtest.ShopTime, 0)}, hudtest.ShopTime)
	r := newRoot(u)
	r.SetRect(0, 0, 120, 34)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for range 15 {
			logs.Append(logstore.Entry{Resource: "api", Level: logstore.LevelInfo, Text: fmt.Sprintf("line %d of a service that has a lot to say for itself", i)})
		}
		term.Clear()
		r.Draw(term)
		term.SimulationScreen.Show()
	}
	if ctx.Err() != nil {
		b.Fatal(context.Cause(ctx))
	}
}

// counted is a terminal of the xterm kind that counts the bytes that are written to it.
type counted struct {
	written atomic.Int64
	stopped chan struct{}
	once    sync.Once
}

func newCounted() *counted { return &counted{stopped: make(chan struct{})} }

func (c *counted) Start() error        { return nil }
func (c *counted) Stop() error         { return nil }
func (c *counted) Drain() error        { c.once.Do(func() { close(c.stopped) }); return nil }
func (c *counted) NotifyResize(func()) {}
func (c *counted) Close() error        { return nil }
func (c *counted) Read([]byte) (int, error) {
	<-c.stopped
	return 0, nil
}

func (c *counted) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	return len(p), nil
}

func (c *counted) WindowSize() (tcell.WindowSize, error) {
	return tcell.WindowSize{Width: 140, Height: 40}, nil
}

// seen is a terminal that reports the marked row as soon as it is drawn.
type seen struct {
	simulated
	marks chan int
}

func (s seen) Show() {
	s.SimulationScreen.Show()
	cells, width, height := s.GetContents()
	for y := range height {
		if c := cells[y*width+1]; len(c.Runes) > 0 && c.Runes[0] == '▌' {
			select {
			case s.marks <- y:
			default:
			}
			return
		}
	}
}

// thousand are the rows of a session of 1,000 resources.
func thousand() Frame {
	return Frame{View: view.View{Header: view.Header{Project: "large"}, Rows: manyRows(1000, 17, 600), Refresh: time.Second}}
}

// flood writes lines of n resources at a rate per second until the function that it returns is called.
func flood(logs *logstore.Store, n, rate int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; {
			<-tick.C
			for range rate / 500 {
				i++
				logs.Append(logstore.Entry{Resource: model.ManifestName(fmt.Sprintf("service-%03d", i%n)), Source: logstore.SourceRuntime,
					Level: logstore.LevelInfo, Text: fmt.Sprintf("level=info msg=\"GET /orders\" status=%d took=%dms id=%08d", 200+i%5*100, i%999, i)})
			}
		}
	})
	return func() { cancel(); work.Wait() }
}

// showOn runs a screen and returns a function that ends it.
func showOn(b *testing.B, term Terminal, logs *logstore.Store, frame Frame, changed chan struct{}) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{Terminal: term, Logs: logs, Changed: changed, Frame: func(time.Time) Frame { return frame },
			Ask: nothing, Quit: func() {}, Open: func(context.Context, string) error { return nil }})
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkKeys measures the time from a key to the screen that shows its effect, with 1,000 resources, 50,000 lines a second,
// and a filter over the log.
func BenchmarkKeys(b *testing.B) {
	logs, err := logstore.New(logstore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer logs.Close()
	term := seen{newTerminal("UTF-8", 140, 40), make(chan int, 1)}
	changed := make(chan struct{}, 1)
	stop := showOn(b, term, logs, thousand(), changed)
	defer stop()
	defer flood(logs, 1000, 50_000)()
	mark := func(want int) {
		for got := range term.marks {
			if got == want {
				return
			}
		}
	}
	mark(3)
	for _, r := range "\t/status=500" {
		if r == '\t' {
			term.InjectKey(tcell.KeyTab, 0, 0)
		} else {
			term.InjectKey(tcell.KeyRune, r, 0)
		}
	}
	term.InjectKey(tcell.KeyEnter, 0, 0)
	term.InjectKey(tcell.KeyTab, 0, 0)
	time.Sleep(time.Second)
	var took []time.Duration
	b.ResetTimer()
	for i := range max(b.N, 100) {
		if i%10 == 0 {
			select {
			case changed <- struct{}{}: // the session continues as well
			default:
			}
		}
		key, want := 'j', 4
		if i%2 == 1 {
			key, want = 'k', 3
		}
		select { // earlier drawings
		case <-term.marks:
		default:
		}
		began := time.Now()
		term.InjectKey(tcell.KeyRune, key, 0)
		mark(want)
		took = append(took, time.Since(began))
		time.Sleep(7 * time.Millisecond)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*95/100].Seconds()*1000, "p95-ms")
}

// cpu is the processor time that the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIdle measures the wake-ups of the process by the screen of 1,000 resources while nothing happens and no shown age
// changes: the times per second that a thread gives up the processor, beyond those without a screen.
func BenchmarkIdle(b *testing.B) {
	const measured = 10 * time.Second
	still := thousand()
	still.View.Refresh = time.Hour
	for i := range still.View.Rows {
		if still.View.Rows[i].Status == view.Updating {
			still.View.Rows[i].Status = view.Well
		}
	}
	waits := func() int64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		before := u.Nvcsw
		time.Sleep(measured)
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Nvcsw - before
	}
	for range b.N {
		logs, err := logstore.New(logstore.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		without := waits()
		tty := newCounted()
		term, err := tcell.NewTerminfoScreenFromTty(tty)
		if err != nil {
			b.Fatal(err)
		}
		stop := showOn(b, term, logs, still, make(chan struct{}))
		time.Sleep(measured / 5)
		written := tty.written.Load()
		with := waits()
		b.ReportMetric(max(0, float64(with-without)/measured.Seconds()), "wake-ups/s") // noise may be below zero
		b.ReportMetric(float64(tty.written.Load()-written)/measured.Seconds(), "B/s")
		stop()
		if err := logs.Close(); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkFlood measures the additional cost of the screen in a flood of 20,000 lines a second: the processor time in percent of
// one processor and the bytes to the terminal, while it shows the log of a quiet resource, and while it shows the flood. The
// flood itself takes about 40 percent, so the figure is the median of several differences, each to the time before and the time
// after.
func BenchmarkFlood(b *testing.B) {
	const measured, rounds = 3 * time.Second, 7
	for _, bb := range []struct {
		name string
		keys []rune // before the flood
		n    int    // of resources that write; the first one of the table does not
	}{{"quiet", []rune("Gja"), 900}, {"shown", nil, 1000}} {
		b.Run(bb.name, func(b *testing.B) {
			logs, err := logstore.New(logstore.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			stop := flood(logs, bb.n, 20_000)
			time.Sleep(measured)
			var added []float64
			var written int64
			lasting := func() time.Duration {
				before := cpu()
				time.Sleep(measured)
				return cpu() - before
			}
			without := lasting()
			for range b.N * rounds {
				tty := newCounted()
				term, err := tcell.NewTerminfoScreenFromTty(tty)
				if err != nil {
					b.Fatal(err)
				}
				stopScreen := showOn(b, term, logs, thousand(), make(chan struct{}))
				time.Sleep(measured / 2) // the keys count once the rows are there
				for _, r := range bb.keys {
					_ = term.PostEvent(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
				}
				time.Sleep(measured / 2)
				began := tty.written.Load()
				with := lasting()
				written += tty.written.Load() - began
				stopScreen()
				after := lasting()
				added = append(added, 100*(with-(without+after)/2).Seconds()/measured.Seconds())
				without = after
			}
			slices.Sort(added)
			b.ReportMetric(added[len(added)/2], "cpu-%")
			b.ReportMetric(float64(written)/float64(len(added))/measured.Seconds()/1000, "kB/s")
			stop()
			if err := logs.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

// slow is a terminal at the other end of a line that carries rate bytes a second, behind a buffer that takes everything, as
// ssh has one. It answers when it has read a question.
type slow struct {
	*counted
	rate    int
	queue   chan []byte
	waiting atomic.Int64 // bytes in the buffer
	worst   atomic.Int64
	frames  atomic.Int64
	answers chan string
}

func newSlow(rate int) *slow {
	s := &slow{counted: newCounted(), rate: rate, queue: make(chan []byte, 1<<16), answers: make(chan string, 64)}
	go func() {
		for {
			select {
			case <-s.stopped:
				return
			case p := <-s.queue:
				time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(s.rate))
				s.waiting.Add(-int64(len(p)))
				if strings.Contains(string(p), askStatus) {
					s.answers <- statusAnswer
				}
			}
		}
	}()
	return s
}

func (s *slow) Read(p []byte) (int, error) {
	select {
	case a := <-s.answers:
		return copy(p, a), nil
	case <-s.stopped:
		return 0, nil
	}
}

func (s *slow) Write(p []byte) (int, error) {
	if len(p) > 200 {
		s.frames.Add(1)
	}
	if n := s.waiting.Add(int64(len(p))); n > s.worst.Load() {
		s.worst.Store(n)
	}
	s.queue <- bytes.Clone(p)
	return s.counted.Write(p)
}

// BenchmarkSlowLine shows a flood of 20,000 lines a second over a line of 20 kB/s: frames and bytes a second, and the terminal's
// greatest delay, which is also the delay of a key's effect. Without answers of the terminal, the delay grows forever.
func BenchmarkSlowLine(b *testing.B) {
	const rate, measured = 20_000, 4 * time.Second
	for _, bb := range []struct {
		name string
		can  terminal.Abilities
	}{{"answers", terminal.Abilities{Colors: true}}, {"silent", terminal.Abilities{}}} {
		b.Run(bb.name, func(b *testing.B) {
			for range b.N {
				logs, err := logstore.New(logstore.Options{Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				tty := newSlow(rate)
				term, err := tcell.NewTerminfoScreenFromTty(newOutlet(tty, bb.can))
				if err != nil {
					b.Fatal(err)
				}
				stop := flood(logs, 1000, 20_000)
				stopScreen := showOn(b, term, logs, thousand(), make(chan struct{}))
				time.Sleep(time.Second)
				tty.worst.Store(0)
				written, frames := tty.written.Load(), tty.frames.Load()
				time.Sleep(measured)
				b.ReportMetric(float64(tty.written.Load()-written)/measured.Seconds()/1000, "kB/s")
				b.ReportMetric(float64(tty.frames.Load()-frames)/measured.Seconds(), "frames/s")
				b.ReportMetric(float64(tty.worst.Load())/rate*1000, "behind-ms")
				stopScreen()
				stop()
				if err := logs.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}
