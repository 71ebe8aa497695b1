// Finds the sections that have all words of the search, those with words in their titles first. The index is read at the first search.
const script = document.querySelector('script[data-top]')
const top_ = script.dataset.top
const input = document.getElementById('search')
const list = document.getElementById('found')
let index

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  index ??= await (await fetch(top_ + 'search.json')).json()
  const found = []
  for (const s of words.length ? index : []) {
    const title = (s.t + ' ' + s.p).toLowerCase(), text = s.x.toLowerCase()
    if (!words.every((w) => title.includes(w) || text.includes(w))) continue
    found.push([words.filter((w) => title.includes(w)).length, s])
  }
  found.sort((a, b) => b[0] - a[0])
  list.replaceChildren(...found.slice(0, 20).map(([, s]) => {
    const item = document.createElement('li'), link = document.createElement('a'), where = document.createElement('small')
    link.href = top_ + s.u
    link.textContent = s.t
    const at = Math.max(0, s.x.toLowerCase().indexOf(words[0]) - 40)
    where.textContent = s.p + ': ' + s.x.slice(at, at + 120)
    item.append(link, where)
    return item
  }))
  list.hidden = words.length === 0
}

input.addEventListener('input', search)
