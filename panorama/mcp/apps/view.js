// The page in the chat. It speaks MCP Apps (2026-01-26) itself: JSON-RPC with the host by postMessage.
// Every text of a result becomes a text node; nothing is parsed as HTML, and no address of a result is followed.

const pending = new Map(), handlers = {}
let number = 0, host = {}, capabilities = {}, given = {}, shown = null, notice = null, loadedAt = 0
const opened = new Set()

// Put in by the server: the texts in German by their English ones, and the texts to show for its sentences with values.
const GERMAN = {}, SENTENCES = {}

const isGerman = () => (locale() ?? navigator.language).toLowerCase().startsWith('de')
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => name in values ? String(values[name]) : place)
const t = (text, values = {}) => fill(isGerman() && Object.hasOwn(GERMAN, text) ? GERMAN[text] : text, values)

/** Return a text of the server in the user's language: a known one, or one that fits a sentence with its values. */
function translate(text) {
  if (!isGerman() || Object.hasOwn(GERMAN, text)) return t(text)
  for (const [sentence, known] of Object.entries(SENTENCES)) {
    const seen = new Set(), escaped = sentence.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    const pattern = escaped.replace(/\{(\w+)\}/g, (_, name) => seen.has(name) ? `\\k<${name}>` : (seen.add(name), `(?<${name}>.+)`))
    const found = text.match(new RegExp(`^${pattern}$`, 's'))
    if (found) return t(known, { ...found.groups, kind: translateKind(found.groups.kind) })
  }
  return text
}

const translateKind = (kind = '') => t(kind.charAt(0).toUpperCase() + kind.slice(1))

const post = message => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
const notify = (method, params = {}) => post({ method, params })
const request = (method, params = {}) => new Promise((resolve, reject) => {
  pending.set(++number, { resolve, reject })
  post({ id: number, method, params })
})

addEventListener('message', async ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return
  if (!data.method) return settle(data)
  const handle = handlers[data.method]
  const result = await handle?.(data.params ?? {})
  if (data.id === undefined) return
  post(handle ? { id: data.id, result: result ?? {} } : { id: data.id, error: { code: -32601, message: 'Method not found' } })
})

function settle({ id, result, error }) {
  const waiting = pending.get(id)
  pending.delete(id)
  if (error) waiting?.reject(new Error(String(error.message ?? 'The client refused the call.')))
  else waiting?.resolve(result ?? {})
}

const textOf = result => (result?.content ?? []).filter(block => block?.type === 'text').map(block => String(block.text)).join('\n')
const dataOf = result => result?.structuredContent?.data ?? null
// Some hosts leave the structure out, so the undo is also read from the text.
const undoOf = result => result?.structuredContent?.metadata?.undo ?? textOf(result).match(/^undo: (\S+)$/m)?.[1] ?? ''

async function callTool(name, args) {
  const result = await request('tools/call', { name, arguments: args })
  if (result.isError) throw new Error(textOf(result) || 'The call failed.')
  return result
}

handlers.ping = () => ({})
handlers['ui/notifications/tool-input'] = ({ arguments: args }) => { given = args ?? {} }
handlers['ui/notifications/tool-result'] = async result => {
  if (result.isError || dataOf(result)) return show(result)
  await refresh().catch(() => show(result))
}
handlers['ui/notifications/tool-cancelled'] = () => main.replaceChildren(element('p', { class: 'quiet' }, t('The call was cancelled.')))
handlers['ui/notifications/host-context-changed'] = applyContext
handlers['ui/resource-teardown'] = () => ({})

// The host's theme: which of its variables replace ours, and the property that each value must be valid for.

const THEME = {
  '--color-text-primary': ['color', '--ink'], '--color-text-secondary': ['color', '--soft'],
  '--color-background-primary': ['color', '--page', '--card'], '--color-background-secondary': ['color', '--hover'],
  '--color-background-tertiary': ['color', '--sunk'], '--font-sans': ['font-family', '--sans'],
  '--font-mono': ['font-family', '--mono'], '--border-radius-md': ['border-radius', '--round'],
}

