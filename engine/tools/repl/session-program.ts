/** What the session is asked, one JSON object a line. `nonce` begins the line of the answer, so that nothing printed is taken for it. */
export type ReplRequest = { readonly nonce: string; readonly code: string }

/** The answer: the last value as `util.inspect` shows it (absent: undefined), or what was thrown with its stack. */
export type ReplAnswer = { readonly threw: boolean; readonly text?: string }

/**
 * The program of a JavaScript session. It is handed to Node as text, by which it needs no file of ours in the sandbox: every function
 * here is sent along, and none may use anything else.
 */
export function sessionProgram(): string {
  // A bundler or a test runner rewrites `import()` in what it compiles; in a text it stays.
  const load = 'globalThis.importModule = (name, options) => import(name, options)'
  const parts = [asScript, importsOf, withoutOurFrames, openEvaluator, serveSession].map(String)
  // A bundler may have given it another name.
  return [...parts, load, `${serveSession.name}()`].join('\n')
}

/** Answers requests from standard input, one after another, until it ends. */
function serveSession(): void {
  const { inspect } = process.getBuiltinModule('node:util')
  const print = process.stdout.write.bind(process.stdout)
  // One stream, or what was printed in turn would arrive out of order.
  process.stderr.write = print
  Object.defineProperty(globalThis, 'importModule', { enumerable: false })
  // What fails on its own, between calls, is told and not the end.
  process.on('uncaughtException', (error) => void print(`Uncaught ${inspect(error)}\n`))
  const evaluate = openEvaluator()
  let turn = Promise.resolve()
  process
    .getBuiltinModule('node:readline')
    .createInterface({ input: process.stdin })
    .on('line', (line) => {
      const { nonce, code } = JSON.parse(line) as ReplRequest
      turn = turn.then(async () => void print(`\n${nonce}${JSON.stringify(await evaluate(code))}\n`))
    })
    .on('close', () => process.exit())
}

/**
 * Evaluates as the console of a browser does: declarations stay and may be made again, `await` stands anywhere, the value of the
 * last statement comes back. It is the engine's own mode, which Node offers by its inspector.
 */
function openEvaluator(): (code: string) => Promise<ReplAnswer> {
  const { inspect } = process.getBuiltinModule('node:util')
  const { Session } = process.getBuiltinModule('node:inspector')
  type Evaluated = {
    readonly result: { readonly value?: unknown; readonly objectId?: string; readonly unserializableValue?: string }
    readonly exceptionDetails?: { readonly exception?: Evaluated['result'] }
  }
  const session = new Session()
  session.connect()
  const post = (method: string, parameters: object): Promise<Evaluated> =>
    new Promise((resolve, reject) => {
      session.post(method, parameters, (error, answer) => {
        if (error === null) resolve(answer as Evaluated)
        else reject(error)
      })
    })
  const show = (value: unknown): string => {
    const text = inspect(value, { depth: 4, maxArrayLength: 200, maxStringLength: 100_000 })
    return withoutOurFrames(text)
  }
  const run = (expression: string): Promise<Evaluated> =>
    post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true, objectGroup: 'call' })
  const key = Symbol.for('show')
  const shown = async ({ objectId, value, unserializableValue }: Evaluated['result']): Promise<string> => {
    if (objectId === undefined) return unserializableValue ?? show(value)
    // An object is known here by a number only: it is shown where it is.
    Object.defineProperty(globalThis, key, { value: show, configurable: true })
    const functionDeclaration = 'function (value) { return globalThis[Symbol.for("show")](value) }'
    const helper = await post('Runtime.evaluate', { expression: 'globalThis', objectGroup: 'call' })
    const asked = { functionDeclaration, objectId: helper.result.objectId, arguments: [{ objectId }] }
    return String((await post('Runtime.callFunctionOn', { ...asked, returnByValue: true })).result.value)
  }
  return async (code) => {
    try {
      let ran = await run(asScript(code))
      const thrown = ran.exceptionDetails?.exception as { readonly description?: string } | undefined
      // Nothing of it has run by then.
      if (/^SyntaxError: Cannot use import statement/.test(thrown?.description ?? ''))
        ran = await run(asScript(importsOf(code)))
      if (ran.exceptionDetails !== undefined) {
        return { threw: true, text: await shown(ran.exceptionDetails.exception ?? { value: 'something' }) }
      }
      const { result } = ran
      if (!('objectId' in result) && !('value' in result) && !('unserializableValue' in result)) return { threw: false }
      return { threw: false, text: await shown(result) }
    } catch (error) {
      return { threw: true, text: show(error) }
    } finally {
      session.post('Runtime.releaseObjectGroup', { objectGroup: 'call' })
    }
  }
}

/** Of a stack, what the evaluated code did: below that are the frames of this program. */
function withoutOurFrames(text: string): string {
  return text.replace(/\n {4}at (?:Session\.post|post) \([^]*?(?=\n {0,3}\S|$)/g, '')
}

/** `import()` has no meaning for what comes by the inspector; a function of ours does it. Strings and comments stay as they are. */
function asScript(code: string): string {
  const aside = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`|\/\/.*|\/\*[^]*?\*\//.source
  return code.replace(new RegExp(`${aside}|(?<![.\\w$])import(\\s*\\()`, 'g'), (whole, open?: string) =>
    open === undefined ? whole : `importModule${open}`,
  )
}

/** The same code with its import statements as calls. */
function importsOf(code: string): string {
  const source = /["']([^"'\n]+)["']/.source
  const attributes = /(?:\s+with\s*(\{[^}]*\}))?[ \t]*;?/.source
  const statement = new RegExp(`^[ \\t]*import\\s*(?:([^"'();]*?)\\s*from\\s*)?${source}${attributes}`, 'gm')
  return code.replace(statement, (_, clause: string | undefined, name: string, how: string | undefined) => {
    const loaded = `await import(${JSON.stringify(name)}${how === undefined ? '' : `, { with: ${how} }`})`
    if (clause === undefined) return `${loaded};`
    const named = /\{[^}]*\}/.exec(clause)?.[0].replace(/\bas\b/g, ':')
    const all = /\*\s*as\s+([\w$]+)/.exec(clause)?.[1]
    const main = /^([\w$]+)/.exec(clause.trim())?.[1]
    const parts = [
      ...(main === undefined ? [] : [`{ default: ${main} } = ${loaded}`]),
      ...(named === undefined ? [] : [`${named} = ${loaded}`]),
      ...(all === undefined ? [] : [`${all} = ${loaded}`]),
    ]
    return `const ${parts.join(', ')};`
  })
}
