import { InvalidArgumentError, Option, type Command } from 'commander'
import type { EvidenceOptions, VerifyOptions } from '../evidence-command.ts'
import type { Requirement } from '../evidence-requirements.ts'
import { another } from './option-values.ts'
import { last, lastIn, nameOf, type Last } from './named-run.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent evidence`. */
export function declareEvidence(program: Command, finish: Finish): void {
  const evidence = program
    .command('evidence')
    .description('write a signed statement about a run: its changes, its model and its rules')
    .enablePositionalOptions()
    .argument('[run]', 'the id of the run, or the beginning or end of the id')
    .option(...last)
    .option(...lastIn)
    .option('-o, --output <file>', 'the file to write; - is standard output')
    .option('--key <file>', 'the private key that signs: Ed25519, ECDSA or RSA, in PEM or as ssh-keygen writes it')
    .addHelpText(
      'after',
      `
Examples:
  agent evidence --last -o run.evidence.json --key ~/.ssh/id_ed25519
  agent evidence verify run.evidence.json --tree . --public-key trusted.pub`,
    )
    .action(async (run: string | undefined, options: Partial<EvidenceOptions> & Last, command: Command) => {
      const { output, key } = options
      const named = nameOf(run, options, command)
      if (output === undefined) return command.error('error: choose an output: -o FILE, or -o - for standard output')
      if (key === undefined) return command.error('error: choose a signing key: --key FILE')
      const { evidenceCommand } = await import('../evidence-command.ts')
      finish(await evidenceCommand(named, { output, key }))
    })
  evidence
    .command('verify')
    .description('check that evidence is intact and matches the given trees and patch; exit code 1 if not')
    .argument('<file>', 'an evidence file, as written by agent evidence')
    .option(
      '--tree <directory>',
      'the tree to check: its source files must match the evidence, and files that the run removed must not exist; repeat the option for each tree',
      another,
    )
    .option('--patch <file>', 'the patch that must match the evidence, as agent changes --patch writes it')
    .option(
      '--public-key <file>',
      'a public key that you trust to sign evidence, in PEM or as one line in ssh format; may be repeated',
      another,
    )
    .addOption(
      new Option(
        '--require <facts>',
        'what the evidence must say besides, separated by commas: verified (all --verify commands passed), kept (so did all tests of the base, as they were), policy=HASH (the runs were decided by this policy, whose hash agent evidence and this command print)',
      ).argParser(requirementsIn),
    )
    .addHelpText(
      'after',
      `
Source files are those that git tracked or did not ignore when the evidence was made, and the paths that the run changed. The first 20 that
differ are named. Files that were added later, and those that git ignores, are not checked.

Exit codes: 0, everything that was asked for holds; 1, something doesn't, and is printed; 2, wrong usage.

Example:
  agent evidence verify run.evidence.json --public-key trusted.pub --require verified,kept,policy=$POLICY`,
    )
    .action(async (file: string, options: VerifyOptions) => {
      const { verifyEvidence } = await import('../evidence-command.ts')
      finish(verifyEvidence(file, options))
    })
}

function requirementsIn(value: string): readonly Requirement[] {
  return value.split(',').map((word) => {
    if (word === 'verified' || word === 'kept') return word
    if (/^policy=[0-9a-f]{64}$/.test(word)) return word as Requirement
    throw new InvalidArgumentError(
      'expected verified, kept or policy=HASH, with commas between them; a hash has 64 hexadecimal digits.',
    )
  })
}
