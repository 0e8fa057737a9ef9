package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestLogWindow reads windows of logs of two resources whose lines alternate.
func TestLogWindow(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")))
	f.Until("the resources are declared", func(v store.View) bool { return state.Resources.In(v).Len() == 2 })
	write := func(from, to int) {
		for i := from; i < to; i++ {
			for _, r := range []model.ManifestName{"a", "b"} {
				level := logstore.LevelInfo
				if i%100 == 0 {
					level = logstore.LevelError
				}
				f.logs.Append(logstore.Entry{Resource: r, Source: "build", Level: level, Text: fmt.Sprintf("%s%d \x1b[31mre\x1b[0md", r, i)})
			}
		}
	}
	write(0, 1000)
	ask := func(query string) (w api.LogWindow, text string) {
		t.Helper()
		code, body := f.ask("http", "GET", "/api/logs/window?"+query, "")
		if code != 200 || json.Unmarshal([]byte(body), &w) != nil {
			t.Fatalf("%s: %d %s", query, code, body)
		}
		var out []string
		for i, l := range w.Lines {
			if i > 0 && l.At != w.Lines[i-1].At+1 {
				t.Errorf("%s: position %d after %d", query, l.At, w.Lines[i-1].At)
			}
			word, _, _ := strings.Cut(l.Text, " ")
			out = append(out, fmt.Sprintf("%d:%s", l.At, word))
		}
		return w, strings.Join(out, " ")
	}
	check := func(query string, end int, lines string) {
		t.Helper()
		if w, got := ask(query); w.First != 0 || w.End != end || got != lines {
			t.Errorf("%s: %d to %d, %s; want to %d, %s", query, w.First, w.End, got, end, lines)
		}
	}
	check("count=3", 2000, "1997:b998 1998:a999 1999:b999")
	check("from=0&count=3", 2000, "0:a0 1:b0 2:a1")
	check("from=255&count=3", 2000, "255:b127 256:a128 257:b128")
	check("resource=b&from=998&count=10", 1000, "998:b998 999:b999")
	check("resource=b&from=5000&count=10", 1000, "")
	check("level=error&from=3&count=3", 20, "3:b100 4:a200 5:b200")
	check("text=A99&from=0&count=3", 11, "0:a99 1:a990 2:a991")
	check("text=0+red&from=0&count=1", 200, "0:a0") // the visible text of a line, not its escape sequences
	check("text=/^b.*99%20/&from=0&count=4", 10, "0:b99 1:b199 2:b299 3:b399")
	check("resource=a&count=0", 1000, "")
	write(1000, 1001)
	check("count=2", 2002, "2000:a1000 2001:b1000")
	check("level=error&count=1", 22, "21:b1000")
	if w, _ := ask("from=0&count=1000"); len(w.Lines) != 1000 {
		t.Errorf("%d lines", len(w.Lines))
	}
	for query, want := range map[string]string{
		"find=a99":                             `{"at":198,"nth":1,"count":11}`, // from the end it goes on at the beginning
		"find=a99&back=true":                   `{"at":1998,"nth":11,"count":11}`,
		"find=a99&from=199":                    `{"at":1980,"nth":2,"count":11}`,
		"find=a99&from=198":                    `{"at":198,"nth":1,"count":11}`,
		"find=a99&from=197&back=true":          `{"at":1998,"nth":11,"count":11}`,
		"find=a99&from=1981&back=true":         `{"at":1980,"nth":2,"count":11}`,
		"resource=a&find=/^a99.?%20/&from=100": `{"at":990,"nth":2,"count":11}`,
		"resource=a&text=7&find=a97&from=0":    `{"at":18,"nth":1,"count":11}`,
		"find=nothing&from=0":                  `{"at":-1,"nth":0,"count":0}`,
	} {
		if code, body := f.ask("http", "GET", "/api/logs/find?"+query, ""); code != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %s, want %s", query, code, body, want)
		}
	}
	if code, body := f.ask("http", "GET", "/api/logs/find?from=0", ""); code != 400 {
		t.Errorf("without a text: %d %s", code, body)
	}
	for query, want := range map[string]string{
		"count=1001": "up to 1000", "count=x": "not a number", "from=-1": "not a position", "text=/(/": "text:", "levle=x": "not known", "resource=c": "no resource is called",
	} {
		if code, body := f.ask("http", "GET", "/api/logs/window?"+query, ""); code/100 != 4 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
}

// TestLogWindowOfDropped reads a log that has lost its oldest lines: positions stay, and those lines are missing.
func TestLogWindowOfDropped(t *testing.T) {
	logs, err := logstore.New(logstore.Options{MemoryPerResource: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	x := &logIndex{}
	n := 0
	for round := 0; logs.Dropped(logstore.Filter{}) < 5000; round++ {
		if round > 1000 {
			t.Fatal("nothing is dropped")
		}
		for range 500 {
			logs.Append(logstore.Entry{Resource: "a", Text: fmt.Sprint(n)})
			n++
		}
		for !x.extend(t.Context(), logs, time.Time{}) {
		}
	}
	dropped := int(logs.Dropped(logstore.Filter{}))
	w, err := x.window(t.Context(), logs, time.Time{}, 0, n)
	if err != nil || w.End != n || w.First > dropped || w.First < dropped-markEvery {
		t.Fatalf("%d to %d of %d, %d are dropped: %v", w.First, w.End, n, dropped, err)
	}
	for _, l := range w.Lines {
		if l.Text != fmt.Sprint(l.At) {
			t.Fatalf("position %d has line %s", l.At, l.Text)
		}
	}
	if len(w.Lines) != n-dropped {
		t.Errorf("%d lines, want %d", len(w.Lines), n-dropped)
	}
}

// TestLogWindowSkipsProgress: lines that were replaced do not count.
func TestLogWindowSkipsProgress(t *testing.T) {
	logs := statetest.Logs(t)
	l := logs.Logger("a", "", "build")
	l.Progress("x", "1 of 3", false)
	l.Progress("x", "2 of 3", false)
	l.Progress("x", "3 of 3", true)
	l.Write(logstore.LevelInfo, "after\n")
	logs.Flush()
	x := &logIndex{}
	x.extend(t.Context(), logs, time.Time{})
	w, err := x.window(t.Context(), logs, time.Time{}, 0, 10)
	if err != nil || w.End != 2 || len(w.Lines) != 2 || w.Lines[0].Text != "3 of 3" || w.Lines[1].At != 1 {
		t.Errorf("%+v %v", w, err)
	}
}
