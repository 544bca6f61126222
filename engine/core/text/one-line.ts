/** Fits a command on one line: leaves out a surrounding shell, joins the lines with `⏎`, and cuts off the end of a long text. */
export function oneLine(command: string): string {
  const flat = scriptOf(command)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ⏎ ')
  return flat.length > 120 ? `${flat.slice(0, 119)}…` : flat
}

/** Returns the script that a command such as `/bin/bash -lc '…'` runs; any other command is returned unchanged. */
export function scriptOf(command: string): string {
  const script = /^\/bin\/bash -l?c (?:'(?<quoted>[^]*)'|(?<bare>\S+))$/.exec(command)?.groups
  return script?.['quoted']?.replaceAll(`'\\''`, "'") ?? script?.['bare'] ?? command
}
