package docker

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzStream reads an engine's stream: every message comes before the error that ends the stream, and none after it.
func FuzzStream(f *testing.F) {
	f.Add(`{"stream":"Step 1/2"}` + "\n" + `{"errorDetail":{"message":"no space"},"error":"no space"}`)
	f.Add(`{"status":"Pushing","progressDetail":{"current":1,"total":-2},"id":"a"}{"aux":{"ID":"sha256:x"}}`)
	f.Add(`{"error":""}[]`)
	f.Fuzz(func(t *testing.T, in string) {
		n := 0
		err := readStream(strings.NewReader(in), func(message) error { n++; return nil })
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		if n > 0 && !strings.Contains(in, "{") && !strings.Contains(in, "null") {
			t.Errorf("%d messages in %q", n, in)
		}
	})
}

// FuzzMinikubeEnv parses the output of "minikube docker-env".
func FuzzMinikubeEnv(f *testing.F) {
	f.Add("export DOCKER_HOST=\"tcp://192.168.49.2:2376\"\n# eval it\nDOCKER_TLS_VERIFY='1'\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		for key, value := range parseEnv([]byte(in)) {
			if strings.ContainsAny(key, "=\n") || strings.HasPrefix(value, `"`) || strings.HasSuffix(value, `'`) || strings.HasPrefix(key, "#") {
				t.Errorf("%q=%q of %q", key, value, in)
			}
		}
	})
}

func FuzzSecretSpec(f *testing.F) {
	for _, s := range []string{"id=a,src=b", `"id=a,b",env=X`, "type=env,id=a,src=X", "id=", "id=a,id=b,", "\"", "id=a,src"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		src, err := parseSecret(in)
		if err == nil && src.ID == "" {
			t.Errorf("%q has no id", in)
		}
	})
}

// FuzzUserConfig reads the docker CLI's configuration, and finds the credentials of an image's registry in it.
func FuzzUserConfig(f *testing.F) {
	f.Add(`{"auths":{"localhost:5000":{"auth":"dTpw"},"https://index.docker.io/v1/":{"identitytoken":"t"}}}`, "localhost:5000/a:b")
	f.Add(`{"auths":{"x":{"auth":"="}},"proxies":{"default":{"httpProxy":"http://p"}}}`, "busybox")
	f.Add(`{"auths":null,"HttpHeaders":{"a":1}}`, "no/domain@sha256:x")
	f.Fuzz(func(t *testing.T, text, ref string) {
		if strings.Contains(strings.ToLower(text), "cred") {
			t.Skip("credential helpers are programs, which are not run here")
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// If the configuration cannot be read, the user's own is used, which is missing here.
		t.Setenv("HOME", dir)
		c := newUserConfig(dir)
		encoded, err := c.registryAuth(ref)
		if err != nil {
			return
		}
		raw, err := base64.URLEncoding.DecodeString(encoded)
		if err != nil || !json.Valid(raw) {
			t.Errorf("credentials %q of %q: %v", encoded, text, err)
		}
		c.all()
		c.buildArgs("unix:///var/run/docker.sock", map[string]*string{})
	})
}
