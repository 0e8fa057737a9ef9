package ledger

import "testing"

// FuzzLedgerFile reads damaged and foreign ledgers. A ledger that can be read is written back unchanged.
func FuzzLedgerFile(f *testing.F) {
	f.Add(`{"format":1,"cluster":"c","project":"p","resources":{"web":[{"apiVersion":"v1","kind":"ConfigMap","namespace":"n","name":"c","uid":"u"}]}}`)
	f.Add(`{"format":1,"commands":{"chart":{"argv":["helm"],"dir":"/x","env":["A=1"]}}}`)
	f.Add(`{"format":99}`)
	f.Add(`{"format":1,"resources":{"web":null,"":[{}]}}`)
	f.Fuzz(func(t *testing.T, in string) {
		l := openLedger(t, t.TempDir())
		c, err := l.parse([]byte(in))
		if err != nil {
			return
		}
		c.tidy()
		doc, err := l.encode(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.parse(doc)
		if err != nil {
			t.Fatalf("%q was written and cannot be read: %v", in, err)
		}
		if len(again.objects) != len(c.objects) || len(again.commands) != len(c.commands) {
			t.Errorf("%+v was written, and %+v read", c, again)
		}
	})
}
