package logline

import (
	"strings"
	"testing"
)

func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		want Level
		line string
	}{
		// logfmt
		{Warn, `time=2026-11-20T12:41:03Z level=warn msg="disk is filling up"`},
		{Error, `ts=2026-11-20T12:41:03.123Z caller=main.go:12 level=error err="connection refused"`},
		{Error, `lvl=eror t=2026-11-20T12:41:03+0000 msg="Failed to connect" logger=sqlstore`},
		{Error, `severity=ERROR message="x"`},
		{Debug, `level=debug msg="error=none"`},
		{Info, `msg="level=error is only quoted here" level=info`},
		{Error, `2026-11-20 12:41:03 level=error msg=x`},
		{Unknown, `msg="no level" status=500`},
		// JSON
		{Error, `{"level":"error","ts":1732363200.12,"msg":"boom"}`},
		{Info, `{"msg":"the \"level\":\"error\" of others","level":"info"}`},
		{Error, `{"level":50,"time":1732363200000,"pid":7,"hostname":"x","msg":"boom"}`},
		{Warn, `{"name":"app","hostname":"x","pid":7,"level":40,"msg":"slow","v":0}`},
		{Debug, `{"level":20,"msg":"x"}`},
		{Error, `{"severity":"CRITICAL","message":"x"}`},
		{Error, `{"@t":"2026-11-20T12:41:03Z","@mt":"Boom","@l":"Error"}`},
		{Warn, `{"@timestamp":"2026-11-20T12:41:03Z","log.level":"WARN","message":"x"}`},
		{Error, `{"@timestamp":"2026-11-20T12:41:03Z","log":{"level":"error","logger":"x"},"message":"x"}`},
		{Error, `{ "timestamp" : "x", "LogLevel" : "Error", "Message" : "x" }`},
		{Error, `{"version":"1.1","host":"x","short_message":"x","level":3}`},
		{Warn, `{"severity":400,"message":"x"}`},
		{Info, `{"level":"info","response":{"level":"error"}}`},
		{Unknown, `{"response":{"level":"error"}}`},
		{Unknown, `{"errors":0,"msg":"no error"}`},
		// klog
		{Error, `E1123 12:00:00.000000       1 reflector.go:138] Failed to watch *v1.Pod`},
		{Warn, `W1123 12:00:00.000000       1 x.go:138] slow`},
		{Info, `I1123 12:00:00.000000       1 x.go:138] "Error" is a word here`},
		{Error, `F1123 12:00:00.000000       1 x.go:138] dying`},
		// Go
		{Unknown, `2026/11/20 12:41:03 picked job 8812 (mail)`},
		{Error, `2026/11/20 12:41:03 ERROR connecting failed host=db`},
		{Warn, `2026/11/20 12:41:03 WARN slow query took=3s`},
		{Error, `2026/11/20 12:41:03 http: panic serving 10.0.0.1:3412: runtime error: index out of range`},
		{Error, `2026/11/20 12:41:03 main.go:41: ERROR: no such table`},
		{Error, "2026-11-20T12:41:03.123Z\tERROR\tcmd/main.go:41\tboom\t{\"a\": 1}"},
		{Error, "2026-11-20T12:41:03.123+0100\terror\tcmd/main.go:41\tboom"},
		{Info, "2026-11-20T12:41:03.123Z\tinfo\tcmd/main.go:41\tno error here"},
		{Error, `12:41PM ERR could not connect error="x"`},
		{Warn, `2026-11-20T12:41:03Z WRN slow`},
		{Error, `ERRO[0003] could not connect   error=x`},
		{Warn, `WARN[0003] slow`},
		{Info, `INFO[0003] fine`},
		{Error, `EROR[11-20|12:41:03] boom                err=x`},
		{Error, `FATA[0000] cannot start`},
		{Info, `2026/11/20 12:41:03 INFO 0 errors`},
		// Python
		{Error, `ERROR:root:boom`},
		{Warn, `WARNING:urllib3.connectionpool:Retrying`},
		{Debug, `DEBUG:app:x`},
		{Error, `2026-11-20 12:41:03,123 - my.module - ERROR - boom`},
		{Info, `2026-11-20 12:41:03,123 - my.module - INFO - 0 errors`},
		{Error, `2026-11-20 12:41:03,123 ERROR [my.module] boom`},
		{Error, `[2026-11-20 12:41:03,123: ERROR/MainProcess] Task app.tasks.add raised unexpected`},
		{Error, `2026-11-20 12:41:03.123 | ERROR    | app.main:f:12 - boom`},
		{Info, `INFO:     10.0.0.1:51234 - "GET /error HTTP/1.1" 200 OK`},
		{Error, `ERROR:    Exception in ASGI application`},
		{Warn, `WARNING:  StatReload detected changes`},
		{Info, `[2026-11-20 12:41:03 +0000] [1] [INFO] Starting gunicorn 21.2.0`},
		{Error, `[2026-11-20 12:41:03 +0000] [8] [ERROR] Exception in worker process`},
		{Error, `[2026-11-20 12:41:03 +0000] [1] [CRITICAL] WORKER TIMEOUT (pid:8)`},
		{Error, `[ERROR] boom`},
		{Error, `2026-11-20 12:41:03 [error    ] boom                     user=3`},
		{Error, `[E 261120 12:41:03 web:1789] Uncaught exception`},
		{Warn, `[W 2026-11-20 12:41:03.000 ServerApp] slow`},
		{Error, `CRITICAL:app:x`},
		// Java
		{Error, `2026-11-20 12:41:03.123 [main] ERROR com.x.Foo - boom`},
		{Error, `12:41:03.123 [http-nio-8080-exec-1] ERROR c.x.Foo - boom`},
		{Warn, `2026-11-20T12:41:03.123+01:00  WARN 1 --- [shop] [           main] c.x.Foo  : slow`},
		{Error, `2026-11-20 12:41:03.123 ERROR 1 --- [nio-8080-exec-1] o.a.c.c.C.[.[.[/].[dispatcherServlet] : Servlet.service() threw`},
		{Info, `2026-11-20 12:41:03.123  INFO 1 --- [           main] c.x.ErrorHandler : Started`},
		{Error, `SEVERE: Servlet failed`},
		{Info, `INFO: Server startup in [512] milliseconds`},
		{Error, `[2026-11-20 12:41:03,123] ERROR Failed to send (org.apache.kafka.Foo)`},
		{Warn, `[2026-11-20T12:41:03,123][WARN ][o.e.n.Node] [es-1] slow`},
		{Error, `java.lang.IllegalStateException: boom`},
		{Error, `Exception in thread "main" java.lang.RuntimeException: boom`},
		{Error, `ERROR [main] com.x.Foo: boom`},
		// Node
		{Error, `Error: connect ECONNREFUSED 127.0.0.1:5432`},
		{Error, `TypeError: Cannot read properties of undefined (reading 'x')`},
		{Error, `Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/app/x.js'`},
		{Error, `Uncaught Error: boom`},
		{Error, `[UnhandledPromiseRejection: This error originated either by throwing …]`},
		{Error, `(node:7) UnhandledPromiseRejectionWarning: Error: boom`},
		{Warn, `(node:7) [DEP0040] DeprecationWarning: The punycode module is deprecated.`},
		{Error, `npm ERR! code ELIFECYCLE`},
		{Error, `npm error code ENOENT`},
		{Warn, `npm WARN deprecated x@1`},
		{Warn, `npm warn deprecated x@1`},
		{Error, `error Command failed with exit code 1.`},
		{Error, `✘ [ERROR] Could not resolve "x"`},
		{Error, `2026-11-20T12:41:03.123Z error: boom`},
		{Error, `2026-11-20T12:41:03.123Z [error]: boom`},
		{Error, `error: boom`},
		{Error, `[12:41:03.123] ERROR (7): boom`},
		{Info, `[12:41:03.123] INFO (7): no error`},
		{Error, `src/x.ts(4,7): error TS2304: Cannot find name 'y'.`},
		{Error, `ERROR in ./src/index.js`},
		// Rust
		{Error, `thread 'main' panicked at src/main.rs:4:5:`},
		{Error, `thread 'main' panicked at 'boom', src/main.rs:4:5`},
		{Error, `[2026-11-20T12:41:03Z ERROR my::module] boom`},
		{Error, `2026-11-20T12:41:03.123456Z ERROR my::module: boom`},
		{Info, `2026-11-20T12:41:03.123456Z  INFO request{method=GET}: my::module: finished error=none`},
		{Error, `error[E0425]: cannot find value x in this scope`},
		{Warn, `warning: unused variable: x`},
		// Ruby
		{Error, `E, [2026-11-20T12:41:03.123456 #1] ERROR -- : boom`},
		{Info, `I, [2026-11-20T12:41:03.123456 #1]  INFO -- : Started GET "/error"`},
		{Error, `/app/x.rb:3:in 'Integer#/': divided by 0 (ZeroDivisionError)`},
		// .NET
		{Error, `fail: Microsoft.AspNetCore.Server.Kestrel[13]`},
		{Warn, `warn: Microsoft.Hosting.Lifetime[0]`},
		{Error, `crit: Microsoft.Hosting.Lifetime[0]`},
		{Info, `info: Microsoft.Hosting.Lifetime[14]`},
		{Debug, `dbug: X[1]`},
		{Error, `[12:41:03 ERR] Unhandled exception`},
		{Info, `[12:41:03 INF] HTTP GET /error responded 200`},
		{Error, `Unhandled exception. System.InvalidOperationException: boom`},
		// servers
		{Error, `2026/11/20 12:41:03 [error] 7#7: *1 open() "/x" failed (2: No such file or directory)`},
		{Error, `2026/11/20 12:41:03 [emerg] 1#1: host not found in upstream "api"`},
		{Info, `2026/11/20 12:41:03 [notice] 1#1: start worker processes`},
		{Error, `2026-11-20 12:41:03.123 UTC [71] ERROR:  relation "x" does not exist at character 15`},
		{Error, `2026-11-20 12:41:03.123 UTC [71] app@shop FATAL:  password authentication failed for user "app"`},
		{Info, `2026-11-20 12:41:03.123 UTC [1] LOG:  database system is ready to accept connections`},
		{Error, `FATAL:  the database system is starting up`},
		{Error, `2026-11-20T12:41:03.123456Z 0 [ERROR] [MY-010119] [Server] Aborting`},
		{Warn, `2026-11-20T12:41:03.123456Z 0 [Warning] [MY-010068] [Server] CA certificate is self signed.`},
		{Error, `[Fri Nov 20 12:41:03.123456 2026] [core:error] [pid 1] AH00124: x`},
		{Error, `PHP Fatal error:  Uncaught Exception: boom in /app/x.php:3`},
		{Error, `12:41:03.123 [error] GenServer X terminating`},
		{Error, `#9 1.92 error: could not compile`},
		{Error, `make: *** [Makefile:3: all] Error 1`},
		{Error, `FATAL smtp: lookup smtp.dev on 10.96.0.10:53: no such host`},
		{Error, `panic: runtime error: index out of range [3] with length 3`},
		{Error, `fatal error: all goroutines are asleep - deadlock!`},
		{Error, `--- FAIL: TestX (0.00s)`},
		{Error, "\x1b[31mERROR\x1b[0m boom"},
		{Error, "\x1b[90m12:41PM\x1b[0m \x1b[1m\x1b[31mERR\x1b[0m\x1b[0m boom"},
		{Warn, "[\x1b[33mwarn\x1b[39m]: slow"},
		{Error, `  ERROR  indented boom`},
		// no levels
		{Unknown, ``},
		{Unknown, `0 errors`},
		{Unknown, `found 0 errors, 2 warnings`},
		{Unknown, `error_count=0`},
		{Unknown, `error_count=0 warnings=2`},
		{Unknown, `GET /error-page 200`},
		{Unknown, `10.0.0.1 - - [20/Nov/2026:12:41:03 +0000] "GET /error HTTP/1.1" 200 12 "-" "Mozilla/5.0 ERROR"`},
		{Unknown, `[GIN] 2026/11/20 - 12:41:03 | 200 |     1.2ms | 10.0.0.1 | GET      "/error"`},
		{Unknown, `Error handling is set up`},
		{Unknown, `the last error was mended`},
		{Unknown, `loading ERROR templates`},
		{Unknown, `errors: 0`},
		{Unknown, `Errors: 0`},
		{Unknown, `warnings: none`},
		{Unknown, `ERROR_HANDLER installed`},
		{Unknown, `log: starting`},
		{Unknown, `fail2ban started`},
		{Unknown, `200 OK`},
		{Unknown, `panicking is not what this does`},
		{Unknown, `ErrorBoundary mounted`},
		{Unknown, `created table "errors"`},
		{Unknown, `2026/11/20 12:41:03 no error found`},
		{Unknown, `http://localhost:8080/error`},
		{Unknown, `{not json`},
		{Unknown, `VITE v5.0.0  ready in 312 ms`},
	} {
		var r Reader
		if got, continues := r.Line(tt.line); got != tt.want || continues {
			t.Errorf("%s, continues %t, want %s: %s", got, continues, tt.want, tt.line)
		}
	}
}

