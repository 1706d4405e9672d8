// Sends forms without leaving the page, says what was done, and offers to undo it.
import { parse, refresh, show } from './pages.js'
import { morph } from './morph.js'
import { fits } from './files.js'

const { dataset } = document.body
const toasts = document.getElementById('toasts')
const underWay = new WeakSet()
let lastUndo = ''

addEventListener('submit', async event => {
  const form = event.target
  if (form.method !== 'post' || form.hasAttribute('data-plain')) return
  event.preventDefault()
  if (form.hasAttribute('data-quick')) return addQuickly(form)
  if (underWay.has(form) || form.hasAttribute('data-drop') && !fits(form)) return
  underWay.add(form) // a second click is not a second note
  try {
    const isDone = await send(form.getAttribute('action'), new FormData(form, event.submitter), form)
    if (isDone && form.hasAttribute('data-drop')) form.reset()
  } finally { underWay.delete(form) }
})

/** Send a line, and take the next one at once; a line that was refused comes back unless another is there. */
async function addQuickly(form) {
  const fields = new FormData(form), line = form.querySelector('input:not([type=hidden])'), text = line.value
  line.value = ''
  if (!await send(form.getAttribute('action'), fields) && !line.value) line.value = text
}

/** Send fields; ask the user where the answer is a question. Return whether it was done. */
export async function send(address, fields, form) {
  const body = form?.enctype === 'multipart/form-data' ? fields : new URLSearchParams(fields)
  if (!body.has('token')) body.set('token', dataset.token)
  let answer
  try {
    answer = await (await fetch(address, { method: 'POST', body, headers: { accept: 'application/json' } })).json()
  } catch { toast(dataset.failed, '', true); return false }
  if (answer.question) {
    if (!await ask(answer.question)) return false
    body.set('agreed', answer.agreement)
    return send(address, body, form)
  }
  if (answer.failed) { toast([answer.message, answer.hint].filter(Boolean).join(' '), '', true); return false }
  if (answer.undo) lastUndo = answer.undo
  if (form) settle(form, body)
  toast(answer.message, answer.undo)
  if (answer.then) await show(answer.then, { push: true })
  else await refresh()
  return true
}

/** Take what was sent for what is stored: what was typed since is half-typed still. */
function settle(form, sent) {
  for (const field of form.elements) {
    if (field.hasAttribute('data-keep')) field.checked = false
    if ('defaultChecked' in field) field.defaultChecked = field.checked
    if ('defaultValue' in field && field.type !== 'hidden') field.defaultValue = sent.get(field.name) ?? field.value
    for (const option of field.options ?? []) option.defaultSelected = option.selected
  }
}

export function undo() {
  if (lastUndo) send('/do/history.undo', { unit: lastUndo })
  lastUndo = ''
}

export function toast(words, unit, isBad = false) {
  const box = document.createElement('div')
  box.className = isBad ? 'toast bad' : 'toast'
  box.append(Object.assign(document.createElement('span'), { textContent: words }))
  if (unit) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: dataset.undo })
    button.onclick = () => { box.remove(); undo() }
    box.append(button)
  }
  toasts.replaceChildren(box)
  setTimeout(() => box.remove(), isBad ? 12_000 : 7_000)
}

function ask(question) {
  const dialog = document.getElementById('ask')
  dialog.querySelector('p').textContent = question
  dialog.returnValue = 'no'
  dialog.showModal()
  return new Promise(done => dialog.addEventListener('close', () => done(dialog.returnValue === 'yes'), { once: true }))
}

let waiting = 0
addEventListener('input', event => {
  const form = event.target.closest?.('form[data-preview]')
  if (!form || event.target.name !== 'content') return
  clearTimeout(waiting)
  waiting = setTimeout(() => preview(form), 250)
})

async function preview(form) {
  const body = new URLSearchParams({ content: form.elements.content.value, token: dataset.token })
  const answer = await fetch(form.dataset.preview, { method: 'POST', body })
  const box = form.querySelector('.preview'), fresh = document.createElement('div')
  if (!answer.ok) return
  fresh.className = 'prose'
  fresh.append(...document.importNode(parse(await answer.text()).body, true).childNodes)
  box.hidden = false
  morph(box.firstElementChild, fresh)
}
