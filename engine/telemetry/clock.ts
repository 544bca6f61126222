/** The current time in nanoseconds since 1970, from a monotonic clock. */
export function now(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6))
}
