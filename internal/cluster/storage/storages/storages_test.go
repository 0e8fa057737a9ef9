package storages

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
)

func TestOpen(t *testing.T) {
	for address, want := range map[string]string{
		"file:///tmp/x":                      "",
		"https://example.com/ledgers":        "",
		"s3://bucket/team?region=eu-north-1": "",
		"postgres:///hone":                   "",
		"sqlite:///tmp/x.db":                 "",
		"file://x":                           "names no folder",
		"/tmp/x":                             "is not the URL of a storage",
		"ftp://example.com/":                 "is not the URL of a storage",
		"ftp://me:hunter2@example.com/":      "is not the URL of a storage",
		"postgres://me:hunter2@host/hone":    "has a password",
		"https://me:hunter2@example.com/":    "has a password",
	} {
		s, err := Open(address, Options{})
		switch {
		case err == nil && want == "":
			if !strings.HasPrefix(s.String(), address[:4]) {
				t.Errorf("%s is opened as %s", address, s)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		case err == nil:
			t.Errorf("%s is accepted", address)
			continue
		}
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, want) || strings.Contains(p.Summary+p.Mend, "hunter2") || p.Mend == "" {
			t.Errorf("%s: %v", address, err)
		}
	}
}
