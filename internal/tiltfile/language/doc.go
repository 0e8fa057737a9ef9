// Package language documents every name of the Tiltfile language: what it does, what it takes, what
// it returns. The language server shows it to people as they write, "hone tiltfile --builtins" prints it, and
// BUILTINS.md is the same as a page.
//
// # Where it is written
//
// The source is pages/*.md, which are for people to read and edit. Each file holds chapters:
//
//	# Title of a chapter
//
//	What the chapter is about.
//
//	## name -> type
//
//	What it does, in one paragraph that begins with one plain sentence.
//
//	More paragraphs, and code between ``` marks.
//
//	* `parameter: type = default` What it means; a line
//	  that continues is indented.
//
// "## name: type" is a value, "## name: module" a module, "## (type).name -> type" a method. A parameter without a default
// is required, "x/" is taken by position only, "*" alone ends what is taken by position, "*xs" and "**xs" take any number.
// Types in quotes are the words that a text may be.
//
// Tests of package tiltfile compare all this with what the interpreter accepts, so that it cannot become wrong unnoticed.
//
// # Concurrency
//
// The pages are read once, on first use. What is returned is shared and must not be changed.
package language
