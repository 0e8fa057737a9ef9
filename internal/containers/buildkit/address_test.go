package buildkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
)

// TestParseAddress parses addresses as users write them.
func TestParseAddress(t *testing.T) {
	for text, want := range map[string]buildkit.Address{
		"unix:///run/b.sock": {URL: "unix:///run/b.sock"},
		"tcp://h:1234":       {URL: "tcp://h:1234"},
		"tcp://h:1?ca=/a/ca.pem&cert=c&key=k&servername=s": {URL: "tcp://h:1", CA: "/a/ca.pem", Cert: "c", Key: "k", ServerName: "s"},
		"ssh://me@h:22/run/b.sock":                         {URL: "ssh://me@h:22/run/b.sock"},
		"docker-container://b0":                            {URL: "docker-container://b0"},
	} {
		got, err := buildkit.ParseAddress(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{
		"http://h:1": "begins with none of", "tcp://h": "has no port", "unix://": "has no path", "ssh://": "has no host", "docker-container://": "has no host",
		"unix:///s?ca=x": "only an address with tcp", "tcp://h:1?token=x": `no parameter "token"`, "tcp://[": "missing ']'",
	} {
		_, err := buildkit.ParseAddress(text)
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, why) || p.Mend == "" {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}

// TestFind chooses among the builders that docker buildx has been told of.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BUILDX_CONFIG", dir)
	all := filepath.Join(dir, "instances")
	if err := os.MkdirAll(all, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"big":    `{"Name":"big","Driver":"docker-container","Nodes":[{"Name":"big0","Endpoint":"unix:///var/run/docker.sock","DriverOpts":null},{"Name":"big1","Endpoint":"arm"}]}`,
		"far":    `{"Name":"far","Driver":"remote","Nodes":[{"Name":"far0","Endpoint":"tcp://far:1234","DriverOpts":{"cacert":"/ca","cert":"/c","key":"/k","servername":"s"}}]}`,
		"own":    `{"Name":"own","Driver":"docker","Nodes":[{"Name":"own","Endpoint":"default"}]}`,
		"pods":   `{"Name":"pods","Driver":"kubernetes","Nodes":[{"Name":"pods0","Endpoint":"kubernetes:///"}]}`,
		"empty":  `{"Name":"empty","Driver":"remote","Nodes":[]}`,
		"broken": `{"Name":`,
	} {
		if err := os.WriteFile(filepath.Join(all, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]*buildkit.Address{
		"": nil, "default": nil, "own": nil,
		"big":            {Name: "big", URL: "docker-container://buildx_buildkit_big0", Endpoint: "unix:///var/run/docker.sock"},
		"far":            {Name: "far", URL: "tcp://far:1234", CA: "/ca", Cert: "/c", Key: "/k", ServerName: "s"},
		"unix:///b.sock": {URL: "unix:///b.sock"},
	} {
		got, err := buildkit.Find(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, why := range map[string]string{
		"pods": "the driver kubernetes", "empty": "has no node", "none": "choose one of default, kubernetes, big, empty, far, own, pods", "ftp://x": "begins with none of",
	} {
		if _, err := buildkit.Find(text); err == nil || !strings.Contains(problem.Text(err), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}
