// Put before the theme's search program by tools/site_hook.py, so that a question may be asked as one says it.
// The theme looks for every word and for what begins with it: "I" finds "Instructions", "do" finds "document", and
// titles count most. So words that say nothing are left out. Of Chinese it cuts a whole question into words of the
// index, and finds nothing where one character is in none: so pairs of characters are asked for.
;(() => {
  const SETUP = 0 // the types of messages that bring the texts, and a query
  const SEARCH = 2
  // Words of questions that the theme's own list lacks; "use" would find every heading with "users".
  const FILLERS = new Set('use uses used using happen happens handle much many one want need'.split(' '))
  const ASKED = /为什么|怎么样?|怎样|如何|什么|哪个|哪些|哪种|多少|一个|[是的把吗呢了里它]/gu

  const pairs = (run) => [...run].slice(1).map((letter, at) => [...run][at] + letter).join(' ')

  const says = (word) => {
    const bare = word.toLowerCase().replace(/[!-/:-@[-`{-~]/g, '')
    return bare && !FILLERS.has(bare) && lunr.stopWordFilter(bare)
  }

  // lunr takes two nodes of its index for one if their letters and numbers give the same text in a row, as "1" before
  // node 23 and "12" before node 3: words of digits were lost, others with every change of the texts.
  const tellApart = () => {
    lunr.TokenSet.prototype.toString = function () {
      const edges = Object.keys(this.edges).sort()
      return this._str || edges.reduce((text, edge) => `${text},${edge}:${this.edges[edge].id}`, this.final ? '1' : '0')
    }
  }

  addEventListener('message', ({ data }) => {
    if (data.type === SETUP) tellApart()
    if (data.type !== SEARCH || data.data.includes('"')) return
    const kept = data.data
      .replace(ASKED, ' ')
      .replace(/\p{sc=Han}{3,}/gu, pairs)
      .split(/\s+/)
      .filter(says)
    if (kept.length) data.data = kept.join(' ')
  })
})()
