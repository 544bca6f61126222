/**
 * Whether a valid JSON text contains a field twice, even if its name is spelt in two ways. JSON.parse takes the last value, but another reader may
 * take the first. For flat answers only: equal names in different objects count as repeated.
 */
export function hasRepeatedField(json: string): boolean {
  const names: string[] = []
  const text = /"(?:[^"\\]|\\.)*"/y
  for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', text.lastIndex)) {
    text.lastIndex = at
    const [name] = text.exec(json) ?? []
    if (name === undefined) break
    if (json.slice(text.lastIndex).trimStart().startsWith(':')) names.push(String(JSON.parse(name)))
  }
  return new Set(names).size !== names.length
}
