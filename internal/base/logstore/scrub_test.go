package logstore

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

func TestSecretsAreReplaced(t *testing.T) {
	pem := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAoIBAQC7VJTUt9Us8cKj\n-----END KEY-----\n"
	secrets := []model.Secret{
		{Name: "db", Key: "password", Value: "hunter2"},
		{Name: "db", Key: "url", Value: "pg://hunter2@db"},
		{Name: "db", Key: "short", Value: "true"},
		{Name: "api", Key: "token", Value: "token with \"quotes\"\n"},
		{Name: "tls", Key: "key", Value: pem},
		{Name: "x", Key: "a", Value: "abcdef"},
		{Name: "x", Key: "b", Value: "defghi"},
		{Name: "y", Key: "dup", Value: "hunter2"},
	}
	b64 := base64.StdEncoding.EncodeToString
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "it is true", "it is true"},
		{"raw", "pw=hunter2;", "pw=[redacted secret db:password];"},
		{"alone", "hunter2", "[redacted secret db:password]"},
		{"twice", "hunter2hunter2", "[redacted secret db:password][redacted secret db:password]"},
		{"longest", "pg://hunter2@db", "[redacted secret db:url]"},
		{"base64", "data: " + b64([]byte("hunter2")) + ".", "data: [redacted secret db:password]."},
		{"base64 without padding", base64.RawStdEncoding.EncodeToString([]byte("hunter2")), "[redacted secret db:password]"},
		{"within base64", b64([]byte("me:hunter2")), "bWU6[redacted secret db:password]"},
		{"within base64, one byte later", b64([]byte("me::hunter2, you")), "bWU6Om[redacted secret db:password]IsIHlvdQ=="},
		{"within base64, two bytes later", b64([]byte("user:hunter2")), "dXNlcjp[redacted secret db:password]"},
		{"final line break", `the token with "quotes"!`, "the [redacted secret api:token]!"},
		{"JSON", `{"t":"token with \"quotes\""}`, `{"t":"[redacted secret api:token]"}`},
		{"base64 with line break", b64([]byte("token with \"quotes\"\n")), "[redacted secret api:token]"},
		{"line of many", "key MIIEvQIBADANBgkqhkiG9w0", "key [redacted secret tls:key]"},
		{"marker lines are no secret", "-----BEGIN KEY-----", "-----BEGIN KEY-----"},
		{"base64 of many lines", b64([]byte(pem)), "[redacted secret tls:key]"},
		{"overlapping", "xxabcdefghixx", "xx[redacted secret x:a]xx"},
		{"cut off", "hunter", "hunter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, Options{Secrets: secrets})
			s.Append(Entry{Text: tt.in})
			l := s.Logger("", "", "")
			for i := range tt.in {
				l.Write(LevelInfo, tt.in[i:i+1])
			}
			Flush(l)
			l.Progress("id", tt.in, true)
			wantTexts(t, s.Tail(Filter{}, 5), tt.want, tt.want, tt.want)
		})
	}
}

func TestSetSecretsReplacesTheSet(t *testing.T) {
	s := open(t, Options{})
	s.Append(Entry{Text: "hunter2"})
	s.SetSecrets([]model.Secret{{Name: "db", Key: "pw", Value: "hunter2"}})
	s.Append(Entry{Text: "hunter2"})
	s.SetSecrets(nil)
	s.Append(Entry{Text: "hunter2"})
	wantTexts(t, s.Tail(Filter{}, 5), "hunter2", "[redacted secret db:pw]", "hunter2")
}

func TestOverlongLineDoesNotCutASecret(t *testing.T) {
	value := "secret-" + strings.Repeat("s", 93)
	for _, at := range []int{maxLine - 200, maxLine - 150, maxLine - 99, maxLine - 50, maxLine - 1, maxLine, maxLine + 1} {
		s := open(t, Options{MemoryPerResource: 16 << 20, Secrets: []model.Secret{{Name: "a", Key: "b", Value: value}}})
		text := strings.Repeat("x", at) + value + strings.Repeat("y", 5000)
		l := s.Logger("web", "", SourceBuild)
		for rest := text; rest != ""; {
			n := min(len(rest), 1013)
			l.Write(LevelInfo, rest[:n])
			rest = rest[n:]
		}
		Flush(l)
		s.Append(Entry{Text: text})
		all := strings.Join(texts(s.Tail(Filter{}, 10)), "")
		if strings.Contains(all, "ssss") || strings.Count(all, "[redacted secret a:b]") != 2 {
			t.Errorf("at %d: the secret shows, or was replaced %d times instead of 2", at, strings.Count(all, "[redacted"))
		}
	}
}

// FuzzScrub checks that no secret survives, and that a line without one does not change.
func FuzzScrub(f *testing.F) {
	f.Add("hunter2", "abcdef", "pw hunter2 abcdef")
	f.Add("aaaaa", "aaaaaaa", "aaaaaaaaaaaaaaaaaa")
	f.Add("line one is long\nline two is long", "12345", "line two is long12345")
	f.Fuzz(func(t *testing.T, a, b, line string) {
		sc := newScrubber([]model.Secret{{Name: "n", Key: "k", Value: a}, {Name: "n", Key: "l", Value: b}})
		if sc == nil {
			return
		}
		got := sc.values(line)
		hit := false
		for _, p := range sc.sorted {
			hit = hit || strings.Contains(line, p)
			rest := strings.NewReplacer("[redacted secret n:k]", "\x00", "[redacted secret n:l]", "\x00").Replace(got)
			if strings.Contains(rest, p) && !strings.Contains(p, "\x00") && staying(p, false) == nil {
				t.Errorf("%q still shows %q", got, p)
			}
		}
		if !hit && got != line {
			t.Errorf("%q became %q without holding a secret", line, got)
		}
		for want := 1; want < len(line); want++ {
			if cut := sc.cut(line, want); cut < 0 || cut > want {
				t.Errorf("cut at %d, want at most %d", cut, want)
			}
		}
	})
}

