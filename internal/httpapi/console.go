// SPDX-License-Identifier: Apache-2.0

package httpapi

import "net/http"

func (s *Server) registerConsole(*http.ServeMux) {}
