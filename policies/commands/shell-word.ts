/** Names of files below the working folder, as a search prints them. */
export type FileList = {
  /** Every name begins with `./`, so none can be an option. */
  readonly dotted: boolean
  /** Only some names, none of them where credentials are stored. */
  readonly filtered: boolean
  /** Names are split at their blanks, so that a part of one may name any file. */
  readonly split?: true
}

/** A word of a command after quote removal, with expansions understood as far as possible without running anything. */
export type ShellWord =
  /** Exactly this one word. */
  | { readonly kind: 'static'; readonly text: string }
  /** The matching names of files, or the pattern itself if none matches. */
  | { readonly kind: 'glob'; readonly text: string }
  /** Known only when it runs. */
  | {
      readonly kind: 'dynamic'
      /** The source, for messages. */
      readonly text: string
      /** Its certain beginning. */
      readonly prefix: string
      /** True: exactly one word. False: any number of words, including none. */
      readonly single: boolean
      /**
       * Where the value comes from: output of commands in the line, variables that the line doesn't set, or a search
       * for files below the working folder.
       */
      readonly from: 'commands' | 'environment' | 'workspace'
      /** It isn't split: each of its words begins with `prefix`. */
      readonly whole?: true
      /** It is the output of a search for files of the workspace. */
      readonly listed?: FileList
    }

/** A word from a variable of the line: one of these. */
export type WordChoice = { readonly kind: 'either'; readonly text: string; readonly choices: readonly ShellWord[] }

/** A word with a known text. */
export function literal(text: string): ShellWord {
  return { kind: 'static', text }
}

/** The text of a word that is known exactly, else undefined. */
export function staticText(word: ShellWord | undefined): string | undefined {
  return word?.kind === 'static' ? word.text : undefined
}

/** Whether a word may expand to several words, or none: the next word then has another role than it seems. */
export function mayBeSeveral(word: ShellWord): boolean {
  return word.kind === 'glob' || (word.kind === 'dynamic' && !word.single)
}

/** Whether a word may begin with a dash, and so be an option. */
export function mayBeOption(word: ShellWord): boolean {
  switch (word.kind) {
    case 'static':
      return word.text.startsWith('-') && word.text !== '-'
    case 'glob':
      return /^[*?[-]/.test(word.text)
    case 'dynamic':
      // After splitting at blanks any word may follow the first.
      return !(word.single || word.whole === true) || word.prefix === '' || word.prefix.startsWith('-')
    default:
      return word satisfies never
  }
}
