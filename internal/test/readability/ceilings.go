package main

import "fmt"

// ceiling is the largest allowed value of a figure of the product. A ceiling comes down with its figure and never goes up: a
// change that needs room makes some elsewhere.
type ceiling struct {
	name string
	of   func(f *figures) float64
	most float64
}

var ceilings = []ceiling{
	{"&& and || in 1,000 lines of code", (*figures).conditions, 41.0},
	{"lines with three or more && and ||", func(f *figures) float64 { return float64(f.dense) }, 46},
	{"durations written as a number and a unit", func(f *figures) float64 { return float64(f.times) }, 293},
	{`comment lines in 100 with "what"`, func(f *figures) float64 { return f.percent(0) }, 0.4},
	{`comment lines in 100 with "is how", "is what", "is of"`, func(f *figures) float64 { return f.percent(1) }, 0.2},
	{`comment lines in 100 with "that of" or "those of"`, func(f *figures) float64 { return f.percent(2) }, 0.1},
}

// exceeded names the limits that the figures of a tree exceed.
func exceeded(f figures, limits []ceiling) []string {
	var over []string
	for _, c := range limits {
		if is := c.of(&f); is > c.most {
			over = append(over, fmt.Sprintf("%s: %.1f, and at most %g are allowed", c.name, is, c.most))
		}
	}
	return over
}
