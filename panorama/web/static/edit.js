// Edits a title where it is: Enter saves, Escape leaves it as it was.
import { send } from './forms.js'

export function edit(title) {
  const form = title.closest('form'), field = document.createElement('input')
  Object.assign(field, { value: title.textContent, className: 'title', maxLength: 500, required: true })
  field.setAttribute('aria-label', document.body.dataset.title)
  field.setAttribute('data-editing', '')
  title.replaceWith(field)
  field.focus()
  field.select()
  let isOver = false
  const close = async saves => {
    if (isOver) return
    isOver = true
    const text = field.value.trim(), isChanged = saves && text && text !== title.textContent
    const fields = { task: form.elements.task.value, title: text }
    if (isChanged) title.textContent = text
    const hadFocus = document.activeElement === field
    field.replaceWith(title)
    if (hadFocus) title.focus()
    if (isChanged) await send(form.getAttribute('action'), fields)
  }
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); close(true) } else if (event.key === 'Escape') { event.stopPropagation(); close(false) }
  })
  field.addEventListener('blur', () => close(true))
}

addEventListener('click', event => {
  const title = event.target.closest?.('a[data-edit]')
  if (!title || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  edit(title)
}, { capture: true })
