/** Names that `set -o` and `bash -o` take and that change nothing about which commands run (bash(1), `set`). */
export const shellOptions: ReadonlySet<string> = new Set([
  ...['errexit', 'nounset', 'pipefail', 'xtrace', 'verbose', 'noglob', 'noclobber', 'noexec', 'notify', 'posix'],
])
