// SPDX-License-Identifier: Apache-2.0

// Zooms into the part of a chart that is dragged over. Links and a form do the same without it.

const chart = document.querySelector(".drawn.zoom");
const hint = document.getElementById("drag");
if (chart) {
  let from; // where the pointer went down, as a share of the range
  hint.hidden = false;
  const shade = document.createElement("span");
  shade.className = "shade";
  shade.hidden = true;
  chart.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    from = share(event);
    chart.setPointerCapture(event.pointerId);
    chart.append(shade);
    draw(from, from);
  });
  chart.addEventListener("pointermove", (event) => { if (from !== undefined) draw(from, share(event)); });
  chart.addEventListener("pointercancel", end);
  chart.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });
  chart.addEventListener("pointerup", (event) => {
    if (from === undefined) return;
    const [low, high] = [from, share(event)].sort((a, b) => a - b);
    end();
    const begin = Date.parse(chart.dataset.from), length = Date.parse(chart.dataset.to) - begin;
    const minute = 60_000;
    const [first, last] = [Math.floor((begin + low * length) / minute), Math.ceil((begin + high * length) / minute)];
    if (high - low < 0.01 || last - first < 2) return; // a click
    const to = new URL(document.querySelector("#own-zone").href);
    to.searchParams.set("from", new Date(first * minute).toISOString().replace(".000", ""));
    to.searchParams.set("to", new Date(last * minute).toISOString().replace(".000", ""));
    to.searchParams.set("zone", document.querySelector("#own-zone").dataset.zone);
    to.searchParams.delete("step");
    location.assign(to);
  });

  // area is where the values are in the picture that is shown: its left and right end, as shares of its width.
  function area() {
    const [left, right, wide, narrowLeft, narrowRight, narrowWide] = chart.dataset.area.split(" ").map(Number);
    const narrow = chart.querySelector("img").currentSrc.includes("size=narrow");
    return narrow ? [narrowLeft / narrowWide, narrowRight / narrowWide] : [left / wide, right / wide];
  }

  function share(event) {
    const box = chart.querySelector("img").getBoundingClientRect();
    const [left, right] = area();
    return Math.min(1, Math.max(0, ((event.clientX - box.left) / box.width - left) / (right - left)));
  }

  function draw(a, b) {
    const [left, right] = area();
    shade.hidden = false;
    shade.style.left = `${100 * (left + Math.min(a, b) * (right - left))}%`;
    shade.style.width = `${100 * Math.abs(b - a) * (right - left)}%`;
  }

  function end() {
    from = undefined;
    shade.remove();
  }
}
