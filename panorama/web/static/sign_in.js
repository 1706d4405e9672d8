// Hands the code behind # to the server, which no log and no other page sees, and forgets it.
const [code, view] = location.hash.slice(1).split('/')
if (code) {
  history.replaceState(null, '', '/in')
  const body = new URLSearchParams({ code, then: '/' + (view || 'today') })
  const answer = await (await fetch('/in', { method: 'POST', body, headers: { accept: 'application/json' } })).json()
  const state = document.getElementById('state')
  if (answer.failed) state.textContent = state.dataset.failed
  else location.replace(answer.then)
}
