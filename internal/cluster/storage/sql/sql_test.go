package sql

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, url string) *Storage {
	t.Helper()
	s, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func wantProblem(t *testing.T, err error, words ...string) {
	t.Helper()
	if _, ok := problem.Of(err); !ok {
		t.Fatalf("no problem: %v", err)
	}
	for _, w := range words {
		if !strings.Contains(problem.Text(err), w) {
			t.Errorf("the problem lacks %q: %s", w, problem.Text(err))
		}
	}
}

func TestURLs(t *testing.T) {
	for url, words := range map[string][]string{
		"postgres://me:hush@db/ledger":                 {"has a password", ".pgpass", "PGPASSWORD"},
		"postgres://me@db/ledger?password=hush":        {"has a password", ".pgpass", "PGPASSWORD"},
		"postgresql://me@db/ledger?sslpassword=hush":   {"has a password", "PGSSLPASSWORD"},
		"postgres://me@db/ledger?sslmode=perhaps":      {"settings of the PostgreSQL database are wrong", "sslmode"},
		"postgres://me@db/ledger?service=none-of-them": {"settings of the PostgreSQL database are wrong", "service"},
		"sqlite://here/file.db":                        {"absolute path", "sqlite:///PATH"},
		"sqlite:file.db":                               {"absolute path", "sqlite:///PATH"},
		"sqlite:///folder/":                            {"absolute path"},
		"sqlite:///file.db?mode=memory":                {"absolute path"},
		"mysql://db/ledger":                            {"mysql:// is no database", "postgres://"},
	} {
		_, err := Open(url)
		wantProblem(t, err, words...)
		if strings.Contains(problem.Text(err), "hush") {
			t.Errorf("the problem has the password: %s", problem.Text(err))
		}
	}
	for _, url := range []string{"postgres://", "postgres://me@a,b:5433/ledger?target_session_attrs=read-write", "sqlite:///file.db"} {
		if s := open(t, url); s.String() != url {
			t.Errorf("%s calls itself %s", url, s)
		}
	}
	if _, err := Open("postgres://me:hush@db:port/x"); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("an invalid URL: %v", err)
	}
}

// sqliteURL returns the URL of a file.
func sqliteURL(path string) string {
	return "sqlite://" + (&url.URL{Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}).EscapedPath()
}
