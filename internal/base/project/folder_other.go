//go:build !linux && !darwin

package project

// folderOf identifies no folder: a project whose folder was moved is a new one here.
func folderOf(string) folder { return folder{} }
