package logstore

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestScrubbingLogger passes text on in pieces that divide a secret.
func TestScrubbingLogger(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 16 << 20})
	l := NewScrubber([]model.Secret{{Name: "db", Key: "pw", Value: "hunter2"}}).Logger(s.Logger("", "", ""))
	long := strings.Repeat("x", maxLine-3) + "hunter2" + strings.Repeat("y", 100)
	for _, text := range []string{"one hun", "ter2\ntwo ", "hunter2 end", "\n", long, "\nhunte", "r2"} {
		for len(text) > 0 {
			n := min(len(text), 1013)
			l.Write(LevelInfo, text[:n])
			text = text[n:]
		}
	}
	Flush(l)
	l.Progress("id", "hunter2", true)
	all := strings.Join(texts(s.Tail(Filter{}, 100)), "")
	if strings.Contains(all, "hunter2") || strings.Count(all, "[redacted secret db:pw]") != 5 || !strings.HasPrefix(all, "one [redacted secret db:pw]two [redacted secret db:pw] endxxx") {
		t.Errorf("it says %d times [redacted]: %.200s … %s", strings.Count(all, "[redacted"), all, all[len(all)-400:])
	}
	if to := s.Logger("", "", ""); NewScrubber(nil).Logger(to) != to {
		t.Error("without secrets, another logger stands between")
	}
}
