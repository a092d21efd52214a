package sse

import "bytes"

// Append appends an event with this data to dst: a data line for each line of data, and a blank line.
// LF, CR and CRLF in data end its lines and come back as LF. It does not keep the slices.
func Append(dst, data []byte) []byte {
	for {
		dst = append(dst, "data: "...)
		i := lineEnd(data)
		dst = append(dst, data[:i]...)
		dst = append(dst, '\n')
		if i == len(data) {
			return append(dst, '\n')
		}
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
}

// lineEnd returns where the first line of data ends.
func lineEnd(data []byte) int {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		i = len(data)
	}
	if cr := bytes.IndexByte(data[:i], '\r'); cr >= 0 {
		i = cr
	}
	return i
}
