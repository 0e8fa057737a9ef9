// Command readability prints figures about a tree of Go: for each wing its lines, the density of its conditions, its time literals, and
// the comments that need a second reading. With -check it fails where a figure of the product exceeds its ceiling.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

func main() {
	check := flag.Bool("check", false, "fail where a figure exceeds its ceiling, and print only that")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	wings, err := measureTree(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !*check {
		table(os.Stdout, wings)
		return
	}
	over := exceeded(product(wings), ceilings)
	for _, line := range over {
		fmt.Println(line)
	}
	if len(over) > 0 {
		os.Exit(1)
	}
}

// product adds up the wings without the tests' one.
func product(wings map[string]figures) figures {
	var all figures
	for name, f := range wings {
		if name != tests {
			all.add(f)
		}
	}
	return all
}

// table writes a row for each wing, one for the product and one for all.
func table(w io.Writer, wings map[string]figures) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "wing\tlines\tcode\tcomments\t&& || per 1,000\tthree or more\ttimes\t")
	for _, p := range phrases {
		fmt.Fprintf(t, "%s\t", p.name)
	}
	fmt.Fprintln(t)
	row := func(name string, f figures) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%d\t%d\t", name, f.lines, f.code, f.comments, f.conditions(), f.dense, f.times)
		for i := range phrases {
			fmt.Fprintf(t, "%.1f %%\t", f.percent(i))
		}
		fmt.Fprintln(t)
	}
	for _, name := range slices.Sorted(maps.Keys(wings)) {
		row(name, wings[name])
	}
	all := product(wings)
	row("product", all)
	all.add(wings[tests])
	row("all", all)
	t.Flush()
}
