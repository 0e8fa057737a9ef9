package proxy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Upstream is an API server with credentials.
type Upstream struct {
	URL   *url.URL
	TLS   *tls.Config
	Token string
}

// Faults are the faults that a Gateway injects into requests. The shares are between 0 and 1; the zero value does
// nothing.
type Faults struct {
	// TooMany is the share of requests answered with 429 and a Retry-After of one second.
	TooMany float64
	// Broken is the share answered with 500 without being passed on, Lost the share that is passed on and then answered
	// with 500: the server has done it, but the client does not know.
	Broken, Lost float64
	// Torn is the share whose stream or connection ends without an answer.
	Torn float64
	// MaxDelay is the longest delay of a request before it is passed on; each gets a random part of it.
	MaxDelay time.Duration
	// MaxWatch is the longest duration of a watch; zero means no limit.
	MaxWatch time.Duration
	// OnlyChanges exempts requests that only read.
	OnlyChanges bool
}

// Counts count the requests that a Gateway has handled so far, by fault.
type Counts struct {
	Passed, TooMany, Broken, Lost, Torn, Watches int
}

// Gateway passes requests on to an API server, except for those that it answers itself. Make it with NewGateway.
type Gateway struct {
	// Wire carries the connections of clients.
	Wire *Wire
	// CA is the certificate, in PEM, that clients must trust.
	CA []byte

	server *http.Server
	served chan struct{}
	// plain and upgrade are two transports: only an HTTP/1 connection can be upgraded.
	plain, upgrade *httputil.ReverseProxy

	mu     sync.Mutex
	random *mathrand.Rand
	faults Faults
	counts Counts
}

// NewGateway opens a gateway. The random numbers determine the affected requests. The caller closes it.
func NewGateway(up Upstream, random *mathrand.Rand) (*Gateway, error) {
	cert, ca, err := certificate()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the gateway: %w", err)
	}
	wire, err := NewWire(l.Addr().String())
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	g := &Gateway{Wire: wire, CA: ca, served: make(chan struct{}), random: random}
	g.plain, g.upgrade = up.proxy(true), up.proxy(false)
	g.server = &http.Server{Handler: g, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(g.served)
		_ = g.server.ServeTLS(l, "", "")
	}()
	return g, nil
}

// Close ends all connections and refuses new ones.
func (g *Gateway) Close() {
	g.Wire.Close()
	_ = g.server.Close()
	<-g.served
	g.plain.Transport.(*http.Transport).CloseIdleConnections()
	g.upgrade.Transport.(*http.Transport).CloseIdleConnections()
}

// Set changes the faults for later requests.
func (g *Gateway) Set(f Faults) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = f
}

// Counts returns the counts so far.
func (g *Gateway) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts
}

func (up Upstream) proxy(http2 bool) *httputil.ReverseProxy {
	t := &http.Transport{TLSClientConfig: up.TLS.Clone(), ForceAttemptHTTP2: http2, MaxIdleConnsPerHost: 100}
	if !http2 {
		t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(up.URL)
			if up.Token != "" {
				r.Out.Header.Set("Authorization", "Bearer "+up.Token)
			}
		},
		Transport:     t,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// verdict is the fault for one request.
type verdict int

const (
	pass verdict = iota
	tooMany
	broken
	lost
	torn
)

// decide chooses the fault for a request, its delay, and the life of a watch.
func (g *Gateway) decide(changes, watches bool) (v verdict, delay, life time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.faults
	if watches {
		g.counts.Watches++
		life = f.MaxWatch
	}
	if f.OnlyChanges && !changes {
		g.counts.Passed++
		return pass, 0, life
	}
	if f.MaxDelay > 0 {
		delay = time.Duration(g.random.Int64N(int64(f.MaxDelay)))
	}
	at := g.random.Float64()
	for _, one := range []struct {
		share float64
		v     verdict
		count *int
	}{{f.TooMany, tooMany, &g.counts.TooMany}, {f.Broken, broken, &g.counts.Broken}, {f.Lost, lost, &g.counts.Lost}, {f.Torn, torn, &g.counts.Torn}} {
		if at < one.share {
			*one.count++
			return one.v, delay, life
		}
		at -= one.share
	}
	g.counts.Passed++
	return pass, delay, life
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrades := r.Header.Get("Upgrade") != ""
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead && !upgrades
	watches := !upgrades && isWatch(r)
	v, delay, life := g.decide(changes, watches)
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	switch v {
	case tooMany:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests", "the server has received too many requests and has asked us to try again later")
		return
	case broken:
		refuse(w, http.StatusInternalServerError, "InternalError", "an error on the server, before it has done anything")
		return
	case torn:
		panic(http.ErrAbortHandler)
	case lost:
		if !watches && !upgrades {
			g.plain.ServeHTTP(&discard{header: http.Header{}}, r)
			refuse(w, http.StatusInternalServerError, "InternalError", "an error on the server, after it has done it")
			return
		}
	case pass:
	}
	if upgrades {
		g.upgrade.ServeHTTP(w, r)
		return
	}
	if life > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), life)
		defer cancel()
		r = r.WithContext(ctx)
		defer func() {
			// The end of a watch that was cut short is an ordinary end.
			if e := recover(); e != nil && (e != http.ErrAbortHandler || !errors.Is(ctx.Err(), context.DeadlineExceeded)) { //nolint:errorlint // a recovered value is compared, not an error
				panic(e)
			}
		}()
	}
	g.plain.ServeHTTP(w, r)
}

func isWatch(r *http.Request) bool {
	v := r.URL.Query().Get("watch")
	return v == "true" || v == "1"
}

// refuse answers as API servers do.
func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
}

// discard is a response writer that discards everything.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(int) {}

// certificate makes a self-signed certificate for 127.0.0.1.
func certificate() (cert tls.Certificate, ca []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hone-chaos"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(7 * 24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return cert, nil, fmt.Errorf("make the gateway's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
