import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { exitCodes } from '../../../engine/core/exit-codes.ts'
import { agent } from '../../support/agent.ts'
import { importOfPackage, whyNotInstalled } from '../../support/doors.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

const name = z.string().regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/)

/** The condition on exit codes in a rule of a pod failure policy. The codes must be in ascending order, without duplicates, and without 0. */
const onExitCodes = z.strictObject({
  containerName: name.optional(),
  operator: z.enum(['In', 'NotIn']),
  values: z
    .array(z.int().min(1).max(255))
    .min(1)
    .max(255)
    .refine((values) => values.every((value, at) => at === 0 || value > (values[at - 1] ?? 0)), 'in order, each once'),
})
const rule = z
  .strictObject({
    action: z.enum(['FailJob', 'FailIndex', 'Ignore', 'Count']),
    onExitCodes: onExitCodes.optional(),
    onPodConditions: z
      .array(z.strictObject({ type: z.string(), status: z.enum(['True', 'False', 'Unknown']) }))
      .min(1)
      .optional(),
  })
  .refine((one) => (one.onExitCodes === undefined) !== (one.onPodConditions === undefined), 'one condition')

/**
 * A schema for the example, stricter than Kubernetes' own. It refuses fields that we don't use, because they may be misspelled, and everything that
 * the server refuses in an indexed Job with a pod failure policy (https://kubernetes.io/docs/concepts/workloads/controllers/job/).
 */
const job = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: z.strictObject({ name }),
  spec: z.strictObject({
    // Only an indexed job can have limits for each index.
    completionMode: z.literal('Indexed'),
    completions: z.int().min(1),
    parallelism: z.int().min(0),
    backoffLimitPerIndex: z.int().min(0),
    maxFailedIndexes: z.int().min(0),
    podFailurePolicy: z.strictObject({ rules: z.array(rule).min(1).max(20) }),
    template: z.strictObject({
      spec: z.strictObject({
        // A pod failure policy requires this value.
        restartPolicy: z.literal('Never'),
        terminationGracePeriodSeconds: z.int().min(0),
        containers: z
          .array(
            z.strictObject({
              name,
              image: z.string().min(1),
              command: z.array(z.string()),
              args: z.array(z.string()),
              env: z.array(
                z.strictObject({
                  name: z.string(),
                  valueFrom: z.strictObject({ secretKeyRef: z.strictObject({ name, key: z.string() }) }),
                }),
              ),
              resources: z.strictObject({
                requests: z.record(z.string(), z.string()),
                limits: z.record(z.string(), z.string()),
              }),
              volumeMounts: z.array(z.strictObject({ name, mountPath: z.string().startsWith('/') })),
            }),
          )
          .min(1),
        volumes: z.array(z.strictObject({ name, persistentVolumeClaim: z.strictObject({ claimName: name }) })),
      }),
    }),
  }),
})

const file = new URL('../../../fixtures/examples/kubernetes/batch.yaml', import.meta.url).pathname
const text = readFileSync(file, 'utf8')
const { spec } = job.parse(parse(text))

const checked = testUnlessOnCi(whyNotInstalled('kubernetes-models'))

/** The ways in which a Job violates Kubernetes' OpenAPI schema. The package `kubernetes-models` is generated from this schema. */
async function faultsOf(value: unknown): Promise<readonly string[]> {
  const { validate } = await importOfPackage<{
    readonly validate: ((value: unknown) => boolean) & {
      readonly errors?: readonly { readonly instancePath: string; readonly keyword: string }[]
    }
  }>('kubernetes-models/_schemas/IoK8sApiBatchV1Job.js')
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.keyword}`)
}

checked('the example is a Job according to the schema of Kubernetes', async () => {
  expect(await faultsOf(parse(text))).toEqual([])
})

checked.each([
  ['completions: 4', "completions: '4'", '/spec/completions: type'],
  ['operator: In\n', 'operator: Within\n', '/spec/podFailurePolicy/rules/0/onExitCodes/operator: enum'],
  ['- action: FailIndex', '- reaction: FailIndex', '/spec/podFailurePolicy/rules/1: required'],
  ['claimName: agent-batch', 'claim: agent-batch', '/spec/template/spec/volumes/0/persistentVolumeClaim: required'],
])('with %j as %j it would be none', async (right, wrong, fault) => {
  expect(await faultsOf(parse(text.replace(right, wrong)))).toEqual([fault])
})

test('the example is a Job with as many pods as shards, whose rules and mounts name existing things', () => {
  const [container] = spec.template.spec.containers
  expect(container?.args.join(' ')).toContain(`--shard "$JOB_COMPLETION_INDEX/${spec.completions}"`)
  const names = spec.podFailurePolicy.rules.flatMap((one) => one.onExitCodes?.containerName ?? [])
  expect(new Set(names)).toEqual(new Set([container?.name]))
  expect(container?.volumeMounts.map((mount) => mount.name)).toEqual(
    spec.template.spec.volumes.map((each) => each.name),
  )
})

test('every exit code of a batch has exactly one rule', () => {
  const listed = spec.podFailurePolicy.rules.flatMap((one) => one.onExitCodes?.values ?? [])
  const failures = Object.values(exitCodes).filter((code) => code !== 0)
  expect(listed.toSorted((one, other) => one - other)).toEqual(failures.toSorted((one, other) => one - other))
})

test('the program accepts its command line', async () => {
  const [, ...words] = (spec.template.spec.containers[0]?.args[0] ?? '').replaceAll('"', '').split(/\s+/)
  const shard = words.slice(1).map((word) => word.replaceAll('$JOB_COMPLETION_INDEX', '0'))
  // The task file doesn't exist, so the program stops when it tries to read it. By then, it has accepted the command line.
  const { stderr } = await agent(shard, { cwd: tempDir(), home: tempDir() })
  expect(stderr).toContain("/work/tasks.jsonl: the tasks can't be read")
})
