// The palette: search as you type, and go to any page.
import { show } from './pages.js'

let results = Promise.resolve()
const palette = document.getElementById('palette'), field = palette.querySelector('input'), list = document.getElementById('found')

export function open(id) {
  document.getElementById(id).showModal()
  if (id === 'palette') { field.value = ''; results = search() }
}

async function search() {
  const text = field.value, answer = await fetch('/find?' + new URLSearchParams({ q: text })).catch(() => null)
  if (text !== field.value) return
  if (!answer?.ok) return list.replaceChildren()
  list.replaceChildren(...(await answer.json()).map(({ title, href, kind }, number) => {
    const item = document.createElement('li')
    item.id = `hit-${number}`
    item.setAttribute('role', 'option')
    item.dataset.href = href
    item.append(Object.assign(document.createElement('span'), { textContent: title }), Object.assign(document.createElement('span'), { className: 'n', textContent: kind }))
    return item
  }))
  choose(0)
}

function choose(number) {
  const all = [...list.children], at = Math.max(0, Math.min(all.length - 1, number))
  all.forEach((item, index) => item.setAttribute('aria-selected', String(index === at)))
  field.setAttribute('aria-activedescendant', all[at]?.id ?? '')
  all[at]?.scrollIntoView({ block: 'nearest' })
}

const chosen = () => [...list.children].findIndex(item => item.getAttribute('aria-selected') === 'true')
const go = item => { if (item) { palette.close(); show(item.dataset.href, { push: true }) } }
field.addEventListener('input', () => { results = search() })
field.addEventListener('keydown', async event => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { event.preventDefault(); choose(chosen() + (event.key === 'ArrowDown' ? 1 : -1)) }
  if (event.key === 'Enter') {
    event.preventDefault()
    await results // those of what is typed, not of its first letters
    go(list.children[chosen()])
  }
})
list.addEventListener('click', event => go(event.target.closest('[role=option]')))

addEventListener('click', event => {
  const opener = event.target.closest?.('[data-opens]')
  if (opener) { event.preventDefault(); open(opener.dataset.opens) }
  if (event.target.nodeName === 'DIALOG') event.target.close()
}, { capture: true })
