/** Caches the JSON of each serialised value for as long as the value exists. */
const serialised = new WeakMap<object, string>()

/**
 * Serialises a body to the JSON that is sent. A long run sends its conversation a thousand times, so each element of the conversation is serialised only once.
 * Elements must therefore never change.
 *
 * @param list the name of the field that holds the conversation
 */
export function serialiseBody<Body extends object>(body: Body, list: string & keyof Body): string {
  const fields = Object.entries(body).flatMap(([name, value]) => {
    if (value === undefined) return []
    const text = name === list ? `[${(value as readonly object[]).map(once).join(',')}]` : json(value)
    return [`${JSON.stringify(name)}:${text}`]
  })
  return `{${fields.join(',')}}`
}

function once(value: object): string {
  const text = serialised.get(value) ?? json(value)
  serialised.set(value, text)
  return text
}

/** The JSON of a value whose texts have no unpaired surrogates: providers refuse a request with one, and with it each later request of the session. */
function json(value: unknown): string {
  const text = JSON.stringify(value)
  if (!/\\ud[89a-f]/.test(text)) return text
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))
}
