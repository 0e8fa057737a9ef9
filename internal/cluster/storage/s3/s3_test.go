package s3

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/s3/s3test"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

// alone lets a test use its own credentials, and no settings of the machine.
func alone(t *testing.T, user, password string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": user, "AWS_SECRET_ACCESS_KEY": password, "AWS_CONFIG_FILE": none,
		"AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_ENDPOINT_URL_STS": "", "AWS_ROLE_ARN": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": ""} {
		t.Setenv(name, value)
	}
}

// eachServer runs a test on each real server.
func eachServer(t *testing.T, test func(t *testing.T, server *s3test.Server)) {
	for _, p := range s3test.Programs {
		t.Run(p.Name, func(t *testing.T) {
			alone(t, s3test.User, s3test.Password)
			server, err := s3test.Start(t.Context(), p, t.TempDir())
			if err != nil {
				if errors.Is(err, s3test.ErrNone) {
					t.Skip(err)
				}
				t.Fatal(err)
			}
			t.Cleanup(server.Kill)
			test(t, server)
		})
	}
}

func open(t *testing.T, url string) *Storage {
	t.Helper()
	s, err := New(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	eachServer(t, func(t *testing.T, server *s3test.Server) {
		storagetest.Conformance(t, func(t *testing.T) storage.Storage { return open(t, server.URL()) })
	})
}

// proxied is the URL of the storage behind a handler that gets the real server.
func proxied(t *testing.T, server *s3test.Server, handler func(http.Handler) http.Handler) string {
	t.Helper()
	target, err := url.Parse(server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	front := httptest.NewServer(handler(proxy))
	t.Cleanup(front.Close)
	return strings.Replace(server.URL(), server.Endpoint(), front.URL, 1)
}

// TestWireFaults loses and cuts requests and answers.
func TestWireFaults(t *testing.T) {
	eachServer(t, func(t *testing.T, server *s3test.Server) {
		at := proxied(t, server, func(h http.Handler) http.Handler { return storagetest.NewWire(h, 3) })
		storagetest.Revisions(t, open(t, server.URL()), 10, open(t, at), open(t, at))
	})
}

// TestKilledServer kills the server in the middle of saves, and starts it again.
func TestKilledServer(t *testing.T) {
	eachServer(t, func(t *testing.T, server *s3test.Server) {
		var saves atomic.Int64
		half := make(chan struct{})
		at := proxied(t, server, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut && saves.Add(1) == 10 {
					close(half)
				}
				h.ServeHTTP(w, r)
			})
		})
		restarted := make(chan error, 1)
		go func() {
			<-half
			server.Kill()
			restarted <- server.Run(t.Context())
		}()
		storagetest.Revisions(t, open(t, server.URL()), 15, open(t, at), open(t, at))
		if err := <-restarted; err != nil {
			t.Fatal(err)
		}
	})
}

// TestClocks lets the clocks of this machine and of the store differ, by minutes and by more than a store accepts.
func TestClocks(t *testing.T) {
	eachServer(t, func(t *testing.T, server *s3test.Server) {
		for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute, 25 * time.Hour} {
			s, other := open(t, server.URL()), open(t, server.URL())
			s.store.now = func() time.Time { return time.Now().Add(off) }
			name := "clock" + strings.TrimPrefix(off.String(), "-") + map[bool]string{true: "-back"}[off < 0]
			appendInTurn(t, name, s, other)
		}
	})
}

// appendInTurn lets two handles write in turn more versions than one cleaning needs, and reads all.
func appendInTurn(t *testing.T, name string, handles ...*Storage) {
	t.Helper()
	const each = cleanEvery
	lines := make([]string, 0, each)
	for i := range each {
		for w, s := range handles {
			line := string(rune('0'+w)) + " " + string(rune('a'+i)) + "\n"
			lines = append(lines, line)
			if err := storagetest.Append(t.Context(), s, name, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	doc, err := handles[0].Load(t.Context(), name)
	if err != nil || string(doc.Data) != strings.Join(lines, "") {
		t.Errorf("%q, %v", doc.Data, err)
	}
	left, _, err := handles[0].store.list(t.Context(), keyPrefix(name), "", 0)
	if err != nil || len(left) != len(lines) {
		t.Errorf("%d versions are left of %d, all of them younger than the limit; %v", len(left), len(lines), err)
	}
}

// TestOldVersions sets the store's clock forward, and removes all old versions except the newest two. A writer who slept meanwhile
// must not get a number that was used before.
func TestOldVersions(t *testing.T) {
	eachServer(t, func(t *testing.T, server *s3test.Server) {
		var later atomic.Bool
		at := proxied(t, server, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(&laterDate{w, later.Load()}, r)
			})
		})
		s := open(t, at)
		var versions []storage.Version
		was := storage.None
		for i := range 6 {
			is, err := s.Save(t.Context(), "doc", []byte{byte(i)}, was)
			if err != nil {
				t.Fatal(err)
			}
			was = is
			versions = append(versions, is)
		}
		gone, err := s.Save(t.Context(), "gone", nil, storage.None)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), "gone", gone); err != nil {
			t.Fatal(err)
		}
		numbers := func() (all []int64) {
			objects, _, err := s.all(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				all = append(all, o.number)
			}
			return all
		}
		before := len(numbers())
		later.Store(true)
		if names, err := s.List(t.Context(), ""); err != nil || len(names) != 1 || names[0] != "doc" {
			t.Fatalf("List = %q, %v", names, err)
		}
		if got := numbers(); before != 8 || len(got) != 3 || got[0] != 6 || got[1] != 5 || got[2] != 2 {
			t.Errorf("%d versions before, %v after", before, got)
		}
		for _, old := range versions[:5] {
			if _, err := s.Save(t.Context(), "doc", []byte("old"), old); !errors.Is(err, storage.ErrStale) {
				t.Errorf("Save over version %s: %v", old, err)
			}
		}
		if doc, err := s.Load(t.Context(), "doc"); err != nil || string(doc.Data) != "\x05" {
			t.Errorf("Load = %q, %v", doc.Data, err)
		}
		if got := numbers(); len(got) != 3 {
			t.Errorf("versions left: %v", got)
		}
	})
}

// laterDate is an answer of a server whose clock is two hours ahead of the times of its objects.
type laterDate struct {
	http.ResponseWriter
	on bool
}

func (l *laterDate) WriteHeader(code int) {
	if l.on {
		l.Header().Set("Date", time.Now().Add(2*keep).UTC().Format(http.TimeFormat))
	}
	l.ResponseWriter.WriteHeader(code)
}

// TestUnfit refuses a store that ignores If-None-Match.
func TestUnfit(t *testing.T) {
	eachServer(t, func(t *testing.T, server *s3test.Server) {
		at := proxied(t, server, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("If-None-Match") != "" {
					w.WriteHeader(http.StatusNotImplemented)
					return
				}
				h.ServeHTTP(w, r)
			})
		})
		err := storage.Check(t.Context(), open(t, at))
		if p, ok := problem.Of(err); !ok || p.Mend == "" || !strings.Contains(err.Error(), "does not support If-None-Match") {
			t.Errorf("Check: %v", err)
		}
	})
}