// TestEntries reads streams. Each line begins with the initial of its level and, if it continues the entry before, a "+".
func TestEntries(t *testing.T) {
	for name, stream := range map[string]string{
		"Go": `
U  serving on :8080
E  panic: runtime error: invalid memory address or nil pointer dereference
E+ 	panic: again
E+ [signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47b5e1]
E+ 
E+ goroutine 1 [running]:
E+ main.(*Server).handle(0x0, {0x5, 0x6})
E+ 	/app/main.go:41 +0x1d
E+ main.main()
E+ 	/app/main.go:12 +0x1d
E+ created by main.main in goroutine 7
E+ 	/app/main.go:10 +0x25
E+ 
E+ goroutine 7 [select]:
E+ net/http.(*conn).serve(...)
E+ 	/usr/local/go/src/net/http/server.go:1 +0x2
U  exit status 2
U  serving on :8080`,
		"two outputs in one stream": `
U  serving on :8080
E  panic: boom
U  GET /orders 200
E+ goroutine 1 [running]:
I  level=info msg="GET /orders"
E+ main.(*Server).handle(0x0, {0x5, 0x6})
E+ 	/app/main.go:41 +0x1d
I  level=info msg="GET /orders"
E+ main.main()
I  level=info msg="GET /orders"
I  level=info msg="GET /orders"
E+ 	/app/main.go:12 +0x1d
I  level=info msg="GET /orders"
I+ 	user: 7`,
		"Python, two outputs in one stream": `
E  Traceback (most recent call last):
I  INFO:     10.0.0.1:3412 - "GET / HTTP/1.1" 200 OK
E+   File "/app/main.py", line 3, in <module>
I  INFO:     10.0.0.1:3412 - "GET / HTTP/1.1" 200 OK
E+     boom()
I  INFO:     10.0.0.1:3412 - "GET / HTTP/1.1" 200 OK
E+ ValueError: no such thing
I  INFO:     10.0.0.1:3412 - "GET / HTTP/1.1" 200 OK
U  listening: 8080`,
		"Java, two outputs in one stream": `
E  Exception in thread "main" java.lang.IllegalStateException: boom
I  2026-11-20 12:41:03.123  INFO 1 --- [           main] c.x.Foo : GET /orders
E+ 	at com.x.A.b(A.java:41)
I  2026-11-20 12:41:03.123  INFO 1 --- [           main] c.x.Foo : GET /orders
E+ Caused by: java.io.EOFException: end
I  2026-11-20 12:41:03.123  INFO 1 --- [           main] c.x.Foo : GET /orders
E  2026-11-20 12:41:03.123 ERROR 1 --- [           main] c.x.Foo : cannot serve
E+ java.io.IOException: closed
E+ 	at com.x.A.c(A.java:12)`,
		"Go's http": `
E  2026/11/20 12:41:03 http: panic serving 10.0.0.1:3412: boom
E+ goroutine 20 [running]:
E+ net/http.(*conn).serve.func1()
E+ 	/usr/local/go/src/net/http/server.go:1868 +0xb9
U  2026/11/20 12:41:03 next request`,
		"Python": `
I  INFO:     Waiting for application startup.
E  Traceback (most recent call last):
E+   File "/app/x.py", line 3, in <module>
E+     main()
E+     ~~~~^^
E+ ValueError: invalid literal for int() with base 10: 'x'
E+ 
E+ During handling of the above exception, another exception occurred:
E+ 
E+ Traceback (most recent call last):
E+   File "/app/x.py", line 5, in <module>
E+     raise RuntimeError("boom") from e
E+ RuntimeError: boom
I  INFO:     Started server process
E  ERROR:root:division failed
E+ Traceback (most recent call last):
E+   File "/app/x.py", line 3, in f
E+     1/0
E+ ZeroDivisionError: division by zero
E  Traceback (most recent call last):
E+   File "/app/x.py", line 3, in f
E+ KeyboardInterrupt
W  WARNING:root:slow
W+ Traceback (most recent call last):
W+   File "/app/x.py", line 3, in f
W+ my.module.Odd: what
U  plain`,
		"Python syntax": `
U  starting
E    File "/app/x.py", line 1
E+     def f(
E+          ^
E+ SyntaxError: '(' was never closed
U  next`,
		"Python group": `
E    + Exception Group Traceback (most recent call last):
E+   |   File "/app/x.py", line 3, in <module>
E+   | ExceptionGroup: two (2 sub-exceptions)
E+   +-+---------------- 1 ----------------
E+     | ValueError: one
E+     +------------------------------------`,
		"Java": `
I  12:41:03.123 [main] INFO  c.x.Foo - before
E  12:41:03.124 [main] ERROR c.x.Foo - boom
E+ java.lang.RuntimeException: wrapped
E+ 	at com.x.Foo.bar(Foo.java:12) ~[app.jar:?]
E+ 	at java.base/java.lang.Thread.run(Thread.java:840)
E+ Caused by: java.io.IOException: broken pipe
E+ 	at com.x.Foo.baz(Foo.java:15)
E+ 	... 12 more
I  12:41:03.125 [main] INFO  c.x.Foo - after
E  java.lang.IllegalStateException: printed
E+ 	at com.x.Foo.bar(Foo.java:12)
E  Exception in thread "main" java.lang.NullPointerException
E+ 	at com.x.Foo.main(Foo.java:7)
U  plain`,
		"Node": `
U  listening on 3000
E  /app/src/x.js:10
E+     throw new Error("boom");
E+     ^
E+ 
E+ Error: boom
E+     at f (/app/src/x.js:10:5)
E+     at Module._compile (node:internal/modules/cjs/loader:1358:14)
E+     at async Promise.all (index 0) {
E+   code: 'ENOENT'
E+ }
E+ 
E+ Node.js v20.11.0
U  restarting
E  Error: connect ECONNREFUSED
E  Error: connect ECONNREFUSED
U  request failed: Error: boom
E+     at f (/app/src/x.js:10:5)
E+     at /app/src/y.js:3:1
U  next`,
		"Rust": `
E  thread 'main' panicked at src/main.rs:4:5:
E+ called ` + "`Option::unwrap()` on a `None`" + ` value
E+ note: run with ` + "`RUST_BACKTRACE=1`" + ` environment variable to display a backtrace
E+ stack backtrace:
E+    0: rust_begin_unwind
E+              at /rustc/abc/library/std/src/panicking.rs:645:5
E+    1: app::main
E+              at ./src/main.rs:4:5
U  next`,
		"Ruby": `
E  /app/x.rb:3:in 'foo': undefined method 'bar' for nil (NoMethodError)
E+ 	from /app/y.rb:5:in '<main>'
I  I, [2026-11-20T12:41:03.123456 #1]  INFO -- : next`,
		".NET": `
I  info: Microsoft.Hosting.Lifetime[14]
I+       Now listening on: http://[::]:8080
E  fail: Microsoft.AspNetCore.Server.Kestrel[13]
E+       Connection id "0HN", Request id "0HN:1": An unhandled exception was thrown by the application.
E+       System.InvalidOperationException: boom
E+          at App.Foo.Bar() in /src/Foo.cs:line 12
I  info: x[0]
E  Unhandled exception. System.InvalidOperationException: boom
E+    at App.Foo.Bar() in /src/Foo.cs:line 12
E+    --- End of inner exception stack trace ---
U  next`,
		"PHP": `
E  PHP Fatal error:  Uncaught Exception: boom in /app/x.php:3
E+ Stack trace:
E+ #0 /app/x.php(7): f()
E+ #1 {main}
E+   thrown in /app/x.php on line 3
U  next`,
		"PostgreSQL": `
E  2026-11-20 12:41:03.123 UTC [71] ERROR:  relation "x" does not exist at character 15
E+ 2026-11-20 12:41:03.123 UTC [71] STATEMENT:  select * from x
I  2026-11-20 12:41:03.123 UTC [1] LOG:  checkpoint starting: time`,
		"JSON over lines": `
U  {
E+   "level": "error",
E+   "request": {
E+     "url": "/x{"
E+   },
E+ }
U  plain
U  [
U+   1,
U+ ]
U  plain`,
		"indented": `
W  2026-11-20 12:41:03 WARN two lines
W+   second
W+ 	third
U  2026-11-20 12:41:03 no level
U+   second
U  plain
U    not a continuation of prose
U  next`,
		"colours": "\n" + `
E  ` + "\x1b[31mTraceback (most recent call last):\x1b[0m" + `
E+ ` + "\x1b[2m  File \"/app/x.py\", line 3, in f\x1b[0m" + `
E+ ` + "\x1b[1mValueError\x1b[0m: x",
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			for line := range strings.SplitSeq(strings.TrimLeft(stream, "\n"), "\n") {
				level, continues := r.Line(line[3:])
				got := strings.ToUpper(level.String()[:1]) + " "
				if continues {
					got = got[:1] + "+"
				}
				if got != line[:2] {
					t.Errorf("%q, want %q: %s", got, line[:2], line[3:])
				}
			}
		})
	}
}

