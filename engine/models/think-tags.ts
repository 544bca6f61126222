const opening = '<think>'
const closing = '</think>'

/** Separates a text from the thoughts that a server puts at its start, between `<think>` and `</think>`. */
export class ThinkTagReader {
  #text = ''
  #shown = 0

  /** Adds the next piece of the model's text, and returns the text that can be shown now. */
  add(piece: string): string {
    this.#text += piece
    const start = this.#text.trimStart()
    // If the text may begin with a thought, nothing is shown until it is clear that it doesn't, or until the thought has ended.
    if (opening.startsWith(start.slice(0, opening.length)) && !start.includes(closing)) return ''
    const { said } = this.split()
    const more = said.slice(this.#shown)
    this.#shown = said.length
    return more
  }

  /** Returns the thoughts and the text separately. */
  split(): { readonly thought: string; readonly said: string } {
    const start = this.#text.trimStart()
    const end = start.indexOf(closing)
    if (start.startsWith(opening)) {
      if (end === -1) return { thought: start.slice(opening.length).trim(), said: '' }
      return { thought: start.slice(opening.length, end).trim(), said: start.slice(end + closing.length).trimStart() }
    }
    // Some templates put the opening tag into the prompt, so that only the closing tag arrives, on a line of its own.
    const alone = /^([^]*?)\n<\/think>[ \t]*\n/.exec(start)
    const isAlone = alone !== null && !start.slice(0, end).includes(opening)
    return isAlone
      ? { thought: (alone[1] ?? '').trim(), said: start.slice(alone[0].length).trimStart() }
      : { thought: '', said: this.#text }
  }
}
