package client

import "io"

// Progress says how much of the answer to a request has come.
type Progress struct {
	ThreadID, RunID string
	Bytes           int64 // of the body as it comes over the network: compressed if it is, and with comments
	Events          int   // that were taken from it; the next one may be partly in Bytes
}

// progressReader reports the reads of a body.
type progressReader struct {
	src io.Reader
	r   *request
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.src.Read(b)
	p.r.progress.Bytes += int64(n)
	p.r.onProgress(p.r.progress)
	return n, err
}
