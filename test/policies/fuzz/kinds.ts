import type { FuzzKind } from './fuzz-kind.ts'
import { awk, git, sed } from './program-texts.ts'
import { isArmed, ShellTexts } from './shell-texts.ts'

const texts = new ShellTexts()

const shell: FuzzKind = {
  make: (random) => texts.make(random),
  runs: (text) => [text],
  isArmed,
  learn: (text, random) => texts.learn(text, random),
}

/** The kinds of texts, by their names on the command line. */
export const fuzzKinds: Readonly<Record<string, FuzzKind>> = { shell, awk, sed, git }
