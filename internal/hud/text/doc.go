// Package text measures, cuts, wraps and cleans text for a terminal: widths in columns, graphemes that stay whole, escape
// sequences of foreign programs reduced to colours. It is pure; parsed text may be shared between goroutines.
package text
