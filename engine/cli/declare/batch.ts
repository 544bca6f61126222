import { Option, type Command } from 'commander'
import { batchReportFormats, type BatchReportOptions, type BatchRunOptions } from '../batch-options.ts'
import type { BatchExportOptions } from '../batch-report.ts'
import type { BatchWorkerOptions } from '../batch-worker.ts'
import { configOptions } from './config-options.ts'
import { another, count, dollars, positive } from './option-values.ts'
import type { Finish } from './shared.ts'

/** Declares `agent batch`: many tasks, each in a fresh clone. */
export function declareBatch(program: Command, finish: Finish): void {
  const batch = program
    .command('batch')
    .description('run many tasks, each in a fresh clone of its repository; what each changed is a patch')
    .helpCommand(false)
  configOptions(batch.command('run'))
    .description('run what is missing of a batch: start it again with the same words to go on')
    .argument('<tasks>', 'a file of tasks: .jsonl, .json, .yaml or .csv, with our names, SWE-bench’s or SWE-agent’s')
    .requiredOption('-o, --output <dir>', 'the folder of the batch: what each run came to, and all totals')
    .option(
      '-w, --workers <n>',
      'so many runs at once (default: 4; with --queue as many as the workers make)',
      positive,
    )
    .option('--repeat <k>', 'try each task so often with each model (-m A,B takes several)', positive, 1)
    .option('--attempts <n>', 'begin a run again that ended without an answer, so often in all', positive, 3)
    .option('--max-cost <usd>', 'end the batch before a run that could make all cost more than this', dollars)
    .option('--max-cost-per-run <usd>', 'end a run before a request that could make it cost more than this', dollars)
    .option(
      '--rpm <n>',
      'send so many requests a minute at most, of all runs together (default: as the provider says)',
      positive,
    )
    .option(
      '--tpm <n>',
      'use so many tokens a minute at most, of all runs together (default: as the provider says)',
      positive,
    )
    .option('--max-turns <n>', 'end a run after so many responses of the model', positive)
    .option('--max-tokens <n>', 'end a run before a request that could use more tokens, in and out together', positive)
    .option('--timeout <seconds>', 'end a run after so much time', positive)
    .option('--fail-on-no-change', 'a run fails that changed no file')
    .option('--verify <command>', 'a run is done only if this succeeds in the sandbox; may be repeated', another)
    .option('--verify-attempts <n>', 'how often the model is told before the run has failed (default: 2)', count)
    .option('--filter <pattern>', 'take the tasks with such an id, * and ? in it; may be repeated', another)
    .option('--slice <from:to>', 'take these of them, counted from 0', text)
    .option('--shuffle <seed>', 'put them in an order that is the same for the same number', positive)
    .option('--limit <n>', 'take so many at most', positive)
    .option(
      '--shard <index/count>',
      'run one of so many parts, counted from 0; agent batch merge puts them together',
      text,
    )
    .option('--queue <url>', 'have workers on any machine do it: redis:// or rediss://, for agent batch worker', text)
    .option('--dry-run', 'check all tasks, their repositories and the configuration, and run nothing')
    .addOption(new Option('--retry-seconds <n>', 'the first wait before another attempt').argParser(Number).hideHelp())
    .addHelpText(
      'after',
      `
Examples:
  agent batch run tasks.jsonl -o out --dry-run
  agent batch run tasks.yaml -o out -w 8 -m gpt-5.5 --max-cost 50
  agent batch run tasks.csv -o out -m gpt-5.5,claude-sonnet-5 --repeat 3

Exit codes: 0 every run is done; 1 some are not; 2 nothing was run; 4 the money is used up; 5, 6 some have no answer, for want of a
sandbox or the provider; 130 interrupted`,
    )
    .action(async (tasks: string, options: BatchRunOptions) => {
      const { batchRun } = await import('../batch-run.ts')
      finish(await batchRun(tasks, options))
    })
  declareControls(batch, finish)
  batch
    .command('worker')
    .description('do the runs of a batch that agent batch run --queue gives out, until interrupted')
    .requiredOption('--queue <url>', 'the Redis that they come by: redis:// or rediss://', text)
    .requiredOption('--store <dir>', "the batch's folder, which this machine shares with the one that gives them out")
    .option('-w, --workers <n>', 'so many runs at once', positive, 2)
    .option(
      '--labels <names>',
      'what this machine has, as in docker,big: tasks that need other labels are not taken',
      text,
    )
    .addOption(
      new Option('--lock-seconds <n>', 'how long a run is this worker’s without a sign').argParser(Number).hideHelp(),
    )
    .action(async (options: BatchWorkerOptions) => {
      const { batchWorker } = await import('../batch-worker.ts')
      finish(await batchWorker(options))
    })
  batch
    .command('merge')
    .description('put the folders of one batch together, such as those of its shards')
    .argument('<dir...>')
    .requiredOption('-o, --output <dir>', 'a new folder')
    .action(async (directories: readonly string[], options: { readonly output: string }) => {
      const { batchMerge } = await import('../batch-report.ts')
      finish(batchMerge(directories, options.output))
    })
  batch
    .command('export')
    .description("write what SWE-bench's evaluation reads")
    .argument('<dir>', 'the folder of the batch')
    .requiredOption('--swebench', 'predictions: a patch for each task that has an answer')
    .option('-o, --output <file>', 'write them there (default: standard output)')
    .option('-m, --model <model>', 'of this model, where the batch has several')
    .option('--repeat <k>', 'of this repeat, where it has several', positive)
    .action(async (directory: string, options: BatchExportOptions) => {
      const { batchExport } = await import('../batch-report.ts')
      finish(batchExport(directory, options))
    })
  batch
    .command('report')
    .description(
      'make the files anew that are made of the runs: results, summary, statistics, predictions, JUnit, the page',
    )
    .argument('<dir>', 'the folder of the batch')
    .addOption(
      new Option(
        '--format <format>',
        'print the statistics alone: how often each model solved its tasks, and what that cost',
      ).choices(batchReportFormats),
    )
    .action(async (directory: string, options: BatchReportOptions) => {
      const { batchReport } = await import('../batch-report.ts')
      finish(await batchReport(directory, options))
    })
}

