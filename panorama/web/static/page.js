// A page works without this, by links and forms; with it, it is quick and live.
import './pages.js'
import './forms.js'
import './edit.js'
import './keys.js'
import './palette.js'
import './live.js'
