package rest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
)

// kubectlBinary returns the kubectl that scripts/cluster has built, else the machine's.
func kubectlBinary(t *testing.T) string {
	home, err := os.UserHomeDir()
	if err == nil {
		state := os.Getenv("XDG_STATE_HOME")
		if state == "" {
			state = filepath.Join(home, ".local", "state")
		}
		if path := filepath.Join(state, "hone", "cluster", "bin", "kubectl"); exec.Command(path, "version", "--client").Run() == nil {
			return path
		}
	}
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("there is no kubectl: scripts/cluster up builds one")
	}
	return path
}

// certificate creates a self-signed certificate for this machine.
func certificate(t testing.TB) (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// kubectl is the program, connected to a world over TLS with a token.
type kubectl struct {
	t      *testing.T
	binary string
	env    []string
}

func (w *world) kubectl(t *testing.T) *kubectl {
	binary := kubectlBinary(t)
	cert, ca := certificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := access.Server(access.Guard(access.Rules{Token: "right", Refuse: Refuse}, w.handler))
	done := make(chan error, 1)
	go func() { done <- srv.Serve(access.Listen(l, &cert, access.MaxConnections)) }()
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: s, contexts: [{name: s, context: {cluster: s, user: s}}],
clusters: [{name: s, cluster: {server: "https://%s", certificate-authority-data: %s}}], users: [{name: s, user: {token: right}}]}`,
		l.Addr(), base64.StdEncoding.EncodeToString(ca))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &kubectl{t, binary, append(os.Environ(), "KUBECONFIG="+config, "KUBECACHEDIR="+t.TempDir(), "HOME="+t.TempDir(), "KUBE_EDITOR=sed -i s/two/edited/")}
}

func (k *kubectl) command(stdin string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	k.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, k.binary, args...)
	c.Env = k.env
	c.Stdin = strings.NewReader(stdin)
	return c
}

// run returns the output of kubectl, and whether it succeeded.
func (k *kubectl) run(stdin string, args ...string) (string, bool) {
	out, err := k.command(stdin, args...).CombinedOutput()
	return string(out), err == nil
}

// says runs kubectl and expects its output to match a regular expression.
func (k *kubectl) says(want, stdin string, args ...string) string {
	k.t.Helper()
	out, ok := k.run(stdin, args...)
	if !ok || !regexp.MustCompile(want).MatchString(out) {
		k.t.Errorf("kubectl %s: success %v\n%s\nwant %s", strings.Join(args, " "), ok, out, want)
	}
	return out
}

// TestKubectl is a test by an independent client: kubectl must work with a session as it does with a cluster.
func TestKubectl(t *testing.T) {
	w := newWorld(t)
	k := w.kubectl(t) // compiled first: the ages below are those of new objects
	w.then(put("a", "one", "tier=web"), put("b", "two", "tier=db"))
	manifest := "apiVersion: test.dev/v1alpha1\nkind: Note\nmetadata: {name: c, labels: {tier: web}}\nspec: {text: three}\n"

	k.says(`(?m)^notes +nt +test.dev/v1alpha1 +false +Note$`, "", "api-resources")
	k.says(`(?m)^test.dev/v1alpha1$`, "", "api-versions")
	k.says(`(?m)^NAME +TEXT +SIZE\na +one +3\nb +two +3$`, "", "get", "notes")
	k.says(`(?m)^NAME +TEXT +SIZE +AGE\na +one +3 +\d+s`, "", "get", "nt", "a", "-o", "wide")
	k.says(`(?m)^note.test.dev/a\nnote.test.dev/b$`, "", "get", "note", "-o", "name")
	k.says(`(?ms)^apiVersion: test.dev/v1alpha1.*^kind: Note.*^  text: one`, "", "get", "notes.test.dev", "a", "-o", "yaml")
	k.says(`(?s)"text": "two".*"kind": "List"`, "", "get", "notes", "-o", "json")
	k.says(`^one two$`, "", "get", "notes", "-o", "jsonpath={.items[*].spec.text}")
	k.says(`(?m)^b +two +3$`, "", "get", "notes", "-l", "tier=db", "--no-headers")
	k.says(`(?m)^a +one +3 +tier=web$`, "", "get", "notes", "--show-labels", "--no-headers", "--field-selector", "metadata.name=a")
	k.says(`(?m)^b.*\na`, "", "get", "notes", "--sort-by={.spec.text}", "--no-headers=false", "-o", "custom-columns=N:.metadata.name,T:.spec.text", "--sort-by=.metadata.labels.tier")
	k.says(`(?s)Name: +a\n.*Labels: +tier=web\n.*Text: +one`, "", "describe", "note", "a")
	k.says(`(?s)KIND: +Note.*What somebody has written down.*spec`, "", "explain", "notes")
	k.says(`(?s)FIELD: text <string>`, "", "explain", "notes.spec.text")
	k.says(`note.test.dev/a patched`, "", "patch", "note", "a", "--type=merge", "-p", `{"spec":{"text":"uno"}}`)
	k.says(`note.test.dev/a patched`, "", "patch", "note", "a", "--type=json", "-p", `[{"op":"replace","path":"/spec/size","value":12}]`)
	k.says(`note.test.dev/a patched`, "", "patch", "note", "a", "--subresource=status", "--type=merge", "-p", `{"status":{"clicks":4}}`)
	k.says(`^uno 12 4$`, "", "get", "note", "a", "-o", "jsonpath={.spec.text} {.spec.size} {.status.clicks}")
	k.says(`condition met`, "", "wait", "note/a", "--for=condition=Long", "--timeout=10s")
	k.says(`condition met`, "", "wait", "note/a", "--for=jsonpath={.spec.text}=uno", "--timeout=10s")
	k.says(`labeled`, "", "label", "note", "a", "seen=yes")
	k.says(`note.test.dev/b edited`, "", "edit", "note", "b")
	k.says(`^edited$`, "", "get", "note", "b", "-o", "jsonpath={.spec.text}")
	k.says(`note.test.dev/c created`, manifest, "apply", "-f", "-")
	k.says(`note.test.dev/c unchanged`, manifest, "apply", "-f", "-")
	k.says(`note.test.dev/c configured`, strings.Replace(manifest, "three", "drei", 1), "apply", "-f", "-")
	k.says(`note.test.dev/c serverside-applied`, manifest, "apply", "--server-side", "-f", "-")
	k.says(`note.test.dev/c configured \(server dry run\)`, strings.Replace(manifest, "three", "dry", 1), "apply", "--dry-run=server", "-f", "-")
	k.says(`^three$`, "", "get", "note", "c", "-o", "jsonpath={.spec.text}")
	if out, ok := k.run(strings.Replace(manifest, "text:", "txt:", 1), "apply", "-f", "-"); ok || !strings.Contains(out, `unknown field "spec.txt"`) {
		t.Errorf("apply of an unknown field: %v\n%s", ok, out)
	}
	if out, ok := k.run("", "patch", "note", "a", "--type=merge", "-p", `{"spec":{"text":"bad"}}`); ok || !strings.Contains(out, "write a good one") {
		t.Errorf("a refused patch: %v\n%s", ok, out)
	}
	if out, ok := k.run("", "get", "note", "zzz"); ok || !strings.Contains(out, `notes.test.dev "zzz" not found`) {
		t.Errorf("a missing object: %v\n%s", ok, out)
	}
	if out, ok := k.run("", "--token=wrong", "get", "notes"); ok || !strings.Contains(out, "must be logged in") && !strings.Contains(out, "Unauthorized") && !strings.Contains(out, "token") {
		t.Errorf("a wrong token: %v\n%s", ok, out)
	}
	k.says(`note.test.dev/d created`, strings.Replace(manifest, "name: c", "name: d", 1), "create", "-f", "-")
	k.says(`note.test.dev/d replaced`, strings.Replace(manifest, "name: c", "name: d", 1), "replace", "-f", "-")
	k.says(`note.test.dev "d" deleted`, "", "delete", "note", "d")
	k.says(`(?s)"c" deleted`, "", "delete", "notes", "-l", "tier=web")
	k.says(`Server Version: v1.2.3`, "", "version")
	k.says(`^ok$`, "", "get", "--raw", "/readyz")
}

// TestKubectlWatches has kubectl follow changes, as a table and for a condition.
func TestKubectlWatches(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", "one"))
	k := w.kubectl(t)
	c := k.command("", "get", "notes", "-w")
	out := &lines{grown: make(chan struct{}, 1)}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waits := make(chan string, 1)
	go func() {
		said, _ := k.run("", "wait", "note/a", "--for=condition=Long", "--timeout=20s")
		waits <- said
	}()
	out.until(t, `(?m)^a +one +3`)
	w.then(put("a", "a longer text"))
	out.until(t, `(?m)^a +a longer text +13`)
	w.then(put("b", "two"))
	out.until(t, `(?m)^b +two +3`)
	if said := <-waits; !strings.Contains(said, "condition met") {
		t.Errorf("wait: %s", said)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
}

// lines is output that grows.
type lines struct {
	mu    sync.Mutex
	b     bytes.Buffer
	grown chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p)
	select {
	case l.grown <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits until the output matches.
func (l *lines) until(t *testing.T, want string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for !regexp.MustCompile(want).MatchString(l.text()) {
		select {
		case <-l.grown:
		case <-limit:
			t.Fatalf("no %s in\n%s", want, l.text())
		}
	}
}
