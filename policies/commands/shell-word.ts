/** What is known about a list of file names that a search below the working folder printed. */
export type FileList = {
  /** Whether every name begins with `./`. If so, none can be an option. */
  readonly dotted: boolean
  /** Whether a filter has removed the names of all places where credentials are stored. */
  readonly filtered: boolean
  /** Set if the shell splits the names at blanks. A part of a name may then be the name of any other file. */
  readonly split?: true
}

/** A word of a command after quote removal. Expansions are understood as far as possible without running anything. */
export type ShellWord =
  /** A word whose text is known exactly. */
  | { readonly kind: 'static'; readonly text: string }
  /** A pattern: the shell replaces it with the names of the files that match, or leaves it as it is if none does. */
  | { readonly kind: 'glob'; readonly text: string }
  /** A word whose text is known only at run time. */
  | {
      readonly kind: 'dynamic'
      /** The word as it is written, for messages. */
      readonly text: string
      /** The text that the word certainly begins with. */
      readonly prefix: string
      /** True: exactly one word. False: any number of words, possibly none. */
      readonly single: boolean
      /**
       * Where the value comes from: the command line itself (such as the output of its commands), variables that the line doesn't set, or a search for
       * files below the working folder.
       */
      readonly from: 'commands' | 'environment' | 'workspace'
      /** Set if it is the value of a variable to which the text assigns something that isn't known. */
      readonly filled?: true
      /** Set if the value isn't split at blanks: if there are several words, each of them begins with `prefix`. */
      readonly whole?: true
      /** Set if the value is the output of a search for files in the workspace. */
      readonly listed?: FileList
    }

/** A word from a variable that the command line sets. Its value is one of `choices`. */
export type WordChoice = { readonly kind: 'either'; readonly text: string; readonly choices: readonly ShellWord[] }

/** Creates a word whose text is known. */
export function literal(text: string): ShellWord {
  return { kind: 'static', text }
}

/** The text of a word, if it is known exactly. Otherwise undefined. */
export function staticText(word: ShellWord | undefined): string | undefined {
  return word?.kind === 'static' ? word.text : undefined
}

/** Whether a word may expand to several words, or to none. The next word may then have a different role than it seems to have. */
export function mayBeSeveral(word: ShellWord): boolean {
  return word.kind === 'glob' || (word.kind === 'dynamic' && !word.single)
}

/** Whether a word may begin with a dash and so be an option. */
export function mayBeOption(word: ShellWord): boolean {
  switch (word.kind) {
    case 'static':
      return word.text.startsWith('-') && word.text !== '-'
    case 'glob':
      return /^[*?[-]/.test(word.text)
    case 'dynamic':
      // If the value is split at blanks, the words after the first may begin with anything.
      return !(word.single || word.whole === true) || word.prefix === '' || word.prefix.startsWith('-')
    default:
      return word satisfies never
  }
}
