package logline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEssential marks the lines that are wanted with "> ".
func TestEssential(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		log  string
	}{
		{"a fatal line among others", 5, `
  starting
  connecting to smtp.dev
> FATAL smtp: lookup smtp.dev on 10.96.0.10:53: no such host
  closing
  bye`},
		{"a panic with its own frames", 5, `
  2026/11/20 12:41:03 serving
> panic: runtime error: index out of range [3] with length 3
  
  goroutine 1 [running]:
  runtime.panicIndex()
  	/usr/local/go/src/runtime/panic.go:1 +0x1
  main.pick(...)
> 	/app/main.go:41
  main.run()
> 	/app/main.go:20 +0x1d
  main.main()
  	/app/main.go:12 +0x1d
  exit status 2`},
		{"a Python exception with the most recent own calls", 3, `
  INFO:     started
  Traceback (most recent call last):
    File "/app/main.py", line 3, in <module>
      run()
>   File "/app/jobs.py", line 9, in run
      pick()
>   File "/app/jobs.py", line 19, in pick
      json.loads("x")
    File "/usr/lib/python3.12/json/decoder.py", line 355, in raw_decode
> json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)`},
		{"a Python program that cannot be read", 10, `
  starting
>   File "/app/main.py", line 2
      return sum(prices
                ^
> SyntaxError: '(' was never closed`},
		{"Java causes", 4, `
  12:41:03.123 [main] INFO  c.x.Foo - before
> Exception in thread "main" java.lang.RuntimeException: wrapped
  	at org.springframework.boot.X.run(X.java:1)
> 	at com.x.Foo.bar(Foo.java:12)
> 	at com.x.Foo.main(Foo.java:7)
> Caused by: java.io.IOException: broken pipe
  	at java.base/java.io.X.write(X.java:3)
  	... 12 more`},
		{"Node", 3, `
  > node index.js
> /app/src/x.js:10
      throw new Error("boom");
      ^
  
> Error: boom
>     at f (/app/src/x.js:10:5)
      at Module._compile (node:internal/modules/cjs/loader:1358:14)
  
  Node.js v20.11.0`},
		{"Rust", 4, `
> thread 'main' panicked at src/main.rs:4:5:
> index out of bounds: the len is 3 but the index is 3
  note: run with RUST_BACKTRACE=1`},
		{"compiler errors, the first ones", 2, `
  #9 [4/7] RUN go build -o /bin/worker ./cmd/worker
  #9 1.90 # shop/cmd/worker
> #9 1.92 cmd/worker/main.go:41:2: declared and not used: n
> #9 1.92 cmd/worker/main.go:43:2: undefined: m
  #9 1.92 cmd/worker/main.go:45:2: undefined: o
  #9 ERROR: process "/bin/sh -c go build" did not complete successfully: exit code: 1`},
		{"TypeScript", 3, `
  > tsc
> src/x.ts(4,7): error TS2304: Cannot find name 'y'.
  exit status 2`},
		{"npm", 3, `
  added 3 packages
> npm ERR! code ENOENT
> npm ERR! path /app/package.json
> npm ERR! enoent ENOENT: no such file or directory, open '/app/package.json'
  npm ERR! A complete log of this run can be found in: /root/.npm/_logs/x.log`},
		{"a command that is missing", 2, `
  preparing
> sh: 1: protoc: not found
  exit status 127`},
		{"the exit status if nothing is better", 2, `
> exit status 1`},
		{"the last lines", 2, `
  one
> two
  
> three
  exit status 1`},
		{"the last fatal of several", 1, `
  FATAL one
  restarting
> FATAL two`},
		{"errors before the end", 1, `
  2026/11/20 12:41:03 ERROR one
> 2026/11/20 12:41:03 ERROR two
  2026/11/20 12:41:03 INFO three`},
		{"JSON", 2, `
  {"level":"info","msg":"starting"}
> {"level":"fatal","msg":"no config"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			var want []int
			for l := range strings.SplitSeq(strings.TrimPrefix(tt.log, "\n"), "\n") {
				if l[:2] == "> " {
					want = append(want, len(lines))
				}
				lines = append(lines, l[2:])
			}
			got := Essential(lines, tt.n)
			if diff := cmp.Diff(want, got); diff != "" {
				var text []string
				for _, i := range got {
					text = append(text, lines[i])
				}
				t.Errorf("indices (-want +got):\n%s\n%s", diff, strings.Join(text, "\n"))
			}
		})
	}
	if got := Essential([]string{"", " "}, 3); len(got) != 0 {
		t.Errorf("%d lines of none with text", len(got))
	}
}
