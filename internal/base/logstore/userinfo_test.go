package logstore

import (
	"strings"
	"testing"
)

func TestHideUserinfo(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"see https://host:443/a?b=c@d":       "see https://host:443/a?b=c@d",
		"https://host?mail=a@b":              "https://host?mail=a@b",
		"https://host/@scope/x and me@host":  "https://host/@scope/x and me@host",
		"https://me:pw-1@host/a":             "https://[redacted]@host/a",
		"https://ghp_token@host/a.git":       "https://[redacted]@host/a.git",
		"https://token:x-oauth-basic@host":   "https://[redacted]@host",
		"git+HTTPS://token@host/a":           "git+HTTPS://[redacted]@host/a",
		"(http://me:p@ss@host)":              "(http://[redacted]@host)",
		"ssh://git@host/a":                   "ssh://git@host/a",
		"git@host:a/b":                       "git@host:a/b",
		"DB=pg://me:pw-1@db:5432/x?y":        "DB=pg://me:[redacted]@db:5432/x?y",
		"redis://:pw-1@cache":                "redis://:[redacted]@cache",
		"pg://me:@db":                        "pg://me:@db",
		"https://$USER:$TOKEN@host":          "https://$USER:$TOKEN@host",
		"https://oauth2:${TOKEN}@host":       "https://oauth2:${TOKEN}@host",
		"docker-image://app:1@sha256:0123":   "docker-image://app:1@sha256:0123",
		"a://b:c@d, e://f:g@h, https://i":    "a://b:[redacted]@d, e://f:[redacted]@h, https://i",
		`{"url":"http://me:pw@host"}`:        `{"url":"http://[redacted]@host"}`,
		"https://[redacted]@host":            "https://[redacted]@host",
		"pg://me:[redacted secret a:b]@host": "pg://me:[redacted secret a:b]@host",
		"://":                                "://",
		"://@":                               "://@",
		"x://":                               "x://",
	} {
		if got := (Scrubber{}).Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestUserinfoInLogs hides a password in a line that arrives in parts, without any secret.
func TestUserinfoInLogs(t *testing.T) {
	s := open(t, Options{})
	l := s.Logger("", "", "")
	for part := range strings.SplitSeq("git clone https://me:pw-1@host/a\n", "") {
		l.Write(LevelInfo, part)
	}
	wantTexts(t, s.Tail(Filter{}, 5), "git clone https://[redacted]@host/a")
}

// FuzzHideUserinfo checks that nothing else changes, and that a second pass finds nothing.
func FuzzHideUserinfo(f *testing.F) {
	f.Add("a https://me:pw@host/b", "c")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, text := range []string{before, before + "pg://me:pw-1@" + after} {
			got := HideUserinfo(text)
			if again := HideUserinfo(got); again != got {
				t.Errorf("%q became %q, then %q", text, got, again)
			}
			if !strings.Contains(text, "://") && got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
	})
}
