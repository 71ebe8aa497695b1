// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// inProcess is a transport that calls a handler. The answer can be read while the handler writes it. Closing it early
// cancels the request and waits for the handler.
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t *inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	r := request.Clone(ctx)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.RequestURI = request.URL.RequestURI()
	r.RemoteAddr = "127.0.0.1:0"
	r.Host = request.URL.Host
	reader, writer := io.Pipe()
	w := &reply{header: http.Header{}, body: writer, begun: make(chan struct{})}
	body := &replyBody{PipeReader: reader, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(body.done)
		defer func() {
			if cause := recover(); cause != nil {
				w.WriteHeader(http.StatusInternalServerError)
				writer.CloseWithError(fmt.Errorf("answer %s %s: cut off: %v", r.Method, r.URL.Path, cause))
				return
			}
			w.WriteHeader(http.StatusOK)
			writer.Close()
		}()
		t.handler.ServeHTTP(w, r)
	}()
	<-w.begun
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: body, ContentLength: -1, Request: request,
	}, nil
}

// reply passes an answer on while it is written.
type reply struct {
	header http.Header
	status int
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{} // closed once status and header are final
}

func (w *reply) Header() http.Header { return w.header }

func (w *reply) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.header = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *reply) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// replyBody is the body that the caller reads.
type replyBody struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close ends the request if it is still running.
func (b *replyBody) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}
