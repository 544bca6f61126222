import { expect, test } from 'vitest'
import { code, imports, sources, textOf } from './sources.ts'

const folders = ['engine', 'sandbox', 'policies', 'apply-patch']

/** Files that start processes on the host. Each program is found by `hostProgram` or `systemProgram`, or named by an absolute path. */
const starters = [
  'apply-patch/files/attribute-programs.ts',
  'engine/batch/run/repository-git.ts',
  'engine/batch/run/start-run.ts',
  'engine/cli/doctor/find-git.ts',
  'engine/cli/look-where-mounted.ts',
  'engine/models/provider-keys.ts',
  'engine/approvals/answering-program.ts',
  'sandbox/bubblewrap/open-bubblewrap.ts',
  'sandbox/bubblewrap/try-bubblewrap.ts',
  'sandbox/docker/container-network.ts',
  'sandbox/docker/own-node.ts',
  // This file starts the host's git for the host's own repositories, and finds git with `hostProgram`.
  'sandbox/git/host-git.ts',
  'sandbox/helper/attributes.ts',
  'sandbox/helper/try-fence.ts',
  'sandbox/run-owner.ts',
  'sandbox/process/pipes.ts',
  'sandbox/seatbelt/open-seatbelt.ts',
  'sandbox/seatbelt/kill-orphans.ts',
  'sandbox/unconfined/open-unconfined.ts',
  'sandbox/unconfined/process-watchdog.ts',
  'sandbox/unconfined/show-views.ts',
  'sandbox/views/overlay-view.ts',
]

/** Sources of our programs that are sent into the sandbox as text. The bare program names in them are looked up inside the sandbox. */
const inside = ['engine/tools/files/helper-search.ts']

