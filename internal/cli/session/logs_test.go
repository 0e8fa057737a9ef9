package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/pkg/api"
)

// object returns a line of a log as the session sends it.
func object(t testing.TB, l api.LogLine) string {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// TestSpoolDropsTheOldest lets a continuing log get far ahead of its printer: the newest lines are kept, and the number of
// missing lines includes those that the session itself could not send.
func TestSpoolDropsTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		line := object(t, api.LogLine{Seq: 1000, Text: "x"})
		s := newLogSpool(in, true, 10*len(line))
		defer s.Close()
		_, _ = io.WriteString(out, object(t, api.LogLine{Skipped: 7}))
		for i := range 100 {
			_, _ = io.WriteString(out, object(t, api.LogLine{Seq: uint64(1000 + i), Text: "x"}))
		}
		synctest.Wait() // until all is read
		lines, skipped, err := s.next()
		if len(lines) != 10 || lines[0].Seq != 1090 || skipped != 7+90 || err != nil {
			t.Errorf("%d lines, %d skipped, %v", len(lines), skipped, err)
		}
		_, _ = io.WriteString(out, object(t, api.LogLine{Seq: 1100, Text: "x"}))
		_ = out.Close()
		synctest.Wait()
		if lines, skipped, err = s.next(); len(lines) != 1 || lines[0].Seq != 1100 || skipped != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d lines, %d skipped, %v", len(lines), skipped, err)
		}
	})
}

// TestSpoolWaits lets a log that ends get ahead of its printer: no line is dropped, and no more is read than the bound allows.
func TestSpoolWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		line := object(t, api.LogLine{Seq: 1000, Text: "x"})
		s := newLogSpool(in, false, 10*len(line))
		defer s.Close()
		sent := 0
		go func() {
			for ; sent < 1000; sent++ {
				if _, err := io.WriteString(out, object(t, api.LogLine{Seq: uint64(1000 + sent), Text: "x"})); err != nil {
					t.Error(err)
				}
			}
			_ = out.Close()
		}()
		synctest.Wait()
		if sent >= 1000 {
			t.Error("all is read at once")
		}
		want := uint64(1000)
		for {
			lines, skipped, err := s.next()
			for _, l := range lines {
				if l.Seq != want || skipped > 0 {
					t.Fatalf("line %d after %d skipped, want %d", l.Seq, skipped, want)
				}
				want++
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if want != 2000 {
			t.Errorf("it ends before %d", want)
		}
	})
}

// TestSpoolCloses closes spools that wait for room, for a line, and for nothing.
func TestSpoolCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := strings.Repeat(object(t, api.LogLine{Seq: 1}), 100)
		for _, drops := range []bool{true, false} {
			in, _ := io.Pipe()
			for _, body := range []io.ReadCloser{io.NopCloser(strings.NewReader(full)), in} {
				s := newLogSpool(body, drops, 100)
				synctest.Wait()
				s.Close()
			}
		}
	})
}

// TestLogOutput prints a log with a gap as text and as objects.
func TestLogOutput(t *testing.T) {
	text := strings.Join([]string{
		object(t, api.LogLine{Seq: 1, Resource: "api", Level: "info", Text: "one"}),
		object(t, api.LogLine{Skipped: 3}),
		object(t, api.LogLine{Seq: 5, Resource: "(Tiltfile)", Level: "warn", Prefix: "[p] ", Text: "five"}),
	}, "")
	print := func(f logFlags) string {
		var out bytes.Buffer
		s := newLogSpool(io.NopCloser(strings.NewReader(text)), false, maxSpool)
		defer s.Close()
		if err := printLogs(s, f.printer(&out)); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	want := "          api │ one\n… 3 lines were dropped before they could be printed\n[p] five\n"
	if diff := cmp.Diff(want, print(logFlags{})); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(text, print(logFlags{json: true})); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	// The lines that this side drops are counted together with those that the session has dropped.
	for _, tc := range []struct {
		flags logFlags
		want  string
	}{{logFlags{}, "… 5 lines were dropped before they could be printed\n"}, {logFlags{json: true}, object(t, api.LogLine{Skipped: 2}) + object(t, api.LogLine{Skipped: 3})}} {
		var out bytes.Buffer
		gap := spooled{LogLine: api.LogLine{Skipped: 3}, raw: []byte(object(t, api.LogLine{Skipped: 3}))}
		if err := tc.flags.printer(&out)(2, []spooled{gap}); err != nil || out.String() != tc.want {
			t.Errorf("%q %v, want %q", out.String(), err, tc.want)
		}
	}
}

// TestLogBreaksOff ends the connection in the middle of a line: once with the session, once without it.
func TestLogBreaksOff(t *testing.T) {
	for _, lives := range []bool{true, false} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/view" {
				fmt.Fprint(w, "{}")
				return
			}
			fmt.Fprint(w, object(t, api.LogLine{Seq: 1, Text: "whole"})+`{"seq":2,"text":"ha`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		c := client.At(sessions.Info{Host: "127.0.0.1", Port: portOf(t, srv)}, "")
		in, err := c.Logs(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !lives {
			srv.Close()
		}
		var out bytes.Buffer
		s := newLogSpool(in, true, maxSpool)
		err = ended(t.Context(), c, "logs", printLogs(s, new(logFlags).printer(&out)))
		s.Close()
		srv.Close()
		want := map[bool]string{true: "has stopped sending", false: "is gone without having ended"}[lives]
		if out.String() != "whole\n" || err == nil || !strings.Contains(problem.Text(err), want) {
			t.Errorf("%q, then %v, want %s", out.String(), err, want)
		}
	}
}

func TestLogQuery(t *testing.T) {
	q, err := (&logFlags{tail: 5, since: "5m", level: "warn", source: "build", follow: true}).query([]string{"a", "(Tiltfile)"})
	if got, want := q.Encode(), "follow=true&format=json&level=warn&resource=a&resource=%28Tiltfile%29&since=5m&source=build&tail=5"; got != want || err != nil {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	if q, err := (&logFlags{tail: -1, source: "all"}).query(nil); q.Has("resource") || q.Has("since") || err != nil {
		t.Errorf("%v %v", q, err)
	}
}

// portOf returns the port of a test's server.
func portOf(t *testing.T, srv *httptest.Server) int {
	t.Helper()
	var port int
	if _, err := fmt.Sscanf(filepath.Base(srv.URL), "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	return port
}
