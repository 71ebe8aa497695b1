// SPDX-License-Identifier: Apache-2.0

// Keeps pages alive and copies commands. Every page works without it.
// Text from the server only ever becomes textContent, or the value of an attribute that cannot run.

const silence = 5000; // milliseconds without an event after which the stream counts as lost
const again = 2000; // between two attempts to get it back

// pages is the only way for a text to become markup: the policy of the server forbids all others (trusted types). What it makes is parsed
// into a document of its own, in which nothing runs.
const reads = { createHTML: (page) => page };
const pages = globalThis.trustedTypes?.createPolicy("locus", reads) ?? reads;

const live = document.getElementById("live");
if (live) follow(live);
const looking = document.getElementById("again");
if (looking) look(looking);
const form = document.getElementById("upload");
if (form) upload(form);
offer(document);
localize(document);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const own = document.getElementById("own-zone");
if (own && zone && zone !== own.dataset.zone) {
  const to = new URL(own.href);
  to.searchParams.set("zone", zone);
  own.setAttribute("href", to.pathname + to.search);
  own.hidden = false;
}
let asker; // what has asked for the part that is shown in place
addEventListener("click", inPlace);
addEventListener("submit", inPlace);
addEventListener("keydown", hold);
addEventListener("keyup", press);

// offer shows the buttons that copy commands.
function offer(part) {
  for (const button of part.querySelectorAll("button[data-copy]")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    const label = button.textContent;
    let back;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      clearTimeout(back);
      back = setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
}

// localize rewrites times in the reader's zone, also those in the labels of drawings. The title has the time in UTC.
function localize(part) {
  for (const node of part.querySelectorAll("time[datetime]")) tell(node, node.getAttribute("datetime"));
  const here = (text) => text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/g, (_, day, clock) => written(new Date(`${day}T${clock}Z`), true));
  for (const node of part.querySelectorAll("svg [aria-label]")) node.setAttribute("aria-label", here(node.getAttribute("aria-label")));
  for (const node of part.querySelectorAll("svg title")) node.textContent = here(node.textContent);
}

