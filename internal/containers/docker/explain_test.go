package docker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
)

// TestExplain covers the messages of old and new engines.
func TestExplain(t *testing.T) {
	const dockerfile = "FROM golang:1.26 AS build\nARG DIR=x\nCOPY ${DIR}/nope.txt /\nRUN make \\\n  all\n"
	tests := []struct {
		name    string
		err     string
		at      *Step
		user    bool
		summary string
		detail  string
	}{
		{"run, 20.10", "executor failed running [/bin/sh -c make   all]: exit code: 2", &Step{Name: "[build 3/3] RUN make   all"}, true,
			"RUN make all failed with exit code 2", "Dockerfile:4"},
		{"run, 24", `failed to solve: process "/bin/sh -c make all" did not complete successfully: exit code: 2`,
			&Step{Name: "[build 3/3] RUN make all", Tail: []string{"no rule"}}, true, "exit code 2", "no rule\n\nDockerfile:4"},
		{"run, classic", "The command '/bin/sh -c make all' returned a non-zero code: 2", &Step{Name: "[3/3] RUN make   all"}, true,
			"exit code 2", "Dockerfile:4"},
		{"run, shared step", "executor failed running [/bin/sh -c make   all]: exit code: 2", nil, true, "RUN make all failed", "Dockerfile:4"},
		{"run, step unknown", "exit code: 5", nil, true, "a command of the Dockerfile failed with exit code 5", ""},
		{"copy, 20.10", `failed to compute cache key: "/x/nope.txt" not found: not found`, &Step{Name: "[build 2/3] COPY x/nope.txt /"}, true,
			"x/nope.txt is not in the build context", "Dockerfile:3"},
		{"copy, old", "failed to compute cache key: failed to walk /var/lib/docker/tmp/buildkit-mount123/x: lstat /var/lib/docker/tmp/buildkit-mount123/x/nope.txt: no such file or directory",
			&Step{Name: "[build 2/3] COPY x/nope.txt /"}, true, "x/nope.txt is not in the build context", "Dockerfile:3"},
		{"copy, 24", `failed to calculate checksum of ref abc::def: "/x/nope.txt": not found`, &Step{Name: "[build 2/3] COPY x/nope.txt /"}, true,
			"x/nope.txt is not in the build context", "Dockerfile:3"},
		{"copy from stage", `"/out" not found`, &Step{Name: "[2/3] COPY --from=build /out /"}, true, "does not exist in the stage", ""},
		{"pull denied", "pull access denied, repository does not exist or may require authorization",
			&Step{Name: "[internal] load metadata for docker.io/library/golang:1.26"}, true, "cannot pull docker.io/library/golang:1.26", "Dockerfile:1"},
		{"no network", "failed to do request: Head https://registry-1.docker.io/…: dial tcp: lookup registry-1.docker.io: no such host",
			&Step{Name: "[internal] load metadata for docker.io/library/golang:1.26"}, false, "cannot pull", "Dockerfile:1"},
		{"parse", "failed to solve with frontend dockerfile.v0: failed to create LLB definition: dockerfile parse error line 2: unknown instruction: ARGH",
			nil, true, "the Dockerfile has an error", "Dockerfile:2"},
		{"parse, 24", "failed to solve: dockerfile parse error on line 2: unknown instruction: ARGH (did you mean ARG?)", nil, true, "has an error", "Dockerfile:2"},
		{"stage, 24", `target stage "prod" could not be found`, nil, true, `no stage "prod"`, ""},
		{"stage, classic", "failed to reach build target prod in Dockerfile", nil, true, `no stage "prod"`, ""},
		{"other step", "mount failed", &Step{Name: "[build 3/3] RUN make all"}, true, "RUN make all failed", "Dockerfile:4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Explain(BuildRequest{Context: t.TempDir(), Contents: dockerfile}, errors.New(tt.err), tt.at)
			p, ok := problem.Of(err)
			if _, user := errors.AsType[*UserError](err); !ok || user != tt.user {
				t.Fatalf("got %v, user error %v", err, user)
			}
			if !strings.Contains(p.Summary, tt.summary) || !strings.Contains(p.Output+"\n\n"+p.Detail, tt.detail) {
				t.Errorf("got %q\n%s", p.Summary, p.Detail)
			}
			if tt.detail == "" && p.Detail != "" {
				t.Errorf("wrong place: %s", p.Detail)
			}
		})
	}
	if err := Explain(BuildRequest{Contents: dockerfile}, errors.New("disk full"), nil); err != nil {
		t.Errorf("explained what nobody understands: %v", err)
	}
}

func TestExplainWithoutContext(t *testing.T) {
	err := Explain(BuildRequest{Contents: "FROM x\nCOPY a b"}, errors.New(`"/a" not found`), &Step{Name: "[2/2] COPY a b"})
	if p, _ := problem.Of(err); p == nil || !strings.Contains(p.Mend, "context is empty") {
		t.Errorf("got %v", err)
	}
}

func TestParseSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HONE_TEST_TOKEN", "x")
	for spec, ok := range map[string]bool{
		"id=a,src=" + file: true, "id=a,source=" + file: true, "id=a,env=HONE_TEST_TOKEN": true, "id=HONE_TEST_TOKEN": true,
		"type=env,id=a,src=HONE_TEST_TOKEN": true, "id=a,src=" + file + "-none": false, "src=x": false, "id": false, "id=a,what=x": false, `"`: false,
	} {
		_, err := secretStore([]string{spec})
		if _, user := errors.AsType[*UserError](err); user == ok || (err == nil) != ok {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestPushProblem(t *testing.T) {
	for text, mend := range map[string]string{
		"denied: requested access to the resource is denied":      "docker login gcr.io",
		"no basic auth credentials":                               "docker login gcr.io",
		"http: server gave HTTP response to HTTPS client":         "insecure-registries",
		"Get \"http://gcr.io/v2/\": dial tcp: connection refused": "is up",
	} {
		if p, ok := problem.Of(pushProblem("gcr.io/shop/api:1", errors.New(text))); !ok || !strings.Contains(p.Mend, mend) {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("FROM a\nRUN x\n", "exit code: 1", "[1/1] RUN x")
	f.Add("FROM a\nCOPY $A b\n", `"/x" not found`, "[1/1] COPY x b")
	f.Add("", "dockerfile parse error line 99999999999999999999", "")
	f.Add("FROM ${a:-(}\n", "lstat /buildkit-mount: no such file", "[1/1] ADD x")
	f.Fuzz(func(t *testing.T, dockerfile, text, step string) {
		at := &Step{Name: step}
		if step == "" {
			at = nil
		}
		if err := Explain(BuildRequest{Context: "/nowhere", Contents: dockerfile}, errors.New(text), at); err != nil {
			_ = problem.Text(err)
		}
	})
}
