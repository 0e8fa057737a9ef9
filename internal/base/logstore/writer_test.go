package logstore

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

func TestLoggerPutsLinesTogether(t *testing.T) {
	for _, tt := range []struct {
		name   string
		chunks []string
		want   []string
	}{
		{"whole lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"in pieces", []string{"a", "b\nc", "", "d\n"}, []string{"ab", "cd"}},
		{"empty lines", []string{"\n\na\n"}, []string{"", "", "a"}},
		{"without an end", []string{"a\nb"}, []string{"a", "b"}},
		{"windows line ends", []string{"a\r\nb\r", "\nc\r\r\n"}, []string{"a", "b", "c"}},
		{"carriage returns overwrite", []string{"10%\r20%\r", "30%", "\r100%\n"}, []string{"100%"}},
		{"overwritten and left open", []string{"10%\r", "20%\r"}, []string{"20%"}},
		{"invalid UTF-8", []string{"a\xffb\n"}, []string{"a\uFFFDb"}},
		{"rune in pieces", []string{"h\xc3", "\xa9\n"}, []string{"hé"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, Options{})
			l := s.Logger("web", "", SourceBuild)
			for _, c := range tt.chunks {
				l.Write(LevelInfo, c)
			}
			Flush(l)
			wantTexts(t, s.Tail(Filter{}, 10), tt.want...)
		})
	}
}

func TestLevelsAndLoggersDoNotMix(t *testing.T) {
	s := open(t, Options{})
	a, b := s.Logger("web", "", SourceBuild), s.Logger("web", "", SourceBuild)
	a.Write(LevelInfo, "out ")
	a.Write(LevelError, "err ")
	b.Write(LevelInfo, "other\n")
	a.Write(LevelInfo, "end\n")
	a.Write(LevelError, "end\n")
	a.Write(Level(77), "beyond\n")
	wantTexts(t, s.Tail(Filter{}, 10), "other", "out end", "err end", "beyond")
	wantTexts(t, s.Tail(Filter{MinLevel: LevelError}, 10), "err end", "beyond")
}

func TestOverlongLinesAreContinued(t *testing.T) {
	long := strings.Repeat("é", maxLine)
	for _, end := range []string{"\n", ""} {
		s := open(t, Options{MemoryPerResource: 16 << 20})
		l := s.Logger("web", "", SourceBuild)
		for rest := long + end; rest != ""; {
			n := min(len(rest), 300_001)
			l.Write(LevelInfo, rest[:n])
			rest = rest[n:]
		}
		Flush(l)
		lines := texts(s.Tail(Filter{}, 10))
		if got := strings.Join(lines, ""); got != long || len(lines) < 2 {
			t.Errorf("%d lines of together %d bytes, want the text of %d bytes in several", len(lines), len(got), len(long))
		}
	}
	s := open(t, Options{})
	s.Append(Entry{Text: strings.Repeat("x", maxLine)})
	if n := s.Count(Filter{}); n != 1 {
		t.Errorf("a line of just the bound is stored as %d", n)
	}
}

func TestOpenLineShowsAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{Secrets: []model.Secret{{Name: "db", Key: "password", Value: "hunter2"}}})
		if err != nil {
			t.Fatal(err)
		}
		prompt, secret := s.Logger("web", "", SourceBuild), s.Logger("web", "", SourceBuild)
		prompt.Write(LevelInfo, "continue? ")
		secret.Write(LevelInfo, "using hunt") // may be the start of the secret, so it must wait
		time.Sleep(openLineDelay / 2)
		synctest.Wait()
		wantTexts(t, s.Tail(Filter{}, 5))
		time.Sleep(openLineDelay)
		synctest.Wait()
		wantTexts(t, s.Tail(Filter{}, 5), "continue? ")
		time.Sleep(time.Minute)
		secret.Write(LevelInfo, "er2")
		time.Sleep(2 * openLineDelay)
		synctest.Wait()
		wantTexts(t, s.Tail(Filter{}, 5), "continue? ", "using [redacted secret db:password]")
		prompt.Write(LevelInfo, "no end, no hun")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wantTexts(t, s.Tail(Filter{}, 1), "no end, no hun")
	})
}

func TestProgressIsThinnedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := s.Logger("web", "build:1", SourceBuild)
		for _, text := range []string{"1 MB", "2 MB", "3 MB"} {
			l.Progress("layer", text, false)
		}
		wantTexts(t, s.Tail(Filter{}, 5), "1 MB")
		time.Sleep(time.Second)
		synctest.Wait()
		wantTexts(t, s.Tail(Filter{}, 5), "1 MB", "3 MB")
		l.Progress("layer", "4 MB", false)
		l.Progress("layer", "5 MB", false)
		l.Progress("layer", "done", true)
		time.Sleep(time.Second)
		synctest.Wait()
		lines := s.Tail(Filter{}, 2)
		wantTexts(t, lines, "4 MB", "done")
		if lines[0].ProgressID != "layer" || lines[0].ProgressDone || !lines[1].ProgressDone {
			t.Errorf("progress lines are %+v", lines)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestIndent(t *testing.T) {
	var got []string
	l := Indent(Func(func(_ Level, text string) { got = append(got, text) }), "  ")
	l.Write(LevelInfo, "a\nb")
	l.Write(LevelInfo, "c\nd\n")
	l.Write(LevelWarn, "w\n")
	l.Write(LevelInfo, "open")
	Flush(l)
	l.Write(LevelInfo, "e\n")
	want := []string{"  a\n  b", "c\n  d\n", "  w\n", "  open", "  e\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

// TestLevelsOfProgramsAreRaised writes the output of programs, through both ways to store it.
func TestLevelsOfProgramsAreRaised(t *testing.T) {
	type line struct {
		Text      string
		Level     Level
		Continues bool
	}
	want := []line{
		{"level=debug msg=x", LevelInfo, false},
		{"plain", LevelInfo, false},
		{"level=warn msg=x", LevelWarn, false},
		{"Traceback (most recent call last):", LevelWarn, true},
		{`  File "x.py", line 3, in f`, LevelWarn, true},
		{"ValueError: x", LevelWarn, true},
		{"FATAL smtp", LevelError, false},
		{"INFO ok", LevelInfo, false},
		{"panic: x", LevelError, false},
		{"", LevelError, true},
		{"goroutine 1 [running]:", LevelError, true},
	}
	var text strings.Builder
	for _, l := range want {
		text.WriteString(l.Text + "\n")
	}
	all := text.String()
	read := func(s *Store) (got []line) {
		for _, l := range s.Tail(Filter{}, 100) {
			got = append(got, line{l.Text, l.Level, l.Continues})
		}
		return got
	}
	for name, write := range map[string]func(*Store){
		"logger": func(s *Store) { s.Logger("web", "", SourceRuntime).Write(LevelInfo, all) },
		"logger in parts": func(s *Store) {
			l := s.Logger("web", "", SourceRuntime)
			for i := range len(all) {
				l.Write(LevelInfo, all[i:i+1])
			}
		},
		"stream": func(s *Store) {
			st := s.Stream(Entry{Resource: "web", Source: SourceRuntime, Level: LevelInfo})
			for l := range strings.Lines(all) {
				st.Append(time.Time{}, "", l)
			}
		},
		"stream at once": func(s *Store) { s.Stream(Entry{Source: SourceRuntime, Level: LevelInfo}).Append(time.Time{}, "", all) },
	} {
		s := open(t, Options{})
		write(s)
		if diff := cmp.Diff(want, read(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	s := open(t, Options{})
	s.Logger("web", "", SourceBuild).Write(LevelInfo, "ERROR of a build\n")
	s.Logger("web", "", SourceRuntime).Write(LevelError, "INFO through the error stream\n")
	s.Append(Entry{Source: SourceRuntime, Level: LevelInfo, Text: "ERROR as it is\n  second"})
	s.Stream(Entry{Source: SourceBuild, Level: LevelInfo}).Append(time.Time{}, "", "ERROR of a build")
	as := []line{{"ERROR of a build", LevelInfo, false}, {"INFO through the error stream", LevelError, false}, {"ERROR as it is", LevelInfo, false},
		{"  second", LevelInfo, true}, {"ERROR of a build", LevelInfo, false}}
	if diff := cmp.Diff(as, read(s)); diff != "" {
		t.Errorf("lines that are not raised (-want +got):\n%s", diff)
	}
}

// TestPartsOfALongLineAreOneEntry writes a line that is stored in parts.
func TestPartsOfALongLineAreOneEntry(t *testing.T) {
	long := "ERROR " + strings.Repeat("x", 2*maxLine) + "\n"
	for name, write := range map[string]func(*Store){
		"at once": func(s *Store) { s.Logger("web", "", SourceRuntime).Write(LevelInfo, long+"next\n") },
		"in parts": func(s *Store) {
			l := s.Logger("web", "", SourceRuntime)
			l.Write(LevelInfo, long[:maxLine+100])
			l.Write(LevelInfo, long[maxLine+100:])
			l.Write(LevelInfo, "next\n")
		},
		"stream": func(s *Store) {
			s.Stream(Entry{Source: SourceRuntime, Level: LevelInfo}).Append(time.Time{}, "", long+"next")
		},
	} {
		s := open(t, Options{MemoryPerResource: 16 << 20})
		write(s)
		lines := s.Tail(Filter{}, 10)
		if len(lines) != 4 {
			t.Fatalf("%s: %d lines, want 3 parts and the next line", name, len(lines))
		}
		for i, l := range lines {
			if l.Continues != (i == 1 || i == 2) || (l.Level == LevelError) != (i < 3) {
				t.Errorf("%s: part %d has level %s, continues %t", name, i, l.Level, l.Continues)
			}
		}
	}
}
