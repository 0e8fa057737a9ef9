package words

import (
	"fmt"
	"testing"
)

func TestWords(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Count(0, "file"), "0 files"}, {Count(1, "file"), "1 file"}, {Count(1200, "old image"), "1200 old images"},
		{Size(0), "0 B"}, {Size(999), "999 B"}, {Size(1000), "1.0 kB"}, {Size(3_440_000), "3.4 MB"}, {Size(7_000_000_000), "7.0 GB"},
		{Size(2_500_000_000_000), "2.5 TB"}, {Size(9_000_000_000_000_000), "9000.0 TB"},
		{FirstLine(""), ""}, {FirstLine("\n  \n\tone \r\ntwo"), "one"}, {FirstLine("only"), "only"},
		{OneLine(" RUN make\\\n\t&& make\tinstall\n"), `RUN make\ && make install`}, {OneLine("\n"), ""},
		{Clip("short", 5), "short"}, {Clip("longer", 5), "longe…"}, {Clip("añejo", 2), "a…"}, {Clip("añejo", 3), "añ…"},
		{List(nil, "row"), "no row"}, {List([]string{"a"}, "row"), "a"}, {List([]string{"a", "b"}, "row"), "a and b"},
		{List([]string{"a", "b", "c"}, "row"), "a, b and c"}, {List([]string{"a", "b", "c", "d"}, "row"), "4 rows"}, {All(nil), ""}, {All([]string{"a"}), "a"},
		{All([]string{"a", "b", "c", "d"}), "a, b, c and d"},
		{ClipChars("añejo", 5), "añejo"}, {ClipChars("añejos", 5), "añej…"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func ExampleCount() {
	fmt.Println(Count(1, "resource"), "and", Count(2, "image"))
	// Output: 1 resource and 2 images
}

func TestUnquoted(t *testing.T) {
	for in, want := range map[string]string{``: ``, `a`: `a`, `'`: `'`, `''`: ``, `'a'`: `a`, `"a b"`: `a b`, `'a"`: `'a"`, `"'a'"`: `'a'`, `a'b'`: `a'b'`} {
		if got := Unquoted(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
