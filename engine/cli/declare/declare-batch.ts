import { Option, type Command } from 'commander'
import { batchReportFormats, type BatchReportOptions, type BatchRunOptions } from '../batch-options.ts'
import type { BatchExportOptions } from '../batch-report.ts'
import type { BatchWorkerOptions } from '../batch-worker.ts'
import { configOptions } from './config-options.ts'
import { another, count, dollars, positive } from './option-values.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent batch`, which runs many tasks, each on a private copy of its repository. */
export function declareBatch(program: Command, finish: Finish): void {
  const batch = program
    .command('batch')
    .description('run many tasks, each on a private copy of its repository; each result is a patch')
    .helpCommand(false)
  configOptions(batch.command('run'))
    .description('run all tasks of a batch that have no result yet; repeat the command to continue')
    .argument(
      '<tasks>',
      'a file of tasks: .jsonl, .json, .yaml or .csv, with the field names of Portcullis, SWE-bench or SWE-agent',
    )
    .requiredOption('-o, --output <dir>', 'the folder of the batch, in which all results are stored')
    .option(
      '-w, --workers <n>',
      'the number of simultaneous runs (default: 4; with --queue, as many as the workers can run)',
      positive,
    )
    .option('--repeat <k>', 'how many times each model tries each task (-m A,B names several models)', positive, 1)
    .option('--attempts <n>', 'how many times a run is attempted in total if it ends without an answer', positive, 3)
    .option('--max-cost <usd>', 'end the batch before a run that could raise the total cost above this amount', dollars)
    .option(
      '--max-cost-per-run <usd>',
      'end a run before a request that could raise its cost above this amount',
      dollars,
    )
    .option(
      '--rpm <n>',
      "the maximum number of requests per minute, for all runs together (default: the provider's limit)",
      positive,
    )
    .option(
      '--tpm <n>',
      "the maximum number of tokens per minute, for all runs together (default: the provider's limit)",
      positive,
    )
    .option('--max-turns <n>', 'end a run after this number of responses from the model', positive)
    .option(
      '--max-tokens <n>',
      'end a run before a request that could exceed this number of tokens, input and output together',
      positive,
    )
    .option('--timeout <seconds>', 'end a run after this time', positive)
    .option('--fail-on-no-change', 'treat a run that changes no file as failed')
    .option(
      '--verify <command>',
      'a command that must succeed in the sandbox before a run counts as done; may be repeated',
      another,
    )
    .option(
      '--verify-red <command>',
      'like --verify, and the command must have failed without the change; may be repeated',
      another,
    )
    .option(
      '--verify-attempts <n>',
      'how many times the model is told about a failure before the run fails (default: 2)',
      count,
    )
    .option(
      '--filter <pattern>',
      'run only tasks whose id matches this pattern, with * and ? as wildcards; may be repeated',
      another,
    )
    .option(
      '--slice <from:to>',
      'run only the tasks from index <from> up to but not including <to>, counted from 0; negative numbers count from the end',
      text,
    )
    .option('--shuffle <seed>', 'shuffle the tasks; the same number gives the same order', positive)
    .option('--limit <n>', 'run at most this many tasks', positive)
    .option(
      '--shard <index/count>',
      'run only one of <count> parts of the batch; <index> counts from 0; to merge the folders of all parts, use agent batch merge',
      text,
    )
    .option(
      '--queue <url>',
      'let workers (agent batch worker) on any machine run the tasks, through this Redis server: redis:// or rediss://',
      text,
    )
    .option(
      '--through-queue',
      "send tasks and results through Redis too, for workers that don't share the batch's folder; needs rediss://",
    )
    .option('--dry-run', 'check all tasks, their repositories and the configuration, and run nothing')
    .addOption(
      new Option('--retry-seconds <n>', 'how long to wait before the second attempt').argParser(Number).hideHelp(),
    )
    .addHelpText(
      'after',
      `
Examples:
  agent batch run tasks.jsonl -o out --dry-run
  agent batch run tasks.yaml -o out -w 8 -m gpt-5.5 --max-cost 50
  agent batch run tasks.csv -o out -m gpt-5.5,claude-sonnet-5 --repeat 3

Exit codes: 0 every run is done; 1 some are not; 2 nothing was run; 4 the cost limit was reached; 5, 6 some have no answer, because the sandbox or the provider failed; 130 interrupted`,
    )
    .action(async (tasks: string, options: BatchRunOptions) => {
      const { batchRun } = await import('../batch-run.ts')
      finish(await batchRun(tasks, options))
    })
  declareControls(batch, finish)
  batch
    .command('worker')
    .description('run tasks that agent batch run --queue distributes, until interrupted')
    .requiredOption('--queue <url>', 'the Redis server with the queue: redis:// or rediss://', text)
    .option(
      '--store <dir>',
      "the batch's folder, if this machine shares it; without it, tasks and results go through Redis (agent batch run --through-queue), which needs rediss://",
      text,
    )
    .option('-w, --workers <n>', 'the number of simultaneous runs', positive, 2)
    .option(
      '--labels <names>',
      'the labels of this machine, such as docker,big; the worker gets no tasks that need other labels',
      text,
    )
    .addOption(
      new Option(
        '--lock-seconds <n>',
        'how many seconds this worker may be silent before its run is given to another worker',
      )
        .argParser(Number)
        .hideHelp(),
    )
    .addOption(
      new Option('--hand-in-seconds <n>', 'how long the worker tries to send a result').argParser(Number).hideHelp(),
    )
    .action(async (options: BatchWorkerOptions) => {
      const { batchWorker } = await import('../batch-worker.ts')
      finish(await batchWorker(options))
    })
  batch
    .command('merge')
    .description('merge the folders of one batch, such as those of its shards')
    .argument('<dir...>')
    .requiredOption('-o, --output <dir>', 'a new folder')
    .action(async (directories: readonly string[], options: { readonly output: string }) => {
      const { batchMerge } = await import('../batch-report.ts')
      finish(batchMerge(directories, options.output))
    })
  batch
    .command('export')
    .description("write a file for SWE-bench's evaluation")
    .argument('<dir>', 'the folder of the batch')
    .requiredOption('--swebench', 'predictions: a patch for each task that has an answer')
    .option('-o, --output <file>', 'the file to write (default: standard output)')
    .option('-m, --model <model>', 'which model to export, if the batch has several')
    .option('--repeat <k>', 'which repeat to export, if the batch has several', positive)
    .action(async (directory: string, options: BatchExportOptions) => {
      const { batchExport } = await import('../batch-report.ts')
      finish(batchExport(directory, options))
    })
  batch
    .command('report')
    .description(
      'rewrite all files that are computed from the runs: results, summary, statistics, predictions, JUnit, the page',
    )
    .argument('<dir>', 'the folder of the batch')
    .addOption(
      new Option(
        '--format <format>',
        'also print the statistics, in this format, instead of the summary: how often each model solved its tasks, and what that cost',
      ).choices(batchReportFormats),
    )
    .action(async (directory: string, options: BatchReportOptions) => {
      const { batchReport } = await import('../batch-report.ts')
      finish(await batchReport(directory, options))
    })
}

/** Declares the commands that control or show a batch from another process. */
function declareControls(batch: Command, finish: Finish): void {
  const about = 'the folder of the batch'
  batch
    .command('status')
    .description('show the progress of a batch, and what each run is doing')
    .argument('<dir>', about)
    .option('--watch', 'repeat every two seconds, until the batch is no longer running')
    .option('--json', 'print one JSON object per line')
    .action(async (directory: string, options: { readonly watch?: true; readonly json?: true }) => {
      const { batchStatus } = await import('../batch-control.ts')
      finish(await batchStatus(directory, options))
    })
  const wishes = [
    ['pause', 'let running tasks continue, but start no more tasks until the batch is resumed'],
    ['resume', 'continue a batch that was paused or cancelled'],
    ['cancel', 'interrupt running tasks, and start no more tasks'],
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
    .description('change the limits of a running batch: workers=8, rpm=500, tpm=200000')
    .argument('<dir>', about)
    .argument('<key=value...>')
    .action(async (directory: string, pairs: readonly string[]) => {
      const { batchSet } = await import('../batch-control.ts')
      finish(batchSet(directory, pairs))
    })
  batch
    .command('retry')
    .description('reopen settled runs, so that agent batch run repeats them')
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
