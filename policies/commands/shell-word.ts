/** Names of files below the working folder, as a search prints them. */
export type FileList = {
  /** Every name begins with `./`, so that none is taken for an option. */
  readonly dotted: boolean
  /** Only some names, none of them where credentials are kept. */
  readonly filtered: boolean
  /** Names are split at their blanks, so that a part of one may name any file. */
  readonly split?: true
}

/** A word of a command after quotes are gone and expansions are understood as far as they can be without running anything. */
export type ShellWord =
  /** Exactly this one word. */
  | { readonly kind: 'static'; readonly text: string }
  /** The names of files that match, or the pattern itself where none does. */
  | { readonly kind: 'glob'; readonly text: string }
  /** Known only when it runs. */
  | {
      readonly kind: 'dynamic'
      /** The source, for messages. */
      readonly text: string
      /** What it surely begins with. */
      readonly prefix: string
      /** True: exactly one word. False: any number of words, none among them. */
      readonly single: boolean
      /**
       * Where the value comes from: output of commands in the line, variables that the line doesn't set, or a search
       * for files below the working folder.
       */
      readonly from: 'commands' | 'environment' | 'workspace'
      /** Nothing splits it: each of its words begins as `prefix` says. */
      readonly whole?: true
      /** It is the output of a search for files of the workspace. */
      readonly listed?: FileList
    }

/** A word that a variable of the line decides: one of these. */
export type WordChoice = { readonly kind: 'either'; readonly text: string; readonly choices: readonly ShellWord[] }

/** A word whose text is known. */
export function literal(text: string): ShellWord {
  return { kind: 'static', text }
}

/** The text of a word that is known exactly, else undefined. */
export function staticText(word: ShellWord | undefined): string | undefined {
  return word?.kind === 'static' ? word.text : undefined
}

/** Whether a word may turn out to be several, or none: what stands behind it is then another argument than it seems. */
export function mayBeSeveral(word: ShellWord): boolean {
  return word.kind === 'glob' || (word.kind === 'dynamic' && !word.single)
}

/** Whether a word may turn out to begin with a dash, and so be an option. */
export function mayBeOption(word: ShellWord): boolean {
  switch (word.kind) {
    case 'static':
      return word.text.startsWith('-') && word.text !== '-'
    case 'glob':
      return /^[*?[-]/.test(word.text)
    case 'dynamic':
      // What is split at blanks may have any word behind the first.
      return !(word.single || word.whole === true) || word.prefix === '' || word.prefix.startsWith('-')
    default:
      return word satisfies never
  }
}
