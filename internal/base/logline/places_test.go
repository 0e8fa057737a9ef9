package logline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	type place struct {
		Text, File   string
		Line, Column int
	}
	for _, tt := range []struct {
		line string
		want []place
	}{
		{`cmd/worker/main.go:41:2: declared and not used: n`, []place{{"cmd/worker/main.go:41:2", "cmd/worker/main.go", 41, 2}}},
		{`#9 1.92 ./main.go:41:2: undefined: x`, []place{{"./main.go:41:2", "./main.go", 41, 2}}},
		{"\t/app/main.go:41 +0x1d", []place{{"/app/main.go:41", "/app/main.go", 41, 0}}},
		{`  File "app/x.py", line 3, in <module>`, []place{{`app/x.py", line 3`, "app/x.py", 3, 0}}},
		{`  File "/my app/x.py", line 3`, []place{{`/my app/x.py", line 3`, "/my app/x.py", 3, 0}}},
		{`  File "<string>", line 3`, nil},
		{`app/x.py:3: DeprecationWarning: x`, []place{{"app/x.py:3", "app/x.py", 3, 0}}},
		{`    at f (/app/src/x.js:10:5)`, []place{{"/app/src/x.js:10:5", "/app/src/x.js", 10, 5}}},
		{`    at file:///app/src/x.mjs:10:5`, []place{{"file:///app/src/x.mjs:10:5", "/app/src/x.mjs", 10, 5}}},
		{`    at node:internal/modules/cjs/loader:1358:14`, nil},
		{`  --> src/main.rs:4:5`, []place{{"src/main.rs:4:5", "src/main.rs", 4, 5}}},
		{`thread 'main' panicked at 'boom', src/main.rs:4:5`, []place{{"src/main.rs:4:5", "src/main.rs", 4, 5}}},
		{`	at com.x.Foo.bar(Foo.java:12)`, []place{{"Foo.java:12", "com/x/Foo.java", 12, 0}}},
		{`	at app//com.x.Foo$Inner.<init>(Foo.java:12) ~[app.jar:?]`, []place{{"Foo.java:12", "com/x/Foo.java", 12, 0}}},
		{`	at Foo.main(Foo.java:12)`, []place{{"Foo.java:12", "Foo.java", 12, 0}}},
		{`src/main/java/com/x/Foo.java:[12,3] cannot find symbol`, nil},
		{`/app/x.rb:3:in 'foo': boom (RuntimeError)`, []place{{"/app/x.rb:3", "/app/x.rb", 3, 0}}},
		{`Dockerfile:7`, []place{{"Dockerfile:7", "Dockerfile", 7, 0}}},
		{`deploy/Dockerfile.dev:7`, []place{{"deploy/Dockerfile.dev:7", "deploy/Dockerfile.dev", 7, 0}}},
		{`/work/shop/Tiltfile:12:1: in <toplevel>`, []place{{"/work/shop/Tiltfile:12:1", "/work/shop/Tiltfile", 12, 1}}},
		{`x.ts(4,7): error TS2304: Cannot find name`, []place{{"x.ts(4,7)", "x.ts", 4, 7}}},
		{`Program.cs(12,5): error CS1002: ; expected [/src/app.csproj]`, []place{{"Program.cs(12,5)", "Program.cs", 12, 5}}},
		{`   at App.Foo.Bar() in /src/Foo.cs:line 12`, []place{{"/src/Foo.cs:line 12", "/src/Foo.cs", 12, 0}}},
		{`/app/main.sh: line 1: syntax error: unexpected "("`, []place{{"/app/main.sh: line 1", "/app/main.sh", 1, 0}}},
		{`Uncaught Exception in /app/x.php on line 3`, []place{{"/app/x.php on line 3", "/app/x.php", 3, 0}}},
		{`#0 /app/x.php(7): f()`, []place{{"/app/x.php(7)", "/app/x.php", 7, 0}}},
		{`C:\src\x.cs:12 and a/b.c:3:4`, []place{{`C:\src\x.cs:12`, `C:\src\x.cs`, 12, 0}, {"a/b.c:3:4", "a/b.c", 3, 4}}},
		{`config=app.yaml:12`, []place{{"app.yaml:12", "app.yaml", 12, 0}}},
		{"\x1b[1msrc/App.tsx\x1b[0m:\x1b[33m41\x1b[0m:\x1b[33m2\x1b[0m", []place{{"src/App.tsx:41:2", "src/App.tsx", 41, 2}}},
		{`src/été.go:3`, []place{{"src/été.go:3", "src/été.go", 3, 0}}},
		{`http://localhost:8080/x`, nil},
		{`http://example.com:80`, nil},
		{`https://x.dev/main.js:3:4`, nil},
		{`db.svc:5432 example.com:443 10.0.0.1:80 localhost:3000`, nil},
		{`12:41:03 2026-11-20T12:41:03Z`, nil},
		{`image shop/api:1.2.3`, nil},
		{`main.go:12abc`, nil},
		{`main.go:0`, nil},
		{`main.go: 12`, nil},
		{`.go:12`, nil},
		{`:12 (3) ", line 4`, nil},
	} {
		var got []place
		for _, p := range Places(tt.line) {
			got = append(got, place{Plain(tt.line)[p.Start:p.End], p.File, p.Line, p.Column})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
}