// TestOrdinaryWords hides a password that is an ordinary word where it is a value, and leaves paths, names and source lines readable.
func TestOrdinaryWords(t *testing.T) {
	s := NewScrubber([]model.Secret{{Name: "db", Key: "password", Value: "payments"}, {Name: "db", Key: "password", Value: "cGF5bWVudHM="}, {Name: "db", Key: "user", Value: "swordfish-9000"}})
	const hidden = "[redacted secret db:password]"
	for in, want := range map[string]string{
		"helm: no such chart: charts/payments-gateway":    "helm: no such chart: charts/payments-gateway",
		"/home/dev/payments/Tiltfile:3:1: unknown":        "/home/dev/payments/Tiltfile:3:1: unknown",
		"payments.yaml: line 3":                           "payments.yaml: line 3",
		"resource \"payments-api\", payments_db":          "resource \"payments-api\", payments_db",
		"it failed:\n   3 | helm('payments', 'x')\n":      "it failed:\n   3 | helm('payments', 'x')\n",
		"the password is payments. Or payments":           "the password is " + hidden + ". Or " + hidden,
		"PASSWORD=payments":                               "PASSWORD=" + hidden,
		`{"password":"payments"}`:                         `{"password":"` + hidden + `"}`,
		"pg://me:payments@db/x":                           "pg://me:" + hidden + "@db/x",
		"base64 cGF5bWVudHM= and swordfish-9000/payments": "base64 " + hidden + " and [redacted secret db:user]/payments",
		"  12 | swordfish-9000":                           "  12 | [redacted secret db:user]",
	} {
		if got := s.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestNamesOfTheProject hides a value that is also a name of the project only where a value stands.
func TestNamesOfTheProject(t *testing.T) {
	s := NewScrubber([]model.Secret{{Name: "db", Key: "password", Value: "shop-db"}, {Name: "db", Key: "password", Value: "shop-db", Named: true}, {Name: "db", Key: "password", Value: "c2hvcC1kYg=="},
		{Name: "db", Key: "user", Value: "payments", Named: true}})
	const hidden = "[redacted secret db:password]"
	for in, want := range map[string]string{
		"shop-db": "shop-db",
		"shop-db │ Build Failed: exit status 1":                                         "shop-db │ Build Failed: exit status 1",
		"helm: no such chart: charts/shop-db-gateway":                                   "helm: no such chart: charts/shop-db-gateway",
		"/home/dev/shop-db/Tiltfile:3:1: unknown":                                       "/home/dev/shop-db/Tiltfile:3:1: unknown",
		"resource \"shop-db\" depends on payments":                                      "resource \"shop-db\" depends on payments",
		"Error: shop-db: no such file":                                                  "Error: shop-db: no such file",
		"Error: shop-db is not ready":                                                   "Error: shop-db is not ready",
		"no such resource: shop-db":                                                     "no such resource: shop-db",
		"lookup shop-db on 10.0.0.1:53: no such host":                                   "lookup shop-db on 10.0.0.1:53: no such host",
		"http://shop-db:5432/x, https://shop-db.local":                                  "http://shop-db:5432/x, https://shop-db.local",
		"  12 | password = 'shop-db'":                                                   "  12 | password = 'shop-db'",
		"it failed:\n   3 | helm('shop-db', 'x')\n":                                     "it failed:\n   3 | helm('shop-db', 'x')\n",
		"name: shop-db":                                                                 "name: shop-db",
		`{"metadata":{"name":"shop-db","namespace":"shop-db"},"serviceName":"shop-db"}`: `{"metadata":{"name":"shop-db","namespace":"shop-db"},"serviceName":"shop-db"}`,
		"--namespace=shop-db DB_HOST=shop-db app=shop-db":                               "--namespace=shop-db DB_HOST=shop-db app=shop-db",
		"PASSWORD=shop-db":                                                              "PASSWORD=" + hidden,
		"set PASSWORD='shop-db' first":                                                  "set PASSWORD='" + hidden + "' first",
		"password: shop-db":                                                             "password: " + hidden,
		"  password:  \"shop-db\"\nnext: 1":                                             "  password:  \"" + hidden + "\"\nnext: 1",
		"password = shop-db":                                                            "password = " + hidden,
		`{"password":"shop-db","x":1}`:                                                  `{"password":"` + hidden + `","x":1}`,
		`{"password": "shop-db"}`:                                                       `{"password": "` + hidden + `"}`,
		`a text of JSON: "{\"password\":\"shop-db\"}"`:                                  `a text of JSON: "{\"password\":\"` + hidden + `\"}"`,
		"pg://me:shop-db@shop-db/x":                                                     "pg://me:" + hidden + "@shop-db/x",
		"PGUSER=payments":                                                               "PGUSER=[redacted secret db:user]",
		"username: payments":                                                            "username: [redacted secret db:user]",
		"Basic c2hvcC1kYg==":                                                            "Basic " + hidden,
	} {
		if got := s.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestScrubber(t *testing.T) {
	s := NewScrubber([]model.Secret{{Name: "db", Key: "password", Value: "hunter22"}})
	if got := s.Text(`{"p":"hunter22"}`); got != `{"p":"[redacted secret db:password]"}` || s.Empty() {
		t.Errorf("%s", got)
	}
	if none := NewScrubber(nil); !none.Empty() || none.Text("hunter22") != "hunter22" {
		t.Error("a scrubber without secrets changes text")
	}
}
