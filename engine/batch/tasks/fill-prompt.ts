/**
 * Replaces each `{{name}}` or `{{ name }}` in a prompt with the variable's value.
 *
 * @returns the prompt, or the first name that has no value
 */
export function fillPrompt(
  template: string,
  variables: Readonly<Record<string, string | undefined>>,
): { readonly prompt: string } | { readonly unknown: string } {
  let unknown: string | undefined
  const prompt = template.replace(/\{\{ ?([\w.-]{1,64}) ?\}\}/g, (written, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value === undefined) unknown ??= name
    return value ?? written
  })
  return unknown === undefined ? { prompt } : { unknown }
}
