import type { Command } from 'commander'
import type { EvidenceOptions, VerifyOptions } from '../evidence.ts'
import { another } from './option-values.ts'
import type { Finish } from './shared.ts'

/** Declares `agent evidence`. */
export function declareEvidence(program: Command, finish: Finish): void {
  const evidence = program
    .command('evidence')
    .description('a signed statement of what a run with --transactional changed, by which model and under which rules')
    .enablePositionalOptions()
    .argument('[run]', 'its id, or the beginning or end of it')
    .option('--last', 'the newest one that worked in this directory')
    .option('-o, --output <file>', 'write it there; - is standard output')
    .option('--key <file>', 'the private key that signs: Ed25519, ECDSA or RSA, in PEM or as ssh-keygen writes it')
    .addHelpText(
      'after',
      `
Examples:
  agent evidence --last -o run.evidence.json --key ~/.ssh/id_ed25519
  agent evidence verify run.evidence.json --tree . --public-key trusted.pub`,
    )
    .action(
      async (
        run: string | undefined,
        { last, ...options }: Partial<EvidenceOptions> & { readonly last?: true },
        command: Command,
      ) => {
        const { output, key } = options
        if (last === true && run !== undefined) command.error('error: --last already names the run')
        if (last !== true && run === undefined) command.error('error: name a run, or give --last')
        if (output === undefined) return command.error('error: say where it goes: -o FILE, or -o - for standard output')
        if (key === undefined) return command.error('error: say what signs it: --key FILE')
        const { evidenceCommand } = await import('../evidence.ts')
        finish(await evidenceCommand(run, { output, key }))
      },
    )
  evidence
    .command('verify')
    .description('say whether evidence is whole, and of this tree and this patch; exit code 1 where it is not')
    .argument('<file>', 'what agent evidence wrote')
    .option(
      '--tree <directory>',
      'all source files have to be as it says there, and what the run removed gone; once for each tree',
      another,
    )
    .option('--patch <file>', 'has to be the patch, as agent changes --patch writes it')
    .option(
      '--public-key <file>',
      'has to be the key that signed it, in PEM or ssh’s one line; may be repeated',
      another,
    )
    .addHelpText(
      'after',
      `
Source files are those that git tracked or did not ignore when the evidence was made, and the paths that the run changed. The first 20 that
differ are named. Files that came later, and those that git ignores, are not looked at: git status finds them.`,
    )
    .action(async (file: string, options: VerifyOptions) => {
      const { verifyEvidence } = await import('../evidence.ts')
      finish(verifyEvidence(file, options))
    })
}
