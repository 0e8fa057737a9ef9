package web

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// tokenVariable is the environment variable with a bearer token for the server.
const tokenVariable = "HONE_LEDGER_TOKEN"

// credentials returns a function that adds the credentials for a host to a request: the token, else the user and the password in the
// file netrc. It reads them before the first request.
func credentials(host string) func(*http.Request) error {
	find := sync.OnceValues(func() (login, error) {
		if token := os.Getenv(tokenVariable); token != "" {
			return login{token: token}, nil
		}
		return fromNetrc(host)
	})
	return func(req *http.Request) error {
		l, err := find()
		switch {
		case err != nil:
			return err
		case l.token != "":
			req.Header.Set("Authorization", "Bearer "+l.token)
		case l.user != "":
			req.SetBasicAuth(l.user, l.password)
		}
		return nil
	}
}

type login struct{ token, user, password string }

func fromNetrc(host string) (login, error) {
	raw, err := os.ReadFile(netrcPath())
	if errors.Is(err, fs.ErrNotExist) {
		return login{}, nil
	}
	if err != nil {
		return login{}, fmt.Errorf("read the credentials: %w", err)
	}
	return parseNetrc(string(raw), host), nil
}

// netrcPath is the path of the file; empty without a home folder, where no file is either.
func netrcPath() string {
	if path := os.Getenv("NETRC"); path != "" {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "_netrc")
	}
	return filepath.Join(home, ".netrc")
}

// parseNetrc returns the first entry for a host, or the default entry, which comes last.
func parseNetrc(text, host string) login {
	var found login
	inside := false
	words := strings.Fields(withoutMacros(text))
	for i := 0; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch words[i] {
		case "machine", "default":
			if inside {
				return found
			}
			inside = words[i] == "default" || strings.EqualFold(value, host)
			if words[i] == "default" {
				continue
			}
		case "login":
			if inside {
				found.user = value
			}
		case "password":
			if inside {
				found.password = value
			}
		case "account":
		default:
			continue
		}
		i++ // the value
	}
	return found
}

// withoutMacros drops macro definitions, each of which ends at an empty line.
func withoutMacros(text string) string {
	var kept []string
	macro := false
	for line := range strings.Lines(text) {
		macro = macro || strings.HasPrefix(strings.TrimSpace(line), "macdef")
		if !macro {
			kept = append(kept, line)
		}
		macro = macro && strings.TrimSpace(line) != ""
	}
	return strings.Join(kept, "")
}
