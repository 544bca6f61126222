import { expect, onTestFinished, test, vi } from 'vitest'
import { watchUnserved } from '../../../engine/batch/queue/watch-unserved.ts'

test('that no worker is there is said after ten seconds and each minute, until one comes', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let runs = 3
  const said: string[] = []
  const stop = watchUnserved(
    () =>
      runs === 0
        ? []
        : [
            { labels: [], runs },
            { labels: ['docker', 'big'], runs: 1 },
          ],
    (sentence) => said.push(sentence),
  )
  vi.advanceTimersByTime(9000)
  expect(said).toEqual([])
  vi.advanceTimersByTime(3000)
  expect(said).toEqual([
    expect.stringMatching(
      /^3 runs wait for a worker, and none .* start one with agent batch worker, with the same --queue/,
    ),
    expect.stringMatching(/^1 run waits for a worker with the labels docker, big, .*--labels docker,big/),
  ])
  vi.advanceTimersByTime(50_000)
  expect(said).toHaveLength(2)
  vi.advanceTimersByTime(12_000)
  expect(said).toHaveLength(4)
  runs = 0
  vi.advanceTimersByTime(300_000)
  runs = 1
  vi.advanceTimersByTime(9000)
  expect(said).toHaveLength(4)
  vi.advanceTimersByTime(3000)
  expect(said).toHaveLength(6)
  stop()
  vi.advanceTimersByTime(300_000)
  expect(said).toHaveLength(6)
})