function applyContext(context) {
  host = { ...host, ...context }
  const root = document.documentElement
  root.lang = isGerman() ? 'de' : 'en'
  if (host.theme === 'light' || host.theme === 'dark') root.style.colorScheme = host.theme
  for (const [name, [property, ...tokens]] of Object.entries(THEME)) {
    const value = host.styles?.variables?.[name]
    if (value && CSS.supports(property, value)) for (const token of tokens) root.style.setProperty(token, value)
  }
  for (const [side, size] of Object.entries(host.safeAreaInsets ?? {})) root.style.setProperty(`--pad-${side}`, `${Number(size) || 0}px`)
  if (shown) render()
}

// Elements.

const main = document.querySelector('main')
const SVG = new Set(['svg', 'rect', 'line', 'g', 'title'])

function element(name, attributes = {}, ...children) {
  const node = SVG.has(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(key, value)
    else if (value !== undefined && value !== false) node.setAttribute(key, String(value))
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false && child !== ''))
  return node
}

const button = (label, click, kind = '', name) => element('button', { type: 'button', class: `btn ${kind}`, 'aria-label': name, click }, label)

function day(value) {
  const text = String(value), date = new Date(`${text.slice(0, 10)}T12:00`)
  if (Number.isNaN(date.getTime())) return text
  const words = date.toLocaleDateString(locale(), { weekday: 'short', day: 'numeric', month: 'short' })
  return text.length > 10 ? `${words}, ${text.slice(11, 16)}` : words
}

function locale() {
  try { return Intl.getCanonicalLocales(host.locale ?? [])[0] } catch { return undefined }
}

// The view.

function show(result) {
  loadedAt = Date.now()
  const data = result.isError ? null : dataOf(result)
  shown = data ? { data } : { text: textOf(result) || t('Nothing to show.') }
  render()
}

async function refresh() {
  show(await callTool('show', given))
}

function render() {
  const { data, text } = shown
  const parts = data ? renderView(data) : [element('div', { class: 'card' }, element('pre', { tabindex: 0, role: 'group', 'aria-label': t('Answer') }, text))]
  main.replaceChildren(...[notice && renderNotice(), ...parts].filter(Boolean))
}

const renderNotice = () => element('p', { class: `toast ${notice.isError ? 'bad' : ''}`, role: notice.isError ? 'alert' : 'status', tabindex: -1 },
  element('span', {}, notice.text), notice.undo && element('button', { type: 'button', click: () => act('undo', { unit: notice.undo }, t('Undone')) }, t('Undo')))

function renderView(data) {
  const lists = Object.entries(data.lists ?? {}).filter(([, rows]) => rows?.length)
  const isEmpty = !lists.length && !data.plan && !data.texts && !data.figures
  return [
    renderHead(data), data.approval && element('p', { class: 'notice' }, translate(data.approval)),
    data.figures && element('dl', { class: 'tiles' }, Object.entries(data.figures).map(([name, value]) => element('div', { class: 'card tile' }, element('dt', {}, t(name)), element('dd', {}, String(value))))),
    data.days && renderDays(data.days),
    data.plan?.some(step => step.problem) && element('p', { class: 'notice', id: 'problem' }, t('It cannot be done like this: see the steps that are marked.')),
    data.plan && renderPlan(data.plan),
    ...lists.map(([heading, rows]) => renderList(data, heading, rows)),
    ...Object.entries(data.texts ?? {}).map(([heading, text]) => element('section', {}, element('h2', {}, t(heading)), element('div', { class: 'card' }, renderText(heading, String(text))))),
    isEmpty && element('p', { class: 'card empty' }, data.view === 'search' ? t('Nothing was found.') : t('Nothing is due.')),
  ]
}

function renderHead(data) {
  const widens = host.availableDisplayModes?.includes('fullscreen') && host.displayMode !== 'fullscreen'
  return element('header', { class: 'head' },
    element('div', {}, element('h1', {}, renderTitle(data)), data.subtitle && element('p', { class: 'quiet' }, renderSubtitle(data))),
    element('div', { class: 'tools' },
      data.view === 'run' && data.unit && button(t('Undo this run'), () => act('undo', { unit: data.unit }, t('Undone'))),
      data.view === 'batch' && !notice && renderRun(data.plan),
      widens && button(t('Full screen'), async () => applyContext({ displayMode: (await request('ui/request-display-mode', { mode: 'fullscreen' })).mode }))))
}

