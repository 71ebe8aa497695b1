// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/porttest"
	"github.com/locus-db/locus/records"
)

// startBrowser returns the browser of all tests, which is started once. Without a browser the test is skipped, except
// in CI.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	longtest.Needs(t, "a browser")
	ctx, err := browser()
	switch ci := os.Getenv("CI"); {
	case errors.Is(err, exec.ErrNotFound) && ci != "1" && ci != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return ctx
}

// unwanted are features that the browser has without a flag: each window, and so each test, would start the pages of
// its menus in processes of their own, which takes more of the processors than the console's pages do.
const unwanted = "Translate,PreloadTopChromeWebUI,WebUIOmniboxPopup,WebUIOmniboxFullPopup,WebUIOmniboxAimPopup"

// programs are the browsers that the tests use, the first that is installed. The headless shell has no windows, and
// takes less than half of the processor time that Chromium does.
var programs = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// endBrowser ends the browser, if it was started.
var endBrowser = func() {}

var browser = sync.OnceValues(func() (context.Context, error) {
	var program string
	for _, name := range programs {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		return nil, fmt.Errorf("no %s, so the console is not looked at in a browser: %w",
			strings.Join(programs, ", "), exec.ErrNotFound)
	}
	dir, err := os.MkdirTemp("", "locus-browser-")
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.DisableGPU, chromedp.NoSandbox,
		chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-features", unwanted),
		chromedp.WSURLReadTimeout(patience),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, end := chromedp.NewContext(allocator)
	endBrowser = func() {
		end()
		stop()
		_ = os.RemoveAll(dir) // a child of the browser may still hold a file: it is a temporary directory
	}
	if err := chromedp.Do(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return ctx, nil
})

// tab is a browser tab with a server of its own.
type tab struct {
	*testing.T
	ctx  context.Context
	svc  *locus.DB
	addr string
	stop func()
	// version is the version that the next server reports.
	version string
	// login is the identity provider of the next server at an address, nil for none.
	login func(public string) *login.Provider
	// frozen is held while the server's answers are blocked.
	frozen sync.RWMutex

	mu       sync.Mutex
	troubles []string
	forgiven []string
}

// openTab starts a server and opens a tab. Any error in the tab before the end of the test fails it.
func openTab(t *testing.T, browser context.Context, cellCount int) *tab {
	t.Helper()
	return openTabOver(t, browser, openService(t, cellCount, 0, nil))
}

// openTabOver is openTab for an open installation.
func openTabOver(t *testing.T, browser context.Context, svc *locus.DB) *tab {
	t.Helper()
	tab := newTab(t, svc)
	tab.serve()
	t.Cleanup(func() { tab.stop() })
	tab.attach(browser)
	return tab
}

// beside opens a tab of another person at the same server.
func (tab *tab) beside(browser context.Context) *tab {
	tab.Helper()
	other := newTab(tab.T, tab.svc)
	other.addr = tab.addr
	other.attach(browser)
	return other
}

// attach opens the tab.
func (tab *tab) attach(browser context.Context) {
	tab.Helper()
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	tab.ctx = ctx
	tab.Cleanup(func() {
		closeTab()
		tab.judge()
	})
	if err := chromedp.Listen(ctx, tab.hear); err != nil {
		tab.Fatal(err)
	}
	call(tab, func(ctx context.Context) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		// All tabs believe that they have the focus.
		if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
			return err
		}
		// A browser with windows lets a page write to the clipboard after a click; the headless shell asks.
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission:       &cdpbrowser.PermissionDescriptor{Name: "clipboard-write"},
			Setting:          cdpbrowser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	})
}

func newTab(t *testing.T, svc *locus.DB) *tab {
	return &tab{T: t, svc: svc, addr: "127.0.0.1:" + porttest.Port(t), stop: func() {}}
}

// serve starts a server on the tab's address, which stays the same.
func (tab *tab) serve() {
	tab.Helper()
	listener := porttest.Listen(tab.T, tab.addr)
	options := &httpapi.Options{Linger: -1, Version: tab.version}
	if tab.login != nil {
		options.Login = tab.login("http://" + tab.addr)
	}
	server := httpapi.New(tab.svc, options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, &freezer{listener, &tab.frozen}) }()
	tab.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			tab.Errorf("stop: %v", err)
		}
	})
}

// freezer is a listener whose connections write nothing while frozen, as on a network that silently drops packets.
type freezer struct {
	net.Listener
	frozen *sync.RWMutex
}

func (f *freezer) Accept() (net.Conn, error) {
	conn, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &freezingConn{conn, f.frozen}, nil
}

type freezingConn struct {
	net.Conn
	frozen *sync.RWMutex
}

func (c *freezingConn) Write(b []byte) (int, error) {
	c.frozen.RLock()
	defer c.frozen.RUnlock()
	return c.Conn.Write(b)
}

