// SPDX-License-Identifier: Apache-2.0

package webhook

import "net/http"

// SetTransport replaces the transport of a sink.
func SetTransport(s *Sink, to http.RoundTripper) { s.client.Transport = to }
