// What the tests ask a page that only a script can tell: an object of functions, none of which changes what is shown.
({
  /** What reaches over the right edge and is not in a box that scrolls or cuts. */
  findCutOff() {
    const isOver = element => { const { width, right } = element.getBoundingClientRect(); return width && right > innerWidth + 1 }
    const isInBox = element => {
      if (!element) return false
      const { overflowX, clipPath, position } = getComputedStyle(element)
      return overflowX !== 'visible' || clipPath !== 'none' || position === 'fixed' || isInBox(element.parentElement)
    }
    return [...document.querySelectorAll('body *')].filter(element => isOver(element) && !isInBox(element)).slice(0, 3).map(element => element.outerHTML.slice(0, 120))
  },

  isWiderThanWindow: () => document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth,

  /** Mark the focused element, and return whether it and its focus can be seen; null if nothing has the focus. */
  visitFocused() {
    const element = document.activeElement
    if (!element || element === document.body) return null
    element.dataset.visited = 'yes'
    const isMarked = part => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(part)
      return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 || boxShadow !== 'none'
    }
    const { top, bottom, left, right } = element.getBoundingClientRect()
    const isOnScreen = right > Math.max(left, 0) && left < innerWidth && bottom > Math.max(top, 0) && top < innerHeight
    return { html: element.outerHTML.slice(0, 120), isClear: isOnScreen && [element, element.form].some(part => part && isMarked(part)) }
  },

  /** What can have the focus and was not visited. */
  findUnvisited() {
    const all = document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')
    return [...all].filter(element => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && !element.dataset.visited).map(element => element.outerHTML.slice(0, 120))
  },

  countMoving() {
    const isMoving = element => parseFloat(getComputedStyle(element).transitionDuration) > 0
    return document.getAnimations().length + [...document.querySelectorAll('*')].filter(isMoving).length
  },
})
