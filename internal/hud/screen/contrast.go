package screen

import "math"

// luminance returns the relative luminance of a colour whose parts are between 0 and 1, as WCAG defines it.
func luminance(rgb [3]float64) float64 {
	var l [3]float64
	for i, c := range rgb {
		if l[i] = c / 12.92; c > 0.04045 {
			l[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}
