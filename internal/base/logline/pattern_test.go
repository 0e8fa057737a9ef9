package logline

import (
	"testing"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		same bool
		a, b string
	}{
		{true, "GET /users/17 200 3ms", "GET /users/18 200 5ms"},
		{true, "GET /users/17 200 3 ms", "GET /users/18 204 1.5 s"},
		{false, "GET /users/17 200 3ms", "GET /users/18 500 3ms"},
		{false, "GET /users/17 200 3ms", "GET /orders/17 200 3ms"},
		{false, "GET /users/17 200 3ms", "POST /users/17 200 3ms"},
		{true, "GET /users/200 200 3ms", "GET /users/500 200 3ms"},
		{true, `10.0.0.1 - - [20/Nov/2026:12:41:03 +0000] "GET /x HTTP/1.1" 200 12`, `10.0.0.200 - - [20/Nov/2026:12:41:04 +0000] "GET /x HTTP/1.1" 200 612`},
		{false, `10.0.0.1 - - [20/Nov/2026:12:41:03 +0000] "GET /x HTTP/1.1" 200 12`, `10.0.0.1 - - [20/Nov/2026:12:41:03 +0000] "GET /x HTTP/1.1" 502 12`},
		{true, "[GIN] 2026/11/20 - 12:41:03 | 200 |     1.2ms | 10.0.0.1 | GET      \"/x\"", "[GIN] 2026/11/20 - 12:41:09 | 200 | 1.201µs | 10.0.0.1 | GET      \"/x\""},
		{false, "[GIN] 2026/11/20 - 12:41:03 | 200 |     1.2ms | 10.0.0.1 | GET      \"/x\"", "[GIN] 2026/11/20 - 12:41:03 | 404 |     1.2ms | 10.0.0.1 | GET      \"/x\""},
		{true, "2026-11-20T12:41:03Z job 8812 done", "2026-11-20T12:41:04.5+01:00 job 8813 done"},
		{true, "request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ended", "request 00000000-beef-dead-cafe-abcdefabcdef ended"},
		{true, "dial tcp 10.0.0.1:5432: connection refused", "dial tcp 10.96.0.10:80: connection refused"},
		{false, "dial tcp 10.0.0.1:5432: connection refused", "dial tcp 10.0.0.1:5432: i/o timeout"},
		{true, "dial tcp [fe80::1]:80: refused", "dial tcp [2001:db8::ff]:80: refused"},
		{true, `user "alice" not found`, `user "bob" not found`},
		{true, `user 'alice' isn't known`, `user 'o\'neil' isn't known`},
		{false, "the user's cart", "the user's order"},
		{true, "pod mailer-7c9d5f6b8-x2v1q is gone", "pod mailer-86f7d9b5c-bcdfg is gone"},
		{false, "pod mailer-7c9d5f6b8-x2v1q is gone", "pod worker-7c9d5f6b8-x2v1q is gone"},
		{true, "commit a3f9c01 of web1", "commit 77bd0e2 of web2"},
		{true, "ptr 0xc000012345", "ptr 0xc0000aabbc"},
		{true, "took 1m2s", "took 350ms"},
		{true, "read 10 MB", "read 1.5 GB"},
		{true, "level=info msg=\"user 17\" user=alice", "level=info msg=\"user 18\" user=bob"},
		{false, "level=info msg=\"user 17\" user=alice", "level=error msg=\"user 17\" user=alice"},
		{false, "level=info msg=saved user=alice", "level=info msg=dropped user=alice"},
		{false, "level=error msg=x err=\"no such host\"", "level=error msg=x err=\"timed out\""},
		{true, `{"level":30,"time":1732363200000,"msg":"user 17","id":"a"}`, `{"level":30,"time":1732363200999,"msg":"user 18","id":"b"}`},
		{false, `{"level":30,"msg":"x"}`, `{"level":50,"msg":"x"}`},
		{false, `{"level":30,"msg":"request","status":200}`, `{"level":30,"msg":"request","status":500}`},
		{true, `{"level":30,"msg":"request","status":200}`, `{"level":30,"msg":"request","status":204}`},
		{true, "status=200 path=/a", "status=201 path=/a"},
		{false, "done status=200", "done status=500"},
		{true, "\x1b[31mERROR\x1b[0m x 1", "ERROR x 2"},
		{false, "ERROR x", "WARN x"},
		{false, "connected", "disconnected"},
		{true, "balance -5", "balance 12"},
		{true, "two   spaces", "two spaces"},
	} {
		if got := Pattern(tt.a) == Pattern(tt.b); got != tt.same {
			t.Errorf("agree %t, want %t:\n%s\n%s", got, tt.same, tt.a, tt.b)
		}
	}
}

func TestRepeats(t *testing.T) {
	for _, tt := range []struct {
		same bool
		a, b string
	}{
		{true, "GET / 200", "GET / 200"},
		{true, "GET / 200 3ms", "GET / 200 12.5ms"},
		{true, "GET / 200 3 ms", "GET / 200 12 ms"},
		{false, "GET / 200 3ms", "GET / 204 3ms"},
		{false, "GET /users/17 200", "GET /users/18 200"},
		{false, "GET / 200 612 3ms", "GET / 200 613 3ms"},
		{true, "2026-11-20T12:41:03Z tick", "2026-11-20T12:41:04Z tick"},
		{false, "2026-11-20T12:41:03Z tick", "2026-11-20T12:41:04Z tock"},
		{true, "I1123 12:00:00.000000 1 x.go:1] tick", "I1124 12:00:01.000001 1 x.go:1] tick"},
		{false, "I1123 12:00:00.000000 1 x.go:1] tick", "E1123 12:00:00.000000 1 x.go:1] tick"},
		{true, "retry 3 of 10", "retry 4 of 10"},
		{true, `level=warn msg="cannot connect" attempt=4`, `level=warn msg="cannot connect" attempt=12`},
		{false, `level=warn msg="cannot connect" id=4`, `level=warn msg="cannot connect" id=12`},
		{true, `{"level":30,"time":1732363200000,"msg":"x","responseTime":3}`, `{"level":30,"time":1732363200999,"msg":"x","responseTime":12}`},
		{false, `{"level":30,"time":1732363200000,"msg":"x","user":3}`, `{"level":30,"time":1732363200999,"msg":"x","user":12}`},
		{true, "[GIN] 2026/11/20 - 12:41:03 | 200 |     1.2ms | GET /", "[GIN] 2026/11/20 - 12:41:09 | 200 | 101.201µs | GET /"},
		{true, "took_ms=3", "took_ms=12"},
		{true, "\x1b[32mok\x1b[0m 3ms", "ok 4ms"},
		{true, "waited 1m2.5s", "waited 350ms"},
		{false, "waited 1m2.5s", "waited long"},
		{false, "a", "ab"},
		{false, "", "a"},
		{true, "", ""},
	} {
		if got := Repeats(tt.a, tt.b); got != tt.same {
			t.Errorf("%t, want %t:\n%s\n%s", got, tt.same, tt.a, tt.b)
		}
		if got := Repeats(tt.b, tt.a); got != tt.same {
			t.Errorf("the other way: %t, want %t:\n%s\n%s", got, tt.same, tt.a, tt.b)
		}
	}
}

func BenchmarkPattern(b *testing.B) {
	for name, line := range map[string]string{
		"prose": `2026/11/20 12:41:03 GET /api/v1/orders/8812 200 12ms, and a few more words to make up a line of 100 bytes`,
		"json":  `{"level":"info","ts":1732363200.12,"caller":"api/main.go:12","msg":"GET /api/v1/orders","status":200}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				Pattern(line)
			}
		})
	}
}