function renderRun(plan) {
  const run = button(t('Do it'), () => act('batch', { operations: given.operations }, t('Done'), false), 'main')
  run.disabled = plan.some(step => step.problem)
  if (run.disabled) run.setAttribute('aria-describedby', 'problem')
  return run
}

// Titles of projects and scripts are names, which are never translated.
const renderTitle = ({ view, title }) => view === 'project' || view === 'script' ? String(title) : translate(String(title))

function renderSubtitle({ view, subtitle }) {
  if (view === 'today') return new Date(`${subtitle.slice(-10)}T12:00`).toLocaleDateString(locale(), { dateStyle: 'full' })
  if (view === 'week') {
    const [start, end] = subtitle.split(' to ').map(day)
    return t('{start} to {end}', { start, end })
  }
  return translate(subtitle)
}

const FEW = 5
const OPEN_LISTS = new Set(['Overdue', 'Today', 'In progress', 'Next 7 days', 'Slipped', 'Due next week', 'Open tasks'])

function renderList(data, heading, rows) {
  const isWhole = host.displayMode === 'fullscreen' || opened.has(heading)
  const hidden = isWhole ? 0 : Math.max(0, rows.length - FEW)
  const omitted = data.more?.[heading]
  return element('section', { class: heading === 'Overdue' || heading === 'Slipped' ? 'late' : '' },
    element('h2', {}, `${t(heading)} `, element('span', { class: 'quiet' }, String(rows.length + (omitted ?? 0)))),
    element('ul', { class: 'card' }, rows.slice(0, rows.length - hidden).map(row => renderRow(heading, row)),
      hidden > 0 && element('li', { class: 'row' }, button(t('Show {number} more', { number: hidden }), () => { opened.add(heading); render() })),
      omitted && !hidden && element('li', { class: 'row quiet' }, t('and {number} more', { number: omitted }))))
}

function renderRow(heading, row) {
  const title = String(row.title ?? row.name ?? row.label ?? ''), isOpen = OPEN_LISTS.has(heading) && row.id
  const when = row.deadline ?? row.starts_at ?? row.completed_at ?? row.updated_at
  const facts = [row.action, row.ms !== undefined && `${row.ms} ms`, row.code, row.changes && t('{number} changed', { number: row.changes }), row.health !== undefined && t('health {number}', { number: row.health }), row.location, row.when, row.project]
  return element('li', { class: 'row' },
    isOpen && element('button', { type: 'button', class: 'tick', 'aria-label': t('Complete: {title}', { title }), click: () => act('update_task', { task: row.id, status: 'done' }, t('Done: {title}', { title })) }),
    element('span', { class: 'title' }, title, row.urgent && element('span', { class: 'flag' }, t('Urgent'))),
    element('span', { class: 'meta' }, facts.filter(Boolean).map(fact => element('span', {}, String(fact))), when && element('time', {}, day(when)),
      isOpen && button(t('Tomorrow'), () => act('update_task', { task: row.id, deadline: 'tomorrow' }, t('Tomorrow: {title}', { title })), '', t('Put off until tomorrow: {title}', { title })),
      heading === 'Reminders that wait' && [
        button(t('In 1 hour'), () => actByBatch('snooze_reminder', { reminder: row.id, until: '1h' }, t('In 1 hour: {title}', { title })), '', t('Remind in 1 hour: {title}', { title })),
        button(t('Done'), () => actByBatch('acknowledge_reminder', { reminder: row.id }, t('Done: {title}', { title })), '', t('Done: {title}', { title }))]),
    row.snippet && element('span', { class: 'wide quiet' }, String(row.snippet).replaceAll('**', '')))
}

