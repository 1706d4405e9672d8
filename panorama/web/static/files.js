// Files that are dropped onto a page with a form for them are sent by this form.
import { toast } from './forms.js'

const hasFiles = event => event.dataTransfer?.types.includes('Files')
const form = () => document.querySelector('form[data-drop]')

/** Return whether the files of a form are small enough to be sent, and say so if they are not. */
export function fits(form) {
  const size = [...form.querySelector('[type=file]').files].reduce((sum, file) => sum + file.size, 0)
  if (size > form.dataset.limit) toast(form.dataset.tooLarge, '', true)
  return size <= form.dataset.limit
}

addEventListener('dragover', event => {
  if (!hasFiles(event) || !form()) return
  event.preventDefault()
  form().setAttribute('data-over', '')
})
addEventListener('dragleave', event => { if (!event.relatedTarget) form()?.removeAttribute('data-over') })
addEventListener('drop', event => {
  const target = form()
  if (!hasFiles(event) || !target) return
  event.preventDefault()
  target.removeAttribute('data-over')
  target.querySelector('[type=file]').files = event.dataTransfer.files
  target.requestSubmit()
})
