// Package language documents every name of the Tiltfile language: its effect, its parameters, its result. The language server
// shows this documentation in editors, "hone tiltfile --builtins" prints it, and web/docs/reference/language.md contains it.
//
// # Where it is written
//
// The source is pages/*.md. Each file holds chapters:
//
//	# Title of a chapter
//
//	The subject of the chapter.
//
//	## name -> type
//
//	The effect, in one paragraph that begins with one plain sentence.
//
//	More paragraphs, and code between ``` marks.
//
//	* `parameter: type = default` The meaning; a line
//	  that continues is indented.
//
// "## name: type" is a value, "## name: module" a module, "## (type).name -> type" a method. A parameter without a
// default is required, "x/" is positional only, "*" alone ends the positional parameters, "*xs" and "**xs" take any
// number. Types in quotes are the allowed texts.
//
// Tests of package tiltfile compare the pages with the parameters that the interpreter accepts.
//
// # Concurrency
//
// The pages are read once, on first use. Returned values are shared and must not be changed.
package language