// hear records errors in the tab.
func (tab *tab) hear(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		url := e.Request.URL
		if !strings.HasPrefix(url, "http://"+tab.addr+"/") && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			tab.trouble("a request to " + url)
		}
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		tab.trouble("an exception: " + string(text))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			tab.trouble("in the console: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		tab.trouble("a dialog: " + e.Message)
	}
}

func (tab *tab) trouble(what string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.troubles = append(tab.troubles, what)
}

// forgive ignores errors with these words, which the test causes on purpose.
func (tab *tab) forgive(words string) { tab.forgiven = append(tab.forgiven, words) }

func (tab *tab) judge() {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, what := range tab.troubles {
		forgiven := false
		for _, words := range tab.forgiven {
			forgiven = forgiven || strings.Contains(what, words)
		}
		if !forgiven {
			tab.Errorf("the tab had %s", what)
		}
	}
}

// call runs a function that talks to the tab, limited by patience.
func call(tab *tab, run func(context.Context) error) {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := run(ctx); err != nil {
		tab.Fatal(err)
	}
}

func (tab *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tab.Helper()
	call(tab, func(ctx context.Context) error { return chromedp.Do(ctx, steps...) })
}

// open loads a page of the tab's server.
func (tab *tab) open(path string) {
	tab.Helper()
	tab.do(chromedp.Navigate("http://" + tab.addr + path))
}

// click clicks an element, and again if a page that follows changes has replaced it between the look and the click.
func (tab *tab) click(selector string) {
	tab.Helper()
	call(tab, func(ctx context.Context) error {
		for {
			err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector)))
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "Could not find node") {
				return err
			}
		}
	})
}

// enter types keys into a field; \r submits it.
func (tab *tab) enter(selector, keys string) {
	tab.Helper()
	tab.do(chromedp.SendKeys(chromedp.CSS(selector), keys))
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](tab *tab, expression string) (value T) {
	tab.Helper()
	call(tab, func(ctx context.Context) (err error) {
		value, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression))
		return err
	})
	return value
}

// check fails unless a condition is true in the page.
func (tab *tab) check(condition, complaint string) {
	tab.Helper()
	if !evaluate[bool](tab, "!!("+condition+")") {
		tab.Errorf("%s: %s", evaluate[string](tab, "location.pathname"), complaint)
	}
}

// awaitFor is how long a test waits for something on a page: much longer than the slowest machine needs, and short
// enough that a failure is reported before the other tests are over.
const awaitFor = time.Minute

// await waits until a condition is true in a completely loaded page, across reloads and navigations, because later
// scripts may need the rest of the page. If it never becomes true the test fails and prints what the page shows.
func (tab *tab) await(condition string) {
	tab.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, min(awaitFor, patience))
	defer cancel()
	beat := time.NewTicker(50 * time.Millisecond)
	defer beat.Stop()
	var last error
	for {
		// An error may mean that the page is just being replaced.
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState !== "loading" && !!(`+condition+")"))
		if err == nil && holds {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			shown := evaluate[string](tab, `location.href + ", " + document.readyState + ": " + (document.querySelector("main") ?? document.documentElement).innerText.replace(/\s+/g, " ").slice(0, 1500)`)
			tab.Fatalf("it does not become true that %s (last error: %v). The page is %s", condition, last, shown)
		}
	}
}

// note collects the values of an expression, in a named window variable, whenever something changes in an element:
// including short-lived values that await may miss.
func (tab *tab) note(name, selector, list string) {
	tab.Helper()
	evaluate[bool](tab, `(() => {
		const seen = window[`+jsString(name)+`] = [];
		new MutationObserver(() => seen.push(...`+list+`)).observe(document.querySelector(`+jsString(selector)+`), { attributes: true, childList: true, subtree: true });
		return true;
	})()`)
}

// emulate sets media blocking keys of the page.
func (tab *tab) emulate(media emulation.SetEmulatedMediaParams) {
	tab.Helper()
	call(tab, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
		return err
	})
}

// inZone sets the time zone of the reader.
func (tab *tab) inZone(zone string) {
	tab.Helper()
	call(tab, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
		return err
	})
}

// withoutScript disables scripts in pages.
func (tab *tab) withoutScript() {
	tab.Helper()
	call(tab, func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// put writes records directly to the installation.
func (tab *tab) put(puts ...records.Input) []records.Result {
	tab.Helper()
	results, err := tab.svc.Records().Put(context.Background(), puts)
	if err != nil {
		tab.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			tab.Fatalf("put %v: %v", r.Ref, r.Err)
		}
	}
	return results
}

// jsString returns text as a JavaScript literal.
func jsString(s string) string {
	b, _ := json.Marshal(s) // cannot fail for a string
	return string(b)
}
