// Put before the theme's search program by tools/site_hook.py, so that a question may be asked as one says it.
// The theme looks for every word and for what begins with it: "I" finds "Instructions", "do" finds "document", and
// titles count most. So words that say nothing are left out. Of Chinese it cuts a whole question into words of the
// index, and finds nothing where one character is in none: so pairs of characters are asked for.
;(() => {
  const SEARCH = 2 // the type of a message that brings a query
  // Words of questions that the theme's own list lacks; "use" would find every heading with "users".
  const FILLERS = new Set('use uses used using happen happens handle much many one want need'.split(' '))
  const ASKED = /为什么|怎么样?|怎样|如何|什么|哪个|哪些|哪种|多少|一个|[是的把吗呢了里它]/gu

  const pairs = (run) => [...run].slice(1).map((letter, at) => [...run][at] + letter).join(' ')

  const says = (word) => {
    const bare = word.toLowerCase().replace(/[!-/:-@[-`{-~]/g, '')
    return bare && !FILLERS.has(bare) && lunr.stopWordFilter(bare)
  }

  addEventListener('message', ({ data }) => {
    if (data.type !== SEARCH || data.data.includes('"')) return
    const kept = data.data
      .replace(ASKED, ' ')
      .replace(/\p{sc=Han}{3,}/gu, pairs)
      .split(/\s+/)
      .filter(says)
    if (kept.length) data.data = kept.join(' ')
  })
})()
