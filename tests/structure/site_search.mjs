// Asks the search of a built site: the theme's own program, as a browser runs it in a worker.
// Usage: node site_search.mjs SITE < queries.json; prints for each query the pages that it finds.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import vm from 'node:vm'

const site = process.argv[2]
const workers = join(site, 'assets', 'javascripts', 'workers')
const program = join(workers, readdirSync(workers).find((name) => name.endsWith('.js')))
const index = JSON.parse(readFileSync(join(site, 'search', 'search_index.json'), 'utf8'))
const queries = JSON.parse(readFileSync(0, 'utf8'))

const listeners = []
let answered
const scope = {
  console,
  addEventListener: (_, heard) => listeners.push(heard),
  postMessage: (message) => answered(message),
  importScripts: (...files) => files.forEach((file) => load(resolve(dirname(program), file))),
}
scope.self = scope
const context = vm.createContext(scope)
const load = (file) => vm.runInContext(readFileSync(file, 'utf8'), context, { filename: file })
const ask = (message) =>
  new Promise((told) => {
    answered = told
    listeners.forEach((heard) => heard({ data: message }))
  })

load(program)
await ask({ type: 0, data: { ...index, options: { suggest: false } } })
const found = []
for (const query of queries) {
  const { data } = await ask({ type: 2, data: query })
  found.push(data.items.map(([page]) => page.location.split('#')[0]))
}
console.log(JSON.stringify(found))