// written formats an instant in the reader's zone.
function written(at, withDay) {
  const two = (n) => String(n).padStart(2, "0");
  const zone = new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts(at).find((p) => p.type === "timeZoneName").value;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())} ${zone}`;
  return withDay ? `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}` : clock;
}

// tell shows an instant in a time element: the time of day if the element is marked data-clock, otherwise with the date.
function tell(node, instant) {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return;
  node.dateTime = instant;
  node.textContent = written(at, !("clock" in node.dataset));
  node.title = at.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

// hold notes the key that went down, unless somebody is writing. Enter ends the writing, where keys decide.
let held;
function hold(event) {
  if (event.repeat) return;
  const field = event.target.closest?.("input, select, textarea");
  if (event.key === "Enter" && field?.matches("input") && field.form?.querySelector("[data-press]")) field.blur();
  held = field || event.ctrlKey || event.altKey || event.metaKey ? undefined : event.key;
  if (held === "/") event.preventDefault(); // some browsers search the page with it
}

// press does what a button or a link does that names the key, when it comes up again: a form that lacks something leads
// into the field, where the key is not to be typed.
function press(event) {
  if (held === undefined || event.key !== held) return;
  held = undefined;
  if (event.key === "/") {
    const field = document.querySelector(".find input");
    field.focus();
    field.select();
    return;
  }
  for (const target of document.querySelectorAll("[data-press]")) {
    if (target.dataset.press !== event.key) continue;
    target.click();
    return;
  }
}

// inPlace shows the answer to a question below what asks it: the part "effect" of the page that it leads to. If that
// fails, the browser goes to that page. Cancel closes the part.
async function inPlace(event) {
  const close = event.type === "click" && event.target.closest?.(".preview [data-close]");
  if (close) {
    event.preventDefault();
    const part = close.closest(".preview");
    part.remove();
    asker?.focus();
    return;
  }
  const asks = event.type === "submit" ? event.target.closest("form[data-inplace]") : event.target.closest?.("a[data-inplace]");
  if (!asks || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const to = new URL(asks.matches("form") ? asks.action : asks.href);
  if (asks.matches("form")) to.search = new URLSearchParams(new FormData(asks)).toString();
  try {
    const answer = await fetch(to, { signal: AbortSignal.timeout(silence) });
    const came = new DOMParser().parseFromString(pages.createHTML(await answer.text()), "text/html").getElementById("effect");
    if (!answer.ok || !came) throw new Error(answer.statusText);
    asker = event.type === "submit" ? event.submitter ?? asks : asks;
    for (const part of document.querySelectorAll(".preview")) part.remove();
    const part = document.createElement("div");
    part.className = "preview";
    part.tabIndex = -1;
    part.setAttribute("role", "region");
    part.setAttribute("aria-label", "Preview");
    part.append(document.importNode(came, true));
    asks.closest(".panel").append(part);
    offer(part);
    localize(part);
    part.focus();
  } catch {
    location.assign(to);
  }
}

// look asks for the page anew, each so many milliseconds, and takes over the parts that are marked, if
// they became others, but for one that somebody is in with the keyboard.
function look(page) {
  const notice = document.getElementById("stream");
  const beat = Number(page.dataset.beat);
  const parts = [...page.querySelectorAll("[data-again]")];
  const shown = new Map(parts.map((part) => [part, part.cloneNode(true)])); // as they came
  setTimeout(once, beat);

  async function once() {
    const began = performance.now();
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, { signal: AbortSignal.timeout(silence) });
        if (answer.status === 404 || answer.status === 401) { // it was removed, or the session has ended: the page says so itself
          location.reload();
          return;
        }
        if (!answer.ok) throw new Error(answer.statusText);
        const fresh = new DOMParser().parseFromString(pages.createHTML(await answer.text()), "text/html");
        if (fresh.getElementById(page.id).dataset.page !== page.dataset.page) {
          location.reload();
          return;
        }
        for (const part of parts) {
          if (!part.contains(document.activeElement)) take(part, fresh.getElementById(part.id));
        }
        notice.hidden = true;
        page.classList.add("running");
        page.classList.remove("stale");
      } catch {
        page.classList.add("stale");
        notice.textContent = `Locus does not answer. ${page.dataset.says} ${document.getElementById("as-of").textContent}; trying again.`;
        notice.hidden = false;
      }
    }
    // A page that is long in coming, as that of thousands of cells, is asked for less often.
    setTimeout(once, page.classList.contains("stale") ? again : Math.max(beat, 10 * (performance.now() - began)));
  }

  // take puts what came in the place of what is shown. Lines that are new, or say something else, flash.
  function take(part, came) {
    if (came.isEqualNode(shown.get(part))) {
      for (const line of part.querySelectorAll(".changed")) line.classList.remove("changed");
      return;
    }
    const said = new Map([...shown.get(part).querySelectorAll("[data-key]")].map((line) => [line.dataset.key, line.textContent]));
    shown.set(part, came);
    part.replaceChildren(...document.importNode(came, true).childNodes);
    for (const line of part.querySelectorAll("[data-key]")) {
      line.classList.toggle("changed", said.get(line.dataset.key) !== line.textContent);
    }
    offer(part);
    localize(part);
  }
}

const headSize = 256 * 1024; // bytes that are looked at before an import
const partSize = 256 * 1024; // bytes of a part, about; the server takes 1 MiB
const partRows = 500;
const tries = 5; // for a part, if the server is busy
const shownRefusals = 200;

// upload takes a file, shows how the server would read it, and imports it in parts. Each part is a small file with the header
// of the whole, so the server needs no state, and a part that is sent twice changes nothing.
function upload(form) {
  const problem = document.getElementById("upload-problem");
  const proposal = document.getElementById("proposal");
  const input = form.querySelector("input[type=file]");
  let file;
  form.hidden = false;
  input.addEventListener("change", () => take(input.files[0]));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(kind, (event) => {
      event.preventDefault();
      form.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  proposal.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = new URLSearchParams(new FormData(event.target));
    if (event.submitter?.name === "import") send(fields).catch(fail);
    else propose(fields).catch(fail);
  });

  function take(chosen) {
    if (!chosen) return;
    file = chosen;
    propose(new URLSearchParams({ name: file.name })).catch(fail);
  }

  function fail(error) {
    problem.textContent = error.message;
    problem.hidden = false;
    for (const button of proposal.querySelectorAll("button")) button.disabled = false;
  }

  async function post(path, fields, body) {
    for (let n = 1; ; n++) {
      const answer = await fetch(`${path}?${fields}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body });
      if (answer.ok) return answer;
      if (n === tries || (answer.status !== 429 && answer.status !== 503)) {
        throw new Error((await answer.json().catch(() => undefined))?.detail ?? answer.statusText);
      }
      await new Promise((next) => { setTimeout(next, again * n); });
    }
  }

  async function propose(fields) {
    problem.hidden = true;
    let head = new Uint8Array(await file.slice(0, headSize).arrayBuffer());
    if (file.size > headSize) head = head.subarray(0, head.lastIndexOf(10) + 1 || head.length); // no half of a row
    const answer = await post("/data/preview", fields, head);
    const came = new DOMParser().parseFromString(pages.createHTML(await answer.text()), "text/html").getElementById("effect");
    proposal.replaceChildren(document.importNode(came, true));
    offer(proposal);
  }

  // sources shows what has become of the sources below.
  async function sources() {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(silence) });
    const came = new DOMParser().parseFromString(pages.createHTML(await answer.text()), "text/html").getElementById("of-sources");
    if (!answer.ok || !came) return;
    const part = document.importNode(came, true);
    document.getElementById("of-sources").replaceWith(part);
    localize(part);
  }

  async function send(fields) {
    problem.hidden = true;
    const shown = document.getElementById("importing");
    const says = document.getElementById("import-says");
    const progress = document.getElementById("import-progress");
    const table = shown.querySelector("table");
    shown.hidden = false;
    table.tBodies[0].replaceChildren();
    for (const button of proposal.querySelectorAll("button:not(.copy)")) button.disabled = true;
    const became = new Map();
    const accepted = new Map(); // the outcomes of the accepted rows by source
    let refused = [];
    let rows = 0, drawn = 0;
    let concluded = Promise.resolve();
    const decoder = new TextDecoder(fields.get("encoding") || "utf-8");
    const byLine = fields.get("format") !== "json"; // rows of one document cannot be sent alone
    try {
      for await (const part of parts(file, fields)) await bring(part);
    } catch (error) {
      await report(error.message).catch(() => {});
      throw error;
    }
    tally("Imported");
    progress.value = 1;
    document.getElementById("first-records")?.remove(); // they are stored now
    await conclude();
    for (const button of proposal.querySelectorAll("button:not(.copy)")) button.disabled = false;
    const mending = document.getElementById("mending");
    mending.hidden = !byLine || refused.length === 0;
    mending.onsubmit = (event) => {
      event.preventDefault();
      event.stopPropagation(); // of the file as a whole
      if (event.submitter?.name === "download") download();
      else mend().catch(fail);
    };

    // bring imports a part.
    async function bring(part) {
      const answer = await (await post("/data/import", fields, part.body)).json();
      rows += answer.rows;
      count(answer);
      const text = byLine && answer.refused.length > 0 ? decoder.decode(part.body) : "";
      for (const row of answer.refused) refused.push({ ...row, line: row.line + part.before, text: byLine ? rowAt(text, row.line, fields) : undefined, head: text.split("\n").slice(0, part.headLines ?? 0).join("\n") });
      progress.value = part.end / Math.max(file.size, 1);
      tally("Importing");
    }

    // count adds the outcomes of accepted rows.
    function count(answer) {
      for (const [what, n] of Object.entries(answer.became)) became.set(what, (became.get(what) ?? 0) + n);
      for (const [source, counts] of Object.entries(answer.sources)) {
        const of = accepted.get(source) ?? new Map();
        accepted.set(source, of);
        for (const [what, n] of Object.entries(counts)) of.set(what, (of.get(what) ?? 0) + n);
      }
    }

    // report tells the server how the import into each source ended, as its last one.
    async function report(stopped) {
      const all = Object.create(null);
      const of = (source) => all[source] ??= { rows: 0, counts: {}, causes: Object.create(null) };
      for (const [source, counts] of accepted) {
        for (const [what, n] of counts) {
          of(source).counts[what] = n;
          of(source).rows += n;
        }
      }
      for (const row of refused) {
        const { counts, causes } = of(row.source);
        of(row.source).rows++;
        counts.refused = (counts.refused ?? 0) + 1;
        const cause = causes[row.cause] ??= { rows: 0, first_line: row.line };
        cause.rows++;
        cause.first_line = Math.min(cause.first_line, row.line);
      }
      await post("/data/imported", new URLSearchParams({ name: file.name, stopped }), JSON.stringify(all));
    }

    // conclude reports the import and shows the sources below, which a reload shows, too. One waits for the other: rows
    // can be mended again before the last report has arrived.
    function conclude() {
      concluded = concluded.then(() => report("")).catch(fail).then(sources).catch(() => {});
      return concluded;
    }

    // mend imports the rows whose text was changed. Those that are taken leave the list.
    async function mend() {
      problem.hidden = true;
      const changed = refused.filter((row) => row.input && row.input.value !== row.text);
      if (changed.length === 0) throw new Error("No row was changed.");
      for (let at = 0; at < changed.length; at += partRows) {
        const some = changed.slice(at, at + partRows);
        const asText = new URLSearchParams(fields);
        asText.set("encoding", "utf-8");
        const head = some[0].head === "" ? [] : [some[0].head.replace(/\r$/, "")];
        const starts = new Map(); // the row that begins in a line
        let line = head.length === 0 ? 1 : head[0].split("\n").length + 1;
        for (const row of some) {
          row.text = row.input.value;
          starts.set(line, row);
          line += row.text.split("\n").length;
        }
        const body = new TextEncoder().encode([...head, ...some.map((row) => row.text)].join("\n") + "\n");
        const answer = await (await post("/data/import", asText, body)).json();
        count(answer);
        const still = new Map(answer.refused.map((row) => [starts.get(row.line), row]));
        if (answer.refused.some((row) => !starts.has(row.line))) throw new Error("A mended row is divided into several: mend one at a time.");
        for (const row of some) {
          const { reason, source, cause } = still.get(row) ?? row;
          Object.assign(row, { reason, source, cause });
        }
        refused = refused.filter((row) => !some.includes(row) || still.has(row));
      }
      const open = new Map(refused.filter((row) => row.input).map((row) => [row, row.input.value])); // what is typed and not sent
      table.tBodies[0].replaceChildren();
      drawn = 0;
      tally("Imported");
      for (const [row, text] of open) if (row.input) row.input.value = text;
      mending.hidden = refused.length === 0;
      await conclude();
    }

    // download offers the refused rows as a file that can be mended and dropped here: each with the reason before it.
    function download() {
      const csv = fields.get("format") === "csv";
      const cut = fields.get("delimiter") || ",";
      const said = (text) => `"${text.replaceAll('"', "'").replaceAll("\n", " ")}"`;
      const lines = refused.map((row) => csv ? said(row.reason) + cut + row.text : row.text.replace(/^\s*\{/, `{"refused_because":${JSON.stringify(row.reason)},`));
      if (csv && refused[0].head !== "") lines.unshift("refused_because" + cut + refused[0].head.replace(/\r$/, ""));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/plain" }));
      link.download = `refused-${file.name}`;
      link.click();
      URL.revokeObjectURL(link.href);
    }

    function tally(word) {
      const list = [...became].map(([what, n]) => `${n} ${what}`);
      says.textContent = `${word} ${rows} rows: ${[...list, `${refused.length} refused`].join(", ")}.`;
      for (const row of refused.slice(drawn, shownRefusals)) {
        const line = table.tBodies[0].insertRow();
        drawn++;
        for (const text of [row.line, row.reason]) line.insertCell().textContent = text;
        const cell = line.insertCell();
        if (row.text === undefined) {
          cell.textContent = row.row === undefined ? "" : JSON.stringify(row.row);
          continue;
        }
        row.input = document.createElement("textarea");
        row.input.rows = row.text.split("\n").length;
        row.input.value = row.text;
        row.input.spellcheck = false;
        row.input.setAttribute("aria-label", `Row in line ${row.line}`);
        cell.append(row.input);
      }
      table.hidden = refused.length === 0;
    }
  }
}

