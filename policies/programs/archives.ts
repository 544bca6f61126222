import { readOnly, unknown, type Fact } from '../commands/facts.ts'
import { optionTable, parseArguments } from '../commands/parse-options.ts'
import { staticText, type ShellWord } from '../commands/shell-word.ts'
import { join, judgeFiles, judgeOptions } from './judges.ts'
import type { JudgeContext, Judgement, ProgramTable } from './program-table.ts'

const tarOptions = optionTable(
  '-t -v -z -j -J -a -f< --list --verbose --gzip --bzip2 --xz --auto-compress --file< --strip-components: --exclude: --wildcards --full-time --numeric-owner --show-omitted-dirs',
)
const extracting = optionTable(
  '-x -c -r -u -v -z -j -J -a -k -p -m -f> -C: --extract --create --verbose --gzip --bzip2 --xz --file> --directory: --strip-components: --exclude: --remove-files',
)

/**
 * Judges tar, which lists an archive if it is given `-t`. Options that are missing from the tables may start programs (`-I`, `--to-command`,
 * `--checkpoint-action`) or open connections.
 */
function judgeTar(args: readonly ShellWord[], context: JudgeContext): Judgement {
  const [first, ...rest] = args
  const text = staticText(first)
  // Letters without a dash are the old spelling of bundled options. Their values come after all the letters. Of the letters that are accepted here,
  // only `f` has a value.
  const isOld = text !== undefined && !text.startsWith('-')
  if (isOld && (!/^[txcruvzjJakpmf]*$/.test(text) || text.split('f').length > 2))
    return { facts: [unknown(`tar ${text} is not understood`)] }
  const letters = isOld ? `-${text.replace('f', '')}${text.includes('f') ? 'f' : ''}` : ''
  const words = isOld ? [{ kind: 'static', text: letters } as const, ...rest] : args
  const listing = parseArguments(words, tarOptions, { letters: 'getopt' })
  // If a name contains a colon, tar looks for the file on another machine. This applies to the values of all options.
  if (words.some((word) => word.kind === 'dynamic' || word.text.includes(':'))) {
    return { facts: [unknown('if the name of an archive contains a colon, tar opens it over the network')] }
  }
  if (listing.ok) {
    if (!listing.options.some(({ name }) => name === '-t' || name === '--list'))
      return { facts: [unknown('tar may do more than list an archive')] }
    return join([{ facts: [readOnly] }, judgeOptions(listing.options)])
  }
  const changing = parseArguments(words, extracting, { letters: 'getopt' })
  const removed = words.some((word) => word.text === '--remove-files') ? [removes(words, context)] : []
  if (!changing.ok) return { facts: [...removed, unknown(`tar: ${changing.reason}`)] }
  const { operands } = changing
  return join([
    { facts: [{ class: 'writes', paths: operands.map(({ text: path }) => path) }, ...removed] },
    judgeFiles(operands),
  ])
}

/** What is lost if tar removes the files that it adds to the archive. Where another directory is named, it isn't known which. */
function removes(words: readonly ShellWord[], { place }: JudgeContext): Fact {
  const isWide = words.some((word) => /^(?:-C|--directory)/.test(word.text) || place.isWide(word))
  return {
    class: 'destructive',
    reason: 'tar removes the files that it adds to the archive',
    extent: isWide ? 'wide' : 'named',
  }
}

const unzipListing = optionTable('-l -v -t -Z -1 -q -C -z')

/** Judges unzip: with `-l`, `-v` or `-Z` it lists an archive, with `-t` it tests one, and otherwise it writes files. */
function judgeUnzip(args: readonly ShellWord[]): Judgement {
  const parsed = parseArguments(args, unzipListing, { letters: 'getopt' })
  if (parsed.ok && parsed.options.some(({ name }) => /^-[lvtZ]$/.test(name))) {
    return join([{ facts: [readOnly] }, judgeFiles(parsed.operands)])
  }
  return { facts: [{ class: 'writes', paths: ['.'] }] }
}

/** Programs that pack and unpack archives. */
export const archives: ProgramTable = {
  tar: { source: 'tar(1)', judge: judgeTar },
  unzip: { source: 'unzip(1)', judge: judgeUnzip },
  bsdtar: { source: 'bsdtar(1)', judge: judgeTar },
  gtar: { source: 'tar(1)', judge: judgeTar },
}
