package readonly

// Kill ends the process of an Access, as far as others see it: the lock on its note is released, and nothing is deleted. With forget, it is
// killed before the cluster has confirmed the creation of its objects.
func Kill(a *Access, forget bool) (name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if forget {
		for i := range a.note.Objects {
			a.note.Objects[i].UID = ""
		}
		err = a.note.write(a.dir)
	}
	a.unlock()
	return a.note.Name, err
}
