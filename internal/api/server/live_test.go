package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const token = "the right token"

// live is a server on both of its listeners, over a store whose loop runs.
type live struct {
	*statetest.Alone
	t    testing.TB
	tcp  string
	sock string
	logs *logstore.Store
	// stopped is closed by POST /api/stop.
	stopped chan struct{}
}

func serveLive(t testing.TB, change ...func(*Subscriber)) *live {
	var lc net.ListenConfig
	tcp, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(t.TempDir(), "s.sock")
	unix, err := lc.Listen(t.Context(), "unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	cert := selfSigned(t)
	f := &live{t: t, tcp: tcp.Addr().String(), sock: sock, logs: statetest.Logs(t), stopped: make(chan struct{})}
	sub := New(Options{Version: "1.2.3", TCP: tcp, Unix: unix, Token: token, Certificate: &cert, Kinds: projection.All(), Logs: f.logs,
		PageLogin: NewPageLogin(tcp), Page: fstest.MapFS{"index.html": {Data: []byte("<p>the page")}, "page.js": {Data: []byte("the script")}},
		Kubeconfig: "/home/dev/.kube/config", Env: []string{"HONE_SESSION=shop"},
		Stop: func() { close(f.stopped) }})
	for _, c := range change {
		c(sub)
	}
	f.Alone = statetest.Start(t, sub)
	return f
}

func selfSigned(t testing.TB) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// client returns a client of one of the listeners, "http", "https" or "unix", and the URL that paths are appended to.
func (f *live) client(listener string) (*http.Client, string) {
	tr := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // self-signed
	if listener == "unix" {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", f.sock)
		}
		return &http.Client{Transport: tr, Timeout: time.Minute}, "http://hone"
	}
	return &http.Client{Transport: tr, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		listener + "://" + f.tcp
}

// declare fills the store with n resources, and returns once they are there.
func (f *live) declare(n int) {
	manifests := make([]model.Manifest, n)
	for i := range manifests {
		manifests[i] = statetest.K8s(fmt.Sprintf("r%04d", i), statetest.Image(fmt.Sprintf("r%04d", i)))
	}
	f.Dispatch(statetest.Session, statetest.Loaded(manifests...))
	f.Until("the resources are declared", func(v store.View) bool { return state.Resources.In(v).Len() == n })
}

// busy keeps the loop of a live server busy. At the end, it logs the statistics of the batches and checks that the loop kept
// running.
func (f *live) busy() {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	before := f.Store.Loop()
	all.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				f.Store.Dispatch(statetest.Change("r0001", fmt.Sprintf("/src/r0001/%d", i%50)))
			}
		}
	})
	f.t.Cleanup(func() {
		cancel()
		all.Wait()
		l := f.Store.Loop()
		f.t.Logf("%d batches, slowest %s, average %s", l.Batches-before.Batches, l.Slowest, l.Busy/time.Duration(max(l.Batches, 1)))
		if l.Batches <= before.Batches {
			f.t.Error("the loop stood still")
		}
	})
}

// alive checks that the owner is served as ever, by both listeners.
func (f *live) alive() {
	f.t.Helper()
	for _, d := range []string{"unix", "https"} {
		c, base := f.client(d)
		r, _ := http.NewRequest("GET", base+"/apis/hone.dev/v1alpha1/sessions/session", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		var resp *http.Response
		var err error
		for limit := time.Now().Add(20 * time.Second); ; { // connections become free again soon
			if resp, err = c.Do(r); err == nil || time.Now().After(limit) {
				break
			}
		}
		if err != nil {
			f.t.Fatalf("%s: %v", d, err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(body), "/src/Tiltfile") {
			f.t.Errorf("%s: %d %s", d, resp.StatusCode, body)
		}
	}
}