const call = /\b(?:spawn|spawnSync|execa|execFile|execFileSync|exec|execSync|fork|run)\(\s*(['"`])([^'"`]*)\1/g

test('no program outside a sandbox is started by a bare name', () => {
  const bare = folders.flatMap((folder) =>
    sources(folder)
      .filter((file) => !inside.includes(file))
      .flatMap((file) =>
        (startsProcesses(file) ? [...code(file).matchAll(call)] : [])
          .filter((match) => match[2]?.startsWith('/') !== true)
          .map((match) => `${file}: ${match[0]}`),
      ),
  )
  expect(bare).toEqual([])
})

test('processes of the host are started in few files', () => {
  const found = folders.flatMap((folder) => sources(folder).filter(startsProcesses))
  expect(found.filter((file) => !starters.includes(file))).toEqual([])
})

/**
 * Files that start processes without execa, and why: usually because execa would slow down every command, or because the file waits for the process
 * synchronously. Each file gives its reason at the import.
 */
const withoutExeca: Readonly<Record<string, string>> = {
  'apply-patch/files/attribute-programs.ts': 'waited for in place, while a commit holds its lock',
  'engine/batch/run/start-run.ts': 'every run of a batch',
  'sandbox/bubblewrap/open-bubblewrap.ts': 'every command',
  'sandbox/docker/container-network.ts': 'every command, and a socket that is handed over',
  'sandbox/docker/own-node.ts': 'waited for in place',
  'sandbox/git/host-git.ts': 'waited for in place, several times behind each command',
  'sandbox/run-owner.ts': 'waited for in place',
  'sandbox/helper/attributes.ts': 'waited for in place, while files must not change',
  'sandbox/process/pipes.ts': 'waited for in place, before a command',
  'sandbox/seatbelt/open-seatbelt.ts': 'every command',
  'sandbox/seatbelt/kill-orphans.ts': 'waited for in place, behind each command',
  'sandbox/unconfined/open-unconfined.ts': 'every command, and each hook and server outside the sandbox',
  'sandbox/unconfined/process-watchdog.ts': 'outlives this process, and starts with its sandbox',
  'sandbox/views/overlay-view.ts': 'waited for in place, before this process is replaced',
}

test('processes of the host are started with execa, with a few exceptions whose reason is given at the import', () => {
  const all = folders.flatMap(sources).filter((file) => !inside.includes(file))
  const starting = all.filter((file) =>
    imports(file).some(({ specifier, names }) => isChildProcess(specifier) && !onlyTypes(names)),
  )
  expect(starting.toSorted()).toEqual(Object.keys(withoutExeca).toSorted())
  expect(all.filter((file) => /getBuiltinModule\('(?:node:)?child_process'\)/.test(code(file)))).toEqual([])
  const silent = starting.filter(
    (file) => !/^\/\/ execa isn't used here, because (?:.+\n\/\/ )*.+\nimport .*child_process'$/m.test(textOf(file)),
  )
  expect(silent).toEqual([])
})

const isChildProcess = (specifier: string): boolean => specifier.endsWith('child_process')
const onlyTypes = (names: readonly string[]): boolean => names.every((name) => /^[A-Z]/.test(name))

/** Whether a file imports a module that starts processes, and not only its types. */
function startsProcesses(file: string): boolean {
  return imports(file).some(
    ({ specifier, names }) => specifier === 'execa' || (isChildProcess(specifier) && !onlyTypes(names)),
  )
}

/**
 * Source files that open files on the host by path, and why commands can't exploit that. All other source files read and write with `readHostFile`,
 * `holdOutput` and `openNewFile`, which don't wait for pipes and don't follow symlinks that commands have made, or use the patch transaction.
 */
const openers: Readonly<Record<string, string>> = {
  'engine/app/hook-env-files.ts': "the run's own directory",
  'engine/app/open-reviewer.ts': "the user's own policy text, read before any command",
  'engine/cli/session-beginning.ts': "the session's folder, or named on the command line, and no command runs",
  'engine/batch/folder/files.ts': "the batch's own folder",
  'engine/run/judge/base-cache.ts': "the program's own state folder",
  'engine/run/judge/judge-tree.ts': 'throw-away trees, in which no command runs yet; nothing is written through a link',
  'engine/run/judge/reporters.ts': 'nothing: it contains the text of a plugin for pytest',
  'engine/run/judge/watched-command.ts': 'a new folder, before the command runs; reports are read with `readHostFile`',
  'engine/batch/queue/attempt-result.ts': "the batch's own folder, when no command runs any more",
  'engine/batch/merge-folders.ts': 'folders of a batch, and no command runs',
  'engine/batch/run/finish-attempt.ts': "the batch's own folder, when no command runs any more",
  'engine/batch/run/start-run.ts': "the batch's folder, which commands don't see",
  'engine/cli/policy-command.ts': 'named on the command line, and no command runs',
  'engine/cli/declare/declare-shim.ts': 'named on the command line, made only where nothing is, and no command runs',
  'engine/cli/read-image.ts': 'named on the command line, read before any command',
  'engine/cli/read-output-schema.ts': 'named on the command line, read before any command',
  'engine/cli/review-from-options.ts': 'named on the command line, read before any command',
  'engine/config/read-files.ts': "the user's and the machine's own configuration",
  'engine/config/replace-user-file.ts': "the user's own configuration",
  'engine/core/bundled-packages.ts': 'the package that this code is part of, and no command runs',
  'engine/core/kept-outputs.ts': "the session's folder",
  'engine/escalation/make-granted.ts': 'makes a file that was granted, over nothing and through no link',
  'engine/models/replay-format.ts': 'named on the command line, read before any command',
  'engine/core/read-plain-file.ts': 'as readHostFile, with reasons',
  'engine/approvals/keep-rule.ts': "the user's own configuration",
  'engine/mcp/oauth/token-store.ts': "the program's own state folder",
  'engine/review/try-suggestion.ts': 'one file in a new folder of its own, in a place that no run works in',
  'engine/core/folder-lock.ts': 'the folder of a session or a batch',
  'engine/session/event-log.ts': "the session's folder",
  'engine/report/read-lines.ts': "the session's folder, or named on the command line where no command runs",
  'engine/session/rollout.ts': "the session's folder",
  'engine/session/session.ts': "the session's folder",
  'engine/transaction/change-record.ts': "the session's folder",
  'engine/transaction/overlay/withhold-secrets.ts': "the session's folder",
  'engine/transaction/copy-file.ts': "the user's tree, into the session's folder before any command",
  'engine/transaction/copy-git.ts': "the user's tree, into the session's folder before any command",
  'engine/transaction/copy-small.ts':
    "the user's tree, through no link and waiting on no pipe, into the session's folder before any command",
  'engine/transaction/fit-index.ts': "the session's folder before any command",
  'engine/transaction/linked-git.ts': "the user's tree, into the session's folder before any command",
  'engine/transaction/mark-left-out.ts': "the session's folder before any command",
  'engine/transaction/kept-files.ts':
    "the session's folder; and the view's files through no link and waiting on no pipe, when no command runs any more",
  'engine/transaction/view-manifest.ts': "the session's folder",
  'engine/transaction/packed-contents.ts': "the session's folder",
  'engine/transaction/evidence/check-tree.ts': 'named on the command line, and no command runs',
  'engine/transaction/evidence/decided-by.ts': "the session's folder",
  'engine/transaction/heads.ts': "the session's folder",
  'engine/transaction/kept-indexes.ts': "the session's folder",
  'engine/transaction/overlay/storage.ts': "the user's tree, into the session's folder before any command",
  'engine/transaction/view-state.ts': "the session's folder",
  'engine/transaction/overlay/note-clean-files.ts': "the session's folder",
  'engine/transaction/overlay/lower-directories.ts': "the session's folder, and procfs",
  'engine/transaction/tree-files.ts': 'through no link and waiting on no pipe, when no command runs any more',
  'engine/transaction/suits-copy.ts': "the user's tree, into the session's folder before any command",
  'sandbox/bubblewrap/probe.ts': "the program's cache",
  'sandbox/bubblewrap/try-bubblewrap.ts': 'procfs',
  'sandbox/bubblewrap/watch-limits.ts': 'procfs',
  'sandbox/docker/container-network.ts': "the run's own directory",
  'sandbox/docker/container-starts.ts': "plans in the run's own directory, which no command can write to",
  'sandbox/helper/helper.ts': "the run's own directory, which no command can write to",
  'sandbox/helper/prepared-helpers.ts': 'the package that this code is part of, only when it runs from its sources',
  'sandbox/held-places.ts': 'by descriptor, component by component',
  'sandbox/host-files.ts': 'it is the helper',
  'sandbox/host-sockets.ts': 'procfs',
  'sandbox/installation/own-paths.ts': 'the package that this code is part of, before any command',
  'sandbox/key-file-view.ts': "the run's own directory",
  'sandbox/misread-start.ts': 'procfs',
  'sandbox/limits/groups.ts': 'control groups',
  'sandbox/network/hosts-file.ts': "the run's own directory",
  'sandbox/remove-tree.ts': 'directories to remove, by descriptor, component by component',
  'sandbox/run-owner.ts': 'procfs',
  'sandbox/process/handed-input.ts': 'procfs',
  'sandbox/process/long-command.ts': "the run's own directory",
  'sandbox/process/folders-in-terminal.ts': 'procfs',
  'sandbox/process/pipes.ts': "the run's own directory, which commands don't see",
  'sandbox/process/signal.ts': 'procfs',
  'sandbox/random-name.ts': "the system's own device of chance, by a fixed path",
  'sandbox/unconfined/process-watchdog.ts': 'procfs',
  'sandbox/views/overlay-view.ts': 'procfs',
}

const opening =
  /^(?:openSync|open|readFileSync|readFile|writeFileSync|writeFile|appendFileSync|appendFile|cpSync|copyFileSync|createReadStream|createWriteStream)$/

test('files of the host are opened in few places, each with a reason', () => {
  const found = ['engine', 'sandbox'].flatMap((folder) =>
    sources(folder).filter((file) =>
      imports(file).some(
        ({ specifier, names }) =>
          /^node:fs|\/host-paths\.ts$/.test(specifier) && names.some((name) => opening.test(name)),
      ),
    ),
  )
  // The code that holds directories and git's files opens them by descriptor, component by component.
  const byDescriptor = /^sandbox\/(?:git\/|held-)/
  expect(found.filter((file) => !Object.hasOwn(openers, file) && !byDescriptor.test(file))).toEqual([])
})
