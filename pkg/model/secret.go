package model

// Secret is a value of a Secret object, which is replaced in logs.
type Secret struct {
	Name  string
	Key   string
	Value string
	// Named is set if the value is also a name of the project. It is then hidden only where a value stands: messages have to name
	// things.
	Named bool
}

// NameSecrets sets Named in those secrets whose values are among the names.
func NameSecrets(secrets []Secret, names map[string]bool) {
	for i := range secrets {
		secrets[i].Named = secrets[i].Named || names[secrets[i].Value]
	}
}
