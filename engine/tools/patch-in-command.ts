/** A patch that a model typed into the shell instead of calling `apply_patch`. */
export type PatchInCommand = {
  readonly text: string
  /** The directory of a leading `cd DIR &&` or `cd DIR;`, as written; undefined if there is none. */
  readonly directory: string | undefined
}

const names = '(?:apply_patch|applypatch|apply-patch)'
const heredoc = new RegExp(
  String.raw`^\s*(?:cd\s+(?<directory>'[^']+'|"[^"$\x60\\]+"|[^\s'"$\x60\\;&|<>()*?]+)\s*(?:&&|;)\s*)?` +
    String.raw`${names}\s*<<-?\s*(?<quote>['"]?)(?<word>[A-Za-z_][\w-]*)\k<quote>[ \t]*\r?\n` +
    String.raw`(?<body>[^]*?)\r?\n[ \t]*\k<word>[ \t]*\s*$`,
)
const quoted = new RegExp(String.raw`^\s*${names}\s+'(?<body>[^']*\*\*\* Begin Patch[^']*)'\s*$`)

/**
 * Recognizes a command that only applies a patch: `apply_patch <<EOF`, optionally after `cd DIR &&` or `cd DIR;`, or `apply_patch` with the patch as
 * its only argument. Any other command is left to the shell, because the other parts of a longer command would not be executed here.
 *
 * @param command a shell script, or an argument vector
 */
export function patchInCommand(command: string | readonly string[]): PatchInCommand | undefined {
  if (typeof command !== 'string') {
    const [program = '', text, ...more] = command
    if (!new RegExp(`^${names}$`).test(program) || text === undefined || more.length > 0) return undefined
    return { text, directory: undefined }
  }
  const match = heredoc.exec(command) ?? quoted.exec(command)
  const body = match?.groups?.['body']
  if (body === undefined) return undefined
  return { text: `${body}\n`, directory: match?.groups?.['directory']?.replace(/^'(.*)'$|^"(.*)"$/, '$1$2') }
}
