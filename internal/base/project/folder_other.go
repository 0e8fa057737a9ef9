//go:build !linux && !darwin

package project

// folderOf identifies no folder: on these systems a project whose folder was moved is a new project.
func folderOf(string) folder { return folder{} }
