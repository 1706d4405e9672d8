// What another site tries: an object of functions by name. Each returns what it has learned, or throws.
(({ target, files }) => {
  const include = { credentials: 'include' }
  const ask = async (path, options = {}) => (await fetch(target + path, { ...include, ...options })).text()
  const fields = new URLSearchParams({ line: 'Planted', title: 'Planted', token: '0'.repeat(32), session: '' })
  const send = (path, options = {}) => ask(path, { method: 'POST', mode: 'no-cors', body: fields, ...options })
  const wait = begin => new Promise(done => { begin(done); setTimeout(() => done('nothing'), 1500) })
  const load = (name, attribute, path, more = {}) => wait(done => {
    const element = Object.assign(document.createElement(name), more, { onload: () => done('loaded'), onerror: () => done('refused') })
    element[attribute] = target + path
    document.body.append(element)
  })
  const submit = (path, values) => wait(done => {
    const frame = Object.assign(document.createElement('iframe'), { name: 'inside', onload: () => done('loaded') })
    const form = Object.assign(document.createElement('form'), { method: 'post', action: target + path, target: 'inside' })
    for (const [name, value] of Object.entries(values)) form.append(Object.assign(document.createElement('input'), { name, value }))
    document.body.append(frame, form)
    form.submit()
  })
  const listen = (source, event) => wait(done => {
    source.addEventListener('open', () => done('opened'))
    source.addEventListener(event, ({ data }) => done(data))
    source.onerror = () => { source.close(); done('refused') }
  })
  const readFrame = () => document.querySelector('iframe').contentDocument.body.textContent
  const work = `fetch('${target}/today', {credentials: 'include'}).then(answer => answer.text()).then(postMessage, () => postMessage('refused'))`
  const file = new FormData()
  file.set('line', new Blob(['Planted']))

  return {
    'fetches a page': () => ask('/today'),
    'fetches a page without CORS': () => ask('/today', { mode: 'no-cors' }),
    'fetches results': () => ask('/find?q=secret'),
    'fetches a note that it guessed': () => ask('/notes/n_0000000001'),
    'asks for the headers': () => ask('/today', { method: 'HEAD' }),
    'asks what is allowed': () => ask('/do/quick', { method: 'OPTIONS' }),
    'posts a form': () => send('/do/quick'),
    'posts JSON': () => ask('/do/quick', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"line": "Planted"}' }),
    'posts a file': () => send('/do/quick', { body: file }),
    'puts': () => ask('/do/quick', { method: 'PUT' }),
    'deletes': () => ask('/do/items.delete', { method: 'DELETE' }),
    'signs everybody out': () => send('/sessions/end'),
    'asks for a preview': () => send('/preview'),
    'sends a beacon': () => String(navigator.sendBeacon(target + '/do/quick', fields)),
    'listens to the stream': () => listen(new EventSource(target + '/live', { withCredentials: true }), 'hello'),
    'opens a socket': () => listen(new WebSocket(target.replace('http', 'ws') + '/live'), 'message'),
    'loads results as a script': () => load('script', 'src', '/find?q=secret'),
    'loads our script': () => load('script', 'src', files + '/page.js'),
    'loads our module': () => load('script', 'src', files + '/page.js', { type: 'module' }),
    'loads our style': () => load('link', 'href', files + '/panorama.css', { rel: 'stylesheet' }),
    'loads a page as an image': () => load('img', 'src', '/today'),
    'loads our icon': () => load('img', 'src', files + '/icon.svg'),
    'loads a page as a video': () => load('video', 'src', '/today'),
    'frames a page': async () => { await load('iframe', 'src', '/today'); return readFrame() },
    'frames a script to be approved': async () => { await load('iframe', 'src', '/scripts/move_overdue', { sandbox: 'allow-scripts allow-forms' }); return readFrame() },
    'embeds a page': () => load('embed', 'src', '/today'),
    'shows a page as an object': () => load('object', 'data', '/today', { type: 'text/html' }),
    'posts a form into a frame': () => submit('/do/quick', { line: 'Planted' }),
    'approves a script in a frame': () => submit('/do/scripts.approve', { script: 'move_overdue', digest: 'x', agreed: 'yes' }),
    'signs in with a code of its own': () => submit('/in', { code: 'x'.repeat(32), then: '/today' }),
    'fetches in a worker': () => wait(done => { new Worker(URL.createObjectURL(new Blob([work]))).onmessage = ({ data }) => done(data) }),
  }
})