// rowAt returns the text of the row that begins in a line, from 1.
function rowAt(text, line, fields) {
  const lines = text.split("\n");
  const quote = fields.get("format") === "csv" && fields.get("quote") !== "none" ? fields.get("quote") || '"' : "";
  let row = lines[line - 1] ?? "";
  for (let at = line; quote !== "" && at < lines.length && row.split(quote).length % 2 === 0 && row.length < partSize; at++) row += `\n${lines[at]}`;
  return row.replace(/\r$/, "");
}

// parts yields a file in parts of whole rows, with the number of lines of the file before the first line of a part.
async function* parts(file, fields) {
  const csv = fields.get("format") === "csv";
  if (!csv && fields.get("format") !== "jsonl") { // one document
    yield { body: file, before: 0, end: file.size };
    return;
  }
  const quote = csv && fields.get("quote") !== "none" ? fields.get("quote").charCodeAt(0) : -1;
  let headRows = csv && fields.get("header") !== "no" ? 1 : 0;
  let head = new Uint8Array(0), headLines = 0;
  let rest = new Uint8Array(0), from = 0, line = 0; // what is read and not sent, where it begins, the lines before it
  for (let at = 0; at < file.size;) {
    const came = new Uint8Array(await file.slice(at, at + partSize).arrayBuffer());
    at += came.length;
    const text = new Uint8Array(rest.length + came.length);
    text.set(rest);
    text.set(came, rest.length);
    let start = 0, rows = 0, lines = 0, quoted = false, end = 0, endLines = 0; // the end of the last whole row
    for (let i = 0; i < text.length; i++) {
      if (text[i] === quote) quoted = !quoted;
      if (text[i] !== 10) continue;
      lines++;
      if (quoted && i - start < 3 * partSize) continue; // a quote that nothing closes does not hold up the rest
      quoted = false;
      end = i + 1;
      endLines = lines;
      if (headRows > 0) {
        if (new TextDecoder().decode(text.subarray(0, Math.min(end, 8))).startsWith("sep=") && headLines === 0) headRows++;
        headRows--;
        head = text.slice(0, end);
        headLines = endLines;
        if (headRows > 0) continue;
        start = end;
        line = headLines;
        lines = endLines = 0;
        continue;
      }
      if (++rows === partRows) {
        yield whole(text, start, end, line, from + end);
        line += endLines;
        start = end;
        rows = lines = endLines = 0;
      }
    }
    if (end > start && headRows === 0) {
      yield whole(text, start, end, line, from + end);
      line += endLines;
      start = end;
    }
    rest = text.slice(start);
    from += start;
    if (rest.length > 4 * partSize) throw new Error("A row is longer than 1 MiB.");
  }
  if (rest.length > 0) yield whole(rest, 0, rest.length, line, file.size);

  function whole(text, start, end, before, to) {
    const body = new Uint8Array(head.length + end - start);
    body.set(head);
    body.set(text.subarray(start, end), head.length);
    return { body, before: before - headLines, headLines, end: to };
  }
}

