// Fetches a page and puts its main part in the place of the one that is shown.
import { toast } from './forms.js'
import { isDirty, morph } from './morph.js'

const policy = window.trustedTypes?.createPolicy('panorama', { createHTML: text => text }) ?? { createHTML: text => text }
let asked = 0, visit = 0, isOld = false, path = location.pathname + location.search

export const parse = html => new DOMParser().parseFromString(policy.createHTML(html), 'text/html')

/** Show a page; `push` makes it a new entry of the browser's history. Only the page asked for last is shown; showing the
present one again waits until a visit of another has ended. */
export async function show(address, { push = false } = {}) {
  const to = new URL(address, location.href), isOther = push || to.pathname + to.search !== path
  if (isOther && !mayLeave()) return
  if (!isOther && visit) { isOld = true; return }
  const number = ++asked
  if (isOther) visit = number
  document.body.toggleAttribute('data-busy', isOther)
  try {
    const page = await load(to)
    if (page?.status === 401) location.reload()
    else if (page && number === asked) place(parse(page.text), page.url, { isOther, push })
    else if (!page && isOther) toast(document.body.dataset.failed, '', true)
  } finally { if (visit === number) await arrive() }
}

/** Fetch a page; null without a connection, where the page that is shown stays. */
async function load(to) {
  try {
    const answer = await fetch(to, { headers: { accept: 'text/html' } })
    return { status: answer.status, url: answer.url, text: await answer.text() }
  } catch { return null }
}

async function arrive() {
  visit = 0
  document.body.removeAttribute('data-busy')
  if (isOld) { isOld = false; await refresh() }
}

function place(fresh, address, { isOther, push }) {
  if (push) {
    history.replaceState({ top: scrollY }, '')
    history.pushState(null, '', address)
  }
  path = location.pathname + location.search
  document.title = fresh.title
  document.documentElement.dataset.at = fresh.documentElement.dataset.at
  document.body.dataset.token = fresh.body.dataset.token
  morph(document.querySelector('.side nav'), document.importNode(fresh.querySelector('.side nav'), true))
  const main = document.querySelector('main'), next = document.importNode(fresh.querySelector('main'), true)
  if (!isOther) return morph(main, next)
  main.replaceWith(next)
  document.querySelector('.burger').open = false
  scrollTo(0, history.state?.top ?? 0)
  if (push) (next.querySelector('[autofocus]') ?? next).focus({ preventScroll: true })
}

export const refresh = () => show(location.href)

const guarded = () => [...document.querySelectorAll('form[data-guard]')].some(isDirty)
const mayLeave = () => !guarded() || confirm(document.body.dataset.leave)
addEventListener('beforeunload', event => { if (guarded()) event.preventDefault() })
addEventListener('popstate', refresh)

addEventListener('click', event => {
  const link = event.target.closest?.('a[href]')
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target || link.hasAttribute('download')) return
  const to = new URL(link.href)
  if (to.origin !== location.origin || to.pathname.startsWith('/static/') || link.getAttribute('href').startsWith('#')) return
  event.preventDefault()
  show(to, { push: true })
})

addEventListener('submit', event => {
  const form = event.target
  if (form.method !== 'get' || event.defaultPrevented) return
  event.preventDefault()
  show(form.getAttribute('action') + '?' + new URLSearchParams(new FormData(form)), { push: true })
})

/** Fetch the rows of a group that is opened, and leave them out once it is closed: its name is in the address. */
addEventListener('toggle', event => {
  const fold = event.target
  if (!fold.matches('details[data-fold]')) return
  const to = new URL(location.href), opened = new Set((to.searchParams.get('open') ?? '').split(',').filter(Boolean))
  if (fold.open === opened.has(fold.id)) return
  opened[fold.open ? 'add' : 'delete'](fold.id)
  to.search = opened.size ? '?open=' + [...opened] : ''
  history.replaceState(null, '', to)
  path = location.pathname + location.search
  refresh()
}, { capture: true })

let typed = 0
addEventListener('input', event => {
  const form = event.target.closest?.('form[data-live-search]')
  if (!form) return
  clearTimeout(typed)
  typed = setTimeout(async () => {
    const to = form.getAttribute('action') + '?' + new URLSearchParams(new FormData(form)), field = event.target
    history.replaceState(null, '', to)
    path = location.pathname + location.search
    field.defaultValue = field.value
    await refresh()
  }, 180)
})
