import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { exitCodes } from '../../../engine/core/exit-codes.ts'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'

const name = z.string().regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/)

/** Exit codes as a rule has them: in order, each once, and without 0 where they are listed as failures. */
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
 * What Kubernetes takes of a Job, as far as ours says something, every other field refused. By its reference
 * (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/) and the rules of an indexed Job with a pod failure policy.
 */
const job = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: z.strictObject({ name }),
  spec: z.strictObject({
    // Limits for each index are for indexed jobs.
    completionMode: z.literal('Indexed'),
    completions: z.int().min(1),
    parallelism: z.int().min(0),
    backoffLimitPerIndex: z.int().min(0),
    maxFailedIndexes: z.int().min(0),
    podFailurePolicy: z.strictObject({ rules: z.array(rule).min(1).max(20) }),
    template: z.strictObject({
      spec: z.strictObject({
        // A pod failure policy asks for it.
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
const example = job.parse(parse(readFileSync(file, 'utf8')))
const { spec } = example

test('the example is a Job with as many pods as shards, whose rules and mounts name what there is', () => {
  const [container] = spec.template.spec.containers
  expect(container?.args.join(' ')).toContain(`--shard "$JOB_COMPLETION_INDEX/${spec.completions}"`)
  const names = spec.podFailurePolicy.rules.flatMap((one) => one.onExitCodes?.containerName ?? [])
  expect(new Set(names)).toEqual(new Set([container?.name]))
  expect(container?.volumeMounts.map((mount) => mount.name)).toEqual(
    spec.template.spec.volumes.map((each) => each.name),
  )
})

test('every exit code of a batch has its one rule', () => {
  const listed = spec.podFailurePolicy.rules.flatMap((one) => one.onExitCodes?.values ?? [])
  const failures = Object.values(exitCodes).filter((code) => code !== 0)
  expect(listed.toSorted((one, other) => one - other)).toEqual(failures.toSorted((one, other) => one - other))
})

test('its command line is one that the program takes', async () => {
  const [, ...words] = (spec.template.spec.containers[0]?.args[0] ?? '').replaceAll('"', '').split(/\s+/)
  const shard = words.slice(1).map((word) => word.replaceAll('$JOB_COMPLETION_INDEX', '0'))
  // The tasks aren't there, so it comes as far as reading them.
  const { stderr } = await agent(shard, { cwd: tempDir(), home: tempDir() })
  expect(stderr).toContain("/work/tasks.jsonl: this file of tasks can't be read")
})