function follow(live) {
  const notice = document.getElementById("stream");
  const list = document.getElementById("joins");
  const blank = document.getElementById("join");
  const texts = index("text");
  const paths = index("path");
  let source, watchdog, retry;

  document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  open();

  function open() {
    close();
    source = new EventSource(live.dataset.stream);
    source.onmessage = (event) => show(JSON.parse(event.data));
    source.onerror = () => lost("The connection to Locus is lost.");
    source.addEventListener("end", () => lost("Locus is stopping."));
    expect();
  }

  function close() {
    clearTimeout(watchdog);
    clearTimeout(retry);
    source?.close();
  }

  function expect() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => lost("Locus does not answer."), silence);
  }

  function lost(why) {
    close();
    live.classList.add("stale");
    notice.textContent = `${why} These are the numbers of ${texts.get("time")[0].textContent}; trying again.`;
    notice.hidden = false;
    retry = setTimeout(resume, again);
  }

  // resume opens the stream again. If the session has ended, the page leads to the login.
  async function resume() {
    const answer = await fetch(location.href, { method: "HEAD", signal: AbortSignal.timeout(silence) }).catch(() => undefined);
    if (answer?.status === 401) location.reload();
    else if (!document.hidden) open();
  }

  function show(event) {
    expect();
    if (event.page !== live.dataset.page) { // the server became another one; not more often than it can be seen
      if (performance.now() > silence) location.reload();
      return;
    }
    notice.hidden = true;
    live.classList.add("running");
    live.classList.remove("stale");
    document.getElementById("empty").hidden = !event.empty;
    for (const [slot, text] of Object.entries(event.text ?? {})) {
      for (const node of texts.get(slot) ?? []) node.localName === "time" ? tell(node, text) : node.textContent = text;
    }
    for (const [slot, path] of Object.entries(event.path ?? {})) {
      for (const node of paths.get(slot) ?? []) node.setAttribute("d", path);
    }
    if (event.minute) draw(event.minute);
    if (event.joins) list.replaceChildren(...event.joins.map(line));
  }

  // draw has the pictures drawn anew. Their addresses say of which minute they are.
  function draw(minute) {
    for (const part of live.querySelectorAll("[data-at]")) {
      if (part.dataset.at === minute) continue;
      part.dataset.at = minute;
      for (const node of part.querySelectorAll("source, img")) {
        const name = node.localName === "img" ? "src" : "srcset";
        const address = new URL(node.getAttribute(name), location.href);
        address.searchParams.set("at", minute);
        node.setAttribute(name, address.pathname + address.search);
      }
    }
  }

  function line(join) {
    const item = blank.content.cloneNode(true);
    item.querySelector("a").setAttribute("href", "/entities/" + encodeURIComponent(join.entity));
    item.querySelector(".name").textContent = join.name;
    tell(item.querySelector("time"), join.time);
    item.querySelector(".ref").textContent = join.record;
    return item;
  }

  function index(kind) {
    const slots = new Map();
    for (const node of live.querySelectorAll(`[data-${kind}]`)) {
      const slot = node.dataset[kind];
      slots.set(slot, [...slots.get(slot) ?? [], node]);
    }
    return slots;
  }
}
