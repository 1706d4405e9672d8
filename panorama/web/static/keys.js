// Keyboard shortcuts, and moving rows by keys and by dragging. Each has a button, a link or a form too.
import { edit } from './edit.js'
import { send, undo } from './forms.js'
import { show } from './pages.js'
import { open } from './palette.js'

const GO = { t: '/today', a: '/tasks', l: '/calendar', n: '/notes', p: '/projects', o: '/people', m: '/graph', r: '/review', j: '/jobs', s: '/scripts', c: '/calls', h: '/history' }
const rows = () => [...document.querySelectorAll('main [data-row]')].filter(row => row.checkVisibility())
const current = () => document.activeElement?.closest?.('[data-row]')
const focusable = row => row?.querySelector('.tick-box, a.title, button')
let went = -Infinity  // when G was pressed, in the clock that starts with the page

function step(by) {
  const all = rows(), at = all.indexOf(current())
  focusable(all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))])?.focus()
}

const KEYS = {
  j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
  x: () => current()?.querySelector('.tick-box')?.click(),
  e: () => { const title = current()?.querySelector('a[data-edit]'); if (title) edit(title); else document.querySelector('main [data-key=e]')?.click() },
  o: () => current()?.querySelector('a.more, a.title')?.click(),
  s: () => current()?.querySelector('.choose')?.click(),
  q: () => document.getElementById('quick')?.focus(), u: undo, '/': () => open('palette'), '?': () => open('keys'), g: () => { went = performance.now() },
}

addEventListener('keydown', event => {
  const isCommand = event.ctrlKey || event.metaKey
  if (isCommand && event.key === 'k') { event.preventDefault(); return open('palette') }
  if (isCommand && event.key === 'Enter') return event.target.form?.requestSubmit()
  if (event.altKey && event.key.startsWith('Arrow') && current()) { event.preventDefault(); return moveRow(current(), event.key === 'ArrowUp' ? -1 : 1) }
  if (event.key === 'Escape' && event.target.matches('input, textarea, select')) return event.target.blur()
  if (isCommand || event.altKey || event.target.matches('input:not([type=checkbox]), textarea, select') || document.querySelector('dialog[open]')) return
  if (event.key.startsWith('Arrow') && event.target.matches('.calendar a')) { event.preventDefault(); return stepDay(event.target, event.key) }
  if (event.key.startsWith('Arrow') && !current()) return
  const address = performance.now() - went < 1200 && GO[event.key]
  went = -Infinity
  if (address) return void show(address, { push: true })
  const act = KEYS[event.key], link = !act && /^[a-z]$/.test(event.key) && document.querySelector(`main [data-key=${event.key}]`)
  if (act || link) { event.preventDefault(); if (act) act(); else link.click() }
})

/** Move the focus in the calendar: left and right by days, up and down by entries, and by weeks past the last one. */
function stepDay(link, key) {
  const days = [...document.querySelectorAll('.calendar td')], cell = link.closest('td') ?? days[link.closest('th').cellIndex]
  const links = [...cell.querySelectorAll('a')], by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[key]
  const beside = Math.abs(by) > 1 && links[links.indexOf(link) + Math.sign(by)], at = days.indexOf(cell) + by
  const next = beside || days[at]?.querySelector('a') || document.querySelectorAll('.calendar th a')[at]
  next?.focus()
}

async function moveRow(row, by) {
  const item = row.closest('li'), next = by < 0 ? item.previousElementSibling : item.nextElementSibling
  if (!next) return
  const before = by < 0 ? next : next.nextElementSibling
  await moveBefore(item, before)
  focusable(document.getElementById(item.id))?.focus()
}

const moveBefore = (item, before) => send('/do/move', { task: item.id, before: before?.id ?? '' })

let dragged = null
addEventListener('dragstart', event => { dragged = event.target.closest?.('li[draggable=true]'); if (dragged) event.dataTransfer.setData('text/plain', dragged.id) })
addEventListener('dragover', event => { if (dragged && target(event)) event.preventDefault() })
addEventListener('drop', event => {
  const row = target(event)
  if (!dragged || !row || row === dragged) return
  event.preventDefault()
  const { top, height } = row.getBoundingClientRect()
  moveBefore(dragged, event.clientY < top + height / 2 ? row : row.nextElementSibling)
})
addEventListener('dragend', () => { dragged = null })
const target = event => event.target.closest?.('li[draggable=true]')
