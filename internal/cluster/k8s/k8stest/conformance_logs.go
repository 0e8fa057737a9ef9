package k8stest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

func testLogs(t *testing.T, f Fixture) {
	f.StartPod(t, "logs")
	f.Say(t, "logs", "first")
	f.Say(t, "logs", "second")
	req := k8s.LogRequest{Namespace: f.Namespace, Pod: "logs", Container: "main"}
	lines := awaitLines(t, f, req, "first", "second")
	t.Run("since", func(t *testing.T) {
		req := req
		req.Since = lines["second"]
		got := readLog(t, f, req)
		if HasLine(got, "first") || !HasLine(got, "second") {
			t.Errorf("from the stamp of the second line on:\n%s", got)
		}
		req.Since = lines["second"].Add(time.Nanosecond)
		if got := readLog(t, f, req); HasLine(got, "second") {
			t.Errorf("just after the stamp of the second line:\n%s", got)
		}
	})
	t.Run("follow", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		req := req
		req.Follow = true
		r, err := f.Client.Logs(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		f.Say(t, "logs", "third")
		var got bytes.Buffer
		buf := make([]byte, 1024)
		for !HasLine(got.String(), "third") {
			n, err := r.Read(buf)
			got.Write(buf[:n])
			if err != nil {
				t.Fatalf("%v after:\n%s", err, got.String())
			}
		}
		cancel()
		if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
			t.Errorf("after cancelling: %v", err)
		}
	})
	t.Run("missing pod", func(t *testing.T) {
		req := req
		req.Pod = "nobody"
		if _, err := f.Client.Logs(t.Context(), req); !k8s.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
}

// awaitLines reads a log until it has the lines, and returns their times.
func awaitLines(t *testing.T, f Fixture, req k8s.LogRequest, want ...string) map[string]time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	req.Follow = true
	r, err := f.Client.Logs(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var text []byte
	buf := make([]byte, 1024)
	stamps := map[string]time.Time{}
	for len(stamps) < len(want) {
		n, err := r.Read(buf)
		text = append(text, buf[:n]...)
		for line := range strings.Lines(string(text)) {
			stamp, rest, _ := strings.Cut(line, " ")
			at, perr := time.Parse(time.RFC3339Nano, stamp)
			for _, w := range want {
				if rest == w+"\n" && perr == nil {
					stamps[w] = at
				}
			}
		}
		if err != nil && len(stamps) < len(want) {
			t.Fatalf("%v after:\n%s", err, text)
		}
	}
	return stamps
}

func readLog(t *testing.T, f Fixture, req k8s.LogRequest) string {
	t.Helper()
	r, err := f.Client.Logs(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
