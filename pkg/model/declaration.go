package model

// Declaration is a call in a Tiltfile that has shaped a resource: that declares it, an image that it runs, or options of it.
type Declaration struct {
	// Call is the name of the function: "k8s_resource".
	Call string
	// File is the absolute path of the file with the call, and Line the line where the call begins, from 1.
	File string
	Line int
	// Source are the lines of the call as they stand in the file, at most MostSource.
	Source []string
	// From is the line of the root Tiltfile that led to a call in another file; 0 for a call in the root Tiltfile that is in
	// no function.
	From int
}

// MostSource is the largest number of source lines that a Declaration keeps of a call.
const MostSource = 20
