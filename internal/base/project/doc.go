// Package project identifies the project of a Tiltfile, so that hone finds the project's records and recognises its
// objects in the cluster, whatever path leads to the Tiltfile and even after its folder was moved.
//
// A project is the folder in which a Tiltfile is evaluated, its file name, and a kubeconfig context. When hone first
// sees a project, it derives the project's ID from these and stores it in a record. The record identifies the folder by
// its path, and by properties that stay the same when a folder is moved: its inode and its creation time.
package project
