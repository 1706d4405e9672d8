// Shows what others change. One stream serves all tabs, because a browser opens six connections to a server and no more:
// the tab that holds the lock listens and tells the others; when it goes, the next one takes over.
import { refresh } from './pages.js'

const sign = document.getElementById('live'), { dataset: texts } = document.body
const tabs = new BroadcastChannel('panorama')
const PAUSES = 3 // how many times as long as a refresh took the next one waits: a stream of changes leaves the daemon time
let leads = false, last = { lost: true }, isOld = false, isFollowing = false

tabs.onmessage = ({ data }) => { if (!data.asks) receive(data); else if (leads) tabs.postMessage({ ...last, kinds: [] }) }

navigator.locks?.request('panorama-live', () => new Promise(() => {
  leads = true
  const stream = new EventSource('/live')
  const pass = message => { last = message; receive(message); tabs.postMessage(message) }
  stream.addEventListener('hello', event => pass({ ...JSON.parse(event.data), kinds: [] }))
  stream.addEventListener('changed', event => pass(JSON.parse(event.data)))
  stream.onerror = () => pass({ lost: true })
}))
tabs.postMessage({ asks: true })

/** Take an event: `kinds` were touched and the store is at change `at`. A page of another number may have missed some. */
function receive({ kinds, at, lost }) {
  document.body.dataset.live = lost ? 'off' : 'on'
  sign.textContent = lost ? texts.lost : texts.on
  if (lost) return
  const shown = document.querySelector('main').dataset.kinds.split(' '), { dataset } = document.documentElement
  const isShown = kinds.some(kind => shown.includes(kind) || shown.includes('*')), isMissed = !kinds.length && Number(dataset.at) !== at
  if (!isShown && !isMissed) { dataset.at = at; return }
  follow()
}

/** Show what has changed, later if the tab is hidden, or a refresh is under way or was just now. */
async function follow() {
  isOld = true
  if (document.hidden || isFollowing) return
  isFollowing = true
  isOld = false
  const began = performance.now()
  try { await refresh() } finally {
    setTimeout(() => { isFollowing = false; if (isOld) follow() }, PAUSES * (performance.now() - began))
  }
}

addEventListener('visibilitychange', () => { if (isOld) follow() })
addEventListener('pageshow', event => { if (event.persisted) follow() })