func BenchmarkLine(b *testing.B) {
	for name, line := range map[string]string{
		"logfmt": `time=2026-11-20T12:41:03Z level=info msg="GET /api/v1/orders" status=200 bytes=123 took=12ms user=17 ip=10.0.0.1`,
		"json":   `{"level":"info","ts":1732363200.12,"caller":"api/main.go:12","msg":"GET /api/v1/orders","status":200,"took":0.012}`,
		"go":     `2026/11/20 12:41:03 GET /api/v1/orders 200 12ms, and a few more words to make up a line that is about 100 bytes`,
		"spring": `2026-11-20 12:41:03.123  INFO 1 --- [           main] c.x.Foo : GET /api/v1/orders 200 12ms, and a few more words`,
		"prose":  `serving the orders of the day, and a few more words to make up a line that is about 100 bytes, as usual here`,
		"access": `10.0.0.1 - - [20/Nov/2026:12:41:03 +0000] "GET /api/v1/orders HTTP/1.1" 200 12 "-" "Mozilla/5.0"`,
		"colour": "\x1b[90m12:41PM\x1b[0m \x1b[32mINF\x1b[0m GET /api/v1/orders \x1b[36mstatus=\x1b[0m200 \x1b[36mtook=\x1b[0m12ms",
	} {
		b.Run(name, func(b *testing.B) {
			var r Reader
			b.ReportAllocs()
			for range b.N {
				r.Line(line)
			}
		})
	}
}
