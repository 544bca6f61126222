import process from 'node:process'
import { Option, type Command } from 'commander'
import { runOptions } from '../declare/declare-exec.ts'
import { another } from '../declare/option-values.ts'
import type { Finish } from '../declare/shared-options.ts'
import { codexVersion } from '../../config/foreign/codex-keys.ts'
import { version } from '../../core/version.ts'
import type { CodexOptions } from './codex-options.ts'
import { readTask } from './read-task.ts'
import { translateOptions } from './translate-options.ts'

/**
 * Declares `agent codex`, which takes the command lines of Codex for `exec` and `review`. It is one command: as in Codex, options may come before and
 * after `exec` and `resume`, and the prompt before or after `resume`.
 */
export function declareCodex(program: Command, finish: Finish): void {
  runOptions(program.command('codex'))
    .description('take a command line of codex exec')
    .version(`codex-cli ${codexVersion} (Portcullis ${version})`, '-V, --version')
    .argument('<words...>', 'exec [PROMPT], exec resume [SESSION] [PROMPT], exec fork SESSION, exec review, review')
    .helpCommand(false)
    .option('--last', 'with resume or fork: the newest session of this workspace')
    .option('--all', 'with --last: the newest session of any workspace')
    .option('--uncommitted', 'with review: staged, unstaged and untracked changes')
    .option('--base <branch>', 'with review: all changes since the common ancestor of <branch>')
    .option('--commit <sha>', 'with review: the changes of a commit')
    .option('--enable <feature>', 'the same as -c features.FEATURE=true; may be repeated', another)
    .option('--disable <feature>', 'the same as -c features.FEATURE=false; may be repeated', another)
    .option('--strict-config', 'refuse keys that neither Codex nor Portcullis has')
    .option('--ignore-user-config', "don't read $CODEX_HOME/config.toml, except what makes the run stricter")
    .option('--ignore-rules', "don't apply what .rules files allow; what they forbid is forbidden")
    .option('--oss', 'use a model on this machine')
    .option('--local-provider <name>', 'with --oss: ollama (the default) or lmstudio')
    .option('-P, --permission-profile <name>', 'the same as -c default_permissions=NAME')
    .addOption(
      new Option('--yolo', 'the same as --dangerously-bypass-approvals-and-sandbox').conflicts([
        'sandbox',
        'askForApproval',
        'fullAuto',
        'a',
      ]),
    )
    .addOption(
      new Option('-a <when>', 'the same as --ask-for-approval').choices([
        'untrusted',
        'on-failure',
        'on-request',
        'never',
      ]),
    )
    .addOption(new Option('--worktree', 'refused').hideHelp())
    .addOption(new Option('--remote <address>', 'refused').hideHelp())
    .addOption(new Option('--dangerously-bypass-hook-trust', 'changes nothing').hideHelp())
    .addOption(new Option('--cyber-access-program <name>', 'changes nothing').hideHelp())
    .addOption(new Option('--title <text>', 'changes nothing').hideHelp())
    .action(async (words: readonly string[], _: object, command: Command) => {
      const given = command.opts<CodexOptions>()
      const end = process.argv.indexOf('--')
      const task = readTask(words, given, end === -1 ? 0 : process.argv.length - end - 1)
      if (typeof task === 'string') command.error(`error: ${task}`)
      const { reportStartupFailure } = await import('../report-startup-failure.ts')
      const code = await reportStartupFailure(given.json === true, async (progress) => {
        const { runExec } = await import('../run-exec.ts')
        const options = translateOptions(given)
        return runExec(task.prompt, options, task.start, progress, task.review)
      })
      finish(code)
    })
}