/** What is asked of a batch by whoever is not its supervisor. */
function declareControls(batch: Command, finish: Finish): void {
  const about = 'the folder of the batch'
  batch
    .command('status')
    .description('how far a batch is, and what each run is at')
    .argument('<dir>', about)
    .option('--watch', 'again every two seconds, until nobody runs it')
    .option('--json', 'print one JSON object a line')
    .action(async (directory: string, options: { readonly watch?: true; readonly json?: true }) => {
      const { batchStatus } = await import('../batch-control.ts')
      finish(await batchStatus(directory, options))
    })
  const wishes = [
    ['pause', 'begin nothing more until resume; what runs goes on'],
    ['resume', 'go on after pause or cancel'],
    ['cancel', 'interrupt what runs, and begin nothing more'],
  ] as const
  for (const [wish, description] of wishes) {
    batch
      .command(wish)
      .description(description)
      .argument('<dir>', about)
      .action(async (directory: string) => {
        const { batchWish } = await import('../batch-control.ts')
        finish(batchWish(directory, wish))
      })
  }
  batch
    .command('set')
    .description('change the limits of a batch that goes on: workers=8, rpm=500, tpm=200000')
    .argument('<dir>', about)
    .argument('<key=value...>')
    .action(async (directory: string, pairs: readonly string[]) => {
      const { batchSet } = await import('../batch-control.ts')
      finish(batchSet(directory, pairs))
    })
  batch
    .command('retry')
    .description('open runs again that are settled; batch run begins them then')
    .argument('<dir>', about)
    .requiredOption('--where <conditions>', "which: 'outcome=provider|lost', 'outcome=failed,model=gpt-5.5'", text)
    .action(async (directory: string, options: { readonly where: string }) => {
      const { batchRetry } = await import('../batch-control.ts')
      finish(batchRetry(directory, options.where))
    })
}

function text(value: string): string {
  return value
}
