//go:build linux

package main

import (
	"fmt"
	"os"
)

// busy returns how much CPU time the machine has used and had, in ticks.
func busy() (used, all float64, err error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	var user, nice, system, idle, wait, irq, soft, steal float64
	if _, err := fmt.Sscanf(string(raw), "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return 0, 0, fmt.Errorf("read /proc/stat: %w", err)
	}
	used = user + nice + system + irq + soft + steal
	return used, used + idle + wait, nil
}
