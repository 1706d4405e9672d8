// Makes one element look like another and keeps what is the same, so that focus, scroll position and open menus stay.

/** Return whether a form holds text that was typed and not sent yet. */
export function isDirty(form) {
  if (form.querySelector('[data-editing]')) return true
  return [...form.elements].some(field =>
    field.type === 'checkbox' || field.type === 'radio' ? field.checked !== field.defaultChecked
      : field.nodeName === 'SELECT' ? [...field.options].some(option => option.selected !== option.defaultSelected) && field.value !== firstValue(field)
        : 'defaultValue' in field && field.type !== 'hidden' && field.value !== field.defaultValue)
}

const firstValue = select => ([...select.options].find(option => option.defaultSelected) ?? select.options[0])?.value

/** Change `old` into `fresh`. Children with an id are found wherever they are; a form somebody writes in stays, and
 * so does a box with data-keep, whose state is the user's alone. */
export function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== fresh.nodeName) return old.replaceWith(fresh)
  if (old.nodeName === 'FORM' && isDirty(old)) return
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  morphChildren(old, fresh)
  if (old instanceof HTMLInputElement && old.hasAttribute('data-keep')) return
  if (old instanceof HTMLInputElement && (old.type === 'checkbox' || old.type === 'radio')) old.checked = fresh.defaultChecked
  else if (old instanceof HTMLInputElement && old.type !== 'hidden') old.value = fresh.defaultValue
  else if (old instanceof HTMLTextAreaElement) old.value = fresh.defaultValue
  else if (old instanceof HTMLSelectElement) old.value = firstValue(fresh)
}

function morphChildren(old, fresh) {
  const known = new Map([...old.children].filter(child => child.id).map(child => [child.id, child]))
  let at = old.firstChild
  for (const child of [...fresh.childNodes]) {
    const same = (child.id && known.get(child.id)) || (at && isSameKind(at, child) ? at : null)
    if (!same) { old.insertBefore(child, at); continue }
    if (same === at) at = at.nextSibling
    else if (old.moveBefore) old.moveBefore(same, at)
    else old.insertBefore(same, at)
    if (same.nodeType === Node.TEXT_NODE) { if (same.data !== child.data) same.data = child.data } else morph(same, child)
  }
  while (at) {
    const next = at.nextSibling
    if (!(at instanceof Element && [at, ...at.querySelectorAll('form')].some(part => part.nodeName === 'FORM' && isDirty(part)))) at.remove()
    at = next
  }
}

const isSameKind = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && !one.id && !other.id
