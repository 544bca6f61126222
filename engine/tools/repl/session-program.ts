/**
 * A request to the session, sent as one line of JSON. The line of the answer begins with `nonce`, so that no printed output can be mistaken for the
 * answer.
 */
export type ReplRequest = { readonly nonce: string; readonly code: string }

/** The answer to a request: the last value as `util.inspect` shows it (absent if undefined), or what was thrown, with its stack. */
export type ReplAnswer = { readonly threw: boolean; readonly text?: string }

/**
 * Returns the program of a JavaScript session. The program is passed to Node as text, so that none of Portcullis's files has to be visible in the
 * sandbox. The text consists of functions in this file, so they must not use anything else, such as imports or constants of this file.
 */
export function sessionProgram(): string {
  // This function is written as text, because bundlers and test runners rewrite `import()` in code.
  const load = 'globalThis.importModule = (name, options) => import(name, options)'
  const parts = [asScript, importsOf, withoutOurFrames, openEvaluator, serveSession].map(String)
  // The function's own `name` is used for the call, because a bundler may have renamed the function.
  return [...parts, load, `${serveSession.name}()`].join('\n')
}

/** Answers the requests on standard input, one after another, until the input ends. */
function serveSession(): void {
  const { inspect } = process.getBuiltinModule('node:util')
  const print = process.stdout.write.bind(process.stdout)
  // Standard output and standard error share one stream; otherwise their output could arrive out of order.
  process.stderr.write = print
  Object.defineProperty(globalThis, 'importModule', { enumerable: false })
  // An error between calls, such as one in a timer, is printed and doesn't end the session.
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
 * Evaluates code as a browser's console does: declarations are kept and may be repeated, `await` works at the top level, and the value of the last
 * statement is returned. V8 has a mode for this, and Node offers it through its inspector.
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
    // The inspector gives only an id for an object, so the object is rendered inside the session.
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
      // After a syntax error, none of the code has run yet, so it can be changed and run again.
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

/** Removes this program's own frames from a stack trace. They are below the frames of the evaluated code. */
function withoutOurFrames(text: string): string {
  return text.replace(/\n {4}at (?:Session\.post|post) \([^]*?(?=\n {0,3}\S|$)/g, '')
}

/** Replaces `import()`, which doesn't work in code that the inspector evaluates, with our own function. Strings and comments stay as they are. */
function asScript(code: string): string {
  const aside = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`|\/\/.*|\/\*[^]*?\*\//.source
  return code.replace(new RegExp(`${aside}|(?<![.\\w$])import(\\s*\\()`, 'g'), (whole, open?: string) =>
    open === undefined ? whole : `importModule${open}`,
  )
}

/** Converts the import statements in code to calls to `import()`. */
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