const renderPlan = plan => element('ol', { class: 'card' }, plan.map(({ step, tool, id, item, fields, problem, warning }) => element('li', { class: 'row' },
  element('span', { class: 'quiet' }, `${step + 1}.`), element('span', { class: 'title' }, [tool, id ? item : printTarget(item)].filter(Boolean).join(' · ')),
  problem && element('span', { class: 'wide flag' }, translate(problem)),
  warning && element('span', { class: 'wide quiet' }, translate(warning)),
  ...(fields ?? []).map(({ name, now, then }) => element('span', { class: 'wide' }, element('span', { class: 'quiet' }, `${name} `), now !== undefined && element('del', {}, print(now)), now !== undefined && ' → ', element('ins', {}, print(then)))))))

// A step names an earlier one by its place from 0 on; the list counts from 1.
const printTarget = item => item?.replace(/^result of step (\d+)$/, (_, place) => t('result of step {number}', { number: Number(place) + 1 }))

const print = value => value === undefined || value === '' ? t('empty') : typeof value === 'string' ? value : JSON.stringify(value)

function renderText(heading, text) {
  const isDiff = heading.startsWith('Changed') || heading.startsWith('New')
  const lines = isDiff ? text.split('\n').map(line => element('span', { class: line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '' }, line || ' ')) : [text]
  return element('pre', { tabindex: 0, role: 'group', 'aria-label': t(heading) }, lines)
}

function renderDays({ first, completed = [], created = [] }) {
  const count = Math.max(completed.length, created.length), most = Math.max(1, ...completed, ...created), slot = 400 / count, width = Math.min(14, slot * .4)
  const start = Date.parse(`${first}T12:00Z`)
  if (!count || Number.isNaN(start)) return null
  const dates = Array.from({ length: count }, (_, index) => new Date(start + index * 86_400_000).toISOString().slice(0, 10))
  const words = dates.map((date, index) => t('{day}: {completed} completed, {created} created', { day: day(date), completed: completed[index] ?? 0, created: created[index] ?? 0 }))
  const bar = (value, kind, x) => value > 0 && element('rect', { class: kind, x, y: 99 - 92 * value / most, width, height: 92 * value / most })
  return element('figure', { class: 'card chart' },
    element('figcaption', {}, t('Tasks per day'), element('span', { class: 'quiet key one' }, t('completed')), element('span', { class: 'quiet key two' }, t('created')), element('span', { class: 'quiet' }, ` · ${t('most {number}', { number: most })}`)),
    element('svg', { viewBox: '0 0 400 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': words.join('; ') },
      words.map((label, index) => element('g', {}, element('title', {}, label), bar(completed[index], 'one', slot * (index + .5) - width), bar(created[index], 'two', slot * (index + .5) + 1))),
      element('line', { class: 'base', x1: 0, x2: 400, y1: 99.5, y2: 99.5 })),
    element('p', { class: 'quiet ends' }, element('span', {}, day(dates[0] ?? '')), element('span', {}, day(dates.at(-1) ?? ''))))
}

// Actions: tools that exist, called through the host.

const actByBatch = (tool, args, words) => act('batch', { operations: [{ tool, args }] }, words)

async function act(tool, args, words, refreshes = true) {
  for (const control of main.querySelectorAll('button')) control.disabled = true
  try {
    const result = await callTool(tool, args)
    notice = { text: words, undo: tool === 'undo' ? '' : undoOf(result) }
    reportAction(tool, args)
    if (refreshes) await refresh(); else render()
  } catch (error) {
    notice = { text: error.message, isError: true }
    render()
  }
  main.querySelector('.toast')?.focus()
}

function reportAction(tool, args) {
  if (!capabilities.updateModelContext) return
  const text = `In the Panorama view the user called ${tool} with ${JSON.stringify(args).slice(0, 300)}.`
  request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => {})
}

// What was changed elsewhere is fetched when the user comes back.
addEventListener('focus', () => { if (shown?.data && !notice && Date.now() - loadedAt > 5000) refresh().catch(() => {}) })

new ResizeObserver(() => notify('ui/notifications/size-changed', { height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(document.body)
request('ui/initialize', { appInfo: { name: 'panorama-view', version: '1' }, appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] }, protocolVersion: '2026-01-26' }).then(({ hostContext, hostCapabilities }) => {
  capabilities = hostCapabilities ?? {}
  applyContext(hostContext ?? {})
  notify('ui/notifications/initialized')
}, error => main.replaceChildren(element('p', { class: 'quiet' }, error.message)))
