import type { ReleaseArchive } from './find-release.ts'
import type { ModelForCi } from './model-for-ci.ts'

/** What a workflow is made from. Without a release, the workflow reads variables that name its archive. */
export type ForWorkflow = { readonly model: ModelForCi; readonly release: ReleaseArchive | undefined }

// The scripts of all workflows. A task is passed as data, on standard input, and everything else in variables, so nothing that somebody types becomes part of a
// script. No line contains a backslash or three quotes, which Jenkins would read.

/** Downloads the archive that the variables name, compares its hash, and adds its programs to this shell's PATH. */
const install = [
  ': "${PORTCULLIS_URL:?say which archive to use}" "${PORTCULLIS_SHA256:?say which archive to use}"',
  'folder=$(mktemp -d)',
  'curl --fail --silent --show-error --location --output "$folder/archive" "$PORTCULLIS_URL"',
  'echo "$PORTCULLIS_SHA256  $folder/archive" | sha256sum --check --quiet -',
  'tar -xzf "$folder/archive" --strip-components 1 -C "$folder"',
  'PATH="$folder/bin:$PATH"',
]

/** Runs the task, and leaves a report and the change as a patch beside the code. */
const run = [
  'code=0',
  'set -- --trust -m "$AGENT_MODEL" --max-cost 2 --timeout 3600 --report portcullis.html',
  '[ -z "${VERIFY-}" ] || set -- "$@" --verify "$VERIFY"',
  `printf '%s' "$PROMPT" | agent exec "$@" - || code=$?`,
  'agent changes --last --patch portcullis.patch || true',
  'exit "$code"',
]

/** The lines of a job: it downloads agent, runs the task in the variable PROMPT, checks it with the command in VERIFY, and ends with the exit code of the run. */
export const jobScript: readonly string[] = ['set -eu', ...install, ...run]

/** The archive's variables, for a workflow: their values, or what stands for them if they are still to be set. */
export function archiveVariables(
  { release }: ForWorkflow,
  unset: (name: string) => string | undefined,
): readonly (readonly [name: string, value: string])[] {
  const values = { PORTCULLIS_URL: release?.url, PORTCULLIS_SHA256: release?.sha256 }
  return Object.entries(values).flatMap(([name, value = unset(name)]) => (value === undefined ? [] : [[name, value]]))
}

/** Indents lines. */
export function indented(lines: readonly string[], by: number): string {
  return lines.map((line) => `${' '.repeat(by)}${line}`).join('\n')
}
