package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// auditEvent is the part of an event of the API server's audit log that the tests read.
type auditEvent struct {
	Verb       string
	RequestURI string
	UserAgent  string
	ObjectRef  struct{ Resource, Namespace, Name string }
	Response   struct{ Code int } `json:"responseStatus"`
	ReceivedAt time.Time          `json:"requestReceivedTimestamp"`
}

// wrote reports whether hone asked for a change, and the API server made it.
func (e auditEvent) wrote() bool {
	return e.UserAgent == "hone" && !strings.Contains(e.RequestURI, "dryRun=All") && e.Response.Code < http.StatusBadRequest
}

// audited returns the writes of hone in the project's namespace since a time.
func (p *project) audited(since time.Time) (out []auditEvent) {
	p.t.Helper()
	for _, raw := range p.auditLog() {
		for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
			if !bytes.Contains(lines.Bytes(), []byte(p.namespace)) {
				continue
			}
			var e auditEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				continue // it is being written
			}
			if e.ObjectRef.Namespace == p.namespace && !e.ReceivedAt.Before(since) && e.wrote() {
				out = append(out, e)
			}
		}
	}
	return out
}

// auditLog returns the files of the API server's audit log. It reads them again if the API server, which begins another file after 50 MB, has
// renamed one meanwhile.
func (p *project) auditLog() (all [][]byte) {
	p.t.Helper()
	logs := filepath.Join(filepath.Dir(os.Getenv("KUBECONFIG")), "logs")
	newest := filepath.Join(logs, "audit.log")
	for {
		before, unclear := os.Stat(newest) // not there while it is renamed
		files, err := filepath.Glob(filepath.Join(logs, "audit*.log"))
		if err != nil || len(files) == 0 {
			p.t.Fatalf("the cluster keeps no audit log: %v", err)
		}
		all = nil
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				p.t.Fatal(err)
			}
			all = append(all, raw)
		}
		after, err := os.Stat(newest)
		if unclear == nil && err == nil && os.SameFile(before, after) {
			return all
		}
	}
}
