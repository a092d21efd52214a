package codec

import "strings"

// similar returns the first of known that the unknown key was probably meant to be: one that differs only in case,
// underscores and hyphens, else one that differs by a small slip. It returns "" if there is none.
func similar(key string, known []string) string {
	if len(key) > 64 {
		return ""
	}
	plain := fold(key)
	for _, name := range known {
		if fold(name) == plain {
			return name
		}
	}
	for _, name := range known {
		if slips := len(name) / 4; slips > 0 && distance(plain, fold(name)) <= min(slips, 2) {
			return name
		}
	}
	return ""
}

// Similar returns the first of known that the unknown name was probably meant to be, or "".
func Similar(name string, known []string) string { return similar(name, known) }

// fold returns s in lower case without underscores, hyphens and blanks.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance returns how many bytes must be inserted, removed or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
