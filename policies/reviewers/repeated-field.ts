/**
 * Whether a valid JSON text gives a field twice, in one spelling or two: JSON.parse takes the last, another reader the first. For flat
 * answers; names in different objects count as the same.
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
